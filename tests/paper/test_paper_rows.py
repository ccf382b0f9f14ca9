"""The paper's ten rows are the ones that docs/paper-assumptions.md speaks of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.paper.rows import ROWS
from graphturbo_core.frontend.catalogue import sample_names

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper-assumptions.md"
TABLE = {
    cells[0]: cells[1:]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) > 4
    and re.fullmatch(r"[A-J]", cells[0])
}


def test_the_page_has_all_rows_in_order() -> None:
    assert list(TABLE) == list(ROWS) == list("ABCDEFGHIJ")


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_as_the_page_says(name: str) -> None:
    row, (title, given, taken, besides, *_) = ROWS[name], TABLE[name]
    assert title == row.title
    assert given == f"{row.batch:,}, {row.tvm_batch} / {row.batch_of_others}"
    samples = [variant.sample for variant in row.variants]
    assert re.findall(r"`([\w-]+)`", taken) == samples[:1]
    assert [s for s in re.findall(r"`([\w-]+)`", besides) if s in sample_names()] == samples[1:]
    assert set(samples) <= set(sample_names())


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_our_strategies_with_what_the_paper_says(name: str) -> None:
    row = ROWS[name]
    (tvm, base), *others = row.strategies()
    assert (tvm, base) == (f"tvm@{row.tvm_batch}", row.tvm_per_s)
    stitched = row.over_tvm["astitch"]
    assert (stitched is None) == (name == "H")  # the paper has no bar there
    levels = others if stitched is None else others[1:]
    if stitched is not None:
        expected = pytest.approx(row.tvm_per_s * stitched)
        assert others[0] == (f"astitch@{row.tvm_batch}", expected)
    assert [level for level, _ in levels] == [
        f"graphturbo:{level}@{row.batch_of_others}" for level in ("gb", "lb", "order", "full")
    ]
    assert levels[-1][1] == pytest.approx(row.tvm_per_s * (row.over_tvm["full"] or 0))


def test_the_best_of_the_paper_is_on_the_page() -> None:
    for name, row in ROWS.items():
        best = max(ratio for ratio in row.over_tvm.values() if ratio) * row.tvm_per_s
        told = float(TABLE[name][-1].replace(",", ""))
        full = row.tvm_per_s * (row.over_tvm["full"] or 0)
        assert told in (pytest.approx(best, rel=0.01), pytest.approx(full, rel=0.01)), name
