"""Speed of the graph view in headless Chromium: `python -m benchmarks.browser_graph`.

Two models: DenseNet-121 and a generated decoder of 1,900 nodes, fine and coarse side by side. Runs
are computed first. Measured times: from opening the page to the drawn graph, from the button to all
groups expanded, and single redraws (median of `REDRAWS` at each of several zooms).
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from playwright.sync_api import Browser, Page
from rich.console import Console
from rich.table import Table

from benchmarks.growth_models import decoder
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_reports
from tests.ui.app_server import browser_of, served

ROOT = Path(__file__).resolve().parents[1]
STRATEGIES = {"A": "tvm", "B": "graphturbo"}
BATCH = 32
REDRAWS = 15
LIMITS_S: Mapping[str, float] = {"shown": 3.0, "expanded": 5.0, "redraw": 0.050}
ZOOMS: Mapping[str, tuple[str, ...]] = {
    "collapsed": ("collapse all", "fit"),
    "expanded, all in sight": ("expand all", "fit"),
    "expanded, near": ("expand all", *("zoom in",) * 8),
}
REDRAW = """async (canvas) => {
  const frames = Number(canvas.dataset.frames);
  canvas.graph.paint();
  while (Number(canvas.dataset.frames) === frames) await new Promise(requestAnimationFrame);
  return Number(canvas.dataset.drawMs) / 1000;
}"""


def models() -> Mapping[str, bytes]:
    """The models measured, by name."""
    return {"densenet-121": load_sample("densenet-121"), "decoder of 1,900": decoder(1900)}


def keep_reports(name: str, data: bytes, folder: Path) -> int:
    """Computes both runs and stores their reports for the page; returns the number of ops."""
    requests = [RunRequest(name, strategy, batch=BATCH) for strategy in STRATEGIES.values()]
    ops = 0
    for run, report in zip(STRATEGIES, run_reports(data, requests), strict=True):
        (folder / f"{run}.npz").write_bytes(report.to_bytes())
        ops = len(report.tables["graph_nodes"])
    return ops


def measure(browser: Browser, address: str) -> Mapping[str, float]:
    """Seconds of a second visit, after one-time compilation by Python."""
    open_page(browser, address)[0].close()
    page, shown = open_page(browser, address)
    canvas = page.locator("canvas[data-ready]")
    began = perf_counter()
    page.get_by_role("button", name="expand all").click()
    page.wait_for_function(
        "(canvas) => JSON.parse(canvas.dataset.scene).isLocked", arg=canvas.element_handle()
    )
    found = {"shown": shown, "expanded": perf_counter() - began}
    for name, buttons in ZOOMS.items():
        for button in buttons:
            page.get_by_role("button", name=button).click()
        times = [canvas.evaluate(REDRAW) for _ in range(REDRAWS)]
        found[f"redraw, {name}"] = statistics.median(times)
    page.close()
    return found


def open_page(browser: Browser, address: str) -> tuple[Page, float]:
    """A page with the drawn graph, and the seconds until it is drawn."""
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    began = perf_counter()
    page.goto(address)
    page.locator("canvas[data-ready]").wait_for(timeout=60_000)
    return page, perf_counter() - began


def main() -> int:
    """Prints the table; returns 1 when a limit is exceeded or no browser is found."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if not path:
        print("No Chromium found: nothing was measured.")
        return 1
    table, is_slow = Table("model", "what", "measured", "limit", ""), False
    for name, data in models().items():
        with tempfile.TemporaryDirectory() as folder:
            ops = keep_reports(name, data, Path(folder))
            os.environ["GRAPHTURBO_BENCHMARK_REPORTS"] = folder
            with (
                served(ROOT / "benchmarks" / "graph_page.py") as address,
                browser_of(path) as found,
            ):
                seconds = measure(found, address)
        for what, value in seconds.items():
            limit = LIMITS_S[what.split(",")[0]]
            is_slow |= value >= limit
            shown = [f"{number * 1000:.0f} ms" for number in (value, limit)]
            table.add_row(
                f"{name} ({ops} ops)", what, *shown, "ok" if value < limit else "too slow"
            )
    Console().print(table)
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
