"""What pages say of the paper's rows is what docs/paper-rows.json and docs/paper.json have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path

import pytest

from benchmarks.paper.breakdown import other_values
from benchmarks.paper.findings import CHIP, OTHER_CHIP, read_findings
from benchmarks.paper.results import Result
from benchmarks.paper.rows import ROWS
from graphturbo_core.report.paper.data import read_paper
from graphturbo_core.report.paper.sentences import mean_at_equal_batches

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BENCHMARKS = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
ASSUMPTIONS = (ROOT / "docs" / "paper-assumptions.md").read_text(encoding="utf-8")
COMMANDS = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
LIMITS = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
FINDINGS = read_findings(ROOT / "docs" / "paper.json")
OPTIONS = tuple(f"{name}={value}".removeprefix("graphturbo.") for name, value in other_values())
"""Each other value of an option of `graphturbo`, as the option table names it."""
NONE = ""
ROWS_FILE = ROOT / "docs" / "paper-rows.json"
PAPER = json.loads(ROWS_FILE.read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
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


def test_page_and_app_have_one_mean_at_equal_cluster_batches() -> None:
    mean_of_app = mean_at_equal_batches(read_paper(ROWS_FILE.read_bytes(), ROWS_FILE.name))
    assert f"With `tvm` at GraphTurbo's cluster batch its mean is {mean_of_app:.2f}." in PAGE


def full(row: str, option: str = NONE, chip: str = CHIP) -> Result:
    """The run of `graphturbo:full` on a row with one option changed."""
    name, _, value = option.partition("=")
    found = FINDINGS.find(row, "full", chip, [(f"graphturbo.{name}", value)] if option else ())
    assert found is not None and not found.refused, (row, option, chip)
    return found


def rate(row: str, option: str = NONE) -> str:
    """Samples per second, as a page has them."""
    return f"{full(row, option).throughput_per_s:,.0f}"


def shares(option: str) -> list[float]:
    """Throughputs with an option over those without, row by row."""
    return [full(row).cycles / full(row, option).cycles for row in ROWS]


def mean(option: str) -> float:
    """Geometric mean of an option's shares."""
    return prod(shares(option)) ** (1 / len(ROWS))


def hundredths(numbers: Iterable[float]) -> list[str]:
    """Numbers as the option table has them."""
    return [f"{each:.2f}" for each in numbers]


def option_lines() -> list[list[str]]:
    """Cells of the option table, line by line."""
    (table,) = re.findall(r"^\| option \| A .*\n\|[-:|]+\n((?:\|.*\n)+)", ASSUMPTIONS, re.MULTILINE)
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


def test_the_option_table_has_the_taken_rates() -> None:
    heading, *cells = option_lines()[0]
    assert heading == "as taken, samples per second"
    assert cells == [*(rate(row) for row in ROWS), ""]


def test_the_option_table_has_a_line_for_every_option() -> None:
    named = [name for line in option_lines()[1:] for name in re.findall(r"`(.+?)`", line[0])]
    assert sorted(named) == sorted(OPTIONS)


@pytest.mark.parametrize("option", OPTIONS)
def test_the_option_table_has_the_shares_of_an_option(option: str) -> None:
    (cells,) = (line[1:] for line in option_lines() if f"`{option}`" in line[0])
    assert cells == hundredths([*shares(option), mean(option)])


def test_the_options_without_effect_are_named() -> None:
    names = [option for option in OPTIONS if {*shares(option)} == {1}]
    *most, last = (f"`{name}`" for name in names)
    assert f"\n{', '.join(most)} and {last} change no cycle of any row;" in ASSUMPTIONS


def test_the_options_that_are_faster_on_row_j_are_named() -> None:
    gains = {option: shares(option)[-1] for option in OPTIONS}
    faster = sorted((o for o in OPTIONS if gains[o] > 1.005), key=lambda o: -round(gains[o], 2))
    *most, last = (f"`{option}` ({gains[option]:.2f})" for option in faster)
    merged = [option for option in OPTIONS if len(full("J", option).pieces) < len(full("J").pieces)]
    assert sorted(faster[: len(merged)]) == sorted(merged)
    before, after = (len(full("J", option).pieces) for option in (NONE, merged[0]))
    assert (
        f"{WORDS[len(faster)]} options are faster than ours on row J: {', '.join(most)} and {last}."
        f" With the first {WORDS[len(merged)].lower()}, its {before} groups become {after}."
    ) in ASSUMPTIONS
    assert {len(full("J", option).pieces) for option in merged} == {after}


def test_the_option_with_a_higher_mean_is_named() -> None:
    (higher,) = (option for option in OPTIONS if mean(option) > 1.0005)
    changed = {row: share for row, share in zip(ROWS, shares(higher), strict=True) if share != 1}
    assert (
        f"{WORDS[1]} option has a higher geometric mean than ours: `{higher}` ({mean(higher):.2f})"
    ) in ASSUMPTIONS
    assert {*changed} == {"E", "J"}
    assert (
        f"It is faster on row J ({changed['J']:.2f}), slower on row E ({changed['E']:.2f}) and the "
        "same on the other rows."
    ) in ASSUMPTIONS


def test_the_groups_and_rates_of_row_a_under_other_readings() -> None:
    groups = {option: len(full("A", option).pieces) for option in (NONE, *OPTIONS)}
    rates = {option: rate("A", option) for option in (NONE, *OPTIONS)}
    none, largest, bound = "blocks=none", "merging=largest", "binding=literal"
    same = [(groups[each], rates[each]) for each in (largest, "merging=any")]
    assert same[0] == same[1]
    assert (groups["merging=equal"], rates["merging=equal"]) == (groups[NONE], rates[NONE])
    taken = f"{groups[NONE]} groups and {rates[NONE]}"
    other = f"{groups[none]} groups and {rates[none]}"
    assert (
        f"they give {taken} images per second. The other readings give: `{none}` {other}; "
        "`merging=equal` the same as rule 2; both together the same as `blocks=none`; "
        f"`{largest}` and `merging=any` {groups[largest]} group and {rates[largest]}. Of the other "
        f"choices, `{bound}` gives {groups[bound]} groups and {rates[bound]}."
    ) in ASSUMPTIONS
    assert groups[largest] == 1
    one = f"one group and {rates[largest]}"
    assert f"our reading gives {taken} images per second; others give {other}, or {one}" in README
    assert (
        f"other readings give {other} images per second (`graphturbo.{none}`) or {one} "
        f"(`graphturbo.merging=any`) instead of {groups[NONE]} and {rates[NONE]}"
    ) in COMMANDS


def test_what_the_chip_with_10_mib_reaches() -> None:
    reached = {row: full(row).cycles / full(row, chip=OTHER_CHIP).cycles for row in ROWS}
    least, most = min(reached, key=reached.__getitem__), max(reached.values())
    assert least == "G"
    assert (
        f"`graphturbo:full` reaches {reached[least]:.2f} to {most:.2f} of its throughput on "
        f"`{CHIP}` over the paper's rows ({reached['B']:.2f} on BERT with 128 tokens, "
        f"{reached[least]:.2f} on MobileNet-v2)"
    ) in LIMITS
