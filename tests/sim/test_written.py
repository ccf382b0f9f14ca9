"""What is read before it was written: against every element marked by hand, and cases by hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.sim.checks import first_writes
from graphturbo_core.sim.checks.invariants import check_reads
from graphturbo_core.sim.checks.written import unwritten_output, unwritten_read
from graphturbo_core.sim.simulate import simulate
from tests.lowering.emission.cluster_plans import chain, gemm
from tests.lowering.small_plans import halo, k_cut, teaching
from tests.sim.programs import Access, program_of, tiles
from tests.verify.draft import Draft

NEVER = first_writes.NEVER


def writers_at(program: Program, row: int, first_write: dict[int, np.ndarray]) -> np.ndarray:
    """First writers of the elements that a row of the access table meets."""
    box = zip(program.access_lo[row], program.access_hi[row], strict=True)
    return first_write[int(program.access_buffer[row])][tuple(slice(lo, hi) for lo, hi in box)]


def marked(program: Program) -> dict[int, np.ndarray]:
    """Of every buffer the first instruction that writes each element."""
    shape = program.access_hi.max(axis=0)
    found = {int(b): np.full(shape, NEVER) for b in np.unique(program.access_buffer)}
    owner = owners(program.access_at)
    for row in np.flatnonzero(program.access_write):
        part = writers_at(program, row, found)
        part[...] = np.minimum(part, owner[row])
    return found


def too_early(program: Program) -> list[int]:
    """Rows that read what their instruction finds unwritten, by buffer, then by row."""
    first_write, owner = marked(program), owners(program.access_at)
    rows = np.flatnonzero(~program.access_write)
    bad = [row for row in rows if (writers_at(program, row, first_write) >= owner[row]).any()]
    return sorted((int(row) for row in bad), key=lambda row: (program.access_buffer[row], row))


@pytest.mark.parametrize("count", [2, 9, 40, 150])
@pytest.mark.parametrize("seed", range(5))
def test_the_tree_finds_what_marking_every_element_finds(seed: int, count: int) -> None:
    """One read after another is taken out, until none reads too early: each was told in its turn.

    Tiles, windows over several of them, rows and all of it are written and read, in two buffers;
    so writes overlap, lie within each other and are done again.
    """
    accesses = tiles(Random(seed), count)
    while accesses:
        program = program_of(accesses)
        expected = too_early(program)
        read = unwritten_read(program)
        assert (read.access if read else None) == (expected[0] if expected else None)
        if read is None:
            break
        box = tuple(slice(lo, hi) for lo, hi in read.box)
        writers = marked(program)[int(program.access_buffer[read.access])][box]
        assert writers.size
        assert set(np.unique(writers)) == {NEVER if read.writer is None else read.writer}
        accesses.pop(read.access)
        if read.access < len(accesses) and accesses[read.access].is_of_the_one_before:
            accesses[read.access] = replace(accesses[read.access], is_of_the_one_before=False)
    assert count < 150 or any(not access.is_write for access in accesses), "some reads are right"


def whole(boxes: Sequence[tuple[int, int]], read: tuple[int, int]) -> list[Access]:
    """Writes of these rows, and then a read."""
    return [*(Access((rows,), is_write=True) for rows in boxes), Access((read,), is_write=False)]


def test_tiles_of_a_grid_are_all_of_it() -> None:
    """Without the tile of rows [2, 4) and columns [0, 2), columns [1, 2) of them are missing."""
    halves = [(0, 2), (2, 4)]
    grid = [Access((rows, columns), True) for rows in halves for columns in halves]
    read = Access(((0, 4), (1, 3)), False)
    check_reads(program_of([*grid, read]))
    program = program_of([*grid[:2], grid[3], read])
    program.plan.semantics.graph.tensors["t"].shape = (4, 4)  # type: ignore[misc]
    what = (
        "instruction 3 (COMPUTE on core 0 move) reads ((2, 4), (1, 2)) of "
        "buffer 0 ('t', DRAM, bytes [0, 500)), which no instruction writes"
    )
    with pytest.raises(InvariantError, match=re.escape(what)) as refused:
        check_reads(program)
    assert refused.value.code == "TRACE_UNWRITTEN"


def test_writes_that_overlap_count_once() -> None:
    """Rows [0, 3) and [1, 4) have 6 rows, more than [0, 5), and row 4 is in neither."""
    check_reads(program_of(whole([(0, 3), (1, 4)], (0, 4))))
    read = unwritten_read(program_of(whole([(0, 3), (1, 4)], (0, 5))))
    assert read is not None
    assert (read.access, read.box[0], read.writer) == (2, (4, 5), None)


def test_a_gap_inside_is_seen_and_who_fills_it_too_late_is_named() -> None:
    accesses = [*whole([(0, 2), (3, 5)], (1, 4)), Access(((2, 3),), True)]
    read = unwritten_read(program_of(accesses))
    assert read is not None
    assert (read.access, read.box[0], read.writer) == (2, (2, 3), 3)
    late = r"which instruction 3 \(COMPUTE on core 0 move\) writes, not before it"
    with pytest.raises(InvariantError, match=late):
        check_reads(program_of(accesses))


def test_an_instruction_does_not_read_what_it_writes() -> None:
    box = ((0, 4),)
    own = Access(box, True, is_of_the_one_before=True)
    read = unwritten_read(program_of([Access(box, False), own, Access(box, False)]))
    assert read is not None
    assert (read.access, read.writer) == (0, 0)


def test_another_buffer_is_another() -> None:
    box = ((0, 4),)
    assert unwritten_read(program_of([Access(box, True, buffer=1), Access(box, False)])) is not None


def test_what_is_empty_needs_no_write() -> None:
    empty = Access(((3, 3),), False)
    check_reads(program_of([empty, Access(((0, 1),), True), empty]))
    nothing = Access(((3, 3),), True)
    check_reads(program_of([nothing, *whole([(0, 2), (2, 4)], (0, 4))]))
    with pytest.raises(InvariantError, match="no instruction writes"):
        check_reads(program_of([nothing, Access(((2, 4),), False)]))


def from_memory(kind: TensorKind, memory: Memory, cores: int = 1) -> Program:
    """A read of what nothing writes, by an engine of a core that stands for so many."""
    program = program_of([Access(((0, 4),), False)])
    program.plan.semantics.graph.tensors["t"].kind = kind  # type: ignore[misc]
    places = np.full_like(program.buffers.memory, memory)
    engines = tuple(replace(engine, cores=cores) for engine in program.engines)
    return replace(program, engines=engines, buffers=replace(program.buffers, memory=places))


@pytest.mark.parametrize("kind", TensorKind)
@pytest.mark.parametrize("memory", Memory)
def test_inputs_and_weights_lie_in_dram_from_the_start(kind: TensorKind, memory: Memory) -> None:
    is_there = kind is not TensorKind.ACTIVATION and memory is Memory.DRAM
    assert (unwritten_read(from_memory(kind, memory)) is None) == is_there


@pytest.mark.parametrize("memory", Memory)
def test_what_cores_leave_that_another_one_stands_for_is_not_known(memory: Memory) -> None:
    read = unwritten_read(from_memory(TensorKind.ACTIVATION, memory, cores=8))
    assert (read is None) == (memory in {Memory.GB, Memory.DRAM})


def program_with_output(written: Sequence[tuple[int, int]]) -> Program:
    """One kernel that answers for rows [0, 8) of output `t`."""
    program = program_of([Access((rows,), True) for rows in written])
    program.plan.semantics.graph.output_names = frozenset({"t"})  # type: ignore[misc]
    kernel = SimpleNamespace(name="g0", outputs={"t": ((0, 8),)})
    stub = SimpleNamespace(**{**vars(program.plan), "kernels": (kernel,)}, cluster_of=lambda _: 0)
    memory = np.array([Memory.DRAM, Memory.GB], np.int8)
    return replace(program, plan=stub, buffers=replace(program.buffers, memory=memory))


def test_outputs_are_in_dram_at_the_end() -> None:
    check_reads(program_with_output([(0, 5), (5, 8)]))
    what = r"kernel 'g0' must write \(\(0, 8\),\) of output 't' to DRAM, .* writes \(\(5, 6\),\)"
    with pytest.raises(InvariantError, match=what):
        check_reads(program_with_output([(0, 5), (6, 8)]))


def test_outputs_are_not_known_where_cores_stand_for_others() -> None:
    program = program_with_output([(0, 5)])
    engines = tuple(replace(engine, cores=8) for engine in program.engines)
    assert unwritten_output(program) is not None
    assert unwritten_output(replace(program, engines=engines)) is None


PLANS: tuple[Callable[[], Plan], ...] = (halo, k_cut, teaching, gemm, chain)
"""The last two are of clusters that co-operate, each of which leaves its part in its own DRAM."""


def rows_written(program: Program, number: int) -> np.ndarray:
    """Rows of the access table that an instruction writes."""
    rows = np.arange(program.access_at[number], program.access_at[number + 1])
    return rows[program.access_write[rows]]


def missed_in(program: Program) -> int | None:
    """The buffer in which something is missing."""
    read, output = unwritten_read(program), unwritten_output(program)
    if read is not None:
        return int(program.access_buffer[read.access])
    return None if output is None else output[0].buffer


@pytest.mark.parametrize("make", PLANS)
def test_no_move_can_be_left_out(make: Callable[[], Plan]) -> None:
    """Whatever one brings or stores is read, or an output: it is missed where it was to be."""
    program = lower(make())
    assert missed_in(program) is None
    for number in np.flatnonzero(program.kind != InstructionKind.COMPUTE).tolist():
        rows, hi = rows_written(program, number), program.access_hi.copy()
        hi[rows] = program.access_lo[rows]
        assert missed_in(replace(program, access_hi=hi)) in program.access_buffer[rows], number


@pytest.mark.parametrize("make", PLANS)
def test_no_write_can_be_a_slice_short(make: Callable[[], Plan]) -> None:
    """Along its longest axis, at the end; all of what these compute and move is needed.

    Only where a result goes over an operand, or a sum over itself, something is there before.
    """
    program = lower(make())
    owner = owners(program.access_at)
    pairs = np.column_stack((owner, program.access_buffer))[~program.access_write]
    read = {(row, buffer) for row, buffer in pairs.tolist()}
    for number in range(program.size):
        rows, hi = rows_written(program, number), program.access_hi.copy()
        if any((number, int(program.access_buffer[row])) in read for row in rows):
            continue
        for row in rows:
            hi[row, (hi[row] - program.access_lo[row]).argmax()] -= 1
        assert missed_in(replace(program, access_hi=hi)) in program.access_buffer[rows], number


def test_a_trace_with_a_store_left_out_is_refused() -> None:
    draft = Draft(lower(halo()))
    store = next(row for row in draft.rows if row.kind is InstructionKind.STORE)
    draft.drop(store)
    with pytest.raises(InvariantError, match="no instruction writes") as refused:
        simulate(draft.build()).check()
    assert refused.value.code == "TRACE_UNWRITTEN"
