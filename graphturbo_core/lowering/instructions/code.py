"""KernelCode: the instructions of one kernel, before sequence numbers and global addresses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.instructions.local_buffers import (
    LocalBuffer,
    LocalBuffers,
    SharedKey,
    columns_of,
    pack_boxes,
)
from graphturbo_core.lowering.instructions.machine import PASSING_CORE, End, Machine
from graphturbo_core.products.program import Cause, InstructionKind, IntArray, Memory


class Access(NamedTuple):
    """One buffer that an instruction reads or writes, and the box.

    `tensor`: what a compute takes it for, its operand or result, which may be a part of the
    buffer's tensor, or the same bytes by another name. Moves take a buffer for what it is.
    """

    buffer: int
    is_write: bool
    box: Box
    tensor: str = ""


class Where(NamedTuple):
    """What an instruction belongs to: op index (-1: none), layer, tile number."""

    op: int
    layer: int
    tile: int


class Use(NamedTuple):
    """A channel of a move's route, held as long as `times` transfers take on one of `among`.

    Where a core stands for others, all of them move at once: through a port that all share one
    after the other, through the ports of others of a class in equal shares.
    """

    channel: int
    times: int = 1
    among: int = 1


class Move(NamedTuple):
    """A transfer of `size_bytes`, of which `halo_bytes` are read again, by each of `cores`."""

    size_bytes: int
    halo_bytes: int
    source: Memory
    target: Memory
    cause: Cause
    latency_cycles: int
    channels: tuple[Use, ...]
    cores: int = 1


class Crossing(NamedTuple):
    """Bytes that a compute reads from GB or DRAM and writes there."""

    end: End
    size_bytes: int


class Compute(NamedTuple):
    """Work of one op on one tile: the box of its output, and what that costs.

    `far`: what an engine without an LB reads from GB and writes there. `cores`: how many do the
    same at once, simulated as one. `is_passing`: these bytes stream through the LB of a core, which
    holds its port too, and come from DRAM as well.
    """

    box: Box
    cycles: int
    macs: int
    vector_ops: int
    reduce: tuple[int, int]
    far: tuple[Crossing, ...] = ()
    cores: int = 1
    is_passing: bool = False


@dataclass
class CodeBuilder:
    """Collects a kernel's instructions in layer order; rows as documented in Program."""

    machine: Machine
    rows: list[tuple[int, ...]] = field(default_factory=list)
    channel_rows: list[tuple[tuple[int, int], ...]] = field(default_factory=list)
    touched: list[Access] = field(default_factory=list)
    touched_at: list[int] = field(default_factory=lambda: [0])
    results: list[Box] = field(default_factory=list)
    buffers: list[LocalBuffer] = field(default_factory=list)
    shared: dict[SharedKey, int] = field(default_factory=dict)

    @property
    def accesses(self) -> int:
        """How many boxes the instructions so far read and write."""
        return len(self.touched)

    @cached_property
    def bandwidths(self) -> tuple[int, ...]:
        """Bandwidth of every channel."""
        return tuple(channel.bandwidth for channel in self.machine.channels())

    def buffer(self, buffer: LocalBuffer) -> int:
        """Number of a new buffer; a shared one is entered once."""
        if buffer.shared is not None:
            known = self.shared.get(buffer.shared)
            if known is not None:
                return known
            self.shared[buffer.shared] = len(self.buffers)
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def compute(self, engine: int, where: Where, work: Compute, accesses: Iterable[Access]) -> None:
        """Append a compute instruction; it holds the ports of what it reads and writes beyond LB.

        Where that passes an LB, its result is visible a latency of the farthest memory later.
        """
        size_bytes = sum(way.size_bytes for way in work.far)
        ways = [(self.machine.port(way.end), way.size_bytes) for way in work.far]
        latency = 0
        if work.is_passing:
            ways.append((self.machine.port((Memory.LB_DATA, PASSING_CORE)), size_bytes))
            latency = max(self.machine.latency(way.end) for way in work.far)
        transfer_cycles = self.machine.hardware.transfer_cycles
        ports = tuple(
            (channel, transfer_cycles(size, self.bandwidths[channel])) for channel, size in ways
        )
        hold = max([work.cycles, *(cycles for _, cycles in ports)])
        self.rows.append(
            (
                engine, InstructionKind.COMPUTE, *where, hold, latency, work.cores, size_bytes, 0,
                work.macs, work.vector_ops, -1, -1, Cause.NONE, *work.reduce,
            )
        )  # fmt: skip
        self.channel_rows.append(ports)
        self._touch(accesses)
        self.results.append(work.box)

    def move(
        self,
        engine: int,
        kind: InstructionKind,
        where: Where,
        move: Move,
        accesses: Iterable[Access],
    ) -> None:
        """Append a move: it holds its engine as long as its slowest channel."""
        chip = self.machine.hardware
        held: dict[int, int] = {}
        for channel, times, among in move.channels:
            cycles = chip.transfer_cycles(move.size_bytes, self.bandwidths[channel])
            held[channel] = held.get(channel, 0) - (-cycles * times // among)
        hold = max(held.values())
        self.rows.append(
            (
                engine, kind, *where, hold, move.latency_cycles, move.cores, move.size_bytes,
                move.halo_bytes, 0, 0, move.source, move.target, move.cause, 0, -1,
            )
        )  # fmt: skip
        self.channel_rows.append(tuple(held.items()))
        self._touch(accesses)
        self.results.append(())

    def _touch(self, accesses: Iterable[Access]) -> None:
        self.touched.extend(accesses)
        self.touched_at.append(len(self.touched))

    def finish(self) -> KernelCode:
        """The collected rows as arrays."""
        shape = (len(self.rows), len(COLUMNS))
        cells = chain.from_iterable(self.rows)  # 1.7 times as fast as an array of tuples
        rows = np.fromiter(cells, dtype=np.int64, count=shape[0] * shape[1]).reshape(shape)
        channels = [pair for row in self.channel_rows for pair in row]
        touched = zip(*self.touched, strict=True) if self.touched else ((),) * 4
        buffers, writes, boxes, tensors = touched
        lo, hi = pack_boxes(boxes)
        result_lo, result_hi = pack_boxes(self.results)
        number = {name: place for place, name in enumerate(dict.fromkeys(tensors))}
        pairs = np.array(channels, dtype=np.int64).reshape(len(channels), 2)
        return KernelCode(
            rows=rows,
            channel_at=_offsets([len(row) for row in self.channel_rows]),
            channel=pairs[:, 0].astype(np.int32),
            channel_cycles=pairs[:, 1].copy(),
            access_at=np.array(self.touched_at, dtype=np.int64),
            access_buffer=np.array(buffers, dtype=np.int32),
            access_write=np.array(writes, dtype=np.bool_),
            access_lo=lo,
            access_hi=hi,
            access_tensor=np.array([number[name] for name in tensors], dtype=np.int32),
            tensors=tuple(number),
            result_lo=result_lo,
            result_hi=result_hi,
            buffers=columns_of(self.buffers),
        )


COLUMNS = (
    "engine", "kind", "op", "layer", "tile", "hold_cycles", "latency_cycles", "cores", "size_bytes",
    "halo_bytes", "macs", "vector_ops", "source", "target", "cause", "reduce_lo", "reduce_hi",
)  # fmt: skip
"""Columns of `KernelCode.rows`, named as in Program; bytes and work are those of one core."""


@dataclass(frozen=True)
class KernelCode:
    """One kernel's instructions in layer order; buffers are its own rows.

    `access_tensor` indexes `tensors`, where "" is the tensor of the buffer.
    """

    rows: IntArray
    channel_at: IntArray
    channel: NDArray[np.int32]
    channel_cycles: IntArray
    access_at: IntArray
    access_buffer: NDArray[np.int32]
    access_write: NDArray[np.bool_]
    access_lo: NDArray[np.int32]
    access_hi: NDArray[np.int32]
    access_tensor: NDArray[np.int32]
    tensors: tuple[str, ...]
    result_lo: NDArray[np.int32]
    result_hi: NDArray[np.int32]
    buffers: LocalBuffers

    def column(self, name: str) -> IntArray:
        """One column of `rows` by its name in Program."""
        return self.rows[:, COLUMNS.index(name)]

    @cached_property
    def distinct(self) -> dict[str, tuple[list[int], IntArray]]:
        """Of the columns that name ops and layers: what occurs, and each row's place in that."""
        found = {}
        for name in ("op", "layer"):
            known, place = np.unique(self.column(name), return_inverse=True)
            found[name] = known.tolist(), place
        return found

    def part(self, first: int, end: int) -> KernelCode:
        """The instructions from row `first` to before `end`, with all of the buffers."""
        channels = slice(self.channel_at[first], self.channel_at[end])
        accesses = slice(self.access_at[first], self.access_at[end])
        touched = ("access_buffer", "access_write", "access_lo", "access_hi", "access_tensor")
        return replace(
            self,
            rows=self.rows[first:end],
            channel_at=self.channel_at[first : end + 1] - self.channel_at[first],
            channel=self.channel[channels],
            channel_cycles=self.channel_cycles[channels],
            access_at=self.access_at[first : end + 1] - self.access_at[first],
            result_lo=self.result_lo[first:end],
            result_hi=self.result_hi[first:end],
            **{name: getattr(self, name)[accesses] for name in touched},
        )


def _offsets(counts: list[int]) -> IntArray:
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)
