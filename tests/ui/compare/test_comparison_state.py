"""The session's comparison as a value: adding, moving, pinning, removing, undoing."""

from __future__ import annotations

from types import MappingProxyType

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.comparison.comparison_file import MAX_RUNS
from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import PROFILES_FOLDER
from graphturbo_core.run_request import RunRequest
from graphturbo_ui.jobs import Source
from graphturbo_ui.session.compared import MAX_LINES, Comparison, WantedRun
from tests.comparison.runs import made_up

A, B, C = (made_up(f"tvm@{samples}", 1e-3) for samples in (1, 2, 4))
SOURCE = Source.of(load_sample("teaching-resnet"), None)
REQUEST = RunRequest("teaching-resnet", "tvm@2", "generic-4x4", 8, MappingProxyType({}))


def names(comparison: Comparison) -> list[str]:
    return [run.name for run in comparison.runs]


def test_runs_keep_their_order_and_stand_once() -> None:
    found = Comparison().with_runs([B, A, B])
    assert names(found) == ["tvm@2", "tvm@1"]
    assert found.serial == 1


def test_pinned_runs_stand_first() -> None:
    found = Comparison().with_runs([A, B, C]).changed(C.key, is_pinned=True)
    assert names(found) == ["tvm@4", "tvm@1", "tvm@2"]
    assert names(found.moved([A.key], -1)) == ["tvm@4", "tvm@1", "tvm@2"]


def test_moves_stop_at_the_ends_and_go_together() -> None:
    found = Comparison().with_runs([A, B, C])
    assert names(found.moved([A.key], -1)) == names(found)
    assert names(found.moved([A.key], 1)) == ["tvm@2", "tvm@1", "tvm@4"]
    assert names(found.moved([B.key, C.key], -1)) == ["tvm@2", "tvm@4", "tvm@1"]
    assert names(found.moved([A.key, B.key], 1)) == ["tvm@4", "tvm@1", "tvm@2"]
    assert names(found.moved([B.key, C.key], 1)) == names(found)


def test_what_is_removed_comes_back_in_its_place() -> None:
    found = Comparison(picked=(A.key, B.key)).with_runs([A, B]).removed([A.key])
    assert names(found) == ["tvm@2"]
    assert found.picked == (B.key,)
    with_one_more = found.with_runs([*found.runs, C])
    back = with_one_more.restored()
    assert names(back) == ["tvm@1", "tvm@2", "tvm@4"]
    assert back.before == ()


def test_a_row_that_is_computed_again_and_removed_is_not_waited_for() -> None:
    row = made_up("tvm@2", 1e-3)
    again = WantedRun(REQUEST, SOURCE, row=row)
    found = Comparison(wanted=(again,)).with_runs([row, C])
    assert again.key == row.key
    assert found.removed([C.key]).wanted == (again,)
    assert found.removed([row.key]).wanted == ()


def test_undo_keeps_names_notes_and_pins_that_were_given_since() -> None:
    found = Comparison().with_runs([A, B]).removed([A.key])
    changed = found.changed(B.key, name="second", note="why", is_pinned=True).restored()
    assert names(changed) == ["second", "tvm@1"]
    assert (changed.runs[0].note, changed.runs[0].is_pinned) == ("why", True)


def test_names_and_notes_of_a_file_hold_where_its_runs_are_there_already() -> None:
    """A's key is that of its choices, so a file's A is the A of the page."""
    saved = A.model_copy(update={"name": "first", "note": "why", "is_pinned": True})
    found = Comparison().with_runs([B, A]).opening([saved, C])
    assert names(found) == ["first", "tvm@2", "tvm@4"]
    assert (found.runs[0].note, found.runs[0].is_pinned) == ("why", True)


def test_names_and_notes_do_not_make_another_run() -> None:
    found = Comparison().with_runs([A]).changed(A.key, name="first", note="why")
    (run,) = found.runs
    assert (run.name, run.note, run.key) == ("first", "why", A.key)


def test_a_run_is_wanted_once_and_not_where_it_is() -> None:
    wanted = WantedRun(REQUEST, SOURCE)
    found = Comparison().wanting([wanted, WantedRun(REQUEST, SOURCE)])
    assert (len(found.wanted), found.asked) == (1, (wanted.key,))
    assert found.wanting([wanted]).asked == (wanted.key,)
    run = made_up("tvm@2", 1e-3).model_copy(update={"choices": wanted.choices})
    assert Comparison().with_runs([run]).wanting([wanted]).wanted == ()
    assert found.without_wanted(found.wanted[0]).wanted == ()


def test_choices_of_a_wanted_run_name_its_files() -> None:
    profile = (PROFILES_FOLDER / "generic-4x4.yaml").read_bytes()
    own = WantedRun(REQUEST, Source.of(SOURCE.model, profile))
    assert own.choices.profile_text == profile.decode()
    assert own.choices.model_sha256 == SOURCE.digest.split()[0]
    assert own.choices.key != WantedRun(REQUEST, SOURCE).choices.key


def test_too_many_runs_are_refused() -> None:
    runs = [made_up("tvm@2", 1e-3, batch) for batch in range(1, MAX_RUNS + 1)]
    full = Comparison().with_runs(runs)
    with pytest.raises(CapacityError, match="201 runs"):
        full.wanting([WantedRun(REQUEST, SOURCE)])
    with pytest.raises(CapacityError, match="201 runs"):
        full.with_runs([*runs, made_up("tvm@2", 1e-3, MAX_RUNS + 1)])


def test_refusals_are_listed_once_and_the_oldest_go() -> None:
    found = Comparison()
    for number in range(MAX_LINES + 1):
        found = found.refusing(f"line {number}").refusing(f"line {number}")
    assert found.refused == tuple(f"line {number}" for number in range(1, MAX_LINES + 1))


def pick(rows: list[int], shown: list[str]) -> tuple[str, ...]:
    """What a table with these rows leaves ticked, of a session with A, B and C."""

    def script(rows: list[int], shown: list[str]) -> None:
        from types import SimpleNamespace  # noqa: PLC0415 - AppTest runs this text alone

        import streamlit as st  # noqa: PLC0415

        from graphturbo_ui.session import compared  # noqa: PLC0415

        st.session_state["table"] = SimpleNamespace(selection=SimpleNamespace(rows=rows))
        compared.take_picked("table", shown)

    app = AppTest.from_function(script, kwargs={"rows": rows, "shown": shown})
    app.session_state["compared"] = Comparison().with_runs([A, B, C])
    app.run()
    assert not app.exception
    found: Comparison = app.session_state["compared"]
    return found.picked


def test_a_tick_is_of_the_run_that_the_table_showed_though_runs_have_moved_since() -> None:
    before = [C.key, A.key]
    assert pick([1], before) == (A.key,)
    assert pick([1, 0], before) == (C.key, A.key)
    assert pick([5], before) == ()
