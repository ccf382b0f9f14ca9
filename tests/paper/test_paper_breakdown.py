"""The tables of instruction scheduling's parts and of every option: what is run, and the cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.paper import command as paper
from benchmarks.paper.breakdown import (
    LIKE_FULL,
    breakdown_sheet,
    has_breakdown,
    has_options,
    option_runs,
    option_sheet,
    other_values,
    step_runs,
)
from benchmarks.paper.findings import CHIP, Findings
from benchmarks.paper.page import sheets
from benchmarks.paper.results import Asked, Result, result_of
from benchmarks.paper.rows import ROWS
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports
from graphturbo_core.strategies.options import strategy_options

FENCE, DOUBLE = "graphturbo.fence", "graphturbo.double_buffering"


def run(row: str, level: str, rate: float, **options: str) -> Result:
    strategy = f"graphturbo:{level}@{ROWS[row].batch_of_others}"
    named = {f"graphturbo.{name}": value for name, value in options.items()}
    sample = ROWS[row].variants[0].sample
    return Result(
        row, sample, CHIP, strategy, ROWS[row].batch, options=named, throughput_per_s=rate
    )


def cells(findings: Findings, row: str) -> list[str]:
    (found,) = (each for each in breakdown_sheet(findings, CHIP).rows if each[0] == row)
    return list(found[1:])


def test_each_step_is_over_the_one_before() -> None:
    """Row A: 1,000, then 1,500, 1,800 and 1,890; G's fence alone, 2.0, enters no mean but its own.

    Means of A and G: of the fence sqrt(1.2 x 2.0) = 1.549.
    """
    runs = [
        run("A", "order", 1000, double_buffering="off"), run("A", "order", 1500),
        run("A", "order", 1800, fence="off"), run("A", "full", 1890),
        run("G", "order", 7), run("G", "order", 14, fence="off"),
        replace(run("G", "full", 0), refused="LB_FULL"),
    ]  # fmt: skip
    found = Findings().with_results(runs)
    assert has_breakdown(found, CHIP)
    assert cells(found, "A") == ["1,000", "1.500", "1.200", "1.050"]
    assert cells(found, "G") == ["not run", "7", "2.000", "LB_FULL"]
    assert cells(found, "B") == ["not run"] * 4
    assert cells(found, "geometric mean") == ["", "1.500", "1.549", "1.050"]
    assert not has_breakdown(Findings().with_results([runs[1], runs[3]]), CHIP)


def test_every_other_value_of_every_option_is_run_once() -> None:
    """But for those that `full` has by itself."""
    options = [o for o in strategy_options().values() if o.name.startswith("graphturbo.")]
    assert set(other_values()) | set(LIKE_FULL) == {
        (o.name, v) for o in options for v in o.values[1:]
    }
    assert not set(other_values()) & set(LIKE_FULL)
    strategies = {strategy for strategy, _ in option_runs(ROWS["A"])}
    chosen = [dict(options) for _, options in option_runs(ROWS["A"])]
    assert strategies == {"graphturbo:full@16"}
    assert chosen == [{}, *({name: value} for name, value in other_values())]


def test_rates_by_option_and_row() -> None:
    runs = [
        replace(run("A", "full", 13_018), pieces=(4, 8, 4, 2, 1)), run("G", "full", 9000),
        replace(run("A", "full", 3758, blocks="none"), pieces=(1,) * 39),
        replace(run("G", "full", 0, blocks="none"), refused="LB_FULL"),
    ]  # fmt: skip
    found = Findings().with_results(runs)
    assert has_options(found, CHIP)
    assert not has_options(Findings().with_results(runs[:2]), CHIP)
    sheet = option_sheet(found, CHIP)
    line = {row[0]: dict(zip(sheet.headings, row, strict=True)) for row in sheet.rows}
    assert (line["as taken"]["sub-graphs of A"], line["as taken"]["A"]) == ("5", "13,018")
    blocks = line["graphturbo.blocks=none"]
    assert [blocks[name] for name in ("sub-graphs of A", "A", "G", "B")] == [
        "39", "3,758", "LB_FULL", "not run",
    ]  # fmt: skip
    assert line["graphturbo.fit=cluster"]["sub-graphs of A"] == "-"


@pytest.mark.parametrize(("flag", "runs"), [("--breakdown", step_runs), ("--options", option_runs)])
def test_flags_ask_for_the_runs_of_a_row(
    flag: str, runs: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Asked] = []
    monkeypatch.setattr(paper, "results_of", lambda each: asked.extend(each) or [])
    assert paper.main(["--rows", "FA", "--out", str(tmp_path), flag]) == 0
    assert {each.row: each.runs for each in asked} == {
        row: runs(ROWS[row])
        for row in "FA"  # type: ignore[operator]
    }


def test_row_f_by_real_runs() -> None:
    """The smallest row: both tables stand on the page, and `full` is the fastest of the steps."""
    row = ROWS["F"]
    asked = Asked("F", CHIP, (*step_runs(row), (f"graphturbo:full@{row.batch_of_others}",
        {"graphturbo.blocks": "none"})))  # fmt: skip
    imports = Imports(load_sample(asked.variant.sample))
    found = Findings().with_results([result_of(imports, asked, *each) for each in asked.runs])
    titles = [sheet.title for sheet in sheets(found)]
    assert any(title.startswith("Parts of instruction scheduling") for title in titles)
    assert any(title.startswith("Throughput of `graphturbo:full` with each") for title in titles)
    gains = [float(cell) for cell in cells(found, "F")[1:]]
    assert min(gains[:2]) > 1
