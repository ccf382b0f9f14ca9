"""What the browser tests share: a server, a Chromium, and a page that ends without an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import find_browser
from tests.ui.app_server import PATIENCE_MS, AppPage, browser_of, served

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The app's address on a server of this module's own."""
    with served() as found:
        yield found


@pytest.fixture(scope="module")
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
