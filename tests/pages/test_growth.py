"""The benchmark of growth: its models, its exponents, its figure."""

from __future__ import annotations

import json
import mmap
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from xml.etree import ElementTree

import onnx
import pytest

from benchmarks import growth
from benchmarks.drawing.growth_figure import figure_svg
from benchmarks.growth import COLUMNS, MEMORY, SECONDS, Point, exponents, slope, table_text
from benchmarks.growth_models import MODELS
from graphturbo_core.pipeline import OnStep, RunRequest, run_report

NODES_OF_A_BLOCK = {"residual": 7, "decoder": 52}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("model", MODELS)
def test_models_have_the_nodes_asked_for_and_shapes_only_at_the_ends(model: str) -> None:
    block = NODES_OF_A_BLOCK[model]
    graph = onnx.load_model_from_string(MODELS[model](3 * block - 1)).graph
    assert len(graph.node) == 3 * block
    assert not graph.value_info
    assert len({name for node in graph.node for name in node.output}) == 3 * block
    counts = Counter(node.op_type for node in graph.node)
    assert counts["Conv" if model == "residual" else "Softmax"] == (6 if model == "residual" else 3)


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo"])
@pytest.mark.parametrize("model", MODELS)
def test_models_run(model: str, strategy: str) -> None:
    report = run_report(MODELS[model](100), RunRequest(model, strategy))
    said = " ".join(str(note) for note in cast("list[str]", report.contract["notes"]))
    assert not any(word in said for word in ("opaque", "semantics", "coarser", "not fit"))


def test_slope_of_powers() -> None:
    sizes = [1_000.0, 3_000.0, 10_000.0]
    assert slope(sizes, [7 * size for size in sizes]) == pytest.approx(1)
    assert slope(sizes, [size**2 for size in sizes]) == pytest.approx(2)


STEPS = ("import", "divide the batch", "plan", "lower", "simulate", "report")


def point(nodes: int, plan_s: float, plan_mib: float = 1.0) -> Point:
    seconds = dict.fromkeys(STEPS, nodes / 1000) | {"plan": plan_s}
    mib = dict.fromkeys(STEPS, nodes / 10) | {"plan": plan_mib, "report": nodes}
    return Point("decoder", "tvm", nodes, 10 * nodes, seconds, mib)


def test_exponents_leave_out_small_models_and_tell_a_square() -> None:
    points = [point(100, 50.0), point(1_000, 1.0, 200.0), point(10_000, 100.0, 20_000.0)]
    (seconds,) = exponents(points, SECONDS).values()
    (mib,) = exponents(points, MEMORY).values()
    assert dict(zip(COLUMNS, seconds, strict=True))["plan"] == pytest.approx(2)
    assert dict(zip(COLUMNS, seconds, strict=True))["lower"] == pytest.approx(1)
    assert dict(zip(COLUMNS, mib, strict=True))["plan"] == pytest.approx(2)
    assert dict(zip(COLUMNS, mib, strict=True))["lower"] == pytest.approx(1)
    *_, row = table_text(points, SECONDS).splitlines()
    assert row.startswith("| decoder | tvm | exponent | **1.00** | **1.00** | **2.00** |")


def test_to_trace_all_seconds_count_and_the_largest_memory_but_not_the_reports() -> None:
    one = point(1_000, 3.0, 200.0)
    assert one.costs(SECONDS)["to Trace"] == pytest.approx(4 * 1.0 + 3.0)
    assert one.costs(MEMORY)["to Trace"] == pytest.approx(200.0)


def test_memory_of_a_step_is_its_own_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 MiB that only one step has are not in the next one's.

    They are mapped: a heap with a hole of that size would keep them.
    """
    kept: list[bytes] = []

    def run(_data: bytes, _request: RunRequest, on_step: OnStep) -> object:
        kept.append(b"1" * (8 << 20))
        on_step("import", 0.0)
        with mmap.mmap(-1, 32 << 20) as block:
            block[:: mmap.PAGESIZE] = b"1" * ((32 << 20) // mmap.PAGESIZE)
        on_step("plan", 0.0)
        on_step("lower", 0.0)
        return SimpleNamespace(contract={"instructions": 1})

    monkeypatch.setattr(growth, "run_report", run)
    mib = growth.measure("decoder", "tvm", 100).mib
    assert mib["import"] == pytest.approx(8, abs=2)
    assert mib["plan"] == pytest.approx(40, abs=2)
    assert mib["lower"] == pytest.approx(8, abs=2)


def test_figure_has_a_mark_a_point_and_lines_that_rise() -> None:
    lines = {"first": [(100.0, 0.1), (1_000.0, 1.0)], "second": [(100.0, 0.2), (1_000.0, 4.0)]}
    root = ElementTree.fromstring(figure_svg(lines, "MiB of each"))
    assert "MiB of each" in [text.text for text in root.findall(f"{SVG}text")]
    assert len(root.findall(f"{SVG}circle")) == 4
    (first, second) = (line.attrib["points"] for line in root.findall(f"{SVG}polyline"))
    ends = [tuple(map(float, place.split(","))) for place in first.split()]
    assert ends[0][0] < ends[1][0]
    assert ends[0][1] > ends[1][1]
    assert first != second


def test_every_line_of_the_page_has_a_colour_of_its_own() -> None:
    lines = {f"{m}, {s}": [(100, 1), (1000, 10)] for m in MODELS for s in growth.STRATEGIES}
    root = ElementTree.fromstring(figure_svg(lines, SECONDS))
    strokes = {line.attrib["stroke"] for line in root.findall(f"{SVG}polyline")}
    assert len(strokes) == len(lines)


def test_points_are_kept_when_others_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, str, int]] = []

    def measured(model: str, strategy: str, nodes: int) -> Point:
        asked.append((model, strategy, nodes))
        return replace(point(nodes, nodes / 500), model=model, strategy=strategy)

    monkeypatch.setattr(growth, "_in_child", measured)
    few = ["--out", str(tmp_path), "--models", "decoder", "--resume"]
    assert growth.main([*few, "--max-ops", "300", "--strategies", "tvm"]) == 0
    assert growth.main([*few, "--max-ops", "1000", "--strategies", "graphturbo", "tvm"]) == 0
    assert len(set(asked)) == 2 + 3 + 1
    assert len(asked) == 5 * len(set(asked))
    assert capsys.readouterr().out.count("| decoder |") == 2 * (2 + 3 + 3)
    assert (tmp_path / "growth.md").read_text(encoding="utf-8").count("| decoder |") == 2 * 6
    assert (tmp_path / "images" / "growth.svg").is_file()
    assert (tmp_path / "images" / "growth-memory.svg").is_file()


def test_of_several_runs_the_median_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = iter([(9.0, 70.0), (2.0, 10.0), (3.0, 20.0), (1.0, 60.0), (4.0, 30.0)])
    monkeypatch.setattr(growth, "_in_child", lambda _m, _s, n: point(n, *next(runs)))
    few = ["--out", str(tmp_path), "--models", "decoder", "--strategies", "tvm"]
    growth.main([*few, "--max-ops", "100"])
    ((found,),) = [json.loads((tmp_path / "growth.json").read_text(encoding="utf-8"))]
    assert (found["seconds"]["plan"], found["mib"]["plan"]) == (3.0, 30.0)


@pytest.mark.parametrize("powers", [(1.3, 1.0), (1.0, 1.3)])
def test_an_exponent_that_is_too_large_fails(
    powers: tuple[float, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of seconds or of MiB."""
    time, space = powers
    monkeypatch.setattr(growth, "_in_child", lambda _m, _s, n: point(n, n**time, n**space))
    few = ["--out", str(tmp_path), "--models", "decoder", "--strategies", "tvm"]
    assert growth.main([*few, "--max-ops", "10000"]) == 1
    monkeypatch.setattr(growth, "_in_child", lambda _m, _s, n: point(n, n, n))
    assert growth.main([*few, "--max-ops", "10000"]) == 0
