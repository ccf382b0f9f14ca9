"""The page about the paper without a browser: its texts, links that name a row, a missing file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.report.paper.comparisons import find_row
from graphturbo_core.report.paper.data import kept_paper, read_paper
from graphturbo_core.report.paper.ladder import PaperRuns, runs_of_mover, runs_of_row
from graphturbo_ui import charts
from graphturbo_ui.pages import paper
from graphturbo_ui.paper.links import command, explore_link
from graphturbo_ui.session import query

PATIENCE_S = 60


def script() -> None:
    """The page alone, without the bar."""
    from graphturbo_ui.frame import framed  # noqa: PLC0415  # AppTest runs this text alone
    from graphturbo_ui.pages import paper  # noqa: PLC0415

    framed(paper.show)()


class NoDesk:
    """A desk without workers, which cannot be started from the script of an AppTest."""

    def view(self, _: str, make: Callable[[], object]) -> object:
        return make()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[AppTest]:
    monkeypatch.setattr(charts, "shared_desk", NoDesk)
    found = AppTest.from_function(script, default_timeout=PATIENCE_S)
    found.session_state["choices"] = None
    yield found


def texts(app: AppTest) -> str:
    return "\n".join(each.value for each in (*app.caption, *app.markdown, *app.info))


def test_the_first_row_is_shown(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert app.title[0].value.startswith("GraphTurbo is 7.74× as fast as TVM")
    assert "Reproduced: ours is 1.33 of the published number" in texts(app)
    assert app.selectbox[0].value == "throughput.full.A"


def test_a_link_names_the_row(app: AppTest) -> None:
    app.query_params["row"] = "gains.full.C"
    app.run()
    assert app.selectbox[0].value == "gains.full.C"
    assert "Instruction scheduling gains 1\\.129 \\(paper 1\\.96\\)" in texts(app)


@pytest.mark.parametrize("name", ["throughput.full.Z", "<script>alert(1)</script>", "*" * 9999])
def test_a_row_that_is_not_there_is_said(app: AppTest, name: str) -> None:
    app.query_params["row"] = name
    app.run()
    assert not app.exception
    assert "which is not there" in app.info[0].value
    assert "<script>" not in app.info[0].value and len(app.info[0].value) < 400
    assert "row" not in app.query_params
    assert app.selectbox[0].value == "throughput.full.A"


def test_the_box_selects_a_row(app: AppTest) -> None:
    app.run()
    app.selectbox[0].select("throughput.full.E").run()
    assert "Not reproduced: ours is 0.27" in texts(app)
    assert app.query_params["row"] == "throughput.full.E"


def test_filters_are_of_the_address(app: AppTest) -> None:
    app.query_params["result"] = ["beyond", "<b>"]
    app.query_params["kind"] = "speech"
    app.run()
    assert not app.exception
    assert app.query_params["result"] == "beyond"
    assert app.session_state["notes"] == ("The link's filter “<b>” is not one of Paper.",)
    results, kinds = app.button_group[-2:]
    assert (results.value, kinds.value) == (["beyond"], ["speech"])
    results.set_value(["within", "beyond"]).run()
    assert app.query_params["result"] == ["within", "beyond"]
    app.query_params.clear()  # as Streamlit does when the page changes
    app.run()
    assert app.query_params["result"] == ["within", "beyond"]
    assert app.query_params["kind"] == "speech"
    app.button_group[-1].set_value([]).run()
    assert "kind" not in app.query_params


def test_the_row_is_named_again_when_the_page_is_opened_again(app: AppTest) -> None:
    app.run()
    app.selectbox[0].select("throughput.full.E").run()
    app.query_params.clear()
    app.run()
    assert app.query_params["row"] == "throughput.full.E"


def test_without_the_file_the_page_says_so(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "kept_paper", lambda: None)
    app.run()
    assert not app.exception
    assert "paper-rows.json is not here" in app.info[0].value
    with pytest.raises(GraphTurboError) as caught:
        read_paper(b"{}", "rows.json")
    assert f"`{caught.value.change.removeprefix('write it again: ')}`" in app.info[0].value


def test_every_link_is_one_that_explore_takes() -> None:
    data, faults = kept_paper(), {each.key: each.fault for each in query.query_fields()}
    runs: list[PaperRuns] = []
    for each in data.configurations:
        for step in each.steps:
            table = "over-tvm" if step.level == "vendor" else "throughput"
            found_row = find_row(data, f"{table}.{step.level}.{each.letter}")
            runs.append(runs_of_row(data, found_row[2]))
        found = (runs_of_mover(data, each.letter, mover) for mover in each.movers)
        runs += [one for one in found if one is not None]
    assert len(runs) > 300
    for one in runs:
        for key, value in parse_qsl(urlsplit(explore_link(one)).query):
            assert key.startswith("dim_") or faults[key](value) == "", (key, value)


def test_the_address_and_the_command_name_the_same_runs() -> None:
    data = kept_paper()
    runs = runs_of_row(data, find_row(data, "throughput.full.B")[2])
    assert dict(parse_qsl(urlsplit(explore_link(runs)).query)) == {
        "model": "bert-base", "chip": "stcp920", "a": "tvm@4", "b": "graphturbo@8",
        "batch": "32", "dtype": "fp16", "dim_sequence": "128",
    }  # fmt: skip
    assert command(runs) == (
        "python -m graphturbo_core compare bert-base --strategies tvm@4,graphturbo@8 "
        "--profile stcp920 --batch 32 --dtype fp16 --dim sequence=128"
    )


def test_a_broken_file_is_a_refusal(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise GraphTurboError("PAPER_DATA", "the file has another form")

    monkeypatch.setattr(paper, "kept_paper", broken)
    app.run()
    assert not app.exception
    assert "another form" in "".join(
        each.value for each in (*app.error, *app.warning, *app.subheader)
    )
