"""Pictures of the ten-minute tour, docs/images/tour-*.png: `python -m benchmarks.drawing.tour`.

Needs Chromium. Few colours keep the files small.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect

from benchmarks.browser_page import BROWSERS
from tests.ui.app_server import AppPage, browser_of, served

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZE = {"width": 1280, "height": 720}
COLOURS = 128
SETTLED_MS = 4_000
SMALL = "model=teaching-resnet&chip=generic-4x4&batch=16&a=tvm&b=graphturbo"
VARIED = "&vary=LB+data+part"
PAGES: Mapping[str, str] = {
    "compare": f"compare?{SMALL}",
    "chips": f"chips?{SMALL}",
    "what-if": f"what-if?{SMALL}{VARIED}",
}
"""Picture -> page and choices."""


def main() -> None:
    """Write every picture of the tour."""
    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    with served() as address, browser_of(path) as browser:
        context = browser.new_context(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type]
        visit = AppPage.of(context, address)
        for name, data in _pictures(visit):
            image = Image.open(io.BytesIO(data)).convert("RGB").quantize(COLOURS)
            image.save(FOLDER / f"tour-{name}.png", optimize=True)


def _pictures(visit: AppPage) -> Iterator[tuple[str, bytes]]:
    visit.open()
    visit.page.wait_for_timeout(SETTLED_MS)
    yield "first", visit.page.screenshot()
    visit.open("?views=Algorithms")
    visit.page.wait_for_timeout(SETTLED_MS)
    yield "algorithms", visit.page.screenshot(clip=_below(visit, "algorithms"))
    for name, query in PAGES.items():
        visit.page.goto(f"{visit.address}/{query}")
        visit.page.wait_for_timeout(SETTLED_MS)
        visit.page.get_by_role("button", name="Cancel").wait_for(state="detached")
        visit.rest()
        visit.page.wait_for_timeout(SETTLED_MS)
        yield name, visit.page.screenshot()


def _below(visit: AppPage, name: str) -> FloatRect:
    """Where the view of that name is, without the bar."""
    visit.page.add_style_tag(content=".st-key-top_bar { display: none !important; }")
    view = visit.page.locator(f".st-key-view_{name}")
    view.evaluate("(view) => view.scrollIntoView({ block: 'start' })")
    visit.page.wait_for_timeout(SETTLED_MS)
    box = view.bounding_box()
    assert box is not None
    top = max(0, box["y"])
    return FloatRect(
        x=box["x"], y=top, width=box["width"], height=min(box["height"], SIZE["height"] - top)
    )


if __name__ == "__main__":
    main()
