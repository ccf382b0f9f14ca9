"""The assumption register: complete, really run, and printed."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from graphturbo_core import register as register_module
from graphturbo_core.cli import main
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware import variation
from graphturbo_core.hardware.profile import load_profile, parse_profile, profile_names
from graphturbo_core.hardware.variation import changed_profile, other_values
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.register import assumption_register
from graphturbo_core.report.rows.assumed_rules import ASSUMED_RULES
from graphturbo_core.run_request import own_options
from graphturbo_core.strategies.options import resolve_options
from tests.hardware.profile_fields import field_name

SAMPLE = "teaching-resnet"
CLOCK_HZ = 10**9
REQUEST = RunRequest(SAMPLE, "graphturbo", "stcp920", 8)
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Printed:
    """What the command gave: rows of the JSON by key, text on stdout and on stderr."""

    rows: dict[str, dict[str, Any]]
    out: str
    err: str


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory, forked_pools: None) -> Printed:
    target = tmp_path_factory.mktemp("register") / "run.json"
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(["run", SAMPLE, "--batch", "8", "--assumptions", "--json", str(target)]) == 0
    rows = {row["key"]: row for row in json.loads(target.read_text())["assumptions"]}
    return Printed(rows, out.getvalue(), err.getvalue())


@pytest.fixture
def register(printed: Printed) -> dict[str, dict[str, Any]]:
    return printed.rows


def tried(row: dict[str, Any], name: str) -> list[Any]:
    return [trial[name] for trial in row["trials"]]


def latency_s(request: RunRequest, profile: bytes | None = None) -> object:
    return run_report(load_sample(SAMPLE), request, profile).contract["latency_s"]


def test_every_assumption_is_in_it(register: dict[str, dict[str, Any]]) -> None:
    assumed = [n.key for n in load_profile("stcp920").numbers if n.is_assumption]
    rules = [rule.decides for rule in ASSUMED_RULES]
    assert list(register) == [*assumed, *own_options(REQUEST), *rules]
    listed = run_report(load_sample(SAMPLE), REQUEST).contract["assumptions"]
    assert isinstance(listed, list)
    assert [row["key"] for row in listed] == list(register)


def test_each_number_is_tried_at_half_and_double(register: dict[str, dict[str, Any]]) -> None:
    launch = register["kernel.launch_cycles"]
    assert launch["value"] == "2000"
    assert tried(launch, "change") == ["half", "double"]
    assert tried(launch, "value") == ["1000", "4000"]
    # A launch is paid for each kernel; one group of one piece is one kernel a round.
    half, double = tried(launch, "latency_s")
    assert round((double - half) * CLOCK_HZ) == 3000


def test_trials_are_what_a_run_by_hand_gives(register: dict[str, dict[str, Any]]) -> None:
    text = (ROOT / "hardware_profiles" / "stcp920.yaml").read_bytes()
    slow = re.sub(rb"(launch_cycles:\s+value: )2000", rb"\g<1>4000", text)
    assert slow != text
    assert tried(register["kernel.launch_cycles"], "latency_s")[1] == latency_s(REQUEST, slow)
    tiles = RunRequest(SAMPLE, "graphturbo", "stcp920", 8, options={"lowering.tiles": "2"})
    assert tried(register["lowering.tiles"], "latency_s")[0] == latency_s(tiles)


def test_choices_are_replaced_by_every_other(register: dict[str, dict[str, Any]]) -> None:
    model = register["core.matrix_model"]
    assert tried(model, "value") == [
        "output-stationary", "weight-stationary", "input-stationary",
    ]  # fmt: skip
    assert len(set(tried(model, "latency_s"))) == 3
    assert tried(register["graphturbo.peak"], "value") == ["literal"]


def test_what_is_not_legal_is_told(register: dict[str, dict[str, Any]]) -> None:
    rate = register["core.matrix_rate.fp32"]
    assert tried(rate, "value")[0] == "0"
    assert tried(rate, "latency_s")[0] is None
    assert tried(rate, "refusal")[0] == "PROFILE_INVALID"
    assert register["LB ports"]["trials"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", profile_names())
def test_every_number_of_every_chip_can_be_replaced(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value put back gives the same chip, any other one another chip or a refusal.

    The file is read once, for all of its numbers.
    """
    hardware, tree = load_profile(name), variation.profile_tree(name)
    monkeypatch.setattr(variation, "profile_tree", lambda _: deepcopy(tree))
    for number in hardware.numbers:
        if getattr(hardware, field_name(number), 0) is None:
            continue  # not in the file: it follows from others
        same = parse_profile(changed_profile(name, number.key, _plain(number.value)), name)
        assert same == hardware, number.key
        for _, value in other_values(number):
            try:
                changed = parse_profile(changed_profile(name, number.key, value), name)
            except GraphTurboError:
                continue
            assert changed != hardware, number.key


def _plain(value: float | int | str) -> float | int | str | bool:
    return {"True": True, "False": False}.get(value, value) if isinstance(value, str) else value


def test_decisions_are_options_or_rules() -> None:
    """A decision that docs/decisions.md lists without a literal form is a rule of the register.

    The literal forms are options and values of theirs.
    """
    text = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    tables = [part.split("\n\n")[0] for part in text.split("| decision | paper | here |")[1:]]
    lines = [line for table in tables for line in table.splitlines()[2:]]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert len(rows) > 30
    without = {cells[0] for cells in rows if not cells[4]}
    assert without
    assert without <= {rule.decides for rule in ASSUMED_RULES}
    literal = [each for cells in rows for each in re.findall(r"`([\w.]+)=([\w-]+)`", cells[4])]
    assert len(literal) > 20
    for name, value in literal:
        assert resolve_options({name: value})[name] == value


def test_command_prints_it(printed: Printed) -> None:
    for words in ("assumed numbers", "assumed choices", "assumed rules", "kernel.launch_cycles"):
        assert words in printed.out
    assert re.search(r"assumptions: \d+ of \d+ evaluated, about \d+ s left", printed.err)


def test_options_of_other_strategies_are_no_assumptions_of_a_run() -> None:
    options = own_options(RunRequest(SAMPLE, "tvm"))
    assert {key.split(".")[0] for key in options} == {"lowering", "tvm"}
    layerwise = own_options(RunRequest(SAMPLE, "layerwise"))
    assert {key.split(".")[0] for key in layerwise} == {"lowering"}


@pytest.mark.slow
def test_how_tvm_s_kernels_run_is_tried(
    forked_pools: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each other choice, really run: the latencies are those of a run by hand.

    The chip's numbers are tried by the register of the module's fixture.
    """
    monkeypatch.setattr(register_module, "_chip_entries", lambda _: ())
    request = RunRequest(SAMPLE, "tvm", "generic-4x4", 8)
    rows = assumption_register(load_sample(SAMPLE), request, lambda _name, _seconds: None)
    found = {row.key: row.trials for row in rows if row.key.startswith("tvm.")}
    assert {key: [trial.value for trial in trials] for key, trials in found.items()} == {
        "tvm.division": ["outermost", "literal"], "tvm.weights": ["own"],
        "tvm.double_buffering": ["off"], "tvm.passes": ["squares"],
        "tvm.normalisation": ["whole", "decomposed"],
    }  # fmt: skip
    own = replace(request, options={"tvm.weights": "own"})
    assert found["tvm.weights"][0].latency_s == latency_s(own)
    assert found["tvm.normalisation"][0].latency_s == latency_s(request)  # there is no softmax
