"""Redraw times of the address map with generated buffers in headless Chromium, zoomed out and in.

`python -m benchmarks.browser_addresses`; goal: 50 ms per redraw of 100,000 buffers.
"""

from __future__ import annotations

import json
from base64 import b64encode
from statistics import median

from playwright.sync_api import Page

from graphturbo_ui.components.addresses import ADDRESSES
from graphturbo_ui.figures.canvases import address_bytes
from tests.conftest import find_browser
from tests.ui.app_server import browser_of
from tests.ui.synthetic import synthetic_report
from tests.ui.synthetic_buffers import with_buffers

BUFFERS_A_SPACE = 33_334
"""Three spaces are drawn: GB and both parts of a core's LB."""
REDRAWS = 15
GOAL_MS = 50
ALONE = """async ([script, html, text]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  document.body.innerHTML = html;
  const data = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const began = performance.now();
  show({ data, parentElement: document.body, setStateValue: () => {} });
  const canvas = document.querySelector("canvas");
  while (!canvas.dataset.ready) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""


def main() -> None:
    """Prints one row per time window: drawn buffers, and median and largest milliseconds."""
    path = find_browser()
    if path is None:
        raise SystemExit("no Chromium was found")
    report = with_buffers(synthetic_report(instructions=100_000), BUFFERS_A_SPACE)
    data = b64encode(address_bytes(report) + bytes(8)).decode()
    with browser_of(path) as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        first = page.evaluate(ALONE, [ADDRESSES.js(), ADDRESSES.html(), data])
        print(f"first picture after {first:.0f} ms (goal of a redraw: {GOAL_MS} ms)")
        for name, keys in (("all of the time", 0), ("a fifth", 7), ("a fiftieth", 10)):
            page.locator("canvas").focus()
            for _ in range(keys):
                page.keyboard.press("KeyW")
            times = [_redraw_ms(page) for _ in range(REDRAWS)]
            drawn = json.loads(page.locator("canvas").get_attribute("data-scene") or "")["drawn"]
            print(f"{name:16} {drawn:8,} buffers {median(times):6.1f} ms, most {max(times):.1f}")


def _redraw_ms(page: Page) -> float:
    return page.evaluate(
        """async () => {
          const canvas = document.querySelector("canvas");
          const frames = canvas.dataset.frames;
          canvas.addresses.paint();
          while (canvas.dataset.frames === frames) await new Promise(requestAnimationFrame);
          return Number(canvas.dataset.drawMs);
        }"""
    )


if __name__ == "__main__":
    main()
