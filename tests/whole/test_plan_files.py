"""Plan files on the command line, and the worked example of docs/plan-files.md."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphturbo_core.cli import main
from graphturbo_core.errors import PlanError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "plan-files.md").read_text(encoding="utf-8")
MODEL = "teaching-resnet"
EMITTED = ["run", MODEL, "--profile", "generic-4x4", "--batch", "64", "--strategy", "graphturbo@16"]
EMPTY = "edits:\n  names: {}\n  merge: []\n  keep_apart: []\n  pieces: {}\n  axis: {}\n"
EMPTY += "  binding: {}\n  scope: {}\n  residency: {}\n"
CLOCK = ("steps", "schedule_seconds")
Capture = pytest.CaptureFixture[str]


def requested(strategy: str, batch: int, plan: str = "", **more: object) -> Report:
    emit = ("plan", "program")
    request = RunRequest(
        MODEL,
        strategy,
        "generic-4x4",
        batch,
        plan=plan,
        emit=emit,
        **more,  # type: ignore[arg-type]
    )
    return run_report(load_sample(MODEL), request)


def without_clock(report: Report) -> tuple[object, ...]:
    contract = {key: value for key, value in report.contract.items() if key not in CLOCK}
    arrays = {name: array.tobytes() for name, array in report.arrays.items()}
    return json.dumps(contract), report.tables, arrays, report.files


def answer(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err.splitlines()[-1] if err else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan of the example and its program, emitted."""
    path = tmp_path_factory.mktemp("emitted")
    assert main([*EMITTED, "--emit", "plan,program", "--emit-to", str(path)]) == 0
    return path


@pytest.fixture
def plan(folder: Path) -> str:
    return (folder / f"{MODEL}.plan.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("strategy", "batch"),
    [
        ("layerwise", 4), ("tvm@2", 16), ("astitch@2", 18), ("graphturbo:gb", 16),
        ("graphturbo:lb@4", 18), ("graphturbo:order@16", 64), ("graphturbo", 70),
    ],
)  # fmt: skip
def test_an_unedited_plan_gives_the_same_report(strategy: str, batch: int) -> None:
    """70 samples on 4 clusters are rounds of 18 and of 17: two plans in one file."""
    first = requested(strategy, batch)
    again = requested(strategy, batch, first.text("plan"))
    assert without_clock(again) == without_clock(first)


@pytest.mark.parametrize(("model", "working"), [("light-squeezenet", 1), ("light-zfnet512", 4)])
def test_a_plan_of_clusters_that_share_a_sample_gives_the_same_report(
    model: str, working: int
) -> None:
    """Weights of one cluster through all DRAM, and a model split over all clusters."""
    asked = RunRequest(model, "graphturbo:plus", "stcp920", 1, emit=("plan", "program"))
    first = run_report(load_sample(model), asked)
    assert sum(f"        cluster: {n}\n" in first.text("plan") for n in range(4)) == working
    again = run_report(load_sample(model), replace(asked, plan=first.text("plan")))
    assert without_clock(again) == without_clock(first)


@pytest.mark.parametrize(
    "options",
    [
        {"tvm.division": "outermost"},
        {"tvm.weights": "own"},
        {"tvm.double_buffering": "off"},
        {"tvm.passes": "squares"},
        {"graphturbo.double_buffering": "off"},
        {"graphturbo.fence": "on"},
        {"graphturbo.list_scheduling": "off"},
        {"graphturbo.instance_order": "breadth-first"},
    ],
    ids=str,
)
def test_a_plan_of_other_kernels_gives_the_same_report(options: dict[str, str]) -> None:
    """And is none of a run with the strategy's kernels as they are taken by default."""
    strategy = f"{next(iter(options)).partition('.')[0]}@2"
    first = requested(strategy, 16, options=options)
    again = requested(strategy, 16, first.text("plan"), options=options)
    assert without_clock(again) == without_clock(first)
    with pytest.raises(PlanError, match="the plan is for options"):
        requested(strategy, 16, first.text("plan"))


def test_the_worked_example(folder: Path, plan: str, tmp_path: Path, capsys: Capture) -> None:
    words = " ".join([*EMITTED, "--emit", "plan"])
    assert f"python -m graphturbo_core {words}" in PAGE
    edits = next(block for block in PAGE.split("```") if block.startswith("yaml\nedits:"))
    edited = tmp_path / "edited.yaml"
    assert EMPTY in plan
    edited.write_text(plan.replace(EMPTY, edits.removeprefix("yaml\n")), encoding="utf-8")
    to = ["--emit", "plan,program", "--emit-to", str(tmp_path), "--json", "-"]
    code, out, _ = answer(capsys, "run", MODEL, "--plan", str(edited), *to)
    contract = json.loads(out)
    assert code == 0
    assert [group["pieces"] for group in contract["groups"]] == [2, 1]
    assert contract["kernels"] == 3
    assert (contract["strategy"], contract["batch"]) == ("graphturbo@16", 64)
    assert len(contract["options"]["plan"]) == 16
    code, out, _ = answer(
        capsys, "diff", str(folder / f"{MODEL}.plan.yaml"), str(tmp_path / f"{MODEL}.plan.yaml")
    )
    assert code == 0
    assert "g1 (1 pieces along axis 0) + g2 (2 pieces along axis 0) -> g1 (2 pieces" in out
    assert "kernels: 4 -> 3" in out
    assert "stem/conv/weight" in out
    names = [str(place / f"{MODEL}.program.txt") for place in (folder, tmp_path)]
    code, out, _ = answer(capsys, "diff", *names)
    assert code == 0
    assert "g3/1: runs -> -" in out


def test_what_the_example_says_is_refused_is(plan: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "edited.yaml"
    path.write_text(plan.replace("pieces: {}", "pieces: {g2: 1}", 1), encoding="utf-8")
    code, _, line = answer(capsys, "run", MODEL, "--plan", str(path))
    assert code == 2
    assert line.startswith("error: PLAN_SPLIT: ")
    said = "axis 0 leaves 1,572,864 bytes per piece, the cores hold 786,432"
    assert said in line
    assert said in PAGE


def test_an_edited_plan_is_emitted_with_names_that_last() -> None:
    first = requested("graphturbo@16", 64)
    edited = first.text("plan").replace("merge: []", "merge: [[g1, g2]]", 1)
    second = requested("graphturbo@16", 64, edited)
    third = requested("graphturbo@16", 64, second.text("plan"))
    assert "merge: [[was-g1, was-g2]]" in second.text("plan")
    assert third.text("plan") == second.text("plan")
    assert third.text("program") == second.text("program")


def test_an_edited_plan_replays() -> None:
    first = requested("graphturbo@16", 64)
    edited = first.text("plan")
    for old, new in {
        "merge: []": "merge: [[g1, g2]]",
        "axis: {}": "axis: {g3: 0}",
        "binding: {}": 'binding: {"head/pool:0": {axes: [0], grid: [2], cores: [3, 1]}}',
        "scope: {}": 'scope: {"stem/relu:0": GB}',
        "residency: {}": "residency: {stem/conv: stream}",
    }.items():
        assert old in edited
        edited = edited.replace(old, new, 1)
    report = requested("graphturbo@16", 64, edited, verify=True)
    assert report.contract["verify"]["ok"]  # type: ignore[index]
    assert {row["rule"] for row in report.tables["decisions"]} >= {
        "forced by the plan",
        "fixed by the plan",
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--strategy", "tvm@2"], "PLAN_OTHER_RUN: the plan is for strategy graphturbo@16"),
        (["--dtype", "int8"], "PLAN_OTHER_RUN: the plan is for dtype fp16, the run is for int8"),
        (["--set", "graphturbo.fit=cluster"], "PLAN_OTHER_RUN: the plan is for options"),
        (["--skip-pass", "fold-shapes"], "PLAN_OTHER_RUN: the plan is for skip_passes"),
        (["--profile", "stcp920"], "PLAN_OTHER_CHIP: the plan is for another chip: generic-4x4"),
        (["--batch", "32"], "PLAN_OTHER_MODEL: the plan is for another graph"),
        (["--assumptions"], "PLAN_AND_ASSUMPTIONS: --assumptions changes"),
        (["--emit", "plans"], "UNKNOWN_EMIT: 'plans' cannot be emitted, --emit, choose from plan"),
    ],
)
def test_a_plan_of_another_run_is_refused(
    folder: Path, capsys: Capture, words: list[str], said: str
) -> None:
    path = folder / f"{MODEL}.plan.yaml"
    code, out, line = answer(capsys, "run", MODEL, "--plan", str(path), *words)
    assert (code, out) == (2, "")
    assert line.startswith(f"error: {said}")


def test_a_plan_of_another_model_is_refused(folder: Path, capsys: Capture) -> None:
    path = folder / f"{MODEL}.plan.yaml"
    code, _, line = answer(capsys, "run", "light-squeezenet", "--plan", str(path))
    assert code == 2
    assert "PLAN_OTHER_MODEL" in line


def test_a_record_changed_by_hand_is_refused(plan: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "changed.yaml"
    path.write_text(plan.replace("pieces: 2", "pieces: 4", 1), encoding="utf-8")
    code, _, line = answer(capsys, "run", MODEL, "--plan", str(path))
    assert code == 2
    assert "PLAN_RECORD_CHANGED: the record was changed by hand, in " in line
    assert "undo that, and write it below `edits`" in line


def test_the_layout_of_a_record_is_free(plan: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "spaced.yaml"
    path.write_text(plan.replace("axis: 0\n", "axis:   0  # batch\n"), encoding="utf-8")
    code, _, _ = answer(capsys, "run", MODEL, "--plan", str(path), "--json", "-")
    assert code == 0


def test_what_cannot_be_read_is_refused(tmp_path: Path, folder: Path, capsys: Capture) -> None:
    code, _, line = answer(capsys, "run", MODEL, "--plan", str(tmp_path / "none.yaml"))
    assert (code, "UNREADABLE" in line) == (2, True)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    code, _, line = answer(capsys, "diff", str(tmp_path / "binary"), str(tmp_path / "binary"))
    assert (code, "it is not UTF-8 text" in line) == (2, True)
    names = [str(folder / f"{MODEL}.{end}") for end in ("plan.yaml", "program.txt")]
    code, _, line = answer(capsys, "diff", *names)
    assert (code, "PLAN_KINDS" in line) == (2, True)


@pytest.mark.parametrize("kind", ["plan.yaml", "program.txt"])
def test_equal_files_have_no_difference(folder: Path, capsys: Capture, kind: str) -> None:
    path = str(folder / f"{MODEL}.{kind}")
    assert answer(capsys, "diff", path, path) == (0, "no difference\n", "")
    code, out, _ = answer(capsys, "diff", path, path, "--json", "-")
    assert (code, json.loads(out)) == (0, [])


def test_emitting_changes_nothing_else() -> None:
    plain = run_report(load_sample(MODEL), RunRequest(MODEL, "tvm@2", "generic-4x4", 8))
    emitting = requested("tvm@2", 8)
    assert without_clock(plain)[:3] == without_clock(emitting)[:3]
    assert (set(plain.files), set(emitting.files)) == (set(), {"plan", "program"})
    assert Report.from_bytes(emitting.to_bytes()).files == emitting.files
