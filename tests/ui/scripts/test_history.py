"""The browser's history by `page.js` alone, with addresses as Streamlit writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import graphturbo_ui.top_bar
from tests.ui.app_server import context_of

SCRIPT = (Path(graphturbo_ui.top_bar.__file__).parent / "page.js").read_text("utf-8")
HEAR = """async (script) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const hear = (await import(url)).default;
  window.run = (chip, present) => {
    const choices = [["chip", [chip], chip === "a"]];
    if (present) choices.push(["present", ["1"], false]);
    window.named(choices);
  };
  window.asked = [];
  window.named = (choices, boxes = []) => {
    hear({ data: { choices, boxes }, setTriggerValue: (name) => window.asked.push(name) });
  };
}"""
NAMED_MS = 600  # the script names what is chosen 400 ms after a run

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = context_of(browser, 1100, 900).new_page()
    page.route("http://app.test/**", lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto("http://app.test/?other=1")
    page.evaluate(HEAR, SCRIPT)
    yield page
    page.close()


def write(page: Page, named: str) -> None:
    """As Streamlit does where a choice is made: an entry of its own, before the run."""
    page.evaluate("query => window.history.pushState({}, '', query)", f"?other=1{named}")


def run(page: Page, chip: str, *, wait_ms: float = NAMED_MS, is_presenting: bool = False) -> None:
    page.evaluate("choices => window.run(...choices)", [chip, is_presenting])
    page.wait_for_timeout(wait_ms)


def query(page: Page) -> str:
    return str(page.evaluate("window.location.search"))


def back(page: Page) -> str:
    page.evaluate("window.isBefore = true")
    page.go_back()
    page.wait_for_function("!window.isBefore")  # the page is loaded again
    return query(page)


def test_each_choice_is_one_entry(page: Page) -> None:
    run(page, "a")
    write(page, "&chip=b")
    run(page, "b")
    write(page, "&chip=c")
    run(page, "c", wait_ms=0)
    run(page, "c")
    assert query(page) == "?other=1&chip=c"
    assert back(page) == "?other=1&chip=b"
    page.evaluate(HEAR, SCRIPT)
    run(page, "b")
    assert back(page) == "?other=1"


def test_a_choice_made_before_the_last_one_is_named(page: Page) -> None:
    run(page, "b", wait_ms=0)
    write(page, "&chip=b&present=1")
    page.wait_for_timeout(NAMED_MS)  # the first run's naming meets the second choice's address
    run(page, "b", is_presenting=True)
    assert query(page) == "?other=1&chip=b&present=1"
    assert back(page) == "?other=1&chip=b"


def test_the_address_keeps_what_streamlit_is_ahead_with(page: Page) -> None:
    """Escape ends Present before its run is named: the address does not go back to it."""
    run(page, "b")
    write(page, "&chip=b&present=1")
    run(page, "b", wait_ms=0, is_presenting=True)
    write(page, "&chip=b")
    page.wait_for_timeout(NAMED_MS)
    assert query(page) == "?other=1&chip=b"
    run(page, "b")
    assert query(page) == "?other=1&chip=b"
    assert back(page) == "?other=1&chip=b&present=1"


def test_a_name_that_streamlit_takes_out_at_the_end_of_a_long_run_comes_back(page: Page) -> None:
    """It does so where another box has the choice now: the script has named it long before."""
    run(page, "b")
    write(page, "")
    assert query(page) == "?other=1"
    page.wait_for_timeout(NAMED_MS)
    assert query(page) == "?other=1&chip=b"


def test_a_page_that_is_left_keeps_its_choices(page: Page) -> None:
    """Streamlit takes most of the address away before it adds the entry of the other page."""
    run(page, "b")
    page.evaluate("window.history.replaceState({}, '', '?')")
    page.evaluate("window.history.pushState({}, '', '/other')")
    run(page, "b")
    assert page.evaluate("window.location.href") == "http://app.test/other?chip=b"
    assert back(page) == "?chip=b"


def test_a_choice_right_after_a_turn_is_an_entry(page: Page) -> None:
    run(page, "b")
    page.evaluate("window.history.pushState({}, '', '/other')")
    run(page, "b", wait_ms=0)
    run(page, "c")
    assert back(page) == "?chip=b"
    assert page.evaluate("window.location.pathname") == "/other"


@pytest.mark.parametrize("turn", ["go_back", "go_forward"])
def test_a_turn_before_the_script_is_there_opens_its_entry(page: Page, turn: str) -> None:
    """The run has the choices of the entry that was loaded; they are not written over the other."""
    for chip in ("b", "c"):
        page.evaluate("query => window.history.pushState({}, '', query)", f"?other=1&chip={chip}")
    page.go_back()
    page.reload()
    loaded = query(page)
    page.evaluate("window.isBefore = true")
    getattr(page, turn)()
    page.evaluate(HEAR, SCRIPT)
    page.evaluate("window.run('b', false)")
    page.wait_for_function("!window.isBefore")  # the page is loaded again
    page.wait_for_timeout(NAMED_MS)
    assert loaded == "?other=1&chip=b"
    assert query(page) == {"go_back": "?other=1", "go_forward": "?other=1&chip=c"}[turn]


def test_an_entry_that_streamlit_adds_while_it_loads_is_kept(page: Page) -> None:
    write(page, "&chip=b")
    page.evaluate("window.isBefore = true")
    run(page, "b")
    assert page.evaluate("window.isBefore")
    assert query(page) == "?other=1&chip=b"


def test_an_address_that_is_corrected_while_it_loads_is_not_loaded_again(page: Page) -> None:
    """A wrong link's choices may come to the script after the address that takes their place."""
    write(page, "&chip=b")
    page.evaluate("window.isBefore = true")
    run(page, "wrong", wait_ms=0)
    run(page, "b")
    assert page.evaluate("window.isBefore")
    assert query(page) == "?other=1&chip=b"


def test_a_name_that_a_page_has_left_out_does_not_come_back(page: Page) -> None:
    """The naming of an earlier run comes late: the lecture's network is no longer chosen."""
    write(page, "&network=yours")
    page.evaluate("choices => window.named(choices)", [["network", ["yours"], False]])
    write(page, "")
    page.wait_for_timeout(NAMED_MS)
    page.evaluate("choices => window.named(choices)", [])
    page.wait_for_timeout(NAMED_MS)
    assert query(page) == "?other=1"


def run_with_box(page: Page, choices: list) -> list[str]:
    """What the script asks for after a run of What-if that knows these choices."""
    page.evaluate("choices => window.named(choices, ['vary', 'values'])", choices)
    page.wait_for_timeout(NAMED_MS)
    found: list[str] = page.evaluate("window.asked.splice(0)")
    return found


def test_a_run_that_has_the_address_before_is_followed_by_another_one(page: Page) -> None:
    """Streamlit may send a box's new value with the address that has the old one."""
    assert run_with_box(page, []) == []
    write(page, "&vary=Cores")
    assert run_with_box(page, []) == ["behind"]
    assert run_with_box(page, [["vary", ["Cores"], False]]) == []
    write(page, "")
    assert run_with_box(page, [["vary", ["Cores"], False]]) == ["behind"]
    assert run_with_box(page, [["vary", ["Cores"], False]]) == []  # not for ever
    assert query(page) == "?other=1"
    assert run_with_box(page, []) == []
    assert run_with_box(page, [["vary", ["Cores"], False]]) == ["behind"]  # the same address again
