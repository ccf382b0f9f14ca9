"""The documentation site in a browser without a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from benchmarks.site import __main__ as builder

pytestmark = pytest.mark.browser

SIZES = ((1280, 720), (390, 844))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site") / "site"
    assert builder.main(["--to", str(folder)]) == 0
    return folder


@pytest.fixture
def reader(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page without a server, and all that went wrong on it."""
    scheme, (width, height) = request.param
    faults_seen: list[str] = []
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.on("console", lambda message: faults_seen.append(message.text))
    page.on("pageerror", lambda error: faults_seen.append(str(error)))
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    yield page, faults_seen
    page.close()
    assert [url for url in sent if not url.startswith(("file:", "data:"))] == []


@pytest.mark.parametrize(
    "reader", [("light", SIZES[0]), ("dark", SIZES[1])], indirect=True, ids=("wide", "narrow")
)
def test_pages_and_search_work_from_a_file(site: Path, reader: tuple[Page, list[str]]) -> None:
    page, wrong = reader
    page.goto((site / "search.html").as_uri() + "?q=halo")
    page.get_by_text(re.compile(r"Search finished, found \d+ pages")).wait_for()  # then none moves
    found = page.get_by_role("link", name="Pieces and halos", exact=True).last
    found.click()
    page.get_by_role("heading", name="Pieces and halos").wait_for()
    for name in ("index.html", "tour.html", "json-contract.html", "how-to/strategy.html"):
        page.goto((site / name).as_uri())
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"], f"{name} is wider than the window"  # type: ignore[index]
        broken = "[...document.images].filter((i) => i.src && !i.naturalWidth).map((i) => i.src)"
        page.wait_for_function("document.readyState === 'complete'")
        assert page.evaluate(broken.replace("i.src &&", "i.loading !== 'lazy' &&")) == []
    assert wrong == []
