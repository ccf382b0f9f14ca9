"""The page Verification as HTML: its sentence, the scale worked out here, names made safe."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_ui.replays.cards import NO_SHARE, cards_html, head_html, headline
from graphturbo_ui.replays.found import (
    ALL_OUTPUTS,
    MOST_OUTPUTS,
    NEVER,
    Replayed,
    ReplayedOutput,
    replay_of,
)

EVIL = "<img src=x onerror=alert(1)>"


def of(run: str, is_right: bool | None) -> Replayed:
    return Replayed(run, "tvm@2", "", is_right)


def output(
    difference: float | None, tolerance: float | None = 1e-3, *, is_right: bool = True
) -> ReplayedOutput:
    return ReplayedOutput("y", difference, tolerance, is_right)


def card(*outputs: ReplayedOutput) -> str:
    return cards_html([replace(of("A", True), outputs=outputs)])


@cache
def report_of(model: str, batch: int, is_verified: bool) -> Report:
    request = RunRequest(model, "tvm@16", "stcp920", batch, verify=is_verified)
    return run_report(load_sample(model), request)


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ((), "Verification"),
        ((True,), "A computes what the model computes"),
        ((None,), "A has not been replayed"),
        ((True, True), "A and B compute what the model computes"),
        ((None, None), "A and B have not been replayed"),
        ((True, None), "A computes what the model computes; B has not been replayed"),
        ((True, False), "B fails its replay; A computes what the model computes"),
        ((None, False), "B fails its replay; A has not been replayed"),
        ((False, False), "A and B fail their replays"),
    ],
)
def test_the_sentence_says_what_replays_found(
    states: tuple[bool | None, ...], sentence: str
) -> None:
    assert headline([of(run, each) for run, each in zip("AB", states, strict=False)]) == sentence


def test_a_difference_and_its_tolerance_are_on_a_logarithmic_scale() -> None:
    """Nine decades: 1e-6 is a third of the way to 1, and 1e-3 two thirds."""
    drawn = card(output(1e-6), output(0.0), output(1e-12), output(2.0, is_right=False))
    places = re.findall(r'class="replay-scale (\w+)" style="--found:([^;]+);--most:([^"]+)"', drawn)
    assert places == [
        ("right", "0.3333", "0.6667"), ("right", "0.0000", "0.6667"),
        ("right", "0.0000", "0.6667"), ("wrong", "1.0000", "0.6667"),
    ]  # fmt: skip
    ticks = re.findall(r'<span style="--at:([^"]+)">([^<]+)</span>', drawn)
    assert ticks == [("0.0000", "1e-9"), ("0.3333", "1e-6"), ("0.6667", "1e-3"), ("1.0000", "1")]
    assert "largest difference <b>0</b> · rounding explains up to <b>1.0e-03</b>" in drawn


@pytest.mark.parametrize("numbers", [(None, 1e-3), (1e-6, None)])
def test_an_output_without_a_share_has_no_scale(numbers: tuple[float | None, float | None]) -> None:
    drawn = card(output(*numbers, is_right=False)) + card(output(*numbers))
    assert "replay-scale" not in drawn and "replay-ticks" not in drawn
    assert drawn.count(NO_SHARE.split("'")[0]) == 2
    assert drawn.index('<b class="wrong">differs') < drawn.index('<b class="right">agrees')


def test_a_run_that_nothing_replayed_has_no_scale() -> None:
    found = replay_of("B", report_of("teaching-resnet", 3, is_verified=False))
    assert (found.is_right, found.text) == (None, NEVER)
    drawn = cards_html([found])
    assert "not replayed" in drawn and "replay-scale" not in drawn


def test_names_and_faults_are_safe() -> None:
    run = Replayed("A", EVIL, EVIL, False, (replace(output(1e-6), name=EVIL),), more=EVIL)
    drawn = cards_html([run]) + head_html([run], EVIL)
    assert "<img" not in drawn
    assert drawn.count("&lt;img") == 5


def test_a_run_of_this_server_has_its_own_outputs() -> None:
    report = report_of("teaching-resnet", 8, is_verified=True)
    found = replay_of("A", report)
    (row,) = report.contract["verify"]["outputs"]
    own = ReplayedOutput(row["name"], row["max_rel_error"], row["rel_tolerance"], is_right=True)
    assert (found.is_right, list(found.outputs), found.more) == (True, [own], "")


def test_the_default_run_has_the_kept_replay_of_its_program() -> None:
    found = replay_of("A", report_of("resnet50-slim", 64, is_verified=False))
    (whole,) = found.outputs
    assert (found.is_right, whole.name, whole.is_right) == (True, ALL_OUTPUTS, True)
    assert whole.difference is not None and whole.tolerance is not None
    assert 0 < whole.difference < whole.tolerance
    assert (
        report_of("resnet50-slim", 64, is_verified=False).contract["program_sha256"] in found.more
    )


def test_a_failed_replay_says_where() -> None:
    """Outputs that are wrong, or closest to their tolerance, come first; a card draws some."""
    report = report_of("teaching-resnet", 8, is_verified=True)
    verify = report.contract["verify"]
    (row,) = verify["outputs"]
    rows = [{**row, "name": f"y{i}", "max_rel_error": i * 1e-6} for i in range(MOST_OUTPUTS + 1)]
    rows[1] |= {"ok": False, "max_rel_error": None}
    place = {"instruction": 7, "core": 1, "cycle": 9, "box": "[0]"}
    fault = {"rule": "read", "what": "not written", **place}
    changed = {**verify, "ok": False, "outputs": rows, "fault": fault}
    found = replay_of("A", replace(report, contract={**report.contract, "verify": changed}))
    assert (found.is_right, found.hidden) == (False, 1)
    said = "First wrong instruction: read: not written (core 1, cycle 9, box [0])"
    assert found.text == said
    drawn = cards_html([found])
    assert (
        f'<p class="wrong">{said}</p>' in drawn
        and "6 of 7 outputs are drawn: wrong ones first" in drawn
    )
    assert [each.name for each in found.outputs] == ["y1", "y6", "y5", "y4", "y3", "y2"]
