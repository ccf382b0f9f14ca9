"""Pictures of chips: areas, bars and arrows on shared scales; escaped names; the scene's JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from math import pi
from xml.etree import ElementTree

import pytest

from graphturbo_core.hardware.edits import edit_chip, values_of
from graphturbo_core.hardware.profile import load_profile, profile_names
from graphturbo_core.report.chips.chip_view import ChipView, chip_view
from graphturbo_ui.components.sources import FOLDER
from graphturbo_ui.figures.chips.memory_levels import CLUSTER, CORE, MOST_CORES, MOST_TILES
from graphturbo_ui.figures.chips.picture import chip_pictures
from graphturbo_ui.figures.chips.scales import arrow_width, chip_scales, core_grid
from graphturbo_ui.figures.chips.scene import LeftChip, RightChip, chips_scene
from graphturbo_ui.figures.chips.svg import Box as Rectangle
from graphturbo_ui.figures.chips.svg import element, part
from graphturbo_ui.palette import GREY, MUTED


def view(name: str, **texts: str) -> ChipView:
    """A chip with numbers changed; `__` stands for the point of a key."""
    changes = {key.replace("__", "."): text for key, text in texts.items()}
    edited = edit_chip(name, None, changes)
    assert edited.faults == {}
    return chip_view(edited.hardware, "fp16")


def parsed(*views: ChipView) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(svg) for svg in chip_pictures(views)]


def shapes(svg: ElementTree.Element, name: str) -> list[dict[str, float]]:
    """Rectangles of a class, the swatches beside the words left out."""
    sizes = ("x", "y", "width", "height")
    found = [
        {size: float(each.get(size, "0")) for size in sizes}
        for each in svg.iter("rect")
        if name in each.get("class", "").split()
    ]
    return [box for box in found if box["x"] >= CLUSTER.x]


def area(box: dict[str, float]) -> float:
    return box["width"] * box["height"]


def texts(svg: ElementTree.Element) -> str:
    return "\n".join("".join(node.itertext()) for node in svg.iter("text"))


def test_areas_of_gb_and_lb_are_bytes_on_one_scale():
    one, other = parsed(view("generic-4x4"), view("generic-4x4", cluster__gb_bytes="4 MiB"))
    gb, doubled = shapes(one, "gb")[0], shapes(other, "gb")[0]
    assert area(doubled) / area(gb) == pytest.approx(2, rel=0.01)
    tile = next(box for box in shapes(one, "lb") if box["y"] < CLUSTER.bottom)
    # LB 256 KiB of 2 MiB.
    assert area(tile) / area(gb) == pytest.approx(1 / 8, rel=0.01)


def test_bars_of_one_core_are_bytes_on_one_scale():
    one, other = parsed(view("generic-4x4"), view("stcp920"))
    (data,) = [box for box in shapes(one, "lb") if box["y"] > CORE.y]
    (weight,), (staging,) = shapes(one, "weight"), shapes(one, "staging")
    # 192, 64 and 64 KiB, one after the other.
    assert data["width"] / weight["width"] == pytest.approx(3, rel=0.01)
    assert weight["width"] == pytest.approx(staging["width"], abs=0.02)
    assert weight["x"] == pytest.approx(data["x"] + data["width"], abs=0.02)
    # 1 MiB of the other chip.
    (long,) = [box for box in shapes(other, "lb") if box["y"] > CORE.y]
    assert long["width"] / data["width"] == pytest.approx(1024 / 192, rel=0.01)


def test_areas_of_engines_are_operations():
    one, other = parsed(view("generic-4x4"), view("stcp920"))
    (matrix,), (vector,) = shapes(one, "matrix"), shapes(one, "vector")
    # 1,024 MAC and 32 element-operations per cycle; 2,048 MAC of the other chip.
    assert area(matrix) / area(vector) == pytest.approx(32, rel=0.03)
    (large,) = shapes(other, "matrix")
    assert area(large) / area(matrix) == pytest.approx(2, rel=0.01)
    assert large["height"] / large["width"] == pytest.approx(64 / 32, rel=0.01)


def test_ten_times_the_bandwidth_adds_as_much_everywhere():
    steps = [arrow_width(10**power) for power in (9, 10, 11, 12)]
    assert [b - a for a, b in pairwise(steps)] == pytest.approx([6, 6, 6])
    assert arrow_width(10**6) == arrow_width(10**9)
    assert arrow_width(10**16) == 34


def test_the_second_chip_has_ratios_of_what_differs():
    one, other = parsed(view("generic-4x4"), view("stcp920"))
    assert "×" not in texts(one).replace("32 × 32", "")
    ratios = [node.text for node in other.iter("tspan") if node.get("class") == "ratio"]
    assert "1.69×" in ratios  # DRAM 27 against 16 GB/s
    assert "4×" in ratios  # GB 8 against 2 MiB
    assert "DRAM 4 GiB each\n" in texts(other)  # equal: no ratio


def test_a_part_of_an_lb_has_no_ratio_to_a_pool():
    _, other = parsed(view("stcp920-10mib"), view("stcp920"))
    assert not [node for node in other.iter("tspan") if node.get("class") == "ratio"]


def test_assumptions_are_marked():
    (svg,) = parsed(view("stcp920"))
    marked = {n.text for n in svg.iter("tspan") if "assumed" in n.get("class", "")}
    assert "150 cycles" in marked  # latency of DRAM: assumption
    assert "27 GB/s" not in marked  # published
    assert not [n for n in svg.iter("rect") if "guess" in n.get("class", "")]
    (guessed,) = parsed(view("generic-4x4"))
    assert [n for n in guessed.iter("rect") if "gb guess" in n.get("class", "")]


def test_every_part_can_be_focused_and_reads_its_numbers():
    (svg,) = parsed(view("generic-4x4"))
    parts = {node.get("data-part"): node for node in svg.iter("g") if node.get("data-part")}
    assert set(parts) == {
        "dram", "chip", "cluster", "dma", "gb", "lb", "matrix", "vector", "link", "kernel",
    }  # fmt: skip
    for node in parts.values():
        assert node.get("tabindex") == "0"
    title = parts["gb"].find("title")
    assert title is not None
    assert "GB per cluster 2 MiB (assumption: a round number for teaching)" in title.text


def test_many_cores_are_a_pattern_and_many_clusters_are_counted():
    (few,) = parsed(view("generic-4x4"))
    assert len([b for b in shapes(few, "lb") if b["y"] < CLUSTER.bottom]) == 4 + 1  # one opened
    (many,) = parsed(view("generic-4x4", cluster__cores=str(MOST_CORES + 1)))
    assert len(list(many.iter("pattern"))) == 1
    (wide,) = parsed(view("generic-4x4", chip__clusters="1000"))
    assert len(shapes(wide, "tile")) == MOST_TILES
    assert f"+{1000 - MOST_TILES + 1}" in texts(wide)


@pytest.mark.parametrize("name", profile_names())
@pytest.mark.parametrize("other", profile_names())
def test_every_pair_fits_its_frames(name: str, other: str):
    for svg in parsed(view(name), view(other)):
        for kind, frame in (("gb", CLUSTER), ("matrix", CORE), ("vector", CORE), ("lb", CORE)):
            for box in shapes(svg, kind):
                inside = CLUSTER if kind == "lb" and box["y"] < CLUSTER.bottom else frame
                assert box["x"] >= inside.x
                assert box["x"] + box["width"] <= inside.right + 0.1
                assert inside.y <= box["y"]
                assert box["y"] + box["height"] <= inside.bottom + 0.1


@pytest.mark.parametrize("cores", [1, 2, 7, 64, 129, 4096])
def test_a_grid_has_a_tile_for_every_core(cores: int):
    shape = replace(view("generic-4x4").shape, cores=cores)
    grid = core_grid(shape, chip_scales([shape]).area_per_byte)
    assert (grid.rows - 1) * grid.columns < cores <= grid.rows * grid.columns


def test_fills_are_of_the_palette():
    """Saturated hues are for sub-graphs alone."""
    css = (FOLDER / "chips" / "chips.css").read_text(encoding="utf-8")
    fills = re.findall(r"--m-\w+: (#\w+)", css)
    assert len(fills) == 10
    assert set(fills) <= {*MUTED, GREY}


def test_names_are_escaped():
    assert element("text", x=pi, aria_label='<"&') == (
        '<text x="3.14" aria-label="&lt;&quot;&amp;"></text>'
    )
    drawn = part("gb", "</title><script>", Rectangle(0, 0, 1, 1))
    assert "<script>" not in drawn


def scene(is_editor: bool, mode: str = "", **typed: str) -> dict:
    name = "generic-4x4"
    changes = {key.replace("__", "."): text for key, text in typed.items()}
    edited = edit_chip(name, None, changes)
    shown = chip_view(edited.hardware, "fp16")
    left = LeftChip(name, shown, name, values_of(name, None), changes, edited, not changes)
    other = name if is_editor else "stcp920"
    right = RightChip(other, chip_view(load_profile(other), "fp16"), is_editor)
    return json.loads(chips_scene(left, right, [name, "stcp920"], mode))


def field(found: dict, key: str) -> dict:
    return next(f for group in found["editor"] for f in group["fields"] if f["key"] == key)


def test_the_scene_of_two_chips():
    found = scene(is_editor=False)
    assert [chip["name"] for chip in found["chips"]] == ["generic-4x4", "stcp920"]
    assert found["editor"] is None
    assert found["is_used"]
    peak = next(figure for figure in found["figures"] if figure["name"] == "peak")
    assert [value["share"] for value in peak["values"]] == [0.25, 1.0]
    assert peak["ratio"] == "4×"
    row = found["chips"][1]["parts"]["gb"]["rows"][0]
    assert (row["key"], row["text"], row["other"]) == ("cluster.gb_bytes", "8 MiB", "2 MiB")
    assert "click a part" in found["legend"]
    assert "click" not in scene(is_editor=False, mode="present")["legend"]


def test_the_scene_of_an_edit():
    typed = {"core__lb_data_bytes": "384 KiB", "chip__clusters": "abc", "core__matrix_rows": "32 "}
    found = scene(is_editor=True, **typed)
    assert [chip["name"] for chip in found["chips"]] == ["generic-4x4-edited"]
    assert found["names"] == ["before", "edited"]
    assert (found["changes"], found["refused"]) == (1, 1)
    changed, refused = field(found, "core.lb_data_bytes"), field(found, "chip.clusters")
    assert (changed["text"], changed["was"], changed["changed"]) == ("384 KiB", "192 KiB", True)
    assert refused["fault"] == "chip.clusters is abc: write a whole number from 1 to 1024"
    assert (refused["text"], refused["changed"]) == ("abc", False)
    # 4 x (4 x 448 KiB + 2 MiB) = 15 MiB of 12 before.
    on_chip = next(figure for figure in found["figures"] if figure["name"] == "on_chip")
    assert [value["text"] for value in on_chip["values"]] == ["12 MiB", "15 MiB"]
    assert "was 192 KiB" in found["yaml"]


def test_an_edit_that_waits_says_for_what():
    found = scene(is_editor=True, cluster__gb_bytes="0")
    assert field(found, "cluster.gb_bytes")["fault"] == (
        "waits for cluster.gb_bandwidth_bytes_per_s"
    )
    assert "remove it or give a GB" in field(found, "cluster.gb_bandwidth_bytes_per_s")["fault"]
