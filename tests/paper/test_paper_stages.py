"""ResNet-50's stages: what fill gains, and what a pass may take, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.paper import stages as paper_stages
from benchmarks.paper.findings import CHIP
from benchmarks.paper.results import Result, Use
from benchmarks.paper.stages import SQUARES, pass_sheet, stage_sheet


def run(strategy: str, *fills: float) -> Result:
    """A run of a ResNet whose stages fill so much; engines are busy half of the time."""
    stages = {str(n): Use(0.5, 0.25, fill) for n, fill in enumerate(fills, 1)}
    return Result("A", "resnet50-v1", CHIP, strategy, 64, stages=stages)


def test_what_fill_gains_stands_beside_the_papers() -> None:
    runs = [run("tvm@2", 0.8, 0.7, 0.6, 0.2), run("graphturbo:full@16", 0.81, 0.779, 0.75, 0.78)]
    sheet = stage_sheet(runs)
    assert sheet.rows[0] == (
        "resnet50-v1, tvm@2, fill of the matrix array", "80 / 77", "70 / 71", "60 / 29", "20 / 17",
    )  # fmt: skip
    assert sheet.rows[1][1:] == ("50",) * 4
    assert sheet.rows[2][1:] == ("25",) * 4
    assert sheet.rows[3][0] == "resnet50-v1, graphturbo:full@16, fill of the matrix array"
    assert sheet.rows[6][0] == "resnet50-v1, gain of fill over tvm@2, points"
    assert sheet.rows[6][1:] == ("+1.0 / +6", "+7.9 / +12", "+15.0 / +50", "+58.0 / +45")
    assert "in stages 3 and 4; that of `resnet50-v1` over tvm@2 in 3 and 4." in sheet.remark


def test_the_stages_that_gain_most_are_told_as_they_are() -> None:
    runs = [run("tvm@2", 0.8, 0.7, 0.7, 0.2), run("graphturbo:full@16", 0.81, 0.78, 0.77, 0.78)]
    assert stage_sheet(runs).remark.endswith("; that of `resnet50-v1` over tvm@2 in 2 and 4.")


def test_gains_over_square_passes_stand_beside_those_over_what_is_taken() -> None:
    taken, full = run("tvm@2", 0.8, 0.7, 0.7, 0.2), run("graphturbo:full@16", 0.8, 0.8, 0.77, 0.78)
    squares = replace(run("tvm@2", 0.8, 0.7, 0.35, 0.2), options=dict(SQUARES))
    sheet = stage_sheet([taken, squares, full])
    name = "tvm@2 tvm.passes=squares"
    assert sheet.rows[3][:2] == (f"resnet50-v1, {name}, fill of the matrix array", "80 / 77")
    assert sheet.rows[9][3] == "+7.0 / +50"
    assert sheet.rows[10][0] == f"resnet50-v1, gain of fill over {name}, points"
    assert sheet.rows[10][3] == "+42.0 / +50"
    assert sheet.remark.endswith(f"in 2 and 4; that of `resnet50-v1` over {name} in 3 and 4.")


@pytest.mark.parametrize(
    ("kind", "tvm", "full"),
    [
        ("any 64", (49 / 52, 49 / 64, 49 / 64, 49 / 256), (49 / 52, 7 / 8, 49 / 64, 49 / 64)),
        ("8 x 8", (7 / 8, 49 / 64, 49 / 128, 49 / 256), (7 / 8, 49 / 64, 49 / 64, 49 / 64)),
        ("4 x 16", (49 / 64, 49 / 64, 49 / 64, 49 / 256), (49 / 64, 49 / 64, 49 / 64, 49 / 128)),
        ("1 x 64", (7 / 8, 7 / 16, 7 / 32, 7 / 64), (7 / 8, 7 / 16, 7 / 32, 7 / 64)),
    ],
)  # fmt: skip
def test_fill_follows_from_the_rows_of_a_core(
    kind: str, tvm: tuple[float, ...], full: tuple[float, ...]
) -> None:
    """A core has 14, 7, 4 or 3, 2 or 1 rows of a map, or 14, 14, 14 and two maps of 7."""
    (row,) = (row for row in pass_sheet().rows if row[0].startswith(kind))
    assert row[1:9] == tuple(f"{100 * share:.0f}" for share in (*tvm, *full))


def test_a_pass_goes_from_one_image_of_a_core_to_the_next() -> None:
    """Of 40 images a core has five of 49 pixels: 245 in four passes; squares take one each."""
    assert paper_stages._fill(40, 7, None) == 245 / 256
    assert paper_stages._fill(40, 7, (8, 8)) == 49 / 64


def test_squares_gain_where_the_paper_gains() -> None:
    rows = {row[0]: row for row in pass_sheet().rows}
    assert rows["8 x 8"][9:] == ("15", "3 and 4")  # 77 in stage 4 where the paper has 62
    assert rows["any 64 pixels (taken)"][9:] == ("48", "2 and 4")  # 77 in stage 3 of tvm: 29
    assert rows["1 x 64"][10] == "none"
    assert rows["the paper's"][9:] == ("", "3 and 4")
