"""Pictures of the app for README and docs: the first screen, views, and a recording of Play.

    python -m benchmarks.drawing.pictures

Writes docs/images. Needs Chromium. The recording is drawn frame by frame at set times of the
schedule, so it does not depend on how fast this machine is.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from benchmarks.browser_page import BROWSERS
from tests.ui.app_server import AppPage, browser_of, served

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZE = {"width": 1440, "height": 900}
RECORDED = (960, 600)
SECONDS, FRAMES_PER_S = 20, 6
QUALITY = 55
SETTLED_MS = 2_000
"""Until charts above have their heights."""
VIEWS = {"groupings": "Graph", "gantt": "Every core", "memory": "Memory", "time": "Why"}
FIND = """() => {
  const all = (root) => [...root.querySelectorAll('*')].flatMap(
    (e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
  return all(document).find((e) => e.matches('.overview[data-scene]'));
}"""


def main() -> None:
    """Write every picture and the recording."""
    with served() as address, browser_of(_chromium()) as browser:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport=SIZE, color_scheme=scheme)  # type: ignore[arg-type]
            visit = AppPage.of(context, address)
            visit.open()
            visit.page.screenshot(path=FOLDER / f"explore-{scheme}.png")
            if scheme == "light":
                _record(visit)
                for name, view in VIEWS.items():
                    (FOLDER / f"{name}.png").write_bytes(_view(visit, view))
            context.close()


def _chromium() -> str:
    """Path of the first browser that is installed."""
    return next(found for name in BROWSERS if (found := shutil.which(name)))


def _view(visit: AppPage, name: str) -> bytes:
    """The top of the view of that name, drawn alone below the first screen."""
    visit.open(f"?views={name.replace(' ', '+')}")
    visit.page.add_style_tag(content=".st-key-top_bar { display: none !important; }")
    view = visit.page.locator(f".st-key-view_{name.lower().replace(' ', '_')}")
    view.evaluate("(view) => view.scrollIntoView({ block: 'start' })")
    visit.page.wait_for_timeout(SETTLED_MS)
    box = view.bounding_box()
    assert box is not None
    height = min(box["height"], SIZE["height"] - max(0, box["y"]))
    clip = {"x": box["x"], "y": max(0, box["y"]), "width": box["width"], "height": height}
    return visit.page.screenshot(clip=clip)  # type: ignore[arg-type]


def _record(visit: AppPage) -> None:
    """Play over the whole of both runs as an animated WebP."""
    first, *others = list(_frames(visit))
    first.save(
        FOLDER / "play.webp", save_all=True, append_images=others, loop=0,
        duration=1000 // FRAMES_PER_S, quality=QUALITY, method=4,
    )  # fmt: skip


def _frames(visit: AppPage) -> Iterator[Image.Image]:
    screen = visit.page.evaluate_handle(FIND)
    longest = screen.evaluate("(root) => root.view.longest()")
    count = SECONDS * FRAMES_PER_S
    for number in range(count):
        screen.evaluate("(root, time) => root.view.playTo(time)", longest * number / (count - 1))
        data = visit.page.screenshot(type="jpeg", quality=90)
        yield Image.open(io.BytesIO(data)).resize(RECORDED, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
