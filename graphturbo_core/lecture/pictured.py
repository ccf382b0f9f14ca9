"""Report -> what pictures of one kernel show: traffic, buffers, moves between cores, intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lecture.results import (
    CoreMove,
    Interval,
    LectureTraffic,
    MoveKind,
    Parked,
    Way,
)
from graphturbo_core.products.arrays import int64
from graphturbo_core.report.report import Report

KINDS: tuple[MoveKind, ...] = (
    "compute", "load", "store", "exchange", "broadcast", "prefetch", "copy",
)  # fmt: skip
"""Kinds of instruction by their number in the array `kind`."""
BOOKED_CAUSES = (
    "none",
    "input",
    "output",
    "weight_first",
    "weight_again",
    "activation",
    "halo",
    "spill",
)
"""Causes of bytes by their number in the array `booked_cause`."""
DRAM = 0
"""Number of DRAM in the array `booked_memory`."""
ROWS = 2
"""Axis of rows: tensors are image x channel x row x column."""
WEIGHT = "weight"


def dram_traffic(report: Report, kernel: int) -> tuple[LectureTraffic, ...]:
    """Bytes over DRAM in a kernel by tensor, direction and cause, in order of first use."""
    arrays = report.arrays
    instruction = arrays["booked_instruction"]
    rows = np.flatnonzero(
        (arrays["booked_memory"] == DRAM) & (arrays["kernel"][instruction] == kernel)
    )
    names = [row["tensor"] for row in report.tables["tensors"]]
    found: Counter[tuple[str, Way, str]] = Counter()
    for row in sorted(rows.tolist(), key=lambda row: (int(instruction[row]), row)):
        number = int(instruction[row])
        way: Way = "write" if KINDS[int(arrays["kind"][number])] == "store" else "read"
        tensor = names[int(arrays["moved_tensor"][number])]
        found[tensor, way, BOOKED_CAUSES[int(arrays["booked_cause"][row])]] += int(
            arrays["booked_bytes"][row]
        )
    return tuple(LectureTraffic(*key, size) for key, size in found.items())


def core_moves(report: Report, kernel: int) -> tuple[CoreMove, ...]:
    """Bytes that cores fetch from each other's LB in a kernel."""
    arrays = report.arrays
    is_exchange = arrays["kind"] == KINDS.index("exchange")
    rows = np.flatnonzero(is_exchange & (arrays["kernel"] == kernel))
    names = [row["tensor"] for row in report.tables["tensors"]]
    engines = report.tables["engines"]
    found: Counter[tuple[str, int, int, int, int, int]] = Counter()
    for row in rows.tolist():
        tensor = int(arrays["moved_tensor"][row])
        target = engines[int(arrays["engine"][row])]["core"]
        source = _holder(report, row, tensor, target)
        low, high = arrays["box_lo"][row], arrays["box_hi"][row]
        for image in range(int(low[0]), int(high[0])):
            part = (image + 1, int(low[ROWS]), int(high[ROWS]))
            size = int(arrays["size_bytes"][row]) // int(high[0] - low[0])
            found[(names[tensor], *part, source, target)] += size
    return tuple(CoreMove(*key, size) for key, size in sorted(found.items()))


def _holder(report: Report, instruction: int, tensor: int, target: int) -> int:
    """The core whose buffer has the moved box when the move starts."""
    arrays, spaces = report.arrays, report.tables["spaces"]
    axes = int(arrays["box_axes"][instruction])
    low, high = (arrays[name][instruction][:axes] for name in ("box_lo", "box_hi"))
    is_holder = (
        (arrays["buffer_tensor"] == tensor)
        & _is_live(report, int(arrays["start"][instruction]))
        & (arrays["buffer_lo"][:, :axes] <= low).all(axis=1)
        & (arrays["buffer_hi"][:, :axes] >= high).all(axis=1)
    )
    cores = {spaces[space]["core"] for space in arrays["buffer_space"][is_holder].tolist()}
    cores -= {target, -1}
    return min(int(core) for core in cores)


def parked(report: Report, cycle: int, memory: str) -> tuple[Parked, ...]:
    """Activations that are in a memory after `cycle`, for a later access."""
    arrays = report.arrays
    rows = np.flatnonzero(_activations(report, memory) & _is_live(report, cycle))
    names = [row["tensor"] for row in report.tables["tensors"]]
    spaces = report.tables["spaces"]
    found = (
        Parked(
            tensor=names[int(arrays["buffer_tensor"][row])],
            first=int(arrays["buffer_lo"][row][0]) + 1,
            last=int(arrays["buffer_hi"][row][0]),
            top=int(arrays["buffer_lo"][row][ROWS]),
            bottom=int(arrays["buffer_hi"][row][ROWS]),
            core=spaces[int(arrays["buffer_space"][row])]["core"],
            bytes=int(arrays["buffer_size_bytes"][row]),
        )
        for row in rows.tolist()
    )
    return tuple(sorted(found, key=lambda p: (p.tensor, p.first, p.core, p.last)))


def parked_peak(report: Report, start: int, end: int) -> int:
    """The most bytes of activations in GB at a cycle of [start, end)."""
    arrays = report.arrays
    is_activation = _activations(report, "GB")
    begins = int64(arrays["buffer_from"][is_activation]).tolist()
    cycles = sorted({start, *(cycle for cycle in begins if start <= cycle < end)})
    sizes = int64(arrays["buffer_size_bytes"])
    return max(int(sizes[is_activation & _is_live(report, cycle)].sum()) for cycle in cycles)


def _is_live(report: Report, cycle: int) -> NDArray[np.bool_]:
    """Of every buffer, whether its bytes are in use after `cycle`."""
    begin, end = (int64(report.arrays[name]) for name in ("buffer_from", "buffer_to"))
    return np.asarray((begin <= cycle) & (end > cycle))


def _activations(report: Report, memory: str) -> NDArray[np.bool_]:
    """Of every buffer, whether it has an activation and is in that memory."""
    spaces = [row["index"] for row in report.tables["spaces"] if row["memory"] == memory]
    flows = [row["index"] for row in report.tables["tensors"] if row["kind"] != WEIGHT]
    arrays = report.arrays
    return np.asarray(
        np.isin(arrays["buffer_space"], spaces) & np.isin(arrays["buffer_tensor"], flows)
    )


def intervals(report: Report, kernel: int) -> tuple[Interval, ...]:
    """Instructions of a kernel in order of their start; cycles from the kernel's start."""
    start = report.tables["kernels"][kernel]["start_cycle"]
    found = _intervals(report, kernel, start)
    return tuple(sorted(found, key=lambda i: (i.start, i.engine, i.layer, i.cycles)))


def _intervals(report: Report, kernel: int, start: int) -> Iterator[Interval]:
    arrays = report.arrays
    layers = [row["name"] for row in report.tables["layers"]]
    engines = report.tables["engines"]
    for row in np.flatnonzero(arrays["kernel"] == kernel).tolist():
        yield Interval(
            engine=engines[int(arrays["engine"][row])]["label"],
            layer=layers[int(arrays["layer"][row])],
            kind=KINDS[int(arrays["kind"][row])],
            start=int(arrays["start"][row]) - start,
            cycles=int(arrays["hold"][row]),
        )
