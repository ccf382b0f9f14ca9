"""docs/schedulers.json as the app reads it: marks, reasons, and the setting nearest to a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphturbo_core.comparison.side_by_side import kept_schedules as kept
from graphturbo_core.comparison.side_by_side.kept_schedules import KeptRun, nearest_setting
from graphturbo_core.errors import GraphTurboError

SETTINGS = (
    "resnet50-slim, batch 64, 16 per cluster",
    "bert-base, batch 16, 4 per cluster",
    "bert-base, batch 1, 1 per cluster",
)


def test_the_file_is_read_and_each_run_has_figures_or_a_reason() -> None:
    found = kept.kept_schedules()
    assert len(found) > 200
    assert all(each.run.has_figures != bool(each.run.reason) for each in found)
    assert all(kept.SETTING.fullmatch(each.setting) for each in found)


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (KeptRun(latency_s=1.0), ""),
        (KeptRun(refused="TOO_LARGE"), "TOO_LARGE"),
        (KeptRun(over_seconds=180), "over 180 s"),
        (KeptRun(), "not run"),
    ],
)
def test_a_run_without_figures_says_why(run: KeptRun, reason: str) -> None:
    assert run.reason == reason


@pytest.mark.parametrize(("share", "text"), [(1.0, "2.5"), (0.5, "~2.5 (CPU 1.2)"), (None, "~2.5")])
def test_times_of_a_busy_machine_are_marked(share: float | None, text: str) -> None:
    assert KeptRun(latency_s=1.0, seconds=2.5, cpu_share=share).seconds_text == text


@pytest.mark.parametrize(
    ("model", "batch", "place"),
    [
        ("bert-base", 16, 1),
        ("bert-base", 3, 2),  # 3 times 1, and 5.3 times less than 16
        ("bert-base", 5, 1),
        ("conformer", 1, 2),  # no such model: the batch alone
        ("resnet50-slim", 1, 0),
    ],
)
def test_the_nearest_setting_has_the_model_and_then_the_batch(
    model: str, batch: int, place: int
) -> None:
    assert nearest_setting(SETTINGS, model, batch) == place


def test_a_setting_of_another_form_is_the_farthest() -> None:
    assert nearest_setting(("somewhat", *SETTINGS), "conformer", 16) == 2
    assert nearest_setting((), "bert-base", 1) == 0


@pytest.mark.parametrize(
    "text", ["{}", '[{"setting": "a"}]', '[{"setting": "a", "chip": "b", "strategy": "c", "run": '
             '{"other": 1}}]', "[]" + " " * kept.MAX_BYTES]
)  # fmt: skip
def test_another_form_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GraphTurboError, match="write it again") as caught:
        kept.read_schedules(path)
    assert caught.value.code == "SCHEDULER_DATA"


def test_no_file_is_no_table(tmp_path: Path) -> None:
    assert kept.read_schedules(tmp_path / "none.json") == ()
