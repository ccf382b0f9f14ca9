"""Conflicts against the design's definition (section 4), all pairs of accesses."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.ir.boxes import Box, contains, intersect, is_empty
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import (
    MANY_ACCESSES,
    _cells,
    _span,
    find_conflicts,
)
from graphturbo_core.lowering.instructions.local_buffers import SCRATCH
from graphturbo_core.products.program import MAX_RANK, Memory
from tests.full import examples
from tests.lowering.codes import (
    Row,
    buffer_at,
    closure,
    csr_edges,
    kernel_code,
    kernel_codes,
    local,
    space,
)

LEFT: Box = ((0, 4), (0, 2))
RIGHT: Box = ((0, 4), (2, 4))
WHOLE: Box = ((0, 4), (0, 4))


@dataclass(frozen=True)
class _Access:
    row: int
    buffer: int
    is_write: bool
    box: Box


def _all_accesses(code: KernelCode) -> list[_Access]:
    return [
        _Access(
            row,
            int(code.access_buffer[at]),
            bool(code.access_write[at]),
            tuple(
                (int(code.access_lo[at, axis]), int(code.access_hi[at, axis]))
                for axis in range(MAX_RANK)
            ),
        )
        for row in range(code.size)
        for at in range(code.access_at[row], code.access_at[row + 1])
    ]


def _reuses(code: KernelCode, one: int, other: int, is_pooled: bool) -> bool:
    """Different buffers, placed by this kernel, with a byte in common."""
    first, second = (buffer_at(code.buffers, number) for number in (one, other))
    if any(b.shared is not None and b.shared[0] != "RESIDENT" for b in (first, second)):
        return False
    is_apart = (
        first.offset + first.size_bytes <= second.offset
        or second.offset + second.size_bytes <= first.offset
    )
    return space(first, is_pooled) == space(second, is_pooled) and not is_apart


def _definition(code: KernelCode, is_pooled: bool) -> dict[tuple[int, int], bool]:
    """(later, earlier) -> whether it is an address conflict.

    Data is read from the last write: one that a later write covers whole is not where it is from.
    """
    found: dict[tuple[int, int], bool] = {}
    accesses = _all_accesses(code)
    for place, later in enumerate(accesses):
        for before, earlier in enumerate(accesses[:place]):
            if earlier.row == later.row:
                continue
            key = (later.row, earlier.row)
            if earlier.buffer != later.buffer:
                if _reuses(code, earlier.buffer, later.buffer, is_pooled):
                    found.setdefault(key, True)
                continue
            is_pair = earlier.is_write or later.is_write
            if not is_pair or is_empty(intersect(earlier.box, later.box)):
                continue
            is_stale = any(
                other.is_write
                and other.buffer == earlier.buffer
                and other.row != earlier.row
                and contains(other.box, earlier.box)
                for other in accesses[before + 1 : place]
            )
            is_data = not later.is_write and not is_stale
            found[key] = found.get(key, True) and not is_data
    return found


@settings(max_examples=examples(120))
@given(kernel_codes(), st.booleans())
def test_edges_are_conflicts_and_imply_all_of_them(code: KernelCode, is_pooled: bool) -> None:
    _check(code, is_pooled)


def _check(code: KernelCode, is_pooled: bool) -> None:
    """No edge but conflicts, each once, and no conflict that does not follow from edges."""
    conflicts = find_conflicts(code, is_pooled)
    edges = csr_edges(conflicts.conflict_at, conflicts.conflict)
    expected = _definition(code, is_pooled)
    assert len(set(edges)) == len(edges)
    assert set(edges) <= set(expected)
    count = code.size
    assert closure(count, set(edges)) == closure(count, set(expected))
    for edge, is_address in zip(edges, conflicts.is_address_conflict.tolist(), strict=True):
        assert is_address == expected[edge], edge


def _edges(rows: list[Row], *buffers: object, is_pooled: bool = False) -> dict[str, str]:
    conflicts = find_conflicts(kernel_code(rows, buffers), is_pooled)  # type: ignore[arg-type]
    edges = csr_edges(conflicts.conflict_at, conflicts.conflict)
    kinds = ["address" if flag else "data" for flag in conflicts.is_address_conflict.tolist()]
    return {f"{a} after {b}": kind for (a, b), kind in zip(edges, kinds, strict=True)}


def test_read_after_write_is_data_and_write_after_either_is_address() -> None:
    rows = [
        Row([(0, True, LEFT)]),
        Row([(0, True, RIGHT)]),
        Row([(0, False, WHOLE)]),
        Row([(0, True, LEFT)]),
    ]
    assert _edges(rows, local(0, 32)) == {
        "2 after 0": "data",
        "2 after 1": "data",
        "3 after 0": "address",
        "3 after 2": "address",
    }


def test_reused_bytes_are_an_address_conflict_with_the_last_accesses() -> None:
    """Buffer 1 takes half of buffer 0's bytes; its writer waits for the reader, not the writer."""
    rows = [Row([(0, True, WHOLE)]), Row([(0, False, WHOLE)]), Row([(1, True, WHOLE)])]
    assert _edges(rows, local(0, 64), local(32, 64)) == {
        "1 after 0": "data",
        "2 after 1": "address",
    }
    assert "2 after 1" not in _edges(rows, local(0, 64), local(64, 64))


def test_the_first_write_of_each_engine_waits_for_the_old_owner_of_scratch_bytes() -> None:
    """Rows 2 and 3 wait for both reads; row 4, of row 2's engine, for row 2 alone.

    Bytes of GB that are no scratch bytes have addresses of their own, though offsets are equal.
    """
    rows = [
        Row([(0, False, LEFT)]),
        Row([(0, False, RIGHT)]),
        Row([(1, True, ((0, 2), (0, 2)))], engine=1),
        Row([(1, True, RIGHT)], engine=2),
        Row([(1, True, ((2, 4), (0, 2)))], engine=1),
        Row([(2, True, WHOLE)]),
    ]
    old, new = (
        local(0, 32, Memory.GB)._replace(shared=(SCRATCH, tensor, -1, 0)) for tensor in "ab"
    )
    assert _edges(rows, old, new, local(0, 32, Memory.GB)) == dict.fromkeys(
        ("2 after 0", "2 after 1", "3 after 0", "3 after 1", "4 after 2"), "address"
    )


def test_accumulating_is_data() -> None:
    rows = [Row([(0, True, LEFT)]), Row([(0, False, LEFT), (0, True, LEFT)])]
    assert _edges(rows, local(0, 32)) == {"1 after 0": "data"}


def test_weights_and_data_share_addresses_in_a_pool_only() -> None:
    rows = [Row([(0, True, WHOLE)]), Row([(1, True, WHOLE)])]
    buffers = (local(0, 32), local(0, 32, Memory.LB_WEIGHT))
    assert _edges(rows, *buffers) == {}
    assert _edges(rows, *buffers, is_pooled=True) == {"1 after 0": "address"}


def test_a_covered_access_is_not_waited_for_twice() -> None:
    """The second write covers the first: the read waits for it alone."""
    rows = [Row([(0, True, LEFT)]), Row([(0, True, WHOLE)]), Row([(0, False, LEFT)])]
    assert _edges(rows, local(0, 32)) == {"1 after 0": "address", "2 after 1": "data"}


@pytest.mark.parametrize("seed", range(6))
def test_many_accesses_of_one_buffer(seed: int) -> None:
    """Tiles, rows of tiles and all of it, read and written in any order."""
    draw = Random(seed)
    rows = []
    for _ in range(4 * MANY_ACCESSES):
        row, column = 3 * draw.randrange(10), 2 * draw.randrange(12)
        tile = ((row, row + 3), (column, column + 2))
        box = draw.choices((tile, (tile[0], (0, 24)), ((0, 30), (0, 24))), (20, 3, 1))[0]
        rows.append(Row([(0, draw.random() < 0.4, box)]))
    code = kernel_code(rows, (local(0, 1440),))
    _check(code, is_pooled=False)
    conflicts = find_conflicts(code, is_pooled=False)
    assert set(csr_edges(conflicts.conflict_at, conflicts.conflict)) == _swept(_all_accesses(code))


def _swept(accesses: list[_Access]) -> set[tuple[int, int]]:
    """Each access of the one buffer against all before it that no write has covered since."""
    edges: set[tuple[int, int]] = set()
    waiting: list[_Access] = []
    for later in accesses:
        met = [
            earlier
            for earlier in waiting
            if (earlier.is_write or later.is_write)
            and not is_empty(intersect(earlier.box, later.box))
        ]
        edges |= {(later.row, earlier.row) for earlier in met}
        covered = [e for e in met if later.is_write and contains(later.box, e.box)]
        waiting = [*(e for e in waiting if e not in covered), later]
    return edges


def test_cells_lie_along_the_axis_with_most_tiles() -> None:
    """8 x 16 tiles of 4 x 2: 16 cells of 2 columns; of few accesses one cell, as long as all.

    8 x 8 of them: 8 cells of 4 rows, the first of equal axes.
    """
    tiles = [(4 * row, 2 * column) for row in range(8) for column in range(16)]
    lo = np.array(tiles, dtype=np.int32)
    hi = lo + np.array([4, 2], dtype=np.int32)
    few = MANY_ACCESSES - 1
    square = [at for at, (_, column) in enumerate(tiles) if column < 16]
    order = np.concatenate((np.arange(len(tiles)), np.arange(few), square))
    buffer_at = np.array([0, len(tiles), len(tiles) + few, len(order)])
    assert _cells(buffer_at, lo[order]).tolist() == [[1, 16], [0, 1], [0, 8]]
    assert _span(order[: len(tiles)], 1, 16, lo, hi) == (0, 2)
    assert _span(order[len(tiles) : -len(square)], 0, 1, lo, hi) == (0, 16)
