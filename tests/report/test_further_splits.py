"""Groups that are split along two axes: contract, replay, plan file and texts."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import cast

import pytest
from rich.console import Console

from graphturbo_core.export.plan_diff import plan_differences
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.products.split_text import along_text
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.halo import _union
from graphturbo_core.report.verdict.text import group_table
from tests.report.overview.reports import run_split as run
from tests.report.overview.reports import split

CLOCK = ("steps", "schedule_seconds")


def groups(report: Report) -> list[dict[str, object]]:
    return cast(list[dict[str, object]], report.contract["groups"])


def test_it_replays_on_numbers() -> None:
    assert cast(dict[str, object], split().contract["verify"])["ok"] is True


def test_the_contract_names_further_axes_where_there_are_some() -> None:
    (group,) = groups(split())
    assert (group["split_axis"], group["pieces"], group["further_splits"]) == (2, 4, [[3, 2]])
    without = run(options={"plus.axes": "off"})
    assert all("further_splits" not in group for group in groups(without))
    assert cast(int, split().contract["cycles"]) < cast(int, without.contract["cycles"])


def test_a_plan_file_gives_the_same_plan() -> None:
    text = split().text("plan")
    assert "further:" in text
    again = run(text)
    assert again.text("plan") == text
    same = [
        {key: value for key, value in report.contract.items() if key not in (*CLOCK, "verify")}
        for report in (again, split())
    ]
    assert json.dumps(same[0]) == json.dumps(same[1])


def test_differences_tell_all_axes() -> None:
    file = read_plan(split().text("plan").encode(), "p.yaml")
    (record,) = file.rounds.values()
    (group,) = record.groups
    other = replace(record, groups=(replace(group, pieces=4, further=((3, 1),)),))
    rows = plan_differences(file, replace(file, rounds={1: other}))
    (row,) = (row for row in rows if row.part.startswith("groups"))
    assert row.a == "4 pieces along axes 2 in 2 and 3 in 2"
    assert row.b == "4 pieces along axes 2 in 4 and 3 in 1"


@pytest.mark.parametrize(
    ("axis", "pieces", "further", "text"),
    [
        (-1, 1, (), ""),
        (0, 8, (), "axis 0"),
        (2, 24, ((3, 4),), "axes 2 in 6 and 3 in 4"),
        (0, 12, ((2, 3), (3, 2)), "axes 0 in 2 and 2 in 3 and 3 in 2"),
    ],
)
def test_axes_in_words(
    axis: int, pieces: int, further: tuple[tuple[int, int], ...], text: str
) -> None:
    assert along_text(axis, pieces, further) == text


def test_the_table_of_groups_tells_all_axes() -> None:
    console = Console(width=200, record=True, file=StringIO())
    console.print(group_table(split()))
    assert "2 in 2 and 3 in 2" in console.export_text()


@pytest.mark.parametrize(
    ("boxes", "elements"),
    [
        # Four of 5 x 5 in 8 x 8, as 2 x 2 pieces of a 3 x 3 window have them.
        ({((0, 5), (0, 5)), ((0, 5), (3, 8)), ((3, 8), (0, 5)), ((3, 8), (3, 8))}, 64),
        # Two corners that overlap in 1 x 1.
        ({((0, 3), (0, 3)), ((2, 5), (2, 5))}, 17),
        ({((0, 2), (4, 6)), ((5, 7), (4, 6))}, 8),
        ({((0, 2), (4, 4))}, 0),
        (set(), 0),
        ({()}, 1),
    ],
)
def test_places_in_any_of_the_boxes(boxes: set[tuple[tuple[int, int], ...]], elements: int) -> None:
    assert _union(boxes) == elements


def test_all_axes_of_a_group_are_told_as_taken() -> None:
    """Of Algorithm 1's quadruples, each of which knows one axis."""
    report = split()
    groups = {group["name"]: group for group in report.contract["groups"]}
    crossed = [name for name, group in groups.items() if "further_splits" in group]
    assert crossed
    for name in crossed:
        axes = {groups[name]["split_axis"], *(axis for axis, _ in groups[name]["further_splits"])}
        assert len(axes) > 1
        rows = [row for row in report.tables["splits"] if row["name"] == name]
        assert {row["axis"] for row in rows if row["taken"]} == {
            row["axis"] for row in rows if row["possible"] and row["axis"] in axes
        }
        assert sum(bool(row["taken"]) for row in rows) > 1
