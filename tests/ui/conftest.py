"""What tests in a browser share: a server and a Chromium a file, a page a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.conftest import find_browser
from tests.ui.app_server import AppPage, browser_of, served


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = find_browser()
    assert path is not None
    with browser_of(path) as found:
        yield found


@pytest.fixture
def visit(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[AppPage]:
    """A page that ends without an error in page or console."""
    scheme = getattr(request, "param", "light")
    size = {"width": 1400, "height": 2600}
    with browser.new_context(color_scheme=scheme, viewport=size) as context:
        found = AppPage.of(context, address)
        yield found
        assert found.errors == []
