"""Help in a browser: the menu opens it, and the "?" of a term opens the term's section."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.site.__main__ import main
from benchmarks.site.builder import SITE
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults

pytestmark = pytest.mark.browser

SMALL = "?model=teaching-resnet&batch=8"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The site, as `make docs` leaves it."""
    if not (SITE / "index.html").is_file():
        assert main([]) == 0


def opened(visit: AppPage, click) -> AppPage:
    """The tab that a click opens, with errors of its own kept."""
    with visit.page.context.expect_page() as tab:
        click()
    tab.value.wait_for_load_state()
    return AppPage(tab.value, visit.address)


def is_dark(page: Page) -> bool:
    """Whether the page's ground is darker than its text."""
    shades = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        ".map((text) => text.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0))"
    )
    return shades[0] < shades[1]


@pytest.mark.parametrize("visit", ["light", "dark"], indirect=True)
def test_the_menu_opens_the_documentation(visit: AppPage, request: pytest.FixtureRequest) -> None:
    visit.open(SMALL)
    with visit.box("menu") as body:
        help_tab = opened(visit, body.get_by_role("link", name="Help", exact=True).click)
    page = help_tab.page
    assert page.url == f"{visit.address}/help/"
    page.get_by_role("heading", name="GraphTurbo Explorer").first.wait_for()
    assert is_dark(page) == (request.node.callspec.params["visit"] == "dark")
    assert serious_faults(help_tab) == []
    page.get_by_role("link", name="Pieces and halos").first.click()
    page.get_by_role("heading", name="Pieces and halos").wait_for()
    assert serious_faults(help_tab) == []
    page.get_by_role("textbox", name="Search").first.fill("residency")
    page.keyboard.press("Enter")
    page.get_by_text("Search finished").wait_for()  # until then results move under the pointer
    page.get_by_role("link", name="Weights > residency").first.click()
    expect(page.locator("#residency")).to_be_in_viewport()
    page.close()


def test_the_question_mark_of_a_term_opens_its_section(visit: AppPage) -> None:
    visit.open(f"{SMALL}&views=Memory")
    heading = visit.page.get_by_test_id("stHeading").filter(has_text="Memory")
    heading.get_by_test_id("stTooltipIcon").hover()
    link = visit.page.get_by_role("tooltip").get_by_role("link", name="LB", exact=True)
    page = opened(visit, link.click).page
    assert page.url.endswith("/help/concepts/chip.html#lb")
    expect(page.locator("#lb")).to_be_in_viewport()
    page.close()


def test_an_address_that_is_no_page_is_not_found(visit: AppPage) -> None:
    for path in ("gone.html", "..%2fapp.py", "concepts/..%2f..%2f..%2fapp.py"):
        answer = visit.page.request.get(f"{visit.address}/help/{path}")
        assert "st.App" not in answer.text()
        assert answer.status in (400, 404)
