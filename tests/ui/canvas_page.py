"""One canvas component on an empty page, without a server: script, buffer and theme in."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from playwright.sync_api import Locator, Page

from graphturbo_ui.components.sources import Canvas

LIGHT = {
    "text-color": "#31333f",
    "background-color": "#ffffff",
    "secondary-background-color": "#f0f2f6",
    "border-color": "#d0d2d8",
    "primary-color": "#0072b2",
    "font": "sans-serif",
}
DARK = {
    **LIGHT,
    "text-color": "#fafafa",
    "background-color": "#0e1117",
    "secondary-background-color": "#262730",
    "border-color": "#5f636b",
    "primary-color": "#56b4e9",
}
"""What Streamlit tells a component of its two themes."""
SHOW = """async ([script, html, style, theme]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  const head = Object.entries(theme).map(([name, value]) => `--st-${name}: ${value};`).join("");
  const ground = theme["background-color"];
  document.head.innerHTML = `<style>:root { ${head} } body { background: ${ground}; }</style>`;
  document.body.innerHTML = `<style>${style}</style>${html}`;
  window.give = (text) => show({
    data: Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)),
    parentElement: document.body, setStateValue: () => {},
  });
}"""
PIXEL = """(canvas, [x, y]) => {
  const ratio = window.devicePixelRatio || 1;
  const at = [x, y].map((value) => Math.round(value * ratio));
  return [...canvas.getContext("2d").getImageData(at[0], at[1], 1, 1).data].slice(0, 3);
}"""
AT_REST = """() => new Promise((done) => {
  const frame = window.requestAnimationFrame;
  frame(() => frame(() => setTimeout(done, 100)));
})"""
"""A frame asked for before, and the 50 ms after it when a scene is told, come first."""
SHARE = """(text) => {
  window.graphturboCommon.selected = text;
  window.graphturboCommon.dispatchEvent(new CustomEvent("selected", { detail: null }));
}"""
Point = tuple[float, float]


@dataclass
class CanvasPage:
    """A page with one canvas; `give` hands its component a buffer, the later ones instead."""

    page: Page
    serial: int = 0

    def show(self, canvas: Canvas, theme: Mapping[str, str] = LIGHT) -> CanvasPage:
        """Put the component on the page."""
        self.page.evaluate(SHOW, [canvas.js(), canvas.html(), canvas.css(), dict(theme)])
        return self

    def give(self, buffer: bytes) -> None:
        """Have the component draw a buffer, and wait until it has."""
        self.serial += 1
        data = buffer + struct.pack("<d", float(self.serial))
        self.page.evaluate("(text) => window.give(text)", base64.b64encode(data).decode())
        self.page.wait_for_selector("canvas[data-ready]")

    @property
    def canvas(self) -> Locator:
        """The canvas."""
        return self.page.locator("canvas")

    @property
    def scene(self) -> dict:
        """What the canvas says it shows, once it is at rest."""
        self.page.evaluate(AT_REST)
        return json.loads(self.canvas.get_attribute("data-scene") or "{}")

    @property
    def said(self) -> str:
        """The line that says what is picked."""
        return self.page.get_by_role("status").inner_text()

    @property
    def selected(self) -> str:
        """What all canvases share as selected."""
        return self.page.evaluate("window.graphturboCommon.selected")

    def select(self, text: str) -> None:
        """Select something as another canvas would."""
        self.page.evaluate(SHARE, text)

    def pixel(self, x: float, y: float) -> tuple[int, ...]:
        """Red, green and blue of a point of the canvas."""
        return tuple(self.canvas.evaluate(PIXEL, [x, y]))

    def press(self, *keys: str) -> None:
        """Press keys in the canvas, one after the other."""
        for key in keys:
            self.canvas.press(key)

    def click(self, at: Point, count: int = 1) -> None:
        """Click into the canvas."""
        self.canvas.click(position={"x": at[0], "y": at[1]}, click_count=count)

    def drag(self, start: Point, end: Point) -> None:
        """Drag with the pointer from one point of the canvas to another."""
        box = self.canvas.bounding_box()
        assert box is not None
        mouse = self.page.mouse
        mouse.move(box["x"] + start[0], box["y"] + start[1])
        mouse.down()
        mouse.move(box["x"] + end[0], box["y"] + end[1], steps=4)
        mouse.up()


def middle(box: Mapping[str, float]) -> Point:
    """The middle of a box of a scene."""
    return box["x"] + box["w"] / 2, box["y"] + box["h"] / 2


def only(boxes: list[dict], test: Callable[[dict], bool]) -> dict:
    """The one box that passes."""
    (found,) = [box for box in boxes if test(box)]
    return found


def rgb(colour: str) -> tuple[int, ...]:
    """Red, green and blue of `#rrggbb`."""
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def contrast(ink: str, ground: str) -> float:
    """WCAG 2.2's ratio of two colours `#rrggbb`."""
    lights = sorted((_luminance(ink), _luminance(ground)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: str) -> float:
    shares = [value / 255 for value in rgb(colour)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
