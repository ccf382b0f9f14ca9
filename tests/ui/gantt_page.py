"""The Gantt component alone on a page, with reports whose every number is known."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page

from graphturbo_core.report.report import Report
from graphturbo_ui.components import gantt, graph
from graphturbo_ui.figures.canvases import gantt_bytes
from graphturbo_ui.palette import KIND_COLOURS
from tests.ui.app_server import context_of
from tests.ui.synthetic import synthetic_report

MATRIX, VECTOR, MOVE, DMA = 0, 1, 2, 3
"""Engines of a report with one core."""
FOLDED = "▶ core 0"
OPEN = "▼ core 0 matrix"
MATRIX_COLOUR = KIND_COLOURS["matrix compute"]
GANTT, GRAPH = gantt.GANTT.role, graph.GRAPH.role
SMALL = "?model=teaching-resnet&batch=8&views=Graph&views=Every+core"
SHOW = """async ([script, html, css, buffer]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  document.body.innerHTML = `<style>${css}</style>${html}`;
  const data = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
  show({ data, parentElement: document.body, setStateValue: () => {} });
}"""
COLUMNS = """(canvas, [x, y, width, height]) => [
  ...canvas.getContext("2d").getImageData(x, y, width, height).data]"""
SELECT = """(text) => {
  window.graphturboCommon.selected = text;
  window.graphturboCommon.dispatchEvent(new CustomEvent("selected", { detail: null }));
}"""
WIDTH = 1200


@dataclass(frozen=True)
class Chart:
    """The chart on its page; places in pixels of the canvas, times in cycles."""

    page: Page

    @property
    def canvas(self):
        return self.page.locator("canvas")

    def scene(self) -> dict:
        return json.loads(self.canvas.get_attribute("data-scene"))

    def until(self, test: str) -> dict:
        """Wait until `test`, JavaScript on `scene`, holds."""
        self.page.wait_for_function(
            f"(canvas) => {{ const scene = JSON.parse(canvas.dataset.scene); return {test}; }}",
            arg=self.canvas.element_handle(),
        )
        return self.scene()

    def press(self, *keys: str) -> None:
        self.canvas.focus()
        for key in keys:
            self.page.keyboard.press(key)

    def at(self, cycle: float, row: str, pane: int = 0) -> dict[str, float]:
        """Where the middle of a row is at a time."""
        scene = self.scene()
        window, shown = scene["windows"][pane], scene["panes"][pane]
        share = (cycle - window["t0"]) / (window["t1"] - window["t0"])
        index = shown["rows"].index(row)
        y = shown["first"] + (index + 0.5) * shown["height"]
        return {"x": scene["gutter"] + share * scene["plot"], "y": y}

    def drag(self, begin: Mapping[str, float], end: Mapping[str, float]) -> None:
        """Shift + drag."""
        box = self.canvas.bounding_box()
        mouse = self.page.mouse
        self.page.keyboard.down("Shift")
        mouse.move(box["x"] + begin["x"], box["y"] + begin["y"])
        mouse.down()
        mouse.move(box["x"] + (begin["x"] + end["x"]) / 2, box["y"] + end["y"])
        mouse.move(box["x"] + end["x"], box["y"] + end["y"])
        mouse.up()
        self.page.keyboard.up("Shift")

    def span(self) -> dict:
        return json.loads(self.canvas.get_attribute("data-span"))

    def pixels(self, x: float, y: float, width: int = 1, height: int = 1) -> NDArray[np.uint8]:
        """height x width x 3."""
        place = [round(x), round(y), width, height]
        values = self.canvas.evaluate(COLUMNS, place)
        return np.array(values, np.uint8).reshape(height, width, 4)[:, :, :3]

    def colour(self, cycle: float, row: str) -> str:
        """The colour at the foot of a row at a time."""
        at, height = self.at(cycle, row), self.scene()["panes"][0]["height"]
        red, green, blue = self.pixels(at["x"], at["y"] + height / 2 - 2.5)[0, 0].tolist()
        return f"#{red:02x}{green:02x}{blue:02x}"

    def row_pixels(self, row: str, pane: int = 0) -> NDArray[np.uint8]:
        """All that is painted of a row, over the whole plot."""
        scene = self.scene()
        shown = scene["panes"][pane]
        top = shown["first"] + shown["rows"].index(row) * shown["height"] + 1
        return self.pixels(scene["gutter"], top, int(scene["plot"]), shown["height"] - 2)

    def select(self, text: str) -> None:
        """What another canvas of the page would share."""
        self.page.evaluate(SELECT, text)

    def legend(self) -> str:
        return self.page.locator(".legend").inner_text()


@contextmanager
def chart_of(browser: Browser, *reports: Report) -> Iterator[Chart]:
    """A chart of reports; ends without an error in the page."""
    errors: list[str] = []
    with closing(context_of(browser, WIDTH, 900).new_page()) as page:
        page.on("pageerror", lambda error: errors.append(str(error)))
        buffer = gantt_bytes(*reports) + struct.pack("<d", 1.0)
        sent = base64.b64encode(buffer).decode()
        page.evaluate(SHOW, [gantt.GANTT.js(), gantt.GANTT.html(), gantt.GANTT.css(), sent])
        page.wait_for_selector("canvas[data-ready]")
        page.get_by_label("colour by").select_option("kind")
        chart = Chart(page)
        chart.until("scene.options.colourBy === 'kind'")
        yield chart
    assert errors == []


def report_with(
    instructions: list[Mapping[str, int]], cores: int = 1, cycles: int = 1000, **arrays: object
) -> Report:
    """A report of these instructions alone: engine, start, hold and what else is not 0."""
    report = synthetic_report(cores=cores, layers=4, layers_per_group=2, instructions=1)
    names = ("start", "hold", "engine", "kind", "layer", "group", "op", "tile", "wait")
    own: dict[str, object] = {
        name: np.array([row.get(name, 0) for row in instructions])
        for name in (*names, "size_bytes")
    }
    own["wait_on"] = np.array([row.get("wait_on", -1) for row in instructions])
    box = np.array([row.get("box", (0, 1)) for row in instructions])
    own["box_lo"], own["box_hi"] = box[:, :1], box[:, 1:]
    own["box_axes"] = np.ones(len(box), np.int8)
    own["moved_tensor"] = np.array([row.get("moved", -1) for row in instructions])
    own["busy"], own["visible"] = own["hold"], own["start"]
    empty = np.array([], np.int64)
    for name in ("chain", "overlap_core", "overlap_start", "overlap_end"):
        own[name] = empty
    for name in ("instruction", "start", "end", "resource", "holds_up"):
        own[f"path_{name}"] = empty
    for name in ("under_start", "under_end"):
        own[name] = empty
    own["flight_cycle"], own["flight_layers"] = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for name in ("instruction", "memory", "cause", "bytes"):
        own[f"booked_{name}"] = empty
    (round_,) = report.tables["round"]
    shares = {"cross_layer_overlap": 0.0, "layers_in_flight": 0.0, "memory_under_compute": 0.0}
    whole = {**round_, "cycles": cycles, "longest_chain_cycles": 0, **shares}
    rounds = {"samples": 16, "count": 1, "cycles": cycles, "is_drawn": True}
    contract = {**report.contract, "cycles": cycles, "rounds": 1, "latency_s": cycles * 1e-9}
    return replace(
        report,
        arrays={**report.arrays, **own, **arrays},  # type: ignore[dict-item]
        tables={**report.tables, "round": (whole,), "rounds": (rounds,), "stretches": ()},
        contract={**contract, "cross_layer_overlap": 0.0},
    )
