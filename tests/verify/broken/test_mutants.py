"""Faults put into correct Programs: each is caught or changes nothing (docs/mutants.md)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain

import numpy as np
import pytest

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.sim.checks import clocks
from graphturbo_core.sim.checks.ordering import unordered_accesses
from tests.full import often
from tests.sim.programs import Block, Step, build
from tests.verify.broken.mutant_cases import CASES, make
from tests.verify.draft import Draft
from tests.verify.equivalence import SAME, argument, is_ordered
from tests.verify.judge import PAGE, SURVIVED, Verdict, caught_by, mutants, page, verdicts

SMALL = tuple(
    name for name in CASES if not name.startswith(("teaching", "net, streamed", "net, tvm"))
)


@cache
def verdicts_on(name: str) -> tuple[Verdict, ...]:
    return tuple(verdicts([name]))


def found() -> tuple[Verdict, ...]:
    return tuple(chain.from_iterable(map(verdicts_on, CASES)))


@pytest.mark.parametrize("name", CASES)
def test_the_program_without_a_fault_passes(name: str) -> None:
    case = make(name)
    program = case.trace.program
    assert caught_by(case, case.trace) is None
    assert argument(program, Draft(program).build()) == SAME
    assert is_ordered(program)


@pytest.mark.parametrize("name", often(("cuts of K", "pieces of a batch"), ("cuts of K",)))
def test_mutants_of_a_case_are_caught_or_mean_the_same(name: str) -> None:
    judgements = verdicts_on(name)
    assert [verdict for verdict in judgements if verdict.rule == SURVIVED] == []
    assert sum(bool(verdict.rule) for verdict in judgements) > 10


@pytest.mark.slow
def test_every_mutant_is_caught_or_means_the_same() -> None:
    assert [verdict for verdict in found() if verdict.rule == SURVIVED] == []


@pytest.mark.slow
def test_there_are_enough_mutants_of_enough_kinds() -> None:
    caught = Counter(verdict.kind for verdict in found() if verdict.rule)
    assert len(found()) >= 200
    assert len(caught) >= 20
    assert set(caught) == {verdict.kind for verdict in found()}, "of each kind some are caught"


@pytest.mark.slow
def test_the_page_says_what_became_of_them() -> None:
    """`python -m tests.verify.judge` writes it anew."""
    assert PAGE.read_text(encoding="utf-8") == page(found())


@pytest.mark.parametrize("name", often(SMALL, SMALL[:2]))
def test_the_sweep_over_accesses_finds_what_all_pairs_show(name: str) -> None:
    """In every mutant, also where another rule would catch it first."""
    for mutant in mutants(name, make(name)):
        changed = mutant.changed
        if not isinstance(changed, Program):
            continue
        expected = is_ordered(changed)
        assert (unordered_accesses(changed) is None) == expected, mutant[:3]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clocks, "MAX_CLOCKS", 1)
            assert (unordered_accesses(changed) is None) == expected, mutant[:3]


MATRIX, MOVE = (EngineKind.MATRIX, 0), (EngineKind.MOVE, 0)
BLOCKS = (Block(Memory.LB_DATA, 0, 8, core=0), Block(Memory.LB_DATA, 4, 8, core=0))


def _program(*steps: Step) -> Program:
    """Every access is to the one element of its buffer; the buffers have four bytes in common."""
    program = build(steps, blocks=BLOCKS, segments=[(0, 0), (0, 0)])
    return replace(program, access_hi=np.ones_like(program.access_hi))


def test_a_read_is_kept_behind_its_write_by_a_dependence() -> None:
    move, read = Step(MOVE, 4, latency=2, writes=[0]), Step(MATRIX, 3, reads=[0])
    assert unordered_accesses(_program(move, replace(read, data=[0]))) is None
    assert unordered_accesses(_program(move, read)) == (0, 1)


def test_a_queue_keeps_order_unless_the_result_comes_later() -> None:
    """A move's engine is free before its bytes are there; the next move may read too soon."""
    on_time, late = Step(MOVE, 4, writes=[0]), Step(MOVE, 4, latency=2, writes=[0])
    assert unordered_accesses(_program(on_time, Step(MOVE, 4, reads=[0]))) is None
    assert unordered_accesses(_program(late, Step(MOVE, 4, reads=[0]))) == (0, 1)


def test_a_segment_keeps_order() -> None:
    write, read = Step(MOVE, 4, latency=2, writes=[0]), Step(MATRIX, 3, reads=[0], segment=1)
    assert unordered_accesses(_program(write, read)) is None


def test_bytes_are_taken_after_all_who_had_them() -> None:
    """Row 2 takes the bytes behind the reader, row 1; behind the writer alone is not enough."""
    write, read = Step(MOVE, 4, writes=[0]), Step(MATRIX, 3, reads=[0], data=[0])
    taker = Step(MOVE, 4, writes=[1])
    assert unordered_accesses(_program(write, read, replace(taker, address=[1]))) is None
    assert unordered_accesses(_program(write, read, replace(taker, address=[0]))) == (1, 2)


def test_the_first_of_a_queue_that_takes_bytes_stands_for_those_behind_it() -> None:
    """Row 3 writes another element than row 2: in the same queue it is behind row 1 as row 2 is."""
    write, read = Step(MOVE, 4, writes=[0]), Step(MATRIX, 3, reads=[0], data=[0])
    taker = Step(MOVE, 4, latency=2, writes=[1], address=[1])

    def pair(last: Step) -> tuple[int, int] | None:
        program = _program(write, read, taker, last)
        element = np.array([0, 0, 0, 1], np.int32)[:, None]
        corners = program.access_lo + element, program.access_hi + element
        return unordered_accesses(replace(program, access_lo=corners[0], access_hi=corners[1]))

    assert pair(replace(taker, address=[])) is None
    other = replace(taker, engine=(EngineKind.VECTOR, 0))
    assert pair(other) is None
    assert pair(replace(other, address=[0])) == (1, 3)


def test_order_follows_from_other_dependences() -> None:
    """Row 2 after 1 after 0: that 2 is after 0 need not be said."""
    steps = (
        Step(MOVE, 4, latency=2, writes=[0]), Step(MATRIX, 3, data=[0]),
        Step(MOVE, 4, reads=[0], data=[1]),
    )  # fmt: skip
    assert unordered_accesses(_program(*steps)) is None
