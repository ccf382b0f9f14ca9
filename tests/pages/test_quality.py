"""docs/quality.md: it shows what is kept; means, ratios and missing runs by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.drawing.heat_figure import Panel, heat_svg
from benchmarks.quality import matrix
from benchmarks.quality.__main__ import main
from benchmarks.quality.kept_runs import Key, Run
from benchmarks.quality.matrix import (
    CHIPS,
    CLUSTER_BATCHES,
    EVERY,
    LONGER,
    MODELS,
    ONE,
    ONE_SAMPLE,
    SEARCH,
    STRATEGIES,
    Model,
    plus_runs,
)
from benchmarks.quality.page import page
from graphturbo_core.pipeline import Imports, RunRequest
from graphturbo_core.report.report import Report

FIRST, SECOND = MODELS[0].name, MODELS[1].name


def run(share: float, seconds: float = 1.0) -> Run:
    return {"strategy": "best@4", "share": share, "cycles": 1, "seconds": seconds}


def found(**shares: float) -> dict[Key, Run]:
    """All strategies of the first two models on the first chip, at these shares."""
    return {
        (name, CHIPS[0], strategy): run(share, seconds=4.0 if strategy == "best" else 2.0)
        for name, share in zip((FIRST, SECOND), shares.values(), strict=True)
        for strategy in STRATEGIES
    }


def test_the_page_shows_what_is_kept() -> None:
    assert main(["--check"]) == 0


def test_kept_runs_are_of_today_s_models_chips_and_strategies() -> None:
    kept = matrix.kept()
    names = {
        (model.name, chip, s)
        for model in MODELS
        for chip in CHIPS
        for s in (*EVERY, *plus_runs(kept, model.name, chip))
    }
    assert kept.keys() <= names
    assert all("refused" in each or 0 < each["share"] <= 1 for each in kept.values())


def test_means_are_geometric_and_over_models_that_all_strategies_have() -> None:
    made = found(first=0.2, second=0.8)
    assert f"| {CHIPS[0]} | 2 | 0.40 | 0.40 | 0.40 | 0.40 |" in page(made)
    made[SECOND, CHIPS[0], STRATEGIES[0]] = {"refused": "TOO_MANY_INSTRUCTIONS"}
    text = page(made)
    assert f"| {CHIPS[0]} | 1 | 0.20 | 0.20 | 0.20 | 0.20 |" in text
    assert f"| {SECOND} | {CHIPS[0]} | refused | 0.80 | 0.80 | 0.80 | best@4 |" in text
    assert f"| {FIRST} | {CHIPS[1]} | not run | not run | not run | not run |  |" in text


def test_the_search_stands_beside_the_fastest_of_all_cluster_batches() -> None:
    """The first model's is faster, the second's slower; a third with a run missing has no row."""
    shares = {FIRST: 0.5, SECOND: 0.397}
    made = {
        (name, CHIPS[0], strategy): run(0.4 if strategy == "tvm@8" else 0.1)
        for name in (*shares, MODELS[2].name)
        for strategy in EVERY
    }
    made |= {(name, CHIPS[0], SEARCH): run(share) for name, share in shares.items()}
    del made[MODELS[2].name, CHIPS[0], "tvm@1"]
    made[SECOND, CHIPS[0], "tvm@1"] = {"refused": "TOO_MANY_INSTRUCTIONS"}
    text = page(made)
    assert f"| {FIRST} | {CHIPS[0]} | tvm@8 | 0.40 | 0.50 | 1.25 |" in text
    assert f"| {SECOND} | {CHIPS[0]} | tvm@8 | 0.40 | 0.40 | 0.99 |" in text
    assert "Of 2 pairs" in text
    assert "is slower than 0.995 of the fastest in 1.\n" in text
    made[SECOND, CHIPS[0], SEARCH] = run(0.3981)
    assert "of the fastest in 0.\n" in page(made)


def test_the_search_stands_beside_plus_where_graphturbo_is_fastest() -> None:
    """At 16 and 32 here; 8 has 4's schedule, and counts once. No row while a run is missing."""
    shares = dict(zip(CLUSTER_BATCHES, (0.1, 0.2, 0.3, 0.3, 0.5, 0.4), strict=True))
    made: dict[Key, Run] = {
        (FIRST, CHIPS[0], f"graphturbo@{size}"): {**run(share), "cycles": round(100 / share)}
        for size, share in shares.items()
    }
    assert plus_runs(made, FIRST, CHIPS[0]) == ("graphturbo:plus@16", "graphturbo:plus@32")
    del made[FIRST, CHIPS[0], "graphturbo@32"]
    assert plus_runs(made, FIRST, CHIPS[0]) == ()
    made[FIRST, CHIPS[0], "graphturbo@32"] = {"refused": "TOO_MANY_INSTRUCTIONS"}
    names = plus_runs(made, FIRST, CHIPS[0])
    assert names == ("graphturbo:plus@4", "graphturbo:plus@16")
    made |= {
        (FIRST, CHIPS[0], name): run(share) for name, share in zip(names, (0.4, 0.5), strict=True)
    }
    assert "graphturbo:plus@16: " not in page(made)
    made[FIRST, CHIPS[0], SEARCH] = run(0.49)
    cells = "graphturbo:plus@4: 0.40, graphturbo:plus@16: 0.50 | 0.49 | 0.98"
    assert f"| {FIRST} | {CHIPS[0]} | {cells} |" in page(made)
    assert "Of 1 pairs, `best` is slower than 0.995 of the faster in 1." in page(made)


def test_one_sample_has_a_table_of_its_own() -> None:
    """A pair with a run missing has no row; a refusal counts as slower than all."""
    shares = dict(zip(ONE_SAMPLE, (0.1, 0.2, 0.3, 0.298), strict=True))
    made: dict[Key, Run] = {(FIRST, CHIPS[0], of): run(share) for of, share in shares.items()}
    made |= {(SECOND, CHIPS[0], of): run(0.5) for of in ONE_SAMPLE[1:]}
    text = page(made)
    assert f"| {FIRST} | {CHIPS[0]} | 0.10 | 0.20 | 0.30 | 0.30 |" in text
    assert "Of 1 pairs, `best` is slower than 0.995 of the fastest of the others in 1." in text
    made[SECOND, CHIPS[0], ONE_SAMPLE[0]] = {"refused": "TOO_MANY_INSTRUCTIONS"}
    text = page(made)
    assert f"| {SECOND} | {CHIPS[0]} | refused | 0.50 | 0.50 | 0.50 |" in text
    assert "Of 2 pairs, `best` is slower than 0.995 of the fastest of the others in 1." in text


def test_a_longer_program_is_marked() -> None:
    made = found(first=0.2, second=0.8)
    made[SECOND, CHIPS[0], STRATEGIES[0]] = {**run(0.7), **LONGER}
    made[SECOND, CHIPS[0], STRATEGIES[1]] = {"refused": "TOO_MANY_INSTRUCTIONS", **LONGER}
    row = f"| {SECOND} | {CHIPS[0]} | 0.70 (long) | refused (long) | 0.80 | 0.80 | best@4 |"
    assert row in page(made)


def test_a_longer_program_that_is_faster_than_the_search_is_named() -> None:
    """Not one that is slower, nor where the search has no usual program."""
    made = found(first=0.2, second=0.8)
    for name, share in ((FIRST, 0.5), (SECOND, 0.7)):
        made[name, CHIPS[0], "tvm@16"] = {**run(share), **LONGER}
    said = f"the longer program of `tvm@16` for {FIRST} on `{CHIPS[0]}` is 2.5 times as fast."
    text = page(made)
    assert said in text
    assert text.count("the longer program of") == 1
    made[FIRST, CHIPS[0], SEARCH] = {**run(0.2), **LONGER}
    assert "the longer program of" not in page(made)


def test_the_search_is_not_compared_with_a_longer_program() -> None:
    made: dict[Key, Run] = {(FIRST, CHIPS[0], of): run(0.3) for of in EVERY}
    for of in ("tvm@8", ONE_SAMPLE[0]):
        made[FIRST, CHIPS[0], of] = {**run(0.9), **LONGER}
    text = page(made)
    assert "is slower than 0.995 of the fastest in 0." in text
    assert "of the fastest of the others in 0." in text


def test_a_program_that_is_too_long_is_run_again_with_a_higher_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, asked = matrix.report_or_code, []

    def refusing(imports: Imports, request: RunRequest) -> Report | str:
        asked.append(request.max_instructions)
        is_refused = request.max_instructions is None
        return "TOO_MANY_INSTRUCTIONS" if is_refused else real(imports, request)

    monkeypatch.setattr(matrix, "report_or_code", refusing)
    (only,) = matrix.runs(Model("teaching-resnet", 8), "generic-4x4", ["tvm@2"])
    assert asked == [None, 4_000_000]
    assert only[1]["is_longer"]
    assert only[1]["share"] > 0


def test_times_are_ratios() -> None:
    assert f"| {FIRST} | 2 |" in page(found(first=0.2, second=0.8))


def test_a_picture_has_a_cell_per_value() -> None:
    cells = {("m", "c"): 1.0, ("m", "d"): "refused"}
    made = heat_svg(["m"], ["c", "d"], [Panel("best", cells), Panel("tvm", cells)], "remark")
    assert made.count("<rect") == 1 + 4
    assert made.count(">1.00<") == made.count(">refused<") == 2


def test_what_is_missing_is_run_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept run is not made again; another model's runs are not made unasked."""
    monkeypatch.setattr(matrix, "KEPT", tmp_path / "quality.json")
    monkeypatch.setattr(matrix, "MODELS", (Model("teaching-resnet", 8), Model("dlrm", 8)))
    monkeypatch.setattr(matrix, "CHIPS", ("generic-4x4",))
    monkeypatch.setattr(matrix, "EVERY", ("tvm@2", "graphturbo@2", f"{ONE}graphturbo@2"))
    known = {("teaching-resnet", "generic-4x4", "tvm@2"): run(0.25)}
    matrix.keep(known)
    matrix.run_missing(["teaching-resnet", "generic-4x4"], processes=1)
    kept = matrix.kept()
    assert kept.keys() == {("teaching-resnet", "generic-4x4", s) for s in matrix.EVERY}
    assert kept["teaching-resnet", "generic-4x4", "tvm@2"] == run(0.25)
    other = kept["teaching-resnet", "generic-4x4", "graphturbo@2"]
    assert 0 < other["share"] <= 1
    assert other["strategy"] == "graphturbo@2"
    alone = kept["teaching-resnet", "generic-4x4", f"{ONE}graphturbo@2"]
    assert alone["cycles"] < other["cycles"]


def test_a_model_or_a_chip_alone_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(matrix, "kept", dict)
    monkeypatch.setattr(
        matrix, "run_tasks", lambda _, tasks, *__: asked.extend((m.name, c) for m, c, _ in tasks)
    )
    matrix.run_missing(["goya"], processes=1)
    assert asked == [(model.name, "goya") for model in MODELS]
    asked.clear()
    matrix.run_missing(["bert-base"], processes=1)
    assert asked == [("bert-base", chip) for chip in CHIPS]
    with pytest.raises(ValueError, match="no model or chip of the page: gpu"):
        matrix.run_missing(["gpu", "goya"], processes=1)
