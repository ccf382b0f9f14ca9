"""The recipe: what the recorder does, what a comparison shares, how the batch is found."""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import pytest

import graphturbo_core
from graphturbo_core import rounds
from graphturbo_core.errors import (
    CapacityError,
    GraphTurboError,
    InvariantError,
    ModelError,
    OptionError,
)
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.pipeline import RunRequest, run_report, run_reports
from graphturbo_core.recorder import Recorder
from graphturbo_core.report.report import Report
from tests.models import model_bytes
from tests.soundness import check_sound

STEPS = ["profile", "import", "divide the batch", "plan", "lower", "simulate"]
SYMBOLIC = """chain (float[n, 8] x, float[8, 8] w) => (float[n, 8] y)
    { t = MatMul(x, w)  y = Relu(t) }"""


class Broken:
    """A product that breaks its own invariant."""

    def check(self) -> None:
        raise InvariantError("BROKEN", "two rows are one")


def test_recorder_times_checks_and_tells() -> None:
    told: list[str] = []
    recorder = Recorder(lambda name, seconds: told.append(f"{name} {seconds >= 0}"))
    assert recorder.run("add", lambda a, b: a + b, 1, 2) == 3
    assert told == ["add True"]
    assert [step.name for step in recorder.steps] == ["add"]
    with pytest.raises(InvariantError) as caught:
        recorder.run("build", Broken)
    assert caught.value.__notes__ == ["in step 'build'"]
    assert [step.name for step in recorder.steps] == ["add"]


def test_other_errors_pass_untouched() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        Recorder().run("divide", lambda: 1 // 0)
    assert not hasattr(caught.value, "__notes__")


def test_steps_of_a_run_in_their_order() -> None:
    told: list[str] = []
    request = RunRequest("teaching-resnet", "tvm@2", batch=8)
    report = run_report(
        load_sample("teaching-resnet"), request, None, lambda name, _: told.append(name)
    )
    assert told == [*STEPS, "report"]
    steps = report.contract["steps"]
    assert isinstance(steps, list)
    assert [step["name"] for step in steps] == STEPS
    assert report.contract["schedule_seconds"] == sum(step["seconds"] for step in steps)


def test_a_comparison_imports_every_batch_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[int | None] = []
    real = rounds.import_model

    def counted(data: bytes, options: rounds.ImportOptions) -> Graph:
        batches.append(options.batch)
        return real(data, options)

    monkeypatch.setattr(rounds, "import_model", counted)
    names = ("tvm@2", "graphturbo:lb@2", "graphturbo@16")
    requests = [RunRequest("teaching-resnet", name) for name in names]
    reports = list(run_reports(load_sample("teaching-resnet"), requests))
    assert [report.contract["strategy"] for report in reports] == list(names)
    assert batches == [None, 2, 16]


def test_choices_are_looked_at_before_anything_runs() -> None:
    requests = [RunRequest("teaching-resnet"), RunRequest("teaching-resnet", "nobody")]
    with pytest.raises(GraphTurboError, match="strategy 'nobody' is not known"):
        next(run_reports(load_sample("teaching-resnet"), requests))


def test_a_fixed_batch_is_the_models_own() -> None:
    text = "fixed (float[6, 8] x, float[8, 8] w) => (float[6, 8] y) { y = MatMul(x, w) }"
    report = run_report(model_bytes(text), RunRequest("fixed", "tvm"))
    # 6 over 4 clusters: two of 2, two of 1.
    assert (report.contract["batch"], report.contract["cluster_batch"]) == (6, 2)
    assert report.contract["macs"] == 6 * 64
    one = text.replace("6,", "1,")
    lone = run_report(model_bytes(one), RunRequest("fixed", "tvm"))
    assert lone.contract["batch"] == 1
    assert any("3 of 4 clusters idle" in note for note in lone.contract["notes"])  # type: ignore[attr-defined]


def test_the_batch_may_be_bound_as_a_dimension_of_any_name() -> None:
    by_name = run_report(model_bytes(SYMBOLIC), RunRequest("chain", "tvm@2", dims={"n": 8}))
    by_batch = run_report(model_bytes(SYMBOLIC), RunRequest("chain", "tvm@2", batch=8))
    assert by_name.contract["batch"] == 8
    assert by_name.contract["cycles"] == by_batch.contract["cycles"]
    with pytest.raises(ModelError, match="dimension 'n' has no size") as caught:
        run_report(model_bytes(SYMBOLIC), RunRequest("chain", "tvm@2"))
    assert caught.value.__notes__ == ["in step 'import'"]


def test_options_of_other_strategies_are_not_echoed() -> None:
    data, options = load_sample("teaching-resnet"), {"graphturbo.peak": "literal"}
    tvm = run_report(data, RunRequest("teaching-resnet", "tvm@2", batch=8, options=options))
    turbo = run_report(data, RunRequest("teaching-resnet", batch=8, options=options))
    assert {key.split(".")[0] for key in tvm.contract["options"]} == {"lowering", "tvm"}  # type: ignore[attr-defined]
    assert turbo.contract["options"]["graphturbo.peak"] == "literal"  # type: ignore[index]


TIGHT = Limits(
    max_instructions=1, max_instructions_coarsest=100, max_instructions_longest=4_000,
    instructions_per_op=1,
)  # fmt: skip
"""`tvm` on `generic-4x4` needs 158 instructions for eight images: coarsest tiles, cores folded."""


def tight(most: int | None, limits: Limits = TIGHT, *, verify: bool = False) -> Report:
    """A run of the teaching sample with so many instructions at most."""
    request = RunRequest(
        "teaching-resnet", "tvm", "generic-4x4", batch=8, verify=verify, max_instructions=most
    )
    return run_report(load_sample("teaching-resnet"), request, limits=limits)


def test_a_longer_program_is_made_where_it_is_asked_for_and_computes_the_same() -> None:
    with pytest.raises(CapacityError, match=r"at most 4,000: at least 1[0-9][0-9] are needed"):
        tight(None)
    report = tight(4_000, verify=True)
    assert cast(int, report.contract["instructions"]) > 100
    assert any("as --max-instructions 4000 allows" in note for note in notes_of(report))
    assert cast(Mapping[str, str], report.contract["options"])["max_instructions"] == "4000"
    assert cast(Mapping[str, object], report.contract["verify"])["ok"]
    check_sound(report)


def notes_of(report: Report) -> list[str]:
    return cast(list[str], report.contract["notes"])


def test_asking_for_more_changes_nothing_where_the_usual_is_enough() -> None:
    usual, asked = tight(None, DEFAULT_LIMITS), tight(1_200_000, DEFAULT_LIMITS)
    assert "max_instructions" not in cast(Mapping[str, str], usual.contract["options"])
    clock = {"steps", "schedule_seconds", "options"}
    one, other = (
        {key: value for key, value in report.contract.items() if key not in clock}
        for report in (usual, asked)
    )
    assert one == other
    assert usual.arrays.keys() == asked.arrays.keys()
    for name, array in usual.arrays.items():
        assert array.tobytes() == asked.arrays[name].tobytes(), name


@pytest.mark.parametrize("most", [-1, 0, 99, 4_001])
def test_how_many_may_be_asked_for(most: int) -> None:
    said = rf"{most} instructions cannot be allowed, --max-instructions, choose 100 .* to 4000"
    with pytest.raises(OptionError, match=said) as caught:
        tight(most)
    assert caught.value.code == "BAD_MAX_INSTRUCTIONS"


def test_without_pictures_the_rest_is_the_same() -> None:
    asked = RunRequest("teaching-resnet", "graphturbo@2", batch=8)
    model = load_sample("teaching-resnet")
    whole, plain = run_reports(model, [asked, replace(asked, has_pictures=False)])
    clock = {"steps", "schedule_seconds"}
    assert {key: plain.contract[key] for key in plain.contract if key not in clock} == {
        key: whole.contract[key] for key in whole.contract if key not in clock
    }
    assert plain.tables == {key: whole.tables[key] for key in plain.tables}
    assert whole.tables.keys() - plain.tables.keys() == {
        "graph_nodes", "graph_edges", "spaces", "tensors", "stretches", "stages", "pieces",
        "reasons", "raised",
        "next_best", "otherwise",
    }  # fmt: skip
    for name, array in plain.arrays.items():
        assert np.array_equal(array, whole.arrays[name]), name
    assert {len(array) for array in plain.arrays.values()} == {whole.contract["instructions"]}
    assert {
        "chain",
        "path_start",
        "gb_cycle",
        "buffer_offset",
    } <= whole.arrays.keys() - plain.arrays.keys()


def test_an_own_profile_travels_as_bytes() -> None:
    data = (Path(__file__).parents[2] / "hardware_profiles" / "generic-4x4.yaml").read_bytes()
    request = RunRequest("teaching-resnet", "tvm@2", "mine.yaml", batch=8)
    report = run_report(load_sample("teaching-resnet"), request, data)
    assert report.contract["profile"] == "generic-4x4"


def test_the_version_is_the_projects() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["version"] == graphturbo_core.__version__


MIXED = "g (float[n, 4] x, float[1, 4] z, int64 axis) => (float[n, 4] y) "
ASSUMED = "samples are assumed independent in 1 op(s) without semantics"


@pytest.mark.parametrize(
    ("body", "is_assumed"),
    [
        ("{ a = CumSum(x, axis) y = Add(a, z) }", True),
        ("{ a = CumSum(z, axis) y = Add(x, a) }", False),
    ],
    ids=["opaque on the batch", "opaque beside it"],
)
def test_an_assumption_is_told_where_it_is_made(body: str, is_assumed: bool) -> None:
    report = run_report(model_bytes(MIXED + body), RunRequest("m", "tvm@2", batch=16))
    notes = report.contract["notes"]
    assert isinstance(notes, list)
    assert (ASSUMED in notes) == is_assumed
    assert report.contract["rounds"] == 2


def test_garbage_is_collected_between_steps_and_not_within() -> None:
    recorder = Recorder()
    assert recorder.run("step", gc.isenabled) is False
    assert gc.isenabled()
    with pytest.raises(ModelError):
        recorder.run("step", load_sample, "no-such-model")
    assert gc.isenabled()


def garbage_of(strategy: str, **options: str) -> int:
    """Unreachable objects that a run leaves where no step collects them."""
    request = RunRequest("m", strategy, batch=4, options=options)
    data = load_sample("light-squeezenet")
    run_report(data, request)
    gc.collect()
    gc.disable()
    try:
        run_report(data, request)
        return gc.collect()
    finally:
        gc.enable()


@cache
def usual_garbage() -> int:
    """That of a run which evaluates no plans."""
    return garbage_of("tvm@4")


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("tuned@4", {"tuned.evaluations": "6"}), ("best", {}), ("ios:both@4", {"ios.trials": "2"})],
)
def test_evaluated_plans_are_in_no_cycles(strategy: str, options: dict[str, str]) -> None:
    """So a search needs no collection between them, which looks at all that is in memory.

    What threads of other tests leave meanwhile counts too, in one of two measurements.
    """
    most = usual_garbage() + 100
    assert any(garbage_of(strategy, **options) < most for _ in range(2))
