"""Which accesses of a buffer must not swap: sweeps against every pair, and cases by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from graphturbo_core.ir.boxes import contains, intersect, is_empty
from graphturbo_core.products.arrays import owners
from graphturbo_core.products.program import Program
from graphturbo_core.sim.checks import ordering, shared_boxes
from graphturbo_core.sim.checks.ordering import unordered_accesses
from graphturbo_core.sim.checks.shared_boxes import FEW_ACCESSES, pairs_within_buffers
from tests.sim.programs import Access, program_of, tiles
from tests.verify.equivalence import is_ordered


def found(program: Program) -> list[tuple[int, int]]:
    order = np.argsort(program.access_buffer, kind="stable")
    pairs = pairs_within_buffers(program, order, owners(program.access_at))
    return [(int(earlier), int(later)) for earlier, later in pairs]


def by_definition(accesses: Sequence[Access]) -> set[tuple[int, int]]:
    """Each access against all before it, in its buffer and segment, that no write has covered."""
    pairs: set[tuple[int, int]] = set()
    waiting: list[tuple[int, int, Access]] = []
    instruction = -1
    for row, later in enumerate(accesses):
        instruction += not later.is_of_the_one_before
        left = []
        for at, of, earlier in waiting:
            is_near = (earlier.buffer, earlier.segment) == (later.buffer, later.segment)
            is_met = is_near and not is_empty(intersect(earlier.box, later.box))
            if is_met and of != instruction and (earlier.is_write or later.is_write):
                pairs.add((at, row))
            if not (is_met and later.is_write and contains(later.box, earlier.box)):
                left.append((at, of, earlier))
        waiting = [*left, (row, instruction, later)]
    return pairs


@pytest.mark.parametrize("count", [2, 9, FEW_ACCESSES, 10 * FEW_ACCESSES])
@pytest.mark.parametrize("seed", range(5))
def test_the_sweep_finds_the_pairs_of_the_definition(seed: int, count: int) -> None:
    accesses = tiles(Random(seed), count)
    pairs = found(program_of(accesses))
    assert len(pairs) == len(set(pairs)), "none twice"
    assert set(pairs) == by_definition(accesses)


@pytest.mark.parametrize("seed", range(5))
def test_a_verdict_is_that_of_all_pairs_whichever_dependence_is_dropped(seed: int) -> None:
    """All dependences that the definition asks for, less one that nothing else implies."""
    draw = Random(seed)
    accesses = [
        replace(access, is_of_the_one_before=False) for access in tiles(draw, 3 * FEW_ACCESSES)
    ]
    pairs = by_definition(accesses)
    conflicts = [sorted(a for a, b in pairs if b == row) for row in range(len(accesses))]
    assert unordered_accesses(program_of(accesses, conflicts)) is None
    verdicts = []
    for earlier, later in draw.sample(sorted(pairs), 12):
        kept = [[a for a in row if (a, b) != (earlier, later)] for b, row in enumerate(conflicts)]
        program = program_of(accesses, kept)
        pair = unordered_accesses(program)
        assert (pair is None) == is_ordered(program)
        assert pair in {None, (earlier, later)}
        verdicts.append(pair)
    assert any(verdicts), "some dependence does not follow from others"


def test_tiles_beside_one_another_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 x 16 tiles: each meets itself only, and is compared with the 16 of its row of tiles.

    16 rows of 16 * 17 / 2 pairs, a tile and itself among them; all pairs would be 256 * 257 / 2.
    """
    compared: list[tuple[int, int]] = []

    def meets(boxes: tuple[np.ndarray, np.ndarray], one: int, other: int) -> bool:
        compared.append((one, other))
        return bool(
            (boxes[0][one] < boxes[1][other]).all() and (boxes[0][other] < boxes[1][one]).all()
        )

    lo = np.array([(3 * a, 2 * b) for a in range(16) for b in range(16)], dtype=np.int32)
    boxes = (lo, lo + np.array([3, 2], dtype=np.int32))
    rooms = np.full((256, 4), -1)
    rooms[:, shared_boxes.IS_WRITTEN] = 1
    (*_, waiting), sorting = shared_boxes._places(np.array([[0, 256]]))
    with np.errstate(over="ignore"):  # the hash
        order = shared_boxes._in_sweep_order(boxes, 0, sorting)[:256]
    monkeypatch.setattr(shared_boxes, "_meets", meets)
    tables = (rooms, np.empty((1, 2), np.int64), waiting)
    links = shared_boxes._link(order, 0, boxes, tables)
    assert links[:256, 0].tolist() == order.tolist()
    assert len(compared) == 16 * 16 * 17 // 2


@pytest.mark.parametrize("count", [1, 2, 7, 64, 257])
def test_rows_are_sorted_as_numpy_does_it(count: int) -> None:
    """Few different keys, so that many rows are equal and must keep their order."""
    _, sorting = shared_boxes._places(np.array([[0, count]]))
    draw = Random(count)
    keys = np.array([draw.randrange(-count, count) // 3 for _ in range(count)])
    sorting[0][:count] = keys
    rows = shared_boxes._sorted_rows(count, sorting)[:count]
    assert rows.tolist() == np.argsort(keys, kind="stable").tolist()


def test_the_sweep_is_along_the_axis_that_keeps_most_apart() -> None:
    """Windows of 8 that begin at 0 ... 15 overlap, two tiles of 8 beside each other do not."""
    lo = np.array([(a, b) for a in range(16) for b in (0, 8)], dtype=np.int32)
    hi = lo + np.array([16, 8], dtype=np.int32)
    _, sorting = shared_boxes._places(np.array([[0, len(lo)]]))
    assert shared_boxes._axis_apart((lo, hi), sorting) == 1
    square = np.array([(a, b) for a in range(4) for b in range(4)], dtype=np.int32)
    boxes = (square, square + np.int32(1))
    assert shared_boxes._axis_apart(boxes, sorting) == 0, "the first of equals"


def test_equal_boxes_that_are_not_adjacent_have_several_buckets() -> None:
    """Few accesses are not sorted: if two boxes alternate, each access has its own bucket."""
    left, right = ((0, 2),), ((1, 3),)
    accesses = [Access(box, at % 3 != 1) for at, box in enumerate((left, right) * 4)]
    assert len(accesses) < FEW_ACCESSES
    assert set(found(program_of(accesses))) == by_definition(accesses)


def test_a_write_stands_for_what_it_covers() -> None:
    """Rows 0 and 1 are covered by 2, which row 3 meets; row 4 is of the next segment."""
    left, right, whole = ((0, 2),), ((2, 4),), ((0, 4),)
    accesses = [
        Access(left, True), Access(right, False), Access(whole, True), Access(left, False),
        Access(left, True, segment=1), Access(whole, True, buffer=1, segment=1),
    ]  # fmt: skip
    assert found(program_of(accesses)) == [(0, 2), (1, 2), (2, 3)]


def test_reads_need_no_order_and_an_instruction_is_in_order_with_itself() -> None:
    """Row 2 is of the instruction of row 1: it takes the place of what that one read."""
    box = ((0, 4),)
    reads = [Access(box, False), Access(box, False)]
    assert found(program_of([*reads, Access(box, False)])) == []
    own = Access(box, True, is_of_the_one_before=True)
    assert found(program_of([*reads, own, Access(box, False)])) == [(0, 2), (2, 3)]


def test_of_a_chain_the_first_of_what_takes_bytes_and_the_last_of_what_had_them() -> None:
    """Rows 1 to 5 of a buffer, of chains 0, 1, 0, 1, 0: rows 1 and 2 begin them, 4 and 5 end them.

    Rows 0 and 6 are of the buffers beside it.
    """
    rows = (np.arange(7), np.array([0, 1, 6, 7]), np.arange(7))
    chain = np.array([0, 0, 1, 0, 1, 0, 1])
    for is_first, expected in ((True, [1, 2]), (False, [4, 5])):
        last, ends = np.empty((2, 5), np.int64)
        count = ordering._ends_of_chains(rows, 1, is_first, chain, (last, ends))
        assert ends[:count].tolist() == expected
