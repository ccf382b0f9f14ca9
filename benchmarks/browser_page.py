"""Response times of the app in a browser: `python -m benchmarks.browser_page` prints a table.

Each time is measured for a visitor: from the click to its result on the page. The limits are for an
otherwise idle machine with two cores.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import NamedTuple

from playwright.sync_api import Browser
from rich.console import Console
from rich.table import Table

from tests.ui.app_server import ALL_ELEMENTS, AppPage, browser_of, served

ROOT = Path(__file__).resolve().parents[1]
VIEWPORT = {"width": 1400, "height": 1000}
VISITS = 5
ACTIONS = 20
FIRST_VISITS = 3
"""Each of a server of its own."""
REST_S = 10.0
"""Before a measurement, for what the server does by itself: it starts two processes, and computes
what would help a chip once both runs are drawn."""
PAINT_LIMIT_S, HERO_LIMIT_S, CONTROL_LIMIT_S, BUSY_LIMIT_S = 1.5, 3.0, 0.5, 1.0
HEAVY = ("?model=llama&batch=8", "?model=bert-large&batch=32")
"""What two others compute meanwhile: many seconds each on two cores."""
WATCHED = f"""
  window.seen = {{}};
  {ALL_ELEMENTS}
  const isBar = (e) => e.matches("button") && e.textContent.includes("Present");
  const isHero = (e) => e.matches(".overview[data-scene]")
    && JSON.parse(e.dataset.scene).totals.length === 2;
  const look = () => {{
    const elements = all(document);
    if (elements.some(isBar)) window.seen.bar ??= performance.now();
    if (elements.some(isHero)) window.seen.hero ??= performance.now();
    if (!window.seen.bar || !window.seen.hero) requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
"""
"""JavaScript: notes by the page's own clock when the bar and both runs are drawn.

A look from outside waits for what the page does meanwhile, so it is late by up to a second.
"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@dataclass(frozen=True, slots=True)
class Measured:
    """One row: the seconds of every attempt, and their limit at a percentile."""

    what: str
    seconds: tuple[float, ...]
    limit_s: float
    percentile: int = 50

    @property
    def figure_s(self) -> float:
        """The percentile of the attempts' seconds."""
        if len(self.seconds) == 1:
            return self.seconds[0]
        return statistics.quantiles(self.seconds, n=100, method="inclusive")[self.percentile - 1]


class Opened(NamedTuple):
    """Seconds from the address to what a visitor waits for."""

    paint_s: float
    bar_s: float
    hero_s: float
    settled_s: float


@contextmanager
def visiting(browser: Browser, address: str) -> Iterator[AppPage]:
    """The page of a new visitor."""
    with browser.new_context(viewport=VIEWPORT) as context:
        yield AppPage.of(context, address)


def timed(action: Callable[[], object]) -> float:
    """Duration of an action in seconds."""
    began = perf_counter()
    action()
    return perf_counter() - began


def opened(visit: AppPage) -> Opened:
    """What a visitor waits for, from the address on."""
    visit.page.add_init_script(WATCHED)
    began = perf_counter()
    visit.page.goto(f"{visit.address}/")
    visit.settle()
    settled_s = perf_counter() - began
    visit.page.wait_for_function("window.seen.bar && window.seen.hero")
    paint, bar, hero = visit.page.evaluate(
        """() => [
          performance.getEntriesByName("first-contentful-paint")[0].startTime,
          window.seen.bar, window.seen.hero,
        ]"""
    )
    return Opened(paint / 1e3, bar / 1e3, hero / 1e3, settled_s)


def first_visit(chromium: str) -> Opened:
    """What the first visitor of a new server waits for, whose browser is new too."""
    with served(ROOT / "app.py") as address, browser_of(chromium) as browser:
        sleep(REST_S)
        with visiting(browser, address) as visit:
            return opened(visit)


def later_visits(browser: Browser, address: str) -> list[Opened]:
    """What others wait for, once the server has computed the default comparison."""
    with visiting(browser, address) as visit:
        visit.open()
    found = []
    for _ in range(VISITS):
        with visiting(browser, address) as visit:
            found.append(opened(visit))
    return found


def views(opened: Sequence[Opened], visitor: str) -> list[Measured]:
    """A row for each thing that these visitors waited for."""
    paints, bars, heroes, settled = zip(*opened, strict=True)
    return [
        Measured(f"first paint, {visitor}", paints, PAINT_LIMIT_S),
        Measured(f"top bar, {visitor}", bars, float("inf")),
        Measured(f"first screen drawn, {visitor}", heroes, HERO_LIMIT_S),
        Measured(f"all runs and views, {visitor}", settled, float("inf")),
    ]


def act(visit: AppPage, number: int) -> float:
    """Seconds of one control that needs no new run: Algorithms are shown, or hidden again."""
    pill = visit.page.get_by_role("button", name="Algorithms", exact=True)
    heading = visit.page.get_by_role("heading", name="Algorithms", exact=True)
    began = perf_counter()
    pill.click()
    heading.wait_for(state="detached" if number % 2 else "visible")
    return perf_counter() - began


def controls(browser: Browser, address: str) -> Measured:
    """Row of controls while no run is computed."""
    with visiting(browser, address) as visit:
        visit.open()
        sleep(REST_S)
        seconds = tuple(act(visit, number) for number in range(ACTIONS))
    return Measured("a control that needs no new run", seconds, CONTROL_LIMIT_S, 95)


def controls_meanwhile(browser: Browser, address: str) -> Measured:
    """Row of the same controls while the server computes two heavy runs of others."""
    with (
        visiting(browser, address) as visit,
        visiting(browser, address) as one,
        visiting(browser, address) as other,
    ):
        visit.open()
        for heavy, query in zip((one, other), HEAVY, strict=True):
            heavy.page.goto(f"{address}/{query}")
            heavy.page.get_by_role("button", name="Cancel A").wait_for()
        seconds = tuple(act(visit, number) for number in range(ACTIONS))
        for heavy in (one, other):
            heavy.page.goto("about:blank")
    return Measured("the same while two others compute, p95", seconds, BUSY_LIMIT_S, 95)


def cancelled(browser: Browser, address: str) -> Measured:
    """Row of the time from the click on Cancel to its message on the page."""
    with visiting(browser, address) as visit:
        visit.page.goto(f"{address}/{HEAVY[1]}&dtype=int8")
        button = visit.page.get_by_role("button", name="Cancel A")
        button.wait_for()
        said = visit.page.get_by_text("A was cancelled")
        seconds = timed(lambda: (button.click(), said.wait_for()))
        visit.page.get_by_role("button", name="Cancel B").click()
        visit.page.get_by_text("A and B were cancelled").wait_for()
    return Measured("a run is cancelled", (seconds,), BUSY_LIMIT_S)


def main() -> int:
    """Prints the table; returns 1 when a limit is exceeded."""
    console = Console()
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        console.print("No Chromium found: nothing was measured.")
        return 1
    rows = views([first_visit(path) for _ in range(FIRST_VISITS)], "first visitor of a server")
    with served(ROOT / "app.py") as address, browser_of(path) as browser:
        rows += views(later_visits(browser, address), "later visitors")
        rows.append(controls(browser, address))
        rows += [controls_meanwhile(browser, address), cancelled(browser, address)]
    table = Table("what", "tries", "measured", "limit", "")
    for row in rows:
        verdict = "ok" if row.figure_s < row.limit_s else "too slow"
        limit = "" if row.limit_s == float("inf") else f"{row.limit_s:.1f} s"
        table.add_row(row.what, str(len(row.seconds)), f"{row.figure_s:.2f} s", limit, verdict)
    console.print(table)
    if hasattr(os, "getloadavg"):  # not on Windows
        load = os.getloadavg()[1]
        console.print(f"Load average: {load:.1f} processes on {os.cpu_count()} cores.")
    return int(any(row.figure_s >= row.limit_s for row in rows))


if __name__ == "__main__":
    sys.exit(main())
