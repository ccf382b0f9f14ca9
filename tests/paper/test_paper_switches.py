"""The table of TVM's switches: what each changes, and how a row of it is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.paper import switches as paper_switches
from benchmarks.paper.findings import CHIP, PLACED, Findings, read_findings
from benchmarks.paper.page import DATA, write
from benchmarks.paper.rows import ROWS, PaperRow, Variant
from benchmarks.paper.switches import SWITCHES, Switch, row_rates, switch_rates, switch_sheet
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import load_profile, parse_profile
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.strategies.options import strategy_options

SMALL = PaperRow("small", 8, 1, 2, 1.0, {}, (Variant("teaching-resnet"),))


def test_each_other_choice_of_tvm_is_in_the_table_once() -> None:
    alone = [dict(s.options) for s in SWITCHES if len(s.options) == 1]
    others = [
        {option.name: value}
        for option in strategy_options().values()
        if option.name.startswith("tvm.")
        for value in option.values[1:]
    ]
    assert alone == others
    assert SWITCHES[0] == Switch(SWITCHES[0].name)


def test_a_number_of_the_chip_is_changed() -> None:
    numbers = {switch.number: switch for switch in SWITCHES if switch.number is not None}
    taken = load_profile("stcp920")
    assert set(numbers) == {
        (f"kernel.{name}_cycles", factor) for name in ("launch", "barrier") for factor in (0.5, 2)
    }
    for (key, factor), switch in numbers.items():
        data = switch.profile_bytes("stcp920")
        assert data is not None
        changed = parse_profile(data, "stcp920")
        name = key.partition(".")[2]
        assert getattr(changed, name) == factor * getattr(taken, name)


@pytest.mark.slow
def test_a_row_is_what_runs_by_hand_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_switches, "ROWS", {"S": SMALL})
    rates = row_rates(("S", "generic-4x4"))
    assert len(rates) == len(SWITCHES)
    own = RunRequest("teaching-resnet", "tvm@1", "generic-4x4", 8, options={"tvm.weights": "own"})
    others = RunRequest("teaching-resnet", "tvm@2", "generic-4x4", 8)
    by_hand = {
        next(at for at, s in enumerate(SWITCHES) if s.options == own.options): own,
        next(at for at, s in enumerate(SWITCHES) if s.has_batch_of_others): others,
    }
    for place, request in by_hand.items():
        contract = run_report(load_sample("teaching-resnet"), request).contract
        assert (
            rates[SWITCHES[place].name] == contract["throughput_per_s"] != rates[SWITCHES[0].name]
        )


class _HereAndNow:
    """A pool of processes without processes."""

    def __init__(self, *_arguments: object) -> None:
        pass

    def __enter__(self) -> _HereAndNow:
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    map = staticmethod(map)


def test_cells_are_ratios_in_the_rows_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_switches, "ProcessPoolExecutor", _HereAndNow)
    names = [switch.name for switch in SWITCHES]
    rates = {"B": (200.0, 50.0, "LB_FULL"), "A": (1234.0, 1234.0, 1851.0)}
    found = {row: dict(zip(names, each, strict=False)) for row, each in rates.items()}
    monkeypatch.setattr(paper_switches, "SWITCHES", SWITCHES[:3])
    monkeypatch.setattr(paper_switches, "row_rates", lambda asked: found[asked[0]])
    sheet = switch_sheet(switch_rates("BA", "stcp920"), "stcp920")
    assert tuple(sheet.headings) == ("assumption", "B", "A")
    assert [row[1:] for row in sheet.rows] == [
        ("200", "1,234"), ("0.25", "1.00"), ("LB_FULL", "1.50"),
    ]  # fmt: skip
    assert set(ROWS) >= {"A", "B"}


def test_a_switch_that_was_not_run_is_said_to_be_missing(tmp_path: Path) -> None:
    """Rates are kept by the switch's name: one that is added later moves none of the others."""
    *old, new = (switch.name for switch in SWITCHES)
    findings = Findings((), {"A": {**dict.fromkeys(old, 2.0), "a switch that is gone": 9.0}})
    write(findings, tmp_path)
    again = read_findings(tmp_path / DATA)
    assert again == findings
    cells = {row[0]: row[1] for row in switch_sheet(again.switches, CHIP).rows}
    assert cells[new] == "not run"
    assert [cells[name] for name in old[1:]] == ["1.00"] * (len(old) - 1)
    assert "a switch that is gone" not in cells


def test_rates_of_a_file_that_has_them_by_place_get_their_names(tmp_path: Path) -> None:
    rates = [float(place + 1) for place in range(len(PLACED))]
    text = json.dumps({"schema": 1, "switches": {"A": rates}, "results": []})
    (tmp_path / DATA).write_text(text, encoding="utf-8")
    found = read_findings(tmp_path / DATA).switches["A"]
    assert found["division: outermost axis alone"] == 2.0
    assert found["cluster batch: GraphTurbo's"] == len(PLACED)
    cells = {row[0]: row[1] for row in switch_sheet({"A": found}, CHIP).rows}
    assert cells["softmax, layer norm: one op each"] == "not run"
    assert set(PLACED) <= {switch.name for switch in SWITCHES}
