"""Other readings of the paper's algorithms: each changes its plan, and replays right."""

from __future__ import annotations

import pytest

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from tests.full import paired
from tests.soundness import check_right
from tests.strategies.graphturbo.readings import READINGS, model

CHIPS = ("generic-4x4", "stcp920")


def run(data: bytes, chip: str, options: dict[str, str], plan: str = "") -> Report:
    request = RunRequest(
        "model", "graphturbo", chip, 1, options=options, emit=("plan",), plan=plan,
        verify=not plan, has_pictures=False,
    )  # fmt: skip
    return run_report(data, request)


def kernels(report: Report) -> str:
    """Groups and kernels of the plan file; its head names the options, its end has decisions."""
    return report.text("plan").partition("\n    groups:")[2].partition("\n    decisions:")[0]


@pytest.mark.parametrize(
    ("reading", "chip"), paired(READINGS, CHIPS),
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:3]),
)  # fmt: skip
def test_it_changes_the_plan_and_replays(
    reading: tuple[str, str, str, dict[str, str]], chip: str
) -> None:
    option, value, name, others = reading
    data = model(name, chip)
    usual, other = run(data, chip, others), run(data, chip, {**others, option: value})
    assert kernels(usual) != kernels(other) != ""
    check_right(other)
    again = run(data, chip, {**others, option: value}, other.text("plan"))
    assert again.contract["cycles"] == other.contract["cycles"]
