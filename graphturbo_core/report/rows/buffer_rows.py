"""Outcome -> the buffers of LB and GB: place, lifetime, and the buffers before and after each.

Like all arrays of a report, they describe the largest share's first round on one cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.products.arrays import int64
from graphturbo_core.products.program import IntArray, Memory, Program
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.sim.lifetimes import live_intervals

MAX_BUFFERS = 200_000
"""Most buffers that a report lists: some 14 MiB (our choice). Cores beyond it are left out."""
NAMES: Mapping[Memory, str] = {
    Memory.GB: "GB",
    Memory.LB_DATA: "LB data",
    Memory.LB_WEIGHT: "LB weight",
}
"""Listed memories in the order of their spaces; an LB with one pool is `LB`."""
POOLED = "LB"


@dataclass(frozen=True)
class AddressSpace:
    """One range of addresses from 0: GB, or a part of one core's LB.

    `core`: -1 for GB. `cores`: number of cores that this one represents. `buffers`: number of
    buffers. `listed`: number of buffers that the report lists.
    """

    memory: str
    core: int
    cores: int
    capacity_bytes: int
    buffers: int
    listed: int


@dataclass(frozen=True)
class Placed:
    """The listed buffers by space, then first cycle, then offset.

    `row`: the buffer's row in the program. `before`: among the buffers whose bytes it reuses, the
    one that ends last. `after`: the first buffer that reuses one of its bytes. Both -1 for none.
    """

    spaces: tuple[AddressSpace, ...]
    row: IntArray
    space: IntArray
    first_cycle: IntArray
    last_cycle: IntArray
    before: IntArray
    after: IntArray


def placed(outcome: Outcome, most: int = MAX_BUFFERS) -> Placed:
    """At most `most` buffers of LB and GB: those of GB, then core by core; O(n log n).

    The first space may be listed in part. Any other space is listed completely or not at all.
    """
    program, trace = outcome.program, outcome.largest
    begin, end = live_intervals(program, trace.start, trace.end, trace.makespan)
    memory = _memories(program)
    is_listed = np.isin(memory, list(NAMES)) & (end > begin)
    rows = np.flatnonzero(is_listed)
    core = program.buffers.core.astype(np.int64)
    is_lb = memory != Memory.GB
    order = np.lexsort(
        (program.buffers.offset[rows], begin[rows], memory[rows], core[rows], is_lb[rows])
    )
    rows = int64(rows[order])
    spaces, of_row = _spaces(outcome, memory[rows], core[rows], rows, most)
    count = sum(space.listed for space in spaces)
    rows, of_row = rows[:count], of_row[:count]
    before, after = neighbours(
        of_row,
        int64(program.buffers.offset[rows]),
        int64(program.buffers.size_bytes[rows]),
        int64(begin[rows]),
        int64(end[rows]),
    )
    return Placed(spaces, rows, of_row, int64(begin[rows]), int64(end[rows]), before, after)


def _memories(program: Program) -> NDArray[np.int64]:
    """The memory of every buffer; both parts of a pooled LB count as one memory."""
    memory = program.buffers.memory.astype(np.int64)
    if program.plan.hardware.is_pooled:
        memory[memory == Memory.LB_WEIGHT] = Memory.LB_DATA
    return memory


def _spaces(
    outcome: Outcome, memory: IntArray, core: IntArray, rows: IntArray, most: int
) -> tuple[tuple[AddressSpace, ...], IntArray]:
    """The spaces of sorted buffers, and the space of each buffer."""
    if not len(rows):
        return (), int64(rows)
    hardware, buffers = outcome.hardware, outcome.program.buffers
    is_first = np.append(True, (np.diff(memory) != 0) | (np.diff(core) != 0))
    of_row = int64(np.cumsum(is_first) - 1)
    bounds = [*np.flatnonzero(is_first).tolist(), len(rows)]
    capacities = {
        Memory.GB: hardware.gb_bytes,
        Memory.LB_DATA: hardware.lb_data_bytes,
        Memory.LB_WEIGHT: hardware.lb_weight_bytes,
    }
    spaces = []
    for first, stop in pairwise(bounds):
        kind = Memory(int(memory[first]))
        is_pool = hardware.is_pooled and kind is not Memory.GB
        listed = stop - first if stop <= most else 0
        spaces.append(
            AddressSpace(
                memory=POOLED if is_pool else NAMES[kind],
                core=int(core[first]),
                cores=int(buffers.cores[rows[first]]),
                capacity_bytes=capacities[kind],
                buffers=stop - first,
                listed=listed if first else min(stop, most),
            )
        )
    return tuple(spaces), of_row


def neighbours(
    space: IntArray, offset: IntArray, size_bytes: IntArray, begin: IntArray, end: IntArray
) -> tuple[IntArray, IntArray]:
    """Per buffer the last previous owner of its bytes, and the first next owner (`Placed`).

    Bytes between two neighbouring ends of buffers always have the same owner, so one entry
    represents them. Complexity: per buffer the number of ends inside it.
    """
    stride = int((offset + size_bytes).max(initial=0)) + 1
    low = space * stride + offset
    edges = np.unique(np.concatenate((low, low + size_bytes)))
    first = int64(np.searchsorted(edges, low))
    stop = int64(np.searchsorted(edges, low + size_bytes))
    order = int64(np.lexsort((np.arange(len(begin)), begin)))
    return _owners(order, first, stop, end, len(edges))


@compiled
def _owners(
    order: IntArray, first: IntArray, stop: IntArray, end: IntArray, segments: int
) -> tuple[IntArray, IntArray]:
    owner = np.full(segments, -1, np.int64)
    before = np.full(len(order), -1, np.int64)
    after = np.full(len(order), -1, np.int64)
    for buffer in order:
        for segment in range(first[buffer], stop[buffer]):
            other = owner[segment]
            owner[segment] = buffer
            if other < 0:
                continue
            if after[other] < 0:
                after[other] = buffer
            if before[buffer] < 0 or end[other] > end[before[buffer]]:
                before[buffer] = other
    return before, after


class SpaceRow(TypedDict):
    """One space of the address map; `core` is -1 for GB."""

    index: int
    memory: str
    core: int
    cores: int
    capacity_bytes: int
    buffers: int
    listed: int


def space_rows(found: Placed) -> Iterator[SpaceRow]:
    """One row per space, in the order of `buffer_space`."""
    for index, space in enumerate(found.spaces):
        yield {
            "index": index,
            "memory": space.memory,
            "core": space.core,
            "cores": space.cores,
            "capacity_bytes": space.capacity_bytes,
            "buffers": space.buffers,
            "listed": space.listed,
        }


class TensorRow(TypedDict):
    """One tensor of the program; `axes` is its rank."""

    index: int
    tensor: str
    kind: str
    axes: int


def tensor_rows(outcome: Outcome) -> Iterator[TensorRow]:
    """One row per tensor of the program; `kind`: input, output, weight or activation."""
    graph = outcome.plan.semantics.graph
    outputs = frozenset(graph.outputs)
    for index, name in enumerate(outcome.program.tensors):
        tensor = graph.tensors[name]
        kind = "output" if name in outputs else tensor.kind.value
        yield {"index": index, "tensor": name, "kind": kind, "axes": len(tensor.shape)}


def buffer_arrays(outcome: Outcome, found: Placed) -> dict[str, NDArray[np.generic]]:
    """Arrays with one entry per listed buffer; boxes with one column per axis of the widest tensor.

    `buffer_op`: op of the instruction that writes the buffer first; a move has the op of the layer
    that it serves.
    """
    program, rows = outcome.program, found.row
    tensor = program.buffers.tensor[rows]
    axes = np.array([len(outcome.plan.semantics.graph.tensors[t].shape) for t in program.tensors])
    widest = int(axes[tensor].max(initial=0))
    return {
        "buffer_space": found.space.astype(np.int32),
        "buffer_offset": program.buffers.offset[rows],
        "buffer_size_bytes": program.buffers.size_bytes[rows],
        "buffer_from": found.first_cycle,
        "buffer_to": found.last_cycle,
        "buffer_tensor": tensor.astype(np.int32),
        "buffer_op": program.op[program.buffers.first[rows]].astype(np.int32),
        "buffer_before": found.before.astype(np.int32),
        "buffer_after": found.after.astype(np.int32),
        "buffer_lo": program.buffers.lo[rows, :widest],
        "buffer_hi": program.buffers.hi[rows, :widest],
    }
