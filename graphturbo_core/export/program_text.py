"""Program -> readable listing: one line per instruction, columns aligned, in sequence order.

Columns: sequence number; segment (it starts when all instructions of the previous segment have
ended); engine (cluster.core.kind); kind; cycles that the engine is occupied, `+` cycles until a
move's bytes are visible; bytes moved; cause; op, or tensor of a move; box of the result or of the
moved bytes; buffers read `->` buffers written, each as memory, core and byte range; after `<` the
sequence numbers of its conflicts (`a`: an address conflict).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.produced import (
    first_writes,
    moved_tensors,
    produced_boxes,
    result_ranks,
    tensor_ranks,
)
from graphturbo_core.products.program import Cause, Engine, InstructionKind, Memory, Program

LISTING = "# program of "
"""Start of a listing."""
CHUNK_LINES = 8192
"""Lines per chunk: the whole listing is never in memory."""
MAX_NAME_WIDTH = 60
"""Width of the name column; a longer name shifts the rest of its line."""
CLUSTER = 0
"""Index of the lowered cluster."""
MEMORIES = {
    Memory.LB_DATA: "LB",
    Memory.LB_WEIGHT: "WB",
    Memory.STAGING: "ST",
    Memory.GB: "GB",
    Memory.DRAM: "DRAM",
}
"""Names of memories in a listing; an LB's weight part has its own addresses."""


def program_lines(program: Program, title: str) -> Iterator[str]:
    """The listing in chunks of lines; equal programs give equal bytes.

    Linear in instructions, accesses and conflicts: each buffer's text is made once, boxes are
    computed once per chunk.
    """
    yield _head(program, title)
    columns = _Columns(program)
    for first in range(0, program.size, CHUNK_LINES):
        yield columns.lines(first, min(first + CHUNK_LINES, program.size))


def _head(program: Program, title: str) -> str:
    """Head of a listing: title, and the instructions of each kernel."""
    bounds = np.searchsorted(program.kernel, np.arange(len(program.plan.kernels) + 1))
    width = max(len(kernel.name) for kernel in program.plan.kernels)
    lines = [f"{LISTING}{title}: {program.size} instructions of one cluster and round"]
    for kernel, (first, end) in zip(program.plan.kernels, pairwise(bounds.tolist()), strict=True):
        span = f"instructions {first} to {end - 1}" if end > first else "no instructions"
        lines.append(f"# kernel {kernel.name:<{width}} {len(kernel.ops):>5} ops, {span}")
    return "\n".join(lines) + "\n"


class _Columns:
    """Texts that lines share, and the widths of the columns."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.engines = _padded([_engine_text(engine) for engine in program.engines])
        self.kinds = _padded([kind.name.lower() for kind in InstructionKind])
        self.causes = _padded([cause.name.lower() if cause else "-" for cause in Cause])
        self.buffers = _buffer_texts(program)
        graph = program.plan.semantics.graph
        self.names = [_line_of(name) for name in (*(op.name for op in graph.ops), *program.tensors)]
        self.ranks = [*result_ranks(program), *tensor_ranks(program)]
        self.first_writes = first_writes(program)
        subjects = self._subjects()
        used = (len(self.names[subject]) for subject in np.unique(subjects))
        width = min(max(used, default=0), MAX_NAME_WIDTH)
        self.subjects = subjects
        self.names = [name.ljust(width) for name in self.names]
        self.box_width = self._box_width()
        self.digits = [
            len(str(int(column.max(initial=0))))
            for column in (
                np.arange(program.size),
                program.hold_cycles,
                program.size_bytes,
                program.segment,
            )
        ]

    def _subjects(self) -> NDArray[np.int64]:
        """Index of each instruction's name: a compute's op; ops' count plus a move's tensor."""
        program = self.program
        ops = len(program.plan.semantics.graph.ops)
        moved = moved_tensors(program, self.first_writes)
        return np.where(moved < 0, program.op.astype(np.int64), ops + moved)

    def _box_width(self) -> int:
        """Upper bound of the boxes' text widths: digits, colons, commas and brackets."""
        lo, hi = produced_boxes(self.program, self.first_writes, 0, self.program.size)
        ranks = np.array(self.ranks)[self.subjects]
        digits = _digits(lo) + _digits(hi)
        used = np.arange(digits.shape[1])[None, :] < ranks[:, None]
        return int(((digits * used).sum(1) + 2 * ranks + 1).max(initial=2))

    def lines(self, first: int, end: int) -> str:
        """The lines of the instructions `first` to `end` (excluded)."""
        program = self.program
        rows = slice(first, end)
        cycles = [
            f"{hold:>{self.digits[1]}}{f'+{latency}' if latency else '':<6}"
            for hold, latency in zip(
                program.hold_cycles[rows].tolist(), program.latency_cycles[rows].tolist(),
                strict=True,
            )
        ]  # fmt: skip
        columns = zip(
            range(first, end),
            program.segment[rows].tolist(),
            program.engine[rows].tolist(),
            program.kind[rows].tolist(),
            cycles,
            program.size_bytes[rows].tolist(),
            program.cause[rows].tolist(),
            self.subjects[rows].tolist(),
            self._box_texts(first, end),
            self._access_texts(first, end),
            self._wait_texts(first, end),
            strict=True,
        )
        wide, _, bytes_wide, segment_wide = self.digits
        return "".join(
            f"{at:>{wide}} {part:>{segment_wide}} {self.engines[engine]} "
            f"{self.kinds[kind]} {cycle} {size:>{bytes_wide}} {self.causes[cause]} "
            f"{self.names[subject]} {box:<{self.box_width}} {touched}{waits}\n"
            for at, part, engine, kind, cycle, size, cause, subject, box, touched, waits in columns
        )

    def _box_texts(self, first: int, end: int) -> list[str]:
        lo, hi = produced_boxes(self.program, self.first_writes, first, end)
        return [
            f"[{','.join([f'{a}:{b}' for a, b in zip(low[:rank], high[:rank], strict=True)])}]"
            for low, high, rank in zip(
                lo.tolist(), hi.tolist(),
                [self.ranks[subject] for subject in self.subjects[first:end].tolist()],
                strict=True,
            )
        ]  # fmt: skip

    def _access_texts(self, first: int, end: int) -> list[str]:
        program = self.program
        bounds = program.access_at[first : end + 1].tolist()
        base = bounds[0]
        numbers = program.access_buffer[base : bounds[-1]].tolist()
        writes = program.access_write[base : bounds[-1]].tolist()
        texts = [self.buffers[number] for number in numbers]
        found = []
        for low, high in pairwise(bounds):
            span = range(low - base, high - base)
            read = " ".join([texts[at] for at in span if not writes[at]])
            written = " ".join([texts[at] for at in span if writes[at]])
            found.append(f"{read or '-'} -> {written}")
        return found

    def _wait_texts(self, first: int, end: int) -> list[str]:
        program = self.program
        bounds = program.conflict_at[first : end + 1].tolist()
        base = bounds[0]
        rows = np.repeat(np.arange(end - first), np.diff(program.conflict_at[first : end + 1]))
        rising = base + np.lexsort((program.conflict[base : bounds[-1]], rows))
        pairs = zip(
            program.conflict[rising].tolist(),
            program.is_address_conflict[rising].tolist(),
            strict=True,
        )
        texts = [f"{number}a" if is_address else str(number) for number, is_address in pairs]
        return [
            f" < {' '.join(texts[low - base : high - base])}" if high > low else ""
            for low, high in pairwise(bounds)
        ]


def _digits(numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """Number of digits of each number."""
    found: NDArray[np.int64] = np.log10(np.maximum(numbers, 1)).astype(np.int64) + 1
    return found


def _line_of(name: str) -> str:
    """A name for one line, with unprintable characters as question marks."""
    return name if name.isprintable() else "".join(c if c.isprintable() else "?" for c in name)


def _engine_text(engine: Engine) -> str:
    """Text of an engine: `0.3.matrix`, `0.dma.1`; `0.3x608.matrix` if it represents 608 cores."""
    if engine.core < 0:
        return f"{CLUSTER}.dma.{engine.index}"
    times = f"x{engine.cores}" if engine.cores > 1 else ""
    return f"{CLUSTER}.{engine.core}{times}.{engine.kind.value}"


def _padded(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.ljust(width) for text in texts]


@dataclass(frozen=True, slots=True)
class _BufferRow:
    memory: int
    core: int
    offset: int
    size_bytes: int

    @property
    def text(self) -> str:
        """Text of a buffer: `LB3[0:4096]`; GB and DRAM have no core."""
        core = self.core if self.core >= 0 else ""
        return (
            f"{MEMORIES[Memory(self.memory)]}{core}[{self.offset}:{self.offset + self.size_bytes}]"
        )


def _buffer_texts(program: Program) -> list[str]:
    buffers = program.buffers
    rows = zip(
        buffers.memory.tolist(), buffers.core.tolist(), buffers.offset.tolist(),
        buffers.size_bytes.tolist(), strict=True,
    )  # fmt: skip
    return [_BufferRow(*row).text for row in rows]
