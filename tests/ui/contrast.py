"""A page in the browser -> its texts that are hard to read, by WCAG 2.2 (1.4.3 and 1.4.11)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page

from tests.ui.app_server import POLL_MS

SCRIPT = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
CALM = "*, *::before, *::after { transition: none !important; animation: none !important; }"
"""A text that is just fading in is judged as it will stay."""
ONCE_FRESH = f"""() => document.querySelector('[data-stale="true"]') ? null : ({SCRIPT})()"""
"""JavaScript: what `SCRIPT` finds; null while Streamlit fades what a run may still replace."""


@dataclass(frozen=True, slots=True)
class Faint:
    """A text whose contrast is below what it needs: 4.5, and 3.0 where it is large or an icon.

    `ink` and `ground` are red, green and blue, 0 to 255, as they reach the screen.
    """

    text: str
    ratio: float
    needed: float
    ink: tuple[int, ...]
    ground: tuple[int, ...]
    where: str


def faint_texts(page: Page) -> list[Faint]:
    """All of a page's visible texts below the contrast that they need, in reading order.

    Open shadow roots, SVG texts, and what fields hold or propose are looked at; what is switched
    off is not (WCAG asks nothing of it), nor what a canvas draws: sample its pixels. A page whose
    script runs is judged once it shows what stays.
    """
    page.add_style_tag(content=CALM)
    found = page.wait_for_function(ONCE_FRESH, polling=POLL_MS).json_value()
    return [
        Faint(**{**entry, "ink": tuple(entry["ink"]), "ground": tuple(entry["ground"])})
        for entry in found
    ]
