"""A Program taken apart into rows that may be changed, and put together again.

Everything that follows from the rows (CSR tables, sequence numbers of conflicts, first and last use
of buffers) is worked out anew, so that a mutant has the one fault that was put in and no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from graphturbo_core.lowering.stages.stage import tensor_bytes
from graphturbo_core.products.arrays import pack_boxes
from graphturbo_core.products.instruction_table import CodeColumns, columns
from graphturbo_core.products.program import InstructionKind, Memory, Program

COLUMNS = ("kernel", "segment", *columns(CodeColumns))
BUFFER_COLUMNS = ("memory", "core", "offset", "size_bytes", "tensor", "is_spill")
Box = tuple[tuple[int, int], ...]


@dataclass(eq=False)
class Access:
    """One row of the access table."""

    buffer: int
    is_write: bool
    box: Box
    tensor: int


@dataclass(eq=False)
class Row:
    """One instruction; `after` are the rows it conflicts with, and whether over an address."""

    at: dict[str, int]
    result: Box
    channels: list[tuple[int, int]]
    accesses: list[Access]
    after: dict[Row, bool] = field(default_factory=dict)

    @property
    def kind(self) -> InstructionKind:
        return InstructionKind(self.at["kind"])

    @property
    def is_compute(self) -> bool:
        return self.kind is InstructionKind.COMPUTE

    @property
    def reads(self) -> list[Access]:
        return [access for access in self.accesses if not access.is_write]

    @property
    def writes(self) -> list[Access]:
        return [access for access in self.accesses if access.is_write]


class Draft:
    """Rows and buffers of a Program, to be changed in place."""

    def __init__(self, program: Program) -> None:
        self.program = program
        known = program.plan.semantics.graph.tensors
        self.names = list(program.tensors)
        ranks = [len(known[name].shape) for name in program.tensors]
        columns = {name: getattr(program, name).tolist() for name in COLUMNS}
        buffers = program.buffers
        self.buffers = {name: getattr(buffers, name).tolist() for name in BUFFER_COLUMNS}
        of_buffer = [ranks[tensor] for tensor in buffers.tensor]
        self.boxes = _boxes(of_buffer, buffers.lo, buffers.hi)
        self.rows: list[Row] = []
        inside = [of_buffer[buffer] for buffer in program.access_buffer]
        boxes = _boxes(inside, program.access_lo, program.access_hi)
        for i in range(program.size):
            accesses = [
                Access(
                    int(program.access_buffer[a]), bool(program.access_write[a]), boxes[a],
                    int(program.access_tensor[a]),
                )
                for a in range(program.access_at[i], program.access_at[i + 1])
            ]  # fmt: skip
            channels = [
                (int(program.channel[c]), int(program.channel_cycles[c]))
                for c in range(program.channel_at[i], program.channel_at[i + 1])
            ]
            result = tuple(zip(program.result_lo[i].tolist(), program.result_hi[i].tolist()))  # noqa: B905
            at = {name: int(column[i]) for name, column in columns.items()}
            self.rows.append(Row(at, result, channels, accesses))
        for i, row in enumerate(self.rows):
            for c in range(program.conflict_at[i], program.conflict_at[i + 1]):
                row.after[self.rows[program.conflict[c]]] = bool(program.is_address_conflict[c])

    def op_type(self, row: Row) -> str:
        return self.program.plan.semantics.graph.ops[row.at["op"]].op_type

    def name_of(self, buffer: int) -> str:
        return self.names[self.buffers["tensor"][buffer]]

    def drop(self, row: Row) -> None:
        """Remove a row; what waited for it waits for what it waited for."""
        self.rows.remove(row)
        for other in self.rows:
            if row in other.after:
                del other.after[row]
                for before, is_address in row.after.items():
                    other.after.setdefault(before, is_address)

    def repeat(self, row: Row) -> None:
        """Do a row twice, the second time after the first."""
        again = Row(
            dict(row.at), row.result, list(row.channels),
            [Access(a.buffer, a.is_write, a.box, a.tensor) for a in row.accesses],
            {**row.after, row: True},
        )  # fmt: skip
        for other in self.rows:
            if row in other.after:
                other.after[again] = other.after[row]
        self.rows.insert(self.rows.index(row) + 1, again)

    def charge(self, row: Row) -> None:
        """Bytes and cycles of a move for the box that it now reads."""
        (read,) = row.reads
        size = tensor_bytes(self.program.plan, self.name_of(read.buffer), read.box)
        row.at["size_bytes"] = size
        row.at["halo_bytes"] = min(row.at["halo_bytes"], size)
        chip = self.program.plan.hardware
        row.channels = [
            (c, chip.transfer_cycles(size, self.program.channels[c].bandwidth))
            for c, _ in row.channels
        ]
        row.at["hold_cycles"] = max(cycles for _, cycles in row.channels)

    def build(self) -> Program:
        """The Program of the rows as they are now; a conflict with a later row is turned round."""
        program, rows = self.program, self.rows
        place = {row: i for i, row in enumerate(rows)}
        conflicts: list[dict[int, bool]] = [{} for _ in rows]
        for i, row in enumerate(rows):
            for other, is_address in row.after.items():
                if other in place and place[other] != i:
                    earlier, later = sorted((place[other], i))
                    conflicts[later][earlier] = is_address
        accesses = [access for row in rows for access in row.accesses]
        lo, hi = pack_boxes([access.box for access in accesses])
        result_lo, result_hi = pack_boxes([row.result for row in rows])
        channels = [pair for row in rows for pair in row.channels]
        edges = [pair for found in conflicts for pair in found.items()]
        columns = {
            name: np.array([row.at[name] for row in rows], dtype=getattr(program, name).dtype)
            for name in COLUMNS
        }
        return replace(
            program,
            **columns,
            buffers=self._buffers(place),
            result_lo=result_lo,
            result_hi=result_hi,
            channel_at=_bounds([len(row.channels) for row in rows]),
            channel=np.array([c for c, _ in channels], np.int32),
            channel_cycles=np.array([cycles for _, cycles in channels], np.int64),
            conflict_at=_bounds([len(found) for found in conflicts]),
            conflict=np.array([earlier for earlier, _ in edges], np.int32),
            is_address_conflict=np.array([flag for _, flag in edges], np.bool_),
            access_at=_bounds([len(row.accesses) for row in rows]),
            access_buffer=np.array([a.buffer for a in accesses], np.int32),
            access_write=np.array([a.is_write for a in accesses], np.bool_),
            access_lo=lo,
            access_hi=hi,
            access_tensor=np.array([a.tensor for a in accesses], np.int32),
        )

    def _buffers(self, place: dict[Row, int]):  # type: ignore[no-untyped-def]
        old = self.program.buffers
        first, last = old.first.copy(), old.last.copy()
        found: dict[int, list[tuple[int, bool]]] = {}
        for row, i in place.items():
            for access in row.accesses:
                found.setdefault(access.buffer, []).append((i, access.is_write))
        for buffer, uses in found.items():
            writers = [i for i, is_write in uses if is_write]
            first[buffer] = min(writers or [i for i, _ in uses])
            last[buffer] = max(i for i, _ in uses)
        lo, hi = pack_boxes(self.boxes)
        columns = {
            name: np.array(self.buffers[name], dtype=getattr(old, name).dtype)
            for name in BUFFER_COLUMNS
        }
        return replace(old, **columns, lo=lo, hi=hi, first=first, last=last)


def is_local(draft: Draft, buffer: int) -> bool:
    """Whether a buffer lies in a core."""
    return draft.buffers["memory"][buffer] not in (Memory.GB, Memory.DRAM)


def _boxes(ranks: list[int], lo: np.ndarray, hi: np.ndarray) -> list[Box]:
    pairs = zip(ranks, lo.tolist(), hi.tolist(), strict=True)
    return [tuple(zip(a[:rank], b[:rank], strict=True)) for rank, a, b in pairs]


def _bounds(counts: list[int]) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts, dtype=np.int64))).astype(np.int64)
