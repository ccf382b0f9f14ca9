"""The table of constants: what is set, and how its lines are made."""

from __future__ import annotations

import pytest

from benchmarks import constants
from benchmarks.constants import OTHERS, SETTINGS, Model, Setting, models, page, sheets
from benchmarks.paper.rows import ROWS
from graphturbo_core.lowering.tiling import staging
from graphturbo_core.strategies.options import strategy_options


def test_every_setting_is_another_value_of_what_is_there() -> None:
    assert [each.level for each in SETTINGS if each.is_baseline] == ["full", "plus"]
    assert not SETTINGS[0].options
    for setting in SETTINGS:
        if setting.is_baseline:
            continue
        if setting.module:
            assert type(setting.taken) is type(setting.value)
            assert setting.taken != setting.value
        else:
            option = strategy_options()[setting.constant]
            assert option.default != str(setting.value)
            assert option.accepts(str(setting.value))


def test_ten_other_models() -> None:
    shown = {variant.sample for row in ROWS.values() for variant in row.variants}
    assert len({each.sample for each in OTHERS} - shown) == len(OTHERS) == 10
    assert all(each.data() for each in OTHERS)
    assert list(models())[:10] == list(ROWS)


def test_rates_are_of_the_constant_as_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "MOST_SETS", staging.MOST_SETS)  # put back afterwards
    monkeypatch.setattr(constants, "models", lambda: {"T": Model("teaching-resnet", 4, 1)})
    taken = constants.rates(SETTINGS[0])
    other = constants.rates(Setting("lowering.tiles", 1))
    assert taken != other
    assert constants.rates(Setting("MOST_SETS", 3, staging.__name__)) is not None
    assert staging.MOST_SETS == 3


def test_lines_are_changes_and_their_mean() -> None:
    taken = [100.0] * 20
    half = [50.0, 200.0, *[100.0] * 7, "LB_FULL", *[110.0] * 10]
    found = dict(zip(SETTINGS, [taken, half, *[taken] * (len(SETTINGS) - 2)], strict=True))
    first, second, third, fourth = sheets(found)
    assert len(first.headings) == len(second.headings) == 13
    assert tuple(first.rows[0][1:4]) == ("", "100", "100")
    assert tuple(first.rows[1]) == (
        "`lowering.tile_share`", "8", "-50.0 %", "+100.0 %", *["0"] * 7, "LB_FULL", "0",
    )  # fmt: skip
    assert second.rows[1][-1] == "+10.0 %"
    assert [row[1] for row in first.rows if row[0] == "`REST_PARTS`"] == ["none", "2, 8, 32"]
    assert {row[0] for row in (*third.rows, *fourth.rows)} == {
        "baseline", "`AHEAD_SHARE`", "`MERGED`",
    }  # fmt: skip
    text = page(found)
    assert "`MOST_SETS` 6" in text
    assert f"`lowering.tile_share` {strategy_options()['lowering.tile_share'].default}" in text


def test_lines_of_settings_that_did_not_run_are_kept() -> None:
    taken, half = [100.0] * 20, [50.0] * 20
    found = dict(zip(SETTINGS, [taken, half, *[taken] * (len(SETTINGS) - 2)], strict=True))
    text = page(found)
    retries = next(each for each in SETTINGS if each.constant == "RETRIES")
    few = {each: own for each, own in found.items() if each.is_baseline}
    assert page(few, text) == text
    (own,) = {*page({**few, retries: half}, text).splitlines()} - {*text.splitlines()}
    assert own == f"| `RETRIES` | 0 | {' | '.join(['-50.0 %'] * 11)} |"
    with pytest.raises(ValueError, match="the baseline has changed"):
        page(dict.fromkeys(few, half), text)
