"""`--fail-if`: conditions on the figures of a comparison's runs."""

from __future__ import annotations

import pytest

from graphturbo_core.cli.commands import main
from graphturbo_core.cli.conditions import NUMBERS, Condition, conditions_of, failures
from graphturbo_core.errors import OptionError
from tests.report.overview.reports import report_of

WORDS = ["compare", "teaching-resnet", "--batch", "16", "--strategies", "tvm,graphturbo"]


def test_conditions_are_read() -> None:
    assert conditions_of(["latency_s>0.005", " gap <= 2 ", "cycles!=1e6"]) == (
        Condition("latency_s", ">", 0.005), Condition("gap", "<=", 2),
        Condition("cycles", "!=", 1e6),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("latency_s", "BAD_CONDITION"), ("latency_s>x", "BAD_CONDITION"), (">1", "BAD_CONDITION"),
        ("latency_s=1", "BAD_CONDITION"), ("1<latency_s", "BAD_CONDITION"), ("", "BAD_CONDITION"),
        ("latency_s>1; gap>2", "BAD_CONDITION"), ("latency>1", "UNKNOWN_FIGURE"),
        ("model==1", "UNKNOWN_FIGURE"), ("schedule_seconds>1", "UNKNOWN_FIGURE"),
    ],
)  # fmt: skip
def test_others_are_refused(text: str, code: str) -> None:
    with pytest.raises(OptionError) as refused:
        conditions_of([text])
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("sign", "below", "at", "above"),
    [(">", 1, 0, 0), (">=", 1, 1, 0), ("<", 0, 0, 1), ("<=", 0, 1, 1), ("==", 0, 1, 0),
     ("!=", 1, 0, 1)],
)  # fmt: skip
def test_signs(sign: str, below: int, at: int, above: int) -> None:
    """The number is below, at or above the figure."""
    contract = report_of("tvm@2").contract
    cycles = contract["cycles"]
    for number, holds in ((cycles - 1, below), (cycles, at), (cycles + 1, above)):
        assert Condition("cycles", sign, number).holds(contract) == bool(holds)


def test_all_numbers_are_figures_of_a_run() -> None:
    contract = dict(report_of("tvm@2").contract)
    assert {type(contract[name]) for name in NUMBERS} == {int, float}


def test_each_run_for_which_it_holds_is_named() -> None:
    contracts = [report_of(name).contract for name in ("tvm@2", "graphturbo@16")]
    fine = contracts[0]["kernels"]
    lines = list(failures(conditions_of([f"kernels>={fine}", "kernels<0"]), contracts))
    assert lines == [f"tvm@2: kernels is {fine}, and --fail-if kernels>={fine} was given"]


def test_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--fail-if", "latency_s>1"]) == 0
    assert main([*WORDS, "--fail-if", "latency_s>1", "--fail-if", "cycles>1"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines if "--fail-if" in line] == [
        "tvm", "graphturbo",
    ]  # fmt: skip
    assert main([*WORDS, "--fail-if", "latncy_s>1"]) == 2
    assert "latency_s" in capsys.readouterr().err
