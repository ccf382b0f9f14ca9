"""What README and docs/benchmarks.md say of the paper's rows is what docs/paper-rows.json has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
PAPER = json.loads((ROOT / "docs" / "paper-rows.json").read_text(encoding="utf-8"))
WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")


def values(words: str) -> Mapping[str, float]:
    """What a requirement gives on each row."""
    (found,) = (each for each in PAPER["requirements"] if each["words"].startswith(words))
    return found["values"]


def within(words: str, factor: float) -> list[str]:
    """Rows whose value is within a factor of 1."""
    return [row for row, value in values(words).items() if 1 / factor <= value <= factor]


def test_the_rows_within_a_factor_of_the_paper_are_counted_in_both_pages() -> None:
    near = within("`full` over the paper's", 1.5)
    closest = within("and of the closest plausible model (`full`)", 1.5)
    assert f"{WORDS[len(near)]} of the paper's ten throughputs of GraphTurbo" in README
    assert (
        f"{WORDS[len(near)].lower()} of the ten rows ({', '.join(near)}) are within a factor of 1.5"
        f" of the paper, {WORDS[len(closest)].lower()} if"
    ) in BENCHMARKS


def test_the_searches_that_find_faster_plans_are_named() -> None:
    reached = values("`full` reaches 0.9 of the result of a search that starts without its plan")
    *most, last = (row for row, share in reached.items() if share < 1)
    said = re.search(
        r"find a faster one on ([A-J, ]+ and [A-J]); on (\w) it is ([\d.]+) times", BENCHMARKS
    )
    least = min(reached, key=reached.__getitem__)
    assert said is not None
    assert said.groups() == (f"{', '.join(most)} and {last}", least, f"{1 / reached[least]:.1f}")


def test_the_rows_that_an_order_of_instructions_might_reach_are_named() -> None:
    might = values("some order of the same instructions might reach it")
    reached = [row for row, share in might.items() if share >= 1]
    assert f"published gain, except perhaps on {' and '.join(reached)}." in BENCHMARKS
