"""docs/closed-forms.json: it is of today's search; nearness and the largest differences by hand."""

from __future__ import annotations

import pytest

from benchmarks.quality.closed_forms import CHIPS, LARGER, MODELS, OF, kept, runs, sheets
from benchmarks.quality.kept_runs import Key, Run
from graphturbo_core.frontend.catalogue import sample_names


def test_all_samples_and_chips_are_kept() -> None:
    assert list(kept()) == [(model, chip, OF) for model in MODELS for chip in CHIPS]
    assert frozenset(sample_names()) == LARGER | frozenset(MODELS)


@pytest.mark.parametrize("chip", CHIPS)
def test_a_kept_run_is_what_the_search_computes_today(chip: str) -> None:
    """One small sample; the others take minutes."""
    ((key, run),) = runs("light-squeezenet", [chip])
    assert kept()[key] == run


def made() -> dict[Key, Run]:
    """Closed form and simulated cycles of two sub-graphs on the first chip, one on the second."""
    return {
        ("a", CHIPS[0], OF): {"groups": [["first", 3, 4, 95, 100], ["last|op", 2, 1, 100, 400]]},
        ("a", CHIPS[1], OF): {"groups": [["first", 3, 4, 300, 200]]},
        ("b", CHIPS[1], OF): {"refused": "TOO_MANY_INSTRUCTIONS"},
    }


def test_nearness_is_of_sub_graphs_and_of_their_cycles() -> None:
    """On the first chip one of two is near, with 100 of 500 cycles; ratios 0.95 and 0.25."""
    nearness, _ = sheets(made())
    assert nearness.rows == [
        (CHIPS[0], "2", "50 (20)", "50 (20)", "0.60", "0.49"),
        (CHIPS[1], "1", "0 (0)", "100 (100)", "1.50", "1.50"),
    ]
    assert "; 1 of 3 plans are refused" in nearness.remark


def test_the_largest_differences_are_parts_of_their_run() -> None:
    """Of the first sample 300 of 500 cycles, 100 of 200, 5 of 500; the second has a third."""
    found = made() | {("c", CHIPS[0], OF): {"groups": [["only", 1, 1, 2, 3]]}}
    _, worst = sheets(found)
    assert [(row[0], row[-1]) for row in worst.rows] == [("a", "60"), ("c", "33")]
    assert worst.rows[0][:3] == ("a", CHIPS[0], "`last|op`")
    assert r"`last\|op`" in worst.markdown()


def test_nothing_kept_has_no_tables() -> None:
    assert not list(sheets({}))
