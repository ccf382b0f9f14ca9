"""docs/paper-rows.json is what docs/paper.json gives; its numbers are those of docs/paper.md."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.paper.app_rows import MODELS, main, paper_data, text_of
from benchmarks.paper.findings import Findings, read_findings
from benchmarks.paper.page import DATA, PAGE
from benchmarks.paper.rows import ROWS
from graphturbo_core.report.paper.comparisons import LADDER, TABLES, comparisons, find_row
from graphturbo_core.report.paper.data import FILE, kept_paper, read_paper
from graphturbo_core.report.paper.sentences import requirement_rows

DOCS = Path(__file__).resolve().parents[2] / "docs"
CELL = re.compile(r"([\d,]+) \(([\d,]+); \*\*([\d.]+)\*\*\)")
STORED = {
    (run["row"], run["sample"], run["chip"], run["strategy"], json.dumps(run["options"])): run
    for run in json.loads((DOCS / DATA).read_text(encoding="utf-8"))["results"]
}


def section(title: str) -> list[list[str]]:
    """The cells of a table of the page, without its head."""
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    below = text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in below.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_file_is_what_the_stored_runs_give() -> None:
    text = text_of(paper_data(read_findings(DOCS / DATA)))
    assert FILE == DOCS / "paper-rows.json"
    assert FILE.read_text(encoding="utf-8") == text
    assert read_paper(text.encode(), "it") == kept_paper()


def test_the_command_writes_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / DATA).write_bytes((DOCS / DATA).read_bytes())
    monkeypatch.setattr("benchmarks.paper.app_rows.FILE", tmp_path / FILE.name)
    assert main() == 0
    assert (tmp_path / FILE.name).read_bytes() == FILE.read_bytes()


def test_every_throughput_of_the_page_is_a_row() -> None:
    data, seen = kept_paper(), 0
    for letter, cells in zip(
        ROWS, section("Throughput, samples per second, on stcp920"), strict=True
    ):
        for level, cell in zip(LADDER, cells[1:], strict=False):
            found = find_row(data, f"throughput.{level}.{letter}")
            if not cell:
                assert found is None
                continue
            ours, published, ratio = CELL.fullmatch(cell).groups()
            row = found[2]
            assert (f"{row.ours:,.0f}", f"{row.published:,.0f}") == (ours, published)
            assert f"{row.ratio:.2f}" == ratio
            seen += 1
    assert seen == 59  # 10 rows of 6 steps, but H has no AStitch


def test_every_gain_of_the_page_is_a_row() -> None:
    title = "Gains of ordering and instruction scheduling, on stcp920"
    for letter, cells in zip(ROWS, section(title)[:-1], strict=True):
        for level, cell in zip(("order", "full"), cells[1:3], strict=True):
            row = find_row(kept_paper(), f"gains.{level}.{letter}")[2]
            assert f"{row.ours:.2f} / {row.published:.2f}" == cell
            assert (row.bound is None) == (level == "order")
        assert f"{find_row(kept_paper(), f'gains.full.{letter}')[2].bound:.2f}" == cells[3]


def test_every_mover_is_a_stored_run() -> None:
    switches = json.loads((DOCS / DATA).read_text(encoding="utf-8"))["switches"]
    counts = {"assumption": 0, "stored": 0}
    for each in kept_paper().configurations:
        for mover in each.movers:
            if mover.kind == "assumption":
                counts["assumption"] += 1
                assert float(f"{mover.per_s:.6g}") in {
                    float(f"{rate:.6g}") for rate in switches[each.letter].values()
                }
                continue
            counts["stored"] += 1
            options = json.dumps(dict(mover.options))
            key = (each.letter, mover.sample, mover.chip, mover.strategy, options)
            assert mover.per_s == STORED[key]["throughput_per_s"]
    assert counts["assumption"] == 10 * 14  # 15 switches, the first is the baseline
    assert counts["stored"] > 10 * 18


def test_every_step_is_a_stored_run() -> None:
    for each in kept_paper().configurations:
        for step in each.steps:
            own = {k: v for k, v in step.options.items() if k != "tuned.evaluations"}
            run = STORED[each.letter, each.sample, "stcp920", step.strategy, json.dumps(own)]
            assert (step.per_s, step.bound_per_s) == (run["throughput_per_s"], run["bound_per_s"])
            if step.level == "vendor":
                assert step.options["tuned.evaluations"] == str(run["evaluations"])
                continue
            assert step.published_per_s == run["published_per_s"]


def test_requirements_are_those_of_the_page() -> None:
    shown = section("Requirements on the ten rows, on stcp920")
    rows = requirement_rows(kept_paper())
    assert len(rows) == len(shown) > 10
    for row, cells in zip(rows, shown, strict=True):
        found = list(row.values())
        assert found[0] == cells[0].replace("`", "")
        assert found[1:3] == cells[1:3]
        assert ["" if value is None else f"{value:.3f}" for value in found[3:]] == cells[3:]


def test_every_speed_up_of_the_page_is_a_row() -> None:
    title, seen = "Throughput over TVM's, on stcp920", 0
    columns = ("astitch", "vendor", None, "gb", "lb", "order", "full")
    for letter, cells in zip(ROWS, section(title), strict=True):
        for series, cell in zip(columns, cells[1:], strict=True):
            if series is None:
                continue
            found = find_row(kept_paper(), f"over-tvm.{series}.{letter}")
            if cell.endswith("/ -"):
                assert found is None
                continue
            assert f"{found[2].ours:.2f} / {found[2].published:.2f}" == cell
            seen += 1
    assert seen == 9 + 7 + 4 * 10  # H has no AStitch; H, I and J have no hand-written code


def test_reasons_are_those_of_the_page() -> None:
    text = (DOCS / PAGE).read_text(encoding="utf-8")
    listed_reasons = [
        reason
        for each in kept_paper().configurations
        for reason in (
            *(f"`{s.strategy}`: {s.reason}" for s in each.steps if s.reason),
            *each.notes,
        )
    ]
    assert all(f"- {reason}\n" in text for reason in listed_reasons)
    listed = text.split("\n## Differences by more than 1.5, with reasons\n", 1)[1]
    assert len(listed_reasons) == listed.count("\n- ")


def test_stages_are_those_of_the_page() -> None:
    shown = {cells[0]: cells[1:] for cells in section("ResNet-50: utilisation by stage, percent")}
    names = {
        "tvm": "resnet50-v15, tvm@2", "squares": "resnet50-v15, tvm@2 tvm.passes=squares",
        "full": "resnet50-v15, graphturbo:full@16",
    }  # fmt: skip
    for series, name in names.items():
        rows = comparisons(kept_paper(), "stages", series)
        cells = [f"{row.ours:.0f} / {row.published:.0f}" for row in rows]
        assert cells == shown[f"{name}, fill of the matrix array"]


def test_marks_follow_the_page_of_assumptions() -> None:
    """The paper names G's model fully; of B, C and D a bound excludes one size."""
    marks = {letter: mark for letter, (_, mark) in MODELS.items()}
    assert [letter for letter in marks if marks[letter] == "known"] == ["G"]
    assert [letter for letter in marks if marks[letter] == "derived"] == ["B", "C", "D"]
    assert list(marks) == list(ROWS)
    one_model = [letter for letter, row in ROWS.items() if len(row.variants) == 1]
    assert one_model == ["G"]


def test_without_runs_there_are_no_rows() -> None:
    data = paper_data(Findings())
    assert data.configurations == ()
    assert all(comparisons(data, table.key, table.default) == () for table in TABLES)
