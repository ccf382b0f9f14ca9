"""What the browser tests share: a server, a Chromium, and a page that ends without an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import find_browser
from tests.ui.app_server import HARMLESS, PATIENCE_MS, AppPage, browser_of, served
from tests.ui.canvas_page import CanvasPage

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The app's address on one server for all tests of a process."""
    with served() as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    path = find_browser()
    assert path is not None
    with browser_of(path) as found:
        yield found


@pytest.fixture
def visit(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[AppPage]:
    """A page, `light` unless the test asks for `dark`, that ends without an error anywhere."""
    scheme = getattr(request, "param", "light")
    size = {"width": 1400, "height": 2600}
    with browser.new_context(color_scheme=scheme, viewport=size) as context:
        found = AppPage.of(context, address)
        yield found
        assert found.errors == []


@pytest.fixture
def shown(browser: Browser) -> Iterator[CanvasPage]:
    """An empty page that takes one component, without a server; ends without an error anywhere."""
    page = browser.new_page(viewport={"width": 1100, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    yield CanvasPage(page)
    page.close()
    assert [error for error in errors if not any(word in error for word in HARMLESS)] == []
