"""What the browser tests share: a server, a Chromium, and a page that ends without an error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.context import BaseContext
from types import SimpleNamespace

import pytest
from playwright.sync_api import Browser, BrowserContext, expect
from streamlit.components.v2 import manifest_scanner

from graphturbo_core.remote import process
from tests.conftest import find_browser
from tests.ui.app_server import HARMLESS, PATIENCE_MS, AppPage, browser_of, context_of, served
from tests.ui.canvas_page import CanvasPage

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """AppTest leaves its script as `__main__`, which processes that begin later would run."""
    before = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = before


@pytest.fixture(scope="session", autouse=True)
def packages_read_once() -> Iterator[None]:
    """Each AppTest looks through all installed packages for components: half of its CPU time."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(autouse=True)
def workers_begin_at_once(forks: BaseContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that imports the library itself takes 2 CPU s to begin; `tests/remote` has some."""
    monkeypatch.setattr(process, "multiprocessing", SimpleNamespace(get_context=lambda _: forks))


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


@pytest.fixture(scope="session")
def visitor(browser: Browser, address: str) -> Callable[[str], BrowserContext]:
    """The context of all visits of a colour scheme.

    It has the app's files, as parsed and compiled for the visit before, as long as one process
    serves all its pages: one small page stays open. Nothing moves without being asked to.
    """

    @cache
    def visitor_of(scheme: str) -> BrowserContext:
        size = {"width": 1400, "height": 2600}
        context = browser.new_context(color_scheme=scheme, viewport=size, reduced_motion="reduce")
        context.new_page().goto(f"{address}/_stcore/health")
        return context

    return visitor_of


@pytest.fixture
def visit(
    visitor: Callable[[str], BrowserContext], address: str, request: pytest.FixtureRequest
) -> Iterator[AppPage]:
    """A newcomer's page, `light` unless the test asks for `dark`, that ends without an error."""
    found = AppPage.of(visitor(getattr(request, "param", "light")), address)
    yield found
    errors = [*found.errors]
    found.leave()
    assert errors == []


@pytest.fixture
def shown(browser: Browser) -> Iterator[CanvasPage]:
    """An empty page that takes one component, without a server; ends without an error anywhere."""
    page = context_of(browser, 1100, 900).new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text))
    yield CanvasPage(page)
    page.close()
    assert [error for error in errors if not any(word in error for word in HARMLESS)] == []
