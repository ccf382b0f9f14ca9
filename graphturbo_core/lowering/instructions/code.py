"""KernelCode: instructions of one kernel, without sequence numbers and global addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.instructions.local_buffers import (
    LocalBuffer,
    LocalBuffers,
    SharedKey,
    columns_of,
)
from graphturbo_core.lowering.instructions.machine import PASSING_CORE, End, Machine
from graphturbo_core.lowering.instructions.transfers import Transfer, Transfers
from graphturbo_core.products.arrays import pack_boxes
from graphturbo_core.products.instruction_table import (
    AccessTable,
    ChannelTable,
    CodeColumns,
    ResultBoxes,
    columns,
    dtypes,
)
from graphturbo_core.products.program import Cause, InstructionKind, IntArray, Memory


class Access(NamedTuple):
    """Box of a buffer that an instruction reads or writes.

    `tensor`: the operand or result of a compute that the box holds; "": the buffer's tensor. It
    may be a part of the buffer's tensor, or the same bytes under another name.
    """

    buffer: int
    is_write: bool
    box: Box
    tensor: str = ""


class Where(NamedTuple):
    """Op (-1: none), layer and tile that an instruction belongs to."""

    op: int
    layer: int
    tile: int


class Use(NamedTuple):
    """A channel of a move's route, occupied for `times` transfers divided over `among` channels.

    A simulated core may represent equivalent ones that move at the same time. On a port that they
    share, their transfers are serialised. Over ports of equivalent cores they spread evenly.
    """

    channel: int
    times: int = 1
    among: int = 1


class Move(NamedTuple):
    """A transfer of `size_bytes` by each of `cores`; `halo_bytes` of them are a refetched halo."""

    size_bytes: int
    halo_bytes: int
    source: Memory
    target: Memory
    cause: Cause
    latency_cycles: int
    channels: tuple[Use, ...]
    cores: int = 1


class Crossing(NamedTuple):
    """Bytes that a compute reads from GB or DRAM, or writes to it."""

    end: End
    size_bytes: int


class Compute(NamedTuple):
    """Work of one op on one tile: the box of its output, cycles and operations.

    `reduce`: [begin, end) on the reduced axis. `far`: accesses of an engine without an LB to GB.
    `cores`: number of equivalent cores that are simulated as one. `is_passing`: the bytes of `far`
    stream through a core's LB and occupy its port; they may come from DRAM.
    """

    box: Box
    cycles: int
    macs: int
    vector_ops: int
    reduce: tuple[int, int]
    far: tuple[Crossing, ...] = ()
    cores: int = 1
    is_passing: bool = False


_DTYPES = dtypes(CodeColumns)
_ORDER = (
    "engine", "hold_cycles", "latency_cycles", "kind", "op", "layer", "tile", "cores",
    "size_bytes", "halo_bytes", "macs", "vector_ops", "source", "target", "cause",
    "reduce_lo", "reduce_hi",
)  # fmt: skip
"""Columns as rows have them: made by position, a row takes a quarter of the time."""
assert tuple(_DTYPES) == _ORDER, "rows are not in the order of the columns"

Row = tuple[int, ...]
"""Cells of an instruction, with 0 in that of its tile: equal instructions share a row."""
Touched = tuple[int, bool, Box, str]
"""An `Access` as a plain tuple, which takes a ninth of the time to make."""
_NOWHERE = (-1, -1, 0)
"""Source, target and cause of a compute."""
_NO_PART = (0, -1)
"""Part of the reduced axis of a move."""


def _compute_row(
    engine: int, where: Where, work: Compute, times: tuple[int, int], size_bytes: int = 0
) -> Row:
    """Row of a compute; `times`: cycles that it holds its engine, and latency."""
    return (
        engine, *times, InstructionKind.COMPUTE, where.op, where.layer, 0, work.cores,
        size_bytes, 0, work.macs, work.vector_ops, *_NOWHERE, *work.reduce,
    )  # fmt: skip


@dataclass
class CodeBuilder:
    """Collects a kernel's instructions in layer order.

    `number_of`: distinct rows, numbered. Per instruction, `row_numbers` has the number of its row,
    `tiles` its tile. `channels`: of those instructions that occupy any.
    """

    machine: Machine
    number_of: dict[Row, int] = field(default_factory=dict)
    row_numbers: list[int] = field(default_factory=list)
    tiles: list[int] = field(default_factory=list)
    channels: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    transfers: list[Transfer] = field(default_factory=list)
    own_cycles: dict[int, int] = field(default_factory=dict)
    touched: list[Touched] = field(default_factory=list)
    touched_at: list[int] = field(default_factory=lambda: [0])
    results: list[Box] = field(default_factory=list)
    buffers: list[LocalBuffer] = field(default_factory=list)
    shared: dict[SharedKey, int] = field(default_factory=dict)
    ports: dict[tuple[tuple[Use, ...], int], tuple[tuple[tuple[int, int], ...], int]] = field(
        default_factory=dict
    )

    @property
    def accesses(self) -> int:
        """Number of boxes that the instructions so far read and write."""
        return len(self.touched)

    @cached_property
    def bandwidths(self) -> tuple[int, ...]:
        """Bandwidth of every channel in bytes/s."""
        return tuple(channel.bandwidth for channel in self.machine.channels())

    def buffer(self, buffer: LocalBuffer) -> int:
        """Add a buffer and return its number; a shared buffer is added once."""
        if buffer.shared is not None:
            known = self.shared.get(buffer.shared)
            if known is not None:
                return known
            self.shared[buffer.shared] = len(self.buffers)
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def row(self, cells: Row) -> int:
        """The number of a row; the cell of the tile is 0."""
        assert len(cells) == len(_DTYPES), "cells are not the columns"
        return self.number_of.setdefault(cells, len(self.number_of))

    def add(self, row: int, tile: int, accesses: Iterable[Touched], result: Box) -> None:
        """Append an instruction with this row; an empty `result` for a move."""
        self.row_numbers.append(row)
        self.tiles.append(tile)
        self.touched.extend(accesses)
        self.touched_at.append(len(self.touched))
        self.results.append(result)

    def compute(
        self, engine: int, where: Where, work: Compute, accesses: Iterable[Touched]
    ) -> None:
        """Append a compute instruction; it occupies the ports of GB and DRAM that `work` names.

        If the bytes pass an LB, the latency is that of the farthest memory.
        """
        if not work.far:
            row = self.row(_compute_row(engine, where, work, (work.cycles, 0)))
            self.add(row, where.tile, accesses, work.box)
            return
        size_bytes = sum(way.size_bytes for way in work.far)
        ways = [(self.machine.port(way.end), way.size_bytes) for way in work.far]
        latency = 0
        if work.is_passing:
            ways.append((self.machine.port((Memory.LB_DATA, PASSING_CORE)), size_bytes))
            latency = max(self.machine.latency(way.end) for way in work.far)
        assert len({channel for channel, _ in ways}) == len(ways), "a channel twice"
        transfer_cycles = self.machine.hardware.transfer_cycles
        ports = tuple(
            (channel, transfer_cycles(size, self.bandwidths[channel])) for channel, size in ways
        )
        hold = max([work.cycles, *(cycles for _, cycles in ports)])
        place = len(self.row_numbers)
        self.own_cycles[place] = work.cycles
        self.transfers += [Transfer(place, channel, size) for channel, size in ways]
        self.channels[place] = ports
        row = self.row(_compute_row(engine, where, work, (hold, latency), size_bytes))
        self.add(row, where.tile, accesses, work.box)

    def move(
        self,
        engine: int,
        kind: InstructionKind,
        where: Where,
        move: Move,
        accesses: Iterable[Touched],
    ) -> None:
        """Append a move; it occupies its engine as long as its slowest channel."""
        place, size_bytes = len(self.row_numbers), move.size_bytes
        self.transfers += [Transfer(place, use[0], size_bytes, *use[1:]) for use in move.channels]
        ports, hold_cycles = self._ports(move.channels, size_bytes)
        self.channels[place] = ports
        cells = (
            engine, hold_cycles, move.latency_cycles, kind, where.op, where.layer, 0, move.cores,
            size_bytes, move.halo_bytes, 0, 0, move.source, move.target, move.cause, *_NO_PART,
        )  # fmt: skip
        self.add(self.row(cells), where.tile, accesses, ())

    def _ports(
        self, uses: tuple[Use, ...], size_bytes: int
    ) -> tuple[tuple[tuple[int, int], ...], int]:
        """Channels that a move occupies with their cycles, and the longest of these; memoised."""
        known = self.ports.get((uses, size_bytes))
        if known is None:
            held: dict[int, int] = {}
            for channel, times, among in uses:
                bandwidth = self.bandwidths[channel]
                cycles = self.machine.hardware.transfer_cycles(size_bytes, bandwidth)
                held[channel] = held.get(channel, 0) - (-cycles * times // among)
            known = self.ports[uses, size_bytes] = tuple(held.items()), max(held.values())
        return known

    def finish(self) -> KernelCode:
        """The collected instructions as arrays."""
        numbers = np.array(self.row_numbers, dtype=np.int64)
        rows = np.array([*self.number_of], dtype=np.int64).reshape(-1, len(_DTYPES))
        found = {
            name: column.astype(dtype)[numbers]
            for (name, dtype), column in zip(_DTYPES.items(), rows.T, strict=True)
        }
        found["tile"] = np.array(self.tiles, dtype=_DTYPES["tile"])
        channel_at, pairs = self._channel_pairs()
        touched = zip(*self.touched, strict=True) if self.touched else ((),) * 4
        buffers, writes, boxes, tensors = touched
        lo, hi = pack_boxes(boxes)
        result_lo, result_hi = pack_boxes(self.results)
        number = {name: place for place, name in enumerate(dict.fromkeys(tensors))}
        return KernelCode(
            **found,
            channel_at=channel_at,
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
            transfers=Transfers.of(self.transfers, self.own_cycles),
        )

    def _channel_pairs(self) -> tuple[IntArray, IntArray]:
        """Where each instruction's channels begin, and all channels with their cycles, a row each.

        Instructions are listed in `channels` in order.
        """
        counts = np.zeros(len(self.row_numbers) + 1, dtype=np.int64)
        places = np.array([*self.channels], dtype=np.int64)
        counts[places + 1] = [len(held) for held in self.channels.values()]
        flat = chain.from_iterable(chain.from_iterable(self.channels.values()))
        total = 2 * int(counts.sum())
        pairs = np.fromiter(flat, dtype=np.int64, count=total).reshape(-1, 2)
        return np.cumsum(counts), pairs


@dataclass(frozen=True)
class KernelCode(CodeColumns, ChannelTable, AccessTable, ResultBoxes):
    """One kernel's instructions in layer order; `access_buffer` indexes the kernel's `buffers`.

    `access_tensor` indexes `tensors`, where "" is the tensor of the buffer. `transfers`: what its
    cycles on channels are made from; None for a part.
    """

    tensors: tuple[str, ...]
    buffers: LocalBuffers
    transfers: Transfers | None = None

    @property
    def size(self) -> int:
        """Number of instructions."""
        return len(self.engine)

    @cached_property
    def distinct(self) -> dict[str, tuple[list[int], IntArray]]:
        """Distinct values of `op` and `layer`, and the index of each row's value among them."""
        columns_of_names = {}
        for name in ("op", "layer"):
            values, index = np.unique(getattr(self, name), return_inverse=True)
            columns_of_names[name] = values.tolist(), index
        return columns_of_names

    def at_bandwidths(self, hardware: Hardware, bandwidths: Sequence[int]) -> KernelCode:
        """The same instructions on channels of these bandwidths in bytes/s."""
        assert self.transfers is not None, "a part of a kernel"
        channel_cycles, hold_cycles = self.transfers.at_bandwidths(
            self, self.hold_cycles, hardware, bandwidths
        )
        return replace(self, channel_cycles=channel_cycles, hold_cycles=hold_cycles)

    def part(self, first: int, end: int) -> KernelCode:
        """Instructions [first, end), with all of the buffers."""
        names = (*columns(CodeColumns), *columns(ResultBoxes))
        parts = {name: getattr(self, name)[first:end] for name in names}
        for at, *values in map(columns, (ChannelTable, AccessTable)):
            bounds = getattr(self, at)[first : end + 1]
            parts[at] = bounds - bounds[0]
            parts |= {name: getattr(self, name)[bounds[0] : bounds[-1]] for name in values}
        return replace(self, transfers=None, **parts)
