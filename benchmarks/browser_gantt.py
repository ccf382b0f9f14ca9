"""Speed of Gantt chart and first screen in headless Chromium: `python -m benchmarks.browser_gantt`.

It uses the real component on a separate page (gantt_page.py) with 500,000 generated instructions on
25 and on 601 engines. A redraw time is the longest of five redraws of all instructions.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Locator
from rich.console import Console
from rich.table import Table

from tests.ui.app_server import browser_of, served

PAGE = Path(__file__).with_name("gantt_page.py")
CANVAS = "canvas[aria-roledescription='Gantt chart'][data-ready]"
SHOWN_LIMIT_S, REDRAW_LIMIT_S = 3.0, 0.050
DRAWN_SINCE = "([canvas, frames]) => Number(canvas.dataset.frames) > frames"
MOVES, PLAYED_MS = 80, 3000
FRAMES = """() => {
  const times = [];
  let [last, isOn] = [performance.now(), true];
  const next = (now) => {
    times.push(now - last);
    last = now;
    if (isOn) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  window.framesEnd = () => {
    isOn = false;
    return times.slice(1);
  };
}"""
Row = tuple[str, float, float | None]


def shown(browser: Browser, address: str) -> tuple[float, Locator]:
    """Seconds from opening the page to a chart that answers a key, and its canvas."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    began = perf_counter()
    page.goto(address)
    canvas = page.locator(CANVAS)
    canvas.wait_for(timeout=60_000)
    redraw(canvas, "KeyW")
    return perf_counter() - began, canvas


def redraw(canvas: Locator, key: str) -> float:
    """Seconds of the redraw that a key starts."""
    frames = int(canvas.get_attribute("data-frames") or "0")
    canvas.press(key)
    canvas.page.wait_for_function(DRAWN_SINCE, arg=[canvas.element_handle(), frames])
    return float(canvas.get_attribute("data-draw-ms") or "nan") / 1000


def slowest_redraw(canvas: Locator) -> float:
    """Longest of five redraws of all bars."""
    return max(redraw(canvas, key) for key in ("Digit0", "KeyW", "Digit0", "KeyW", "Digit0"))


def redraws(canvas: Locator) -> list[Row]:
    """One row per way to colour and to fold."""
    rows: list[Row] = []
    page = canvas.page
    for box, choices in (("rows", ("cores", "kinds", "auto")), ("colour by", ("layer", "wait"))):
        for choice in choices:
            page.get_by_label(box).select_option(choice)
            rows.append((f"redraw, {box} {choice}", slowest_redraw(canvas), REDRAW_LIMIT_S))
    page.get_by_label("path", exact=True).select_option("critical")
    rows.append(("redraw, critical path on", slowest_redraw(canvas), REDRAW_LIMIT_S))
    canvas.click(position={"x": 700, "y": 100})
    rows.append(("redraw, an op selected", slowest_redraw(canvas), REDRAW_LIMIT_S))
    return rows


def measuring(canvas: Locator) -> float:
    """Seconds until a span of all visible instructions is measured."""
    began = perf_counter()
    canvas.press("KeyM")
    canvas.page.wait_for_function("canvas => canvas.dataset.span", arg=canvas.element_handle())
    return perf_counter() - began


def measured(browser: Browser, address: str, engines: str) -> list[Row]:
    """All rows of one chip size."""
    first, _ = shown(browser, address)
    again, canvas = shown(browser, address)
    rows: list[Row] = [
        ("first visit of a server, chart made too", first, None),
        ("shown and answering", again, SHOWN_LIMIT_S),
        *redraws(canvas),
        ("a span of everything measured", measuring(canvas), None),
    ]
    return [(f"{engines} engines: {what}", seconds, limit) for what, seconds, limit in rows]


def first_screen(browser: Browser, address: str, count: int, limit: float) -> list[Row]:
    """Median seconds of a frame while the pointer crosses either card, and while both runs play."""
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(address)
    page.locator(".overview[data-scene]").wait_for(timeout=60_000)
    page.locator("[data-part=layers]").hover()

    def across(part: str) -> Callable[[], None]:
        box = page.locator(f"[data-part={part}]").bounding_box() or {}
        x, y, width, height = (box[key] for key in ("x", "y", "width", "height"))
        places = (step / MOVES for step in range(MOVES))
        return lambda: (
            [
                page.mouse.move(x + (0.2 + 0.6 * at) * width, y + (0.2 + 0.6 * at) * height)
                for at in places
            ]
            and None
        )

    def played() -> None:
        button = page.locator("[data-part=play]")
        button.click()
        page.wait_for_timeout(PLAYED_MS)
        assert button.get_attribute("aria-pressed") == "true", "it plays on until it is stopped"
        button.click()

    acts = {"hover, layers": across("layers"), "hover, time": across("time"), "play": played}
    rows: list[Row] = []
    for what, act in acts.items():
        page.evaluate(FRAMES)
        act()
        seconds = statistics.median(page.evaluate("window.framesEnd()")) / 1000
        rows.append((f"first screen of {count:,}: a frame, {what}", seconds, limit))
    return rows


def main() -> int:
    """Prints the table; returns 1 when a limit is exceeded."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    console = Console()
    if not path:
        console.print("No Chromium found.")
        return 1
    with served(PAGE) as address, browser_of(path) as browser:
        rows = measured(browser, f"{address}/?count=500000&cores=8", "25")
        rows += measured(browser, f"{address}/?count=500000&cores=200", "601")
        for count, limit in ((30_000, 0.017), (500_000, 0.034)):
            rows += first_screen(browser, f"{address}/?what=overview&count={count}", count, limit)
    table = Table("500,000 instructions", "measured", "limit", "")
    for what, seconds, limit in rows:
        verdict = "" if limit is None else "ok" if seconds < limit else "too slow"
        told = "" if limit is None else f"{limit * 1000:.0f} ms"
        table.add_row(what, f"{seconds * 1000:.0f} ms", told, verdict)
    console.print(table)
    return int(any(limit is not None and seconds >= limit for _, seconds, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
