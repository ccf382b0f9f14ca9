"""Kernel code from short lists, and random ones with legal lifetimes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.local_buffers import (
    LocalBuffer,
    LocalBuffers,
    columns_of,
)
from graphturbo_core.products.arrays import pack_boxes
from graphturbo_core.products.instruction_table import CodeColumns, dtypes
from graphturbo_core.products.program import MAX_RANK, Memory

SIDE = 4
"""Every random buffer is a map of SIDE x SIDE elements."""


@dataclass(frozen=True)
class Row:
    """One instruction; a channel is (number, cycles), an access (buffer, is write, box)."""

    accesses: Sequence[tuple[int, bool, Box]] = ()
    engine: int = 0
    hold: int = 1
    latency: int = 0
    channels: Sequence[tuple[int, int]] = ()


def kernel_code(rows: Sequence[Row], buffers: Sequence[LocalBuffer]) -> KernelCode:
    numbers = {name: np.zeros(len(rows), dtype) for name, dtype in dtypes(CodeColumns).items()}
    numbers["engine"][:] = [row.engine for row in rows]
    numbers["hold_cycles"][:] = [row.hold for row in rows]
    numbers["latency_cycles"][:] = [row.latency for row in rows]
    accesses = [access for row in rows for access in row.accesses]
    channels = [channel for row in rows for channel in row.channels]
    lo, hi = pack_boxes([box for _, _, box in accesses])
    return KernelCode(
        **numbers,
        channel_at=np.cumsum([0, *(len(row.channels) for row in rows)], dtype=np.int64),
        channel=np.array([number for number, _ in channels], dtype=np.int32),
        channel_cycles=np.array([cycles for _, cycles in channels], dtype=np.int64),
        access_at=np.cumsum([0, *(len(row.accesses) for row in rows)], dtype=np.int64),
        access_buffer=np.array([buffer for buffer, _, _ in accesses], dtype=np.int32),
        access_write=np.array([is_write for _, is_write, _ in accesses], dtype=np.bool_),
        access_lo=lo,
        access_hi=hi,
        access_tensor=np.zeros(len(accesses), dtype=np.int32),
        tensors=("",),
        result_lo=np.zeros((len(rows), MAX_RANK), dtype=np.int32),
        result_hi=np.ones((len(rows), MAX_RANK), dtype=np.int32),
        buffers=columns_of(buffers),
    )


def local(offset: int, size: int, memory: Memory = Memory.LB_DATA, core: int = 0) -> LocalBuffer:
    return LocalBuffer(memory, core, offset, size, "t", ((0, SIDE), (0, SIDE)))


def buffer_at(buffers: LocalBuffers, row: int) -> LocalBuffer:
    """One row as it was entered, without its box."""
    return LocalBuffer(
        Memory(int(buffers.memory[row])), int(buffers.core[row]), int(buffers.offset[row]),
        int(buffers.size_bytes[row]), buffers.tensors[buffers.tensor[row]], (),
        buffers.shared.get(row),
    )  # fmt: skip


@dataclass
class _Life:
    """Which buffers live where, and what of each is written."""

    buffers: list[LocalBuffer] = field(default_factory=list)
    written: dict[int, np.ndarray] = field(default_factory=dict)

    def enter(self, buffer: LocalBuffer, is_whole: bool = False) -> int:
        """A new buffer takes its bytes; whoever had some of them is never used again."""
        for number in list(self.written):
            other = self.buffers[number]
            if space(other, True) == space(buffer, True) and _meet(other, buffer):
                del self.written[number]
        self.buffers.append(buffer)
        number = len(self.buffers) - 1
        self.written[number] = np.full((SIDE, SIDE), is_whole)
        return number


def space(buffer: LocalBuffer, is_pooled: bool) -> tuple[Memory, int]:
    """Where its address counts."""
    is_data = is_pooled and buffer.memory is Memory.LB_WEIGHT
    return (Memory.LB_DATA if is_data else buffer.memory), buffer.core


def _meet(one: LocalBuffer, other: LocalBuffer) -> bool:
    return (
        one.offset < other.offset + other.size_bytes and other.offset < one.offset + one.size_bytes
    )


intervals = st.tuples(st.integers(0, SIDE - 1), st.integers(1, SIDE)).filter(lambda i: i[0] < i[1])
boxes = st.tuples(intervals, intervals)
places = st.tuples(
    st.integers(0, 6),
    st.integers(1, 5),
    st.sampled_from([Memory.LB_DATA, Memory.LB_DATA, Memory.LB_WEIGHT, Memory.GB]),
    st.integers(0, 1),
)


@st.composite
def kernel_codes(draw: st.DrawFn) -> KernelCode:
    """Reads find written elements; bytes go from one owner to the next, never back."""
    life = _Life()
    if draw(st.booleans()):
        kept = LocalBuffer(
            Memory.LB_DATA, 0, 0, 3, "k", ((0, SIDE), (0, SIDE)), ("RESIDENT", "k", 0, 0)
        )
        life.enter(kept, is_whole=True)
    far = LocalBuffer(Memory.DRAM, -1, 0, 9, "far", ((0, SIDE), (0, SIDE)), ("DRAM", "far", -1, -1))
    life.enter(far, is_whole=True)
    rows = [
        Row(
            _accesses(draw, life),
            draw(st.integers(0, 2)),
            draw(st.integers(1, 9)),
            draw(st.integers(0, 3)),
            [(channel, draw(st.integers(1, 9))) for channel in range(draw(st.integers(0, 2)))],
        )
        for _ in range(draw(st.integers(1, 14)))
    ]
    return kernel_code(rows, life.buffers)


def _accesses(draw: st.DrawFn, life: _Life) -> list[tuple[int, bool, Box]]:
    """Up to two reads of what is written, then one or two writes, perhaps to new buffers."""
    found: list[tuple[int, bool, Box]] = []
    for _ in range(draw(st.integers(0, 2))):
        box = draw(boxes)
        inside = tuple(slice(*interval) for interval in box)
        whole = [number for number, map_ in life.written.items() if map_[inside].all()]
        if whole:
            found.append((draw(st.sampled_from(sorted(whole))), False, box))
    used = {number for number, _, _ in found}
    for _ in range(draw(st.integers(1, 2))):
        number = _target(draw, life, used)
        box = draw(boxes)
        life.written[number][tuple(slice(*interval) for interval in box)] = True
        found.append((number, True, box))
        used.add(number)
    return found


def _target(draw: st.DrawFn, life: _Life, used: set[int]) -> int:
    """A live buffer, or a new one that does not take bytes which this instruction uses."""
    offset, size, memory, core = draw(places)
    fresh = local(offset, size, memory, -1 if memory is Memory.GB else core)
    is_free = all(
        space(life.buffers[number], True) != space(fresh, True)
        or not _meet(life.buffers[number], fresh)
        for number in used
    )
    if is_free and draw(st.booleans()):
        return life.enter(fresh)
    return draw(st.sampled_from(sorted(life.written)))


def closure(count: int, edges: set[tuple[int, int]]) -> list[int]:
    """Per row a bit set of the rows it waits for, directly or not; edges are (later, earlier)."""
    reach = [0] * count
    for later in range(count):
        for earlier in range(later):
            if (later, earlier) in edges:
                reach[later] |= reach[earlier] | 1 << earlier
    return reach


def csr_edges(at: np.ndarray, earlier: np.ndarray) -> list[tuple[int, int]]:
    """(later, earlier) of a CSR table."""
    ends = pairwise(at.tolist())
    return [(row, int(e)) for row, (a, b) in enumerate(ends) for e in earlier[a:b]]
