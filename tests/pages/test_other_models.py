"""docs/quality-others.json: other values of the search's constants, as they are today."""

from __future__ import annotations

import re

import pytest

from benchmarks.quality import matrix, other_models
from benchmarks.quality.kept_runs import Key, Run
from benchmarks.quality.other_models import CHIPS, MODELS, SETTINGS, kept, runs, sheets
from graphturbo_core.strategies.best import search
from graphturbo_core.strategies.options import strategy_options

BASELINE, FIRST, SECOND = SETTINGS[:3]
SMALLEST = "light-squeezenet"


def test_every_setting_is_another_value_of_what_is_there() -> None:
    assert BASELINE.is_baseline
    for setting in SETTINGS[1:]:
        if setting.module:
            assert type(setting.taken) is type(setting.value)
            assert setting.taken != setting.value
        else:
            option = strategy_options()[setting.constant]
            assert option.default != setting.value
            assert option.accepts(str(setting.value))


def test_ten_models_that_are_not_those_of_the_shares() -> None:
    names = {model.name for model in MODELS}
    assert len(names) == len(MODELS) == 10
    assert names.isdisjoint(model.name for model in matrix.MODELS)
    assert all(names.issuperset(models) for models in CHIPS.values())


def test_all_settings_are_kept() -> None:
    assert all(len(sheet.rows) == len(SETTINGS) for sheet in sheets(kept()))


@pytest.mark.parametrize("text", ["best.tile_buffers", "MOST_AXES"])
def test_a_kept_run_is_what_the_search_finds_today(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One small model; all take an hour."""
    setting = next(each for each in SETTINGS if each.constant == text)
    if setting.module:
        monkeypatch.setattr(f"{setting.module}.{text}", setting.taken)  # put back afterwards
    ((key, run),) = runs(setting, "stcp920", [SMALLEST])
    assert kept()[key] == pytest.approx(run)


def test_a_setting_reaches_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_PLANNED", search.MOST_PLANNED)  # put back afterwards
    FIRST.put()
    assert FIRST.value == search.MOST_PLANNED


def test_lines_are_changes_beside_the_baseline() -> None:
    rates = [100.0, 110.0, 50.0]
    found: dict[Key, Run] = {
        (other_models.text_of(setting), "generic-4x4", model): {"rate": rate}
        for setting, rate in zip((BASELINE, FIRST, SECOND), rates, strict=True)
        for model in CHIPS["generic-4x4"]
    }
    found[other_models.text_of(SECOND), "generic-4x4", SMALLEST] = {"refused": "LB_FULL"}
    first, second = sheets(found)
    assert not first.rows
    assert second.rows[0][:4] == ("baseline", "", "100", "100")
    assert second.rows[1][:3] == ("`MOST_PLANNED`", "2", "+10.0 %")
    assert second.rows[2][2:4] == ("LB_FULL", "-50.0 %")
    assert second.rows[2][-1] == "-50.0 %"
    assert not first.remark.endswith("faster.")
    assert second.remark.startswith("The search misses plans")
    assert re.search(r"with `MOST_PLANNED` 2, [\w-]+ is 10 % faster\.$", second.remark)
