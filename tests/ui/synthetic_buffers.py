"""Made-up buffers of LB and GB for tests of views alone: in lanes of addresses, with holes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.report.canvases.address_canvas import TENSOR_KINDS
from graphturbo_core.report.report import Report

LANES = 8
LANE_BYTES = 2**15
HELD_BYTES = LANE_BYTES * 3 // 4
CAPACITIES = {"GB": 8 << 20, "LB data": 2**20, "LB weight": 2**18}


def buffer_tables(cores: int, tensors: int, count: int) -> dict[str, tuple]:
    """GB, and both parts of each core's LB; `count` buffers in each."""
    parts = [("GB", -1), *((f"LB {p}", c) for c in range(cores) for p in ("data", "weight"))]
    spaces = [
        {
            "index": index,
            "memory": memory,
            "core": core,
            "cores": 1,
            "capacity_bytes": CAPACITIES[memory],
            "buffers": count,
            "listed": count,
        }
        for index, (memory, core) in enumerate(parts)
    ]
    names = [
        {"index": i, "tensor": f"t{i + 1}", "kind": TENSOR_KINDS[i % 4], "axes": 4}
        for i in range(tensors)
    ]
    return {"spaces": tuple(spaces), "tensors": tuple(names)}


def buffer_arrays(
    cores: int, tensors: int, count: int, cycles: int, used_bytes: int = HELD_BYTES
) -> dict[str, np.ndarray]:
    """In each space, buffer i lies in lane i % 8 and takes the bytes of buffer i - 8.

    A turn of eight begins together, holds its bytes for three quarters of it, and `used_bytes`
    of its lane.
    """
    spaces = 1 + 2 * cores
    number = np.tile(np.arange(count), spaces)
    turns = -(-count // LANES)
    turn = number // LANES
    place = np.arange(len(number))
    first = turn * cycles // turns
    return {
        "buffer_space": np.repeat(np.arange(spaces), count).astype(np.int32),
        "buffer_offset": (number % LANES) * LANE_BYTES,
        "buffer_size_bytes": np.full(len(number), used_bytes),
        "buffer_from": first,
        "buffer_to": np.maximum(first + 1, (turn * 4 + 3) * cycles // (turns * 4)),
        "buffer_tensor": (number % tensors).astype(np.int32),
        "buffer_op": (number % tensors).astype(np.int32),
        "buffer_before": np.where(turn > 0, place - LANES, -1).astype(np.int32),
        "buffer_after": np.where(number + LANES < count, place + LANES, -1).astype(np.int32),
        "buffer_lo": np.zeros((len(number), 4), np.int32),
        "buffer_hi": np.tile(np.array([2, 64, 56, 56], np.int32), (len(number), 1)),
    }


def with_buffers(
    report: Report, count: int, cores: int = 2, used_bytes: int = HELD_BYTES
) -> Report:
    """The same report with so many buffers in each space, and GB's and the worst LB's use."""
    tensors = len(report.tables["graph_nodes"])
    cycles = int((report.arrays["start"] + report.arrays["hold"]).max())
    arrays = buffer_arrays(cores, tensors, count, cycles, used_bytes)
    is_gb = arrays["buffer_space"] == 0
    first, last = arrays["buffer_from"][is_gb][::LANES], arrays["buffer_to"][is_gb][::LANES]
    steps = np.stack((first, last), axis=1).ravel()
    used = np.tile([LANES * used_bytes, 0], len(first))
    use = {"gb_cycle": steps, "gb_bytes": used, "lb_cycle": steps, "lb_bytes": used * 2}
    tables = {**report.tables, **buffer_tables(cores, tensors, count)}
    return replace(report, tables=tables, arrays={**report.arrays, **arrays, **use})
