"""The app as visitors get it: a server on a free loopback port, and a page in headless Chromium."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import Literal

from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    expect,
    sync_playwright,
)
from playwright.sync_api import (
    TimeoutError as PlaywrightTimeoutError,
)

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "screenshots"
START_SECONDS = 60
PATIENCE_MS = 120_000
CLICKS, CLICK_MS = 3, 20_000
"""How often a link to a page is clicked, and how long its heading may take."""
POLL_MS = 100
"""Between two looks; Playwright's own way, at each frame, has the page draw them for no one."""
ALL_ELEMENTS = """const all = (root) => [...root.querySelectorAll('*')].flatMap(
  (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);"""
"""JavaScript: what is below `root`, in open shadow roots too."""
IS_DRAWN_IN = f"""(theme) => {{
  {ALL_ELEMENTS}
  const app = document.querySelector('[data-testid="stApp"]');
  const themeOf = (data) => data?.drawn || (data?.scene && data.theme);
  const drawn = all(document).map((e) => themeOf(e.dataset)).filter(Boolean);
  const isBusy = app?.dataset.testScriptState !== "notRunning";
  return !isBusy && !document.querySelector('[data-stale="true"]') && drawn.length > 0
    && getComputedStyle(app).colorScheme === theme && drawn.every((each) => each === theme);
}}"""
"""JavaScript: whether Streamlit, Python's pictures and the app's components are in a theme."""
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""JavaScript: waits until charts and canvases are drawn."""
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--process-per-site",
)
"""The last: pages of a context share a process, and what it has compiled."""
KEPT_FOR_A_SITE = "cookies,local_storage,session_storage,indexeddb"
WITH_CANVAS = ("Graph", "Memory", "Every core")
"""Views that have one each; an address that names no views has none of these."""
HARMLESS = ("willReadFrequently", "Not using web worker")
"""Console words that are advice, not errors."""
PROBED, PROBE = "/_stcore/", "status of 404"
"""Opened by its path, a page looks for Streamlit's server below that path first."""


@contextmanager
def served(script: Path = ROOT / "app.py") -> Iterator[str]:
    """The address of a Streamlit server that runs `script`."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", str(script)]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    options += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    with subprocess.Popen(
        [*command, *options, "--server.fileWatcherType", "none"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            _await_health(f"http://127.0.0.1:{port}/_stcore/health", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()


def _await_health(url: str, process: subprocess.Popen) -> None:
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            sleep(0.1)
    raise AssertionError("the server did not start")


@contextmanager
def browser_of(path: str) -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_FLAGS))
        yield browser
        browser.close()


@cache
def context_of(browser: Browser, width: int, height: int, scheme: str = "light") -> BrowserContext:
    """The context of all pages of a size without the app.

    One page stays open, so that its process serves those that follow.
    """
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    context.new_page()
    return context


@dataclass
class AppPage:
    """A visitor's page, with every error that page or console reported."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE_MS)

    @classmethod
    def of(cls, context: BrowserContext, address: str) -> AppPage:
        page = context.new_page()
        visit = cls(page, address)
        page.on("pageerror", lambda error: visit.errors.append(f"page: {error}"))
        page.on("console", visit._note)
        page.on("requestfailed", visit._note_request)
        return visit

    def _note(self, message) -> None:
        is_harmless = any(word in message.text for word in HARMLESS)
        is_probe = PROBED in message.location["url"] and PROBE in message.text
        if message.type in ("error", "warning") and not is_harmless and not is_probe:
            self.errors.append(f"console: {message.text}")

    def _note_request(self, request) -> None:
        if not request.url.removeprefix("blob:").startswith(self.address):
            self.errors.append(f"request to {request.url}")

    def leave(self) -> None:
        """Close the page, and have the browser forget what the app kept there."""
        session = self.page.context.new_cdp_session(self.page)
        kept = {"origin": self.address, "storageTypes": KEPT_FOR_A_SITE}
        session.send("Storage.clearDataForOrigin", kept)
        self.page.close()

    def resize(self, width: int, height: int, scheme: Literal["light", "dark"] = "light") -> None:
        """Give the window a size and a colour scheme.

        A context of its own has a process of its own, which compiles the app's scripts again.
        """
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=scheme)

    def open(self, query: str = "") -> None:
        """Go there and wait until both runs are drawn."""
        self.page.goto(f"{self.address}/{query}")
        self.settle()

    def settle(self) -> None:
        """Wait until the script has run, and overview and canvases of the views show both runs."""
        self.page.wait_for_function(
            f"(withCanvas) => {{ {ALL_ELEMENTS}"
            """
              const elements = all(document);
              const overview = elements.find((e) => e.matches(".overview[data-scene]"));
              const isPair = overview && JSON.parse(overview.dataset.scene).totals.length === 2;
              const canvases = elements.filter((e) => e.ariaRoleDescription);
              const views = new URLSearchParams(location.search).getAll("views");
              const count = withCanvas.filter((name) => views.includes(name)).length;
              const panes = (c) => JSON.parse(c.dataset.scene).panes.length;
              const isDrawn = (c) => c.dataset.ready && panes(c) === 2;
              const app = document.querySelector('[data-testid="stApp"]');
              const busy = app?.dataset.testScriptState !== "notRunning";
              return !busy && isPair && canvases.length === count && canvases.every(isDrawn);
            }""",
            arg=WITH_CANVAS,
            polling=POLL_MS,
        )

    def rest(self) -> None:
        """Wait until no script runs, on pages without views too."""
        self.page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()

    def turn_to(self, page: str, heading: str) -> None:
        """Open a page of the app by its link.

        Streamlit loses a click that comes while the script of the page before begins anew: a person
        clicks once more, and so does this.
        """
        wanted = self.page.get_by_role("heading", name=heading)
        for _ in range(CLICKS):
            with self.box("menu") as body:
                body.get_by_role("link", name=re.compile(f"^{page} ")).click()
            with suppress(PlaywrightTimeoutError):
                wanted.wait_for(timeout=CLICK_MS)
                return
        wanted.wait_for()

    def in_both_themes(self) -> Iterator[str]:
        """The page's theme, `light` or `dark`, then the other one, each once it is drawn in it.

        Nothing that was done to the page is done again. It ends in the other theme.
        """
        is_dark = self.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        for theme in ("dark", "light") if is_dark else ("light", "dark"):
            self.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            self.page.wait_for_function(IS_DRAWN_IN, arg=theme, polling=POLL_MS)
            self.page.evaluate(TWO_FRAMES)
            yield theme

    def canvas(self, name: str) -> Locator:
        """The canvas of that role description, through the open shadow root."""
        return self.page.locator(f"canvas[aria-roledescription='{name}']")

    def scene(self, name: str) -> dict:
        """What the canvas says it shows, once it has drawn."""
        self.page.wait_for_function(
            "(canvas) => canvas.dataset.scene", arg=self.canvas(name).element_handle()
        )
        return json.loads(self.canvas(name).get_attribute("data-scene") or "{}")

    def await_scene(self, name: str, test: str) -> dict:
        """Wait until `test`, JavaScript on `scene`, holds; it may name parts not drawn yet."""
        self.page.wait_for_function(
            f"""(name) => {{
              {ALL_ELEMENTS}
              const canvas = all(document).find((e) => e.ariaRoleDescription === name);
              const scene = canvas?.dataset.scene && JSON.parse(canvas.dataset.scene);
              const isThere = () => {{
                try {{
                  return {test};
                }} catch (error) {{
                  if (error instanceof TypeError) return false;
                  throw error;
                }}
              }};
              return scene && isThere();
            }}""",
            arg=name,
            polling=POLL_MS,
        )
        return self.scene(name)

    @contextmanager
    def box(self, name: str) -> Iterator[Locator]:
        """What is in the popover `name` of the top bar, which is open meanwhile."""
        button = self.page.locator(f".st-key-bar_{name}").get_by_test_id("stPopoverButton")
        if button.get_attribute("aria-expanded") != "true":
            button.click()
        yield self.page.get_by_test_id("stPopoverBody")
        if button.get_attribute("aria-expanded") == "true":
            button.click()
        self.page.get_by_test_id("stPopoverBody").wait_for(state="detached")

    def choose(self, label: str, option: str) -> None:
        """Pick an option of the box `Model` or `Chip`, by typing it."""
        with self.box(label.lower()) as body:
            found = body.get_by_role("combobox", name=label)
            found.click()
            found.fill(option)
            found.press("Enter")

    def shoot(self, name: str) -> None:
        """Keep a picture of the whole page."""
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)

    def command(self) -> str:
        """The command line that the page offers: names everything that was chosen."""
        with self.box("share") as body:
            return body.get_by_test_id("stCode").nth(1).inner_text()

    def link(self) -> str:
        """The query that the page offers: restores what is chosen and in sight."""
        with self.box("share") as body:
            return body.get_by_test_id("stCode").nth(0).inner_text()

    def await_link(self, text: str) -> None:
        """Wait until the link that the page offers names this."""
        with self.box("share") as body:
            expect(body.get_by_test_id("stCode").nth(0)).to_contain_text(text)

    def await_command(self, text: str, count: int = 1) -> None:
        """Wait until the command line names this; not any more where `count` is 0."""
        with self.box("share") as body:
            expect(body.get_by_test_id("stCode").filter(has_text=text)).to_have_count(count)
