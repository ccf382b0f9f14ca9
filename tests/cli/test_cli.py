"""The command line as a user meets it: what it prints, where, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import onnx
import pytest
import typer

from graphturbo_core.cli import app, job, main
from graphturbo_core.cli.output import answer as show_answer
from graphturbo_core.cli.output import list_rows
from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.units import format_si
from tests.models import model_bytes

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = "teaching-resnet"
CLOCK = ("steps", "schedule_seconds")
Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def refusal(capsys: Capture, *arguments: str) -> str:
    """The one line of a refused command; nothing may be on stdout."""
    code, out, err = answer(capsys, *arguments)
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert (code, out, len(lines)) == (2, "", 1), err
    assert err.splitlines()[-1] == lines[0]
    return lines[0]


def without_clock(contract: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in contract.items() if key not in CLOCK}


def test_run_prints_the_contract_and_nothing_else_on_stdout(capsys: Capture) -> None:
    code, out, err = answer(capsys, "run", SAMPLE, "--batch", "8", "--json", "-")
    contract = json.loads(out)
    assert code == 0
    assert (contract["schema"], contract["model"], contract["strategy"]) == (
        1,
        SAMPLE,
        "graphturbo",
    )
    assert (contract["profile"], contract["batch"], contract["dtype"]) == ("stcp920", 8, "fp16")
    assert "simulate" in err


def test_compare_prints_a_list_of_what_run_prints(capsys: Capture) -> None:
    names = ["layerwise@2", "tvm@2", "graphturbo:order@2"]
    _, out, _ = answer(capsys, "compare", SAMPLE, "--strategies", ",".join(names), "--json", "-")
    found = json.loads(out)
    assert [contract["strategy"] for contract in found] == names
    _, out, _ = answer(capsys, "run", SAMPLE, "--strategy", "tvm@2", "--json", "-")
    assert without_clock(json.loads(out)) == without_clock(found[1])


def test_tables_for_people(capsys: Capture, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    code, out, _ = answer(capsys, "compare", SAMPLE, "--batch", "8", "--json", str(target))
    assert code == 0
    assert "throughput" in out
    assert "graphturbo" in out
    assert len(json.loads(target.read_text(encoding="utf-8"))) == 2


def test_unequal_cluster_batches_are_compared_at_equal_ones_too(capsys: Capture) -> None:
    asked = ("--batch", "16", "--strategies", "tvm@2,graphturbo@4,tvm@4,graphturbo@2")
    code, out, _ = answer(capsys, "compare", SAMPLE, *asked, "--json", "-")
    rates = {one["strategy"]: one["throughput_per_s"] for one in json.loads(out)}
    code, out, _ = answer(capsys, "compare", SAMPLE, *asked)
    assert code == 0
    said = " ".join(out.split())
    ratio = format_si(rates["graphturbo@4"] / rates["tvm@2"])
    equal = format_si(rates["graphturbo@4"] / rates["tvm@4"])
    assert equal != ratio
    assert said.endswith(
        f"graphturbo@4 is {ratio}x as fast as tvm@2 (cluster batches of 2 and 4; "
        f"at 4 for both it is {equal}x) "
        f"tvm@4 is {format_si(rates['tvm@4'] / rates['tvm@2'])}x as fast as tvm@2 "
        f"graphturbo@2 is {format_si(rates['graphturbo@2'] / rates['tvm@2'])}x as fast as tvm@2"
    )


def test_a_refused_equal_cluster_batch_is_said_by_its_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CapacityError("TOO_MANY_INSTRUCTIONS", "too long")

    monkeypatch.setattr(job, "run_report", refuse)
    asked = ("--batch", "16", "--strategies", "tvm@2,graphturbo@4")
    code, out, _ = answer(capsys, "compare", SAMPLE, *asked)
    assert code == 0
    assert "A cannot run at 4: TOO_MANY_INSTRUCTIONS)" in " ".join(out.split())


def test_trace_goes_to_a_file(capsys: Capture, tmp_path: Path) -> None:
    target = tmp_path / "trace.json"
    code, out, _ = answer(
        capsys, "run", SAMPLE, "--batch", "8", "--json", "-", "--trace", str(target)
    )
    events = json.loads(target.read_text(encoding="utf-8"))["traceEvents"]
    assert code == 0
    assert sum(e["ph"] == "X" for e in events) == json.loads(out)["instructions"]


def test_groups_go_to_a_dot_file(capsys: Capture, tmp_path: Path) -> None:
    target = tmp_path / "groups.dot"
    code, out, _ = answer(capsys, "run", SAMPLE, "--strategy", "tvm", "--dot", str(target))
    text = target.read_text(encoding="utf-8")
    assert code == 0
    assert "throughput" in out
    # A layer a group: 13 of them, with 26 ops.
    assert text.count("subgraph cluster_") == 13
    assert (
        len([line for line in text.splitlines() if line.startswith("op") and "->" not in line])
        == 26
    )


def test_a_graph_too_large_for_dot_is_refused_before_anything_is_written(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphturbo_core.export.dot.MAX_OPS", 25)
    dot, trace = tmp_path / "groups.dot", tmp_path / "trace.json"
    line = refusal(capsys, "run", SAMPLE, "--json", "-", "--dot", str(dot), "--trace", str(trace))
    assert line.startswith("error: DOT_TOO_LARGE: the graph has 26 ops, a DOT file may have 25,")
    assert not dot.exists()
    assert not trace.exists()


LENGTH = "error: BAD_MAX_INSTRUCTIONS: "
FILES = "--trace --dot --assumptions --plan --emit --emit-to --measured"
COMMON = "--profile {} --batch --dim --dtype --set --skip-pass --max-instructions --verify --json"


def options_of(command: str) -> list[str]:
    """The options in the order in which --help lists them."""
    parameters = typer.main.get_command(app).commands[command].params
    return [each.opts[0] for each in parameters if each.param_type_name == "option"]


def test_run_and_compare_take_the_same_choices() -> None:
    assert options_of("run") == [*COMMON.format("--strategy").split(), *FILES.split()]
    assert options_of("compare") == [
        *COMMON.format("--strategies").split(), "--fail-if", "--save", "--from",
    ]  # fmt: skip
    for command in ("models", "profiles", "strategies"):
        assert options_of(command) == ["--json"]


@pytest.mark.slow
def test_verify_replays_and_compares(capsys: Capture) -> None:
    code, out, err = answer(capsys, "run", SAMPLE, "--batch", "8", "--verify", "--json", "-")
    assert code == 0
    found = json.loads(out)["verify"]
    assert found["ran"]
    assert found["ok"]
    assert [row["name"] for row in found["outputs"]] == ["scores"]
    assert 0 < found["max_abs_error"] <= found["outputs"][0]["tolerance"]
    assert found["drawn_weights"] == 22
    assert "verify" in err


def test_verified_in_words(capsys: Capture) -> None:
    code, out, _ = answer(capsys, "compare", SAMPLE, "--batch", "4", "--verify")
    assert code == 0
    assert out.count("verified against ONNX Runtime") == 2


@cache
def verified() -> Report:
    """A run that was replayed and is right."""
    return run_report(load_sample(SAMPLE), RunRequest(SAMPLE, batch=4, verify=True))


def as_wrong(report: Report) -> Report:
    """The report of a run that computes something else."""
    fault = {
        "rule": "RESULT", "what": "'y' [0, 4) should be 1 and is 2", "instruction": 7, "op": "a",
        "tensor": "y", "box": [[0, 4]], "core": 3, "cycle": 99, "expected": 1.0, "got": 2.0,
    }  # fmt: skip
    wrong = {**report.contract["verify"], "ok": False, "fault": fault}  # type: ignore[dict-item]
    return replace(report, contract={**report.contract, "verify": wrong})


@pytest.mark.parametrize("wrong", [(0,), (1,), (0, 1), ()])
def test_one_wrong_report_of_two_ends_a_comparison_with_one(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, wrong: tuple[int, ...]
) -> None:
    right = verified()
    reports = [as_wrong(right) if place in wrong else right for place in range(2)]
    monkeypatch.setattr(job.Job, "reports", lambda _: iter(reports))
    code, out, _ = answer(capsys, "compare", SAMPLE, "--batch", "4", "--verify")
    assert code == (1 if wrong else 0)
    assert out.count("VERIFICATION FAILED") == len(wrong)
    assert out.count("verified against") == 2 - len(wrong)


def test_a_run_that_computes_something_else_ends_with_one(capsys: Capture) -> None:
    broken = as_wrong(verified())
    assert show_answer(None, broken.contract, [broken]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "VERIFICATION FAILED" in out
    assert "RESULT: 'y' [0, 4) should be 1 and is 2, core 3, cycle 99" in out


@pytest.mark.parametrize(
    ("command", "name"),
    [("models", "resnet50-slim"), ("profiles", "stcp920"), ("strategies", "graphturbo:order")],
)
def test_lists(capsys: Capture, command: str, name: str) -> None:
    code, out, _ = answer(capsys, command, "--json", "-")
    assert code == 0
    assert name in [row["name"] for row in json.loads(out)]
    code, out, _ = answer(capsys, command)
    assert code == 0
    assert name in out


def test_options_reach_the_run(capsys: Capture) -> None:
    command = ["run", SAMPLE, "--dim", "batch=8", "--dtype", "int8", "--skip-pass", "fold-shapes"]
    command += ["--set", "graphturbo.peak=literal", "--profile", "generic-4x4", "--json", "-"]
    command += ["--max-instructions", "4000000"]
    _, out, _ = answer(capsys, *command)
    contract = json.loads(out)
    assert (contract["batch"], contract["dtype"]) == (8, "int8")
    assert contract["profile"] == "generic-4x4"
    assert contract["options"]["graphturbo.peak"] == "literal"
    assert contract["options"]["max_instructions"] == "4000000"


@pytest.mark.slow
def test_the_same_bytes_whatever_the_hash_seed(tmp_path: Path) -> None:
    found = []
    for seed in ("1", "2"):
        target = tmp_path / f"{seed}.json"
        command = [
            sys.executable,
            "-m",
            "graphturbo_core",
            "compare",
            SAMPLE,
            "--json",
            str(target),
        ]
        command += ["--strategies", "layerwise,tvm@2,graphturbo:gb,graphturbo:lb,graphturbo@16"]
        command += ["--profile", "generic-4x4"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        found.append([without_clock(c) for c in json.loads(target.read_text(encoding="utf-8"))])
    assert json.dumps(found[0]) == json.dumps(found[1])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "nobody"], "error: UNKNOWN_MODEL: 'nobody'"),
        (["run", SAMPLE, "--strategy", "nobody"], "error: UNKNOWN_STRATEGY: strategy 'nobody'"),
        (["run", SAMPLE, "--strategy", "tvm:full"], "error: UNKNOWN_LEVEL:"),
        (["run", SAMPLE, "--strategy", "tvm@0"], "error: BAD_CLUSTER_BATCH: cluster batch '0'"),
        (["compare", SAMPLE, "--strategies", "tvm,"], "error: UNKNOWN_STRATEGY: strategy ''"),
        (["run", SAMPLE, "--profile", "nobody"], "error: UNKNOWN_PROFILE: profile nobody"),
        (["run", SAMPLE, "--batch", "0"], "error: BAD_DIM: --batch is 0"),
        (["run", SAMPLE, "--batch", "many"], "error: USAGE: Invalid value for '--batch'"),
        (["run", SAMPLE, "--dim", "batch"], "error: BAD_PAIR: 'batch' is no NAME=VALUE, --dim"),
        (["run", SAMPLE, "--dim", "batch=-1"], "error: BAD_DIM: '-1' is no whole number"),
        (["run", SAMPLE, "--dim", "height=3"], "error: UNKNOWN_DIM:"),
        (["run", SAMPLE, "--dim", "a=1", "--dim", "a=2"], "error: GIVEN_TWICE: 'a'"),
        (["run", SAMPLE, "--set", "speed=high"], "error: UNKNOWN_OPTION: option 'speed'"),
        (["run", SAMPLE, "--set", "graphturbo.peak=low"], "error: UNKNOWN_OPTION_VALUE: 'low'"),
        (["run", SAMPLE, "--dtype", "fp12"], "error: UNKNOWN_DTYPE: number format 'fp12'"),
        (["run", SAMPLE, "--skip-pass", "nap"], "error: UNKNOWN_PASS: there is no pass 'nap'"),
        (["run", SAMPLE, "--max-instructions", "0"], f"{LENGTH}0 instructions cannot be allowed"),
        (["run", SAMPLE, "--max-instructions", "-5"], f"{LENGTH}-5 instructions cannot"),
        (["run", SAMPLE, "--max-instructions", "1199999"], f"{LENGTH}1199999 instructions"),
        (["compare", SAMPLE, "--max-instructions", "4000001"], f"{LENGTH}4000001 instructions"),
        (["run", SAMPLE, "--max-instructions", "more"], "error: USAGE: Invalid value for '--max-"),
        (["run"], "error: USAGE: Missing argument"),
        (["fly"], "error: USAGE: No such command 'fly'"),
        ([], "error: USAGE: Missing command"),
    ],
)
def test_choices_that_do_not_exist_are_refused_in_a_line(
    capsys: Capture, arguments: list[str], said: str
) -> None:
    assert refusal(capsys, *arguments).startswith(said)


def test_a_target_that_cannot_be_written(capsys: Capture, tmp_path: Path) -> None:
    code, _, err = answer(capsys, "models", "--json", str(tmp_path / "no" / "out.json"))
    assert code == 2
    assert err.startswith("error: UNWRITABLE:")


def test_what_a_terminal_would_act_on_is_not_printed(capsys: Capture) -> None:
    assert refusal(capsys, "run", "\x1b[2Jgone").isprintable()


def cycle() -> bytes:
    return model_bytes("loop (float[2] x) => (float[2] y) { a = Add(x, y)  y = Relu(a) }")


def undefined() -> bytes:
    return model_bytes("open (float[2] x) => (float[2] y) { y = Add(x, nowhere) }")


def unbound() -> bytes:
    return model_bytes("free (float[2, n] x) => (float[2, n] y) { y = Relu(x) }")


def huge() -> bytes:
    shape = [2**31 - 1] * 3
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    out = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [value], [out]
    )
    return bytes(onnx.helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize(
    ("make", "code", "named"),
    [
        (lambda: b"", "EMPTY_FILE", ""),
        (lambda: bytes(range(256)) * 7, "NOT_ONNX", ""),
        (lambda: load_sample(SAMPLE)[:2000], "NOT_ONNX", ""),
        (lambda: b"this is a text file\nwith two lines\n", "TEXT_FILE", "this is a text file"),
        (cycle, "CYCLE", "Add_0"),
        (undefined, "UNDEFINED_INPUT", "'nowhere'"),
        (unbound, "UNBOUND_DIM", "'n'"),
        (huge, "SHAPE_TOO_LARGE", "'x'"),
    ],
    ids=["empty", "random", "truncated", "text", "cycle", "undefined", "unbound", "huge"],
)
def test_models_that_are_none_are_refused_in_a_line(
    capsys: Capture, tmp_path: Path, make: Callable[[], bytes], code: str, named: str
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(make())
    line = refusal(capsys, "run", str(path))
    assert line.startswith(f"error: {code}: ")
    assert named in line


PROFILE = (ROOT / "hardware_profiles" / "generic-4x4.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "clock_hz"), ("-5", "-5"), ("1e12", "1e12")],
    ids=["missing key", "negative", "YAML 1.1 number"],
)
def test_profiles_that_do_not_hold_are_refused_in_a_line(
    capsys: Capture, tmp_path: Path, value: str | None, said: str
) -> None:
    path = tmp_path / "chip.yaml"
    path.write_text(with_clock(value), encoding="utf-8")
    line = refusal(capsys, "run", SAMPLE, "--profile", str(path))
    assert "chip.yaml" in line
    assert "clock_hz" in line
    assert said in line


def with_clock(value: str | None) -> str:
    """The teaching chip with another clock, or none."""
    (at,) = [line for line in PROFILE.splitlines() if line.strip().startswith("clock_hz:")]
    start = PROFILE.index(at)
    end = PROFILE.index("\n", start) + 1
    indent = at[: len(at) - len(at.lstrip())]
    entry = (
        ""
        if value is None
        else f'{indent}clock_hz: {{value: {value}, source: "assumption: test"}}\n'
    )
    return PROFILE[:start] + entry + PROFILE[end:]


def test_a_run_that_meets_a_bug_of_ours_keeps_its_traceback(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from graphturbo_core.cli import job, main\n"
        "from graphturbo_core.errors import InvariantError\n"
        "def broken(*_, **__): raise InvariantError('BROKEN', 'our bug')\n"
        "job.run_reports = broken\n"
        f"sys.exit(main(['run', '{SAMPLE}']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "our bug" in done.stderr


def test_a_list_has_its_keys_as_headings(capsys: Capture) -> None:
    list_rows(None, "two things", [{"name": "a", "source": "b"}, {"name": "c", "source": "d"}])
    out = capsys.readouterr().out
    lines = [[cell.strip() for cell in re.split("[┃│]", line)[1:-1]] for line in out.splitlines()]
    assert [cells for cells in lines if cells] == [["name", "source"], ["a", "b"], ["c", "d"]]
    list_rows(None, "nothing", [])
    assert "name" not in capsys.readouterr().out
