"""Plan files as rows, and rows of another version computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core import __version__
from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import PROFILES_FOLDER
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_ui import store
from graphturbo_ui.compare.plan_rows import wanted_by_plan
from graphturbo_ui.session import reopening, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import Comparison, WantedRun
from tests.comparison.runs import made_up, run_of
from tests.ui.compare.opened_page import bar_of, comparison, html_of, opened, run

MODEL, CHIP, STRATEGY = "teaching-resnet", "generic-4x4", "graphturbo@2"


@cache
def plan() -> str:
    request = RunRequest(MODEL, STRATEGY, CHIP, 8, emit=("plan",), has_pictures=False)
    return run_report(load_sample(MODEL), request).text("plan")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """A session without uploads."""
    found: dict[str, object] = {}
    monkeypatch.setattr(state.st, "session_state", found)
    yield found


def wanted(text: str, bar: Choices | None = None) -> WantedRun:
    return wanted_by_plan(text.encode(), "mine.plan.yaml", bar or bar_of())


@pytest.mark.usefixtures("session")
def test_a_plan_is_a_run_on_its_own_model_and_chip_with_its_own_choices() -> None:
    found = wanted(plan())
    assert found.source.model == load_sample(MODEL)
    assert found.request.profile == CHIP
    assert (found.request.strategy, found.request.batch, found.request.plan) == (
        STRATEGY,
        8,
        plan(),
    )
    assert found.choices.plan == plan()
    assert found.request.options == {}
    changed = wanted(plan().replace("graphturbo.fit: core", "graphturbo.fit: cluster"))
    assert changed.request.options == {"graphturbo.fit": "cluster"}
    assert found.key != run_of(STRATEGY).key


def test_the_chip_is_found_by_its_numbers_and_not_by_its_name(session: dict) -> None:
    profile = (PROFILES_FOLDER / f"{CHIP}.yaml").read_text("utf-8")
    other = re.sub(r"(lb_data_bytes: \{value: )(\d+)", lambda m: f"{m[1]}{2 * int(m[2])}", profile)
    assert other != profile
    label = f"{CHIP}.yaml ({store.upload_store().put(f'{CHIP}.yaml', other.encode())})"
    session["chip_uploads"] = (label,)
    assert wanted(plan(), bar_of(chip=label)).source.profile is None
    line = next(line for line in plan().splitlines() if line.startswith("profile:"))
    with pytest.raises(GraphTurboError, match="no chip here has the numbers of the plan's chip"):
        wanted(plan().replace(line, re.sub("[0-9a-f]{16}", "0" * 16, line)))


@pytest.mark.usefixtures("session")
def test_the_bars_upload_stands_in_for_a_model_of_another_name() -> None:
    text = plan().replace("name: teaching-resnet", "name: renamed")
    assert text != plan()
    with pytest.raises(GraphTurboError, match="renamed, which is neither a sample nor uploaded"):
        wanted(text)
    model = load_sample(MODEL)
    label = f"mine.onnx ({store.upload_store().put('mine.onnx', model)})"
    found = wanted(text, bar_of(model=label))
    assert (found.request.model_name, found.source.model) == ("mine", model)


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("groups: [", "PLAN_NOT_YAML"),
        ("a: &a [*a]", "PLAN_NOT_YAML"),
        ("schema: 1", "PLAN_INVALID"),
    ],
)
def test_what_is_no_plan_is_refused_by_its_code(text: str, code: str) -> None:
    with pytest.raises(GraphTurboError) as found:
        wanted(text)
    assert found.value.code == code
    assert "mine.plan.yaml" in str(found.value)


@pytest.mark.usefixtures("session")
def test_a_plan_that_does_not_fit_into_a_comparison_is_refused() -> None:
    text = plan().replace("dims: {}", f"dims: {{{', '.join(f'd{n}: 1' for n in range(101))}}}")
    assert text != plan()
    with pytest.raises(GraphTurboError, match="a comparison has no room for its dims"):
        wanted(text)


def test_the_row_of_a_plan_has_the_name_of_its_file() -> None:
    """The same decisions: the figures are those of the strategy's own run."""
    given = given_file(plan(), "mine.plan.yaml")
    (found,) = given.wanted
    app = opened(given)
    (row,) = comparison(app).runs
    assert row.name == f"{STRATEGY} from mine.plan.yaml"
    assert row.key == found.key
    assert row.figures.latency_s == run_of(STRATEGY).figures.latency_s
    again = given_file(plan(), "mine.plan.yaml", Comparison().with_runs([row]))
    assert again.said == ("The plan of mine.plan.yaml is in the comparison already.",)
    assert not again.wanted


def test_a_file_that_is_no_plan_is_listed_as_refused() -> None:
    (line,) = given_file("x: 1", "wrong.yml").refused
    assert line.startswith("error: PLAN_INVALID: ")
    assert "wrong.yml" in line


def given_file(text: str, file_name: str, begun: Comparison | None = None) -> Comparison:
    """The comparison after a file was given to the uploader."""

    def script(text: str, file_name: str) -> None:
        from functools import partial  # noqa: PLC0415 - AppTest runs this text alone
        from types import SimpleNamespace  # noqa: PLC0415

        import streamlit as st  # noqa: PLC0415

        from graphturbo_ui.compare.plan_rows import wanted_by_plan  # noqa: PLC0415
        from graphturbo_ui.session import compared  # noqa: PLC0415
        from tests.ui.compare.opened_page import bar_of  # noqa: PLC0415

        st.session_state["file"] = SimpleNamespace(name=file_name, getvalue=text.encode)
        compared.take_file("file", partial(wanted_by_plan, choices=bar_of()))

    app = AppTest.from_function(script, kwargs={"text": text, "file_name": file_name})
    app.session_state["compared"] = begun or Comparison()
    return comparison(run(app))


def old(run_: ComparedRun, version: str = "0.0.1") -> ComparedRun:
    figures = run_.figures.model_copy(update={"version": version, "latency_s": 0.5})
    return run_.model_copy(update={"figures": figures})


@pytest.mark.usefixtures("session")
def test_the_choices_of_a_row_make_the_request_that_made_it() -> None:
    row = run_of(STRATEGY)
    assert row.choices is not None
    assert reopening.wanted_again(row).key == row.key
    request = row.choices.request()
    again = row.choices.of(request, row.choices.model_sha256)
    assert again == row.choices


def test_rows_of_another_version_are_computed_again_by_a_click() -> None:
    """The row keeps its words and its place, and its figures are this version's."""
    words = {"name": "first", "note": "as printed", "is_pinned": True}
    first = old(run_of("tvm@2")).model_copy(update=words)
    app = opened(Comparison().with_runs([first, run_of(STRATEGY)]))
    said = " ".join(each.value for each in app.markdown).replace("\\", "")
    assert f"1 row has figures of version 0.0.1; this is version {__version__}." in said
    assert "v0.0.1" in html_of(app)
    app.button(key="compare_again_all").click()
    app = run(app)
    row = comparison(app).runs[0]
    assert (row.name, row.note, row.is_pinned) == ("first", "as printed", True)
    assert row.figures.latency_s == run_of("tvm@2").figures.latency_s
    assert row.figures.version == __version__
    (line,) = comparison(app).said
    assert re.fullmatch(
        rf"first, computed again: \S+ µs by version {__version__}, 500 ms by version 0\.0\.1\.",
        line,
    ), line
    assert not [each for each in app.button if each.key == "compare_again_all"]
    assert "v0.0.1" not in html_of(app)


def test_ticked_rows_of_another_version_have_the_button_too() -> None:
    rows = [old(run_of("tvm@2")), old(run_of(STRATEGY))]
    app = opened(Comparison(picked=(rows[1].key,)).with_runs(rows))
    app.button(key="compare_again").click()
    versions = [row.figures.version for row in comparison(run(app)).runs]
    assert versions == ["0.0.1", __version__]


def test_rows_that_cannot_be_computed_here_say_why() -> None:
    rows = [
        old(made_up("tvm@2", 1e-3)),
        old(run_of("tvm@2").model_copy(update={"choices": None})),
        old(run_of(STRATEGY), "<i>"),
    ]
    app = opened(Comparison().with_runs(rows))
    words = " ".join(each.value for each in (*app.markdown, *app.caption)).replace("\\", "")
    assert "3 rows have figures of versions 0.0.1, <i>; this is" in words
    assert "The file of teaching-resnet is not kept here: upload it under Model." in words
    assert "A saved report does not name the model's file and all choices." in words
    assert app.button(key="compare_again_all").label == "Compute again 1 of them"
    with pytest.raises(GraphTurboError, match="not kept here"):
        reopening.wanted_again(rows[0])
