"""The upper levels of a chip's picture: DRAM, the chip with its clusters, one cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graphturbo_core.report.chips.chip_parts import ChipNumber, ChipPart, numbers_of
from graphturbo_core.report.chips.chip_text import ratio_text
from graphturbo_core.report.chips.chip_view import ChipView
from graphturbo_core.units import counted
from graphturbo_ui.figures.chips import scales, svg
from graphturbo_ui.figures.chips.svg import Box, Span

WIDTH, HEIGHT = 600, 452
LEFT, RIGHT = 206.0, 592.0
"""Where drawings begin and end; texts stand left of them."""
TEXT_X, TEXT_WIDTH = 8.0, 192.0
DRAM = Box(LEFT, 6, RIGHT - LEFT, 26)
TILES = Box(LEFT, 66, RIGHT - LEFT, 42)
CLUSTER = Box(LEFT, 128, RIGHT - LEFT, 130)
CORE = Box(LEFT, 278, RIGHT - LEFT, 168)
PARTS_OF_LB = ("core.lb_data_bytes", "core.lb_weight_bytes")
MOST_TILES = 8
"""Clusters that are drawn one by one; of more, the last tile counts the rest."""
MOST_CORES = 128
"""Core tiles that are drawn one by one; of more, they are a pattern."""
TINY = 9.0
"""Side below which a shape has a thin edge: a dashed one would hide it."""
PADDING = 12.0
GB_X = CLUSTER.x + PADDING
CORES_X = CLUSTER.right - PADDING - scales.CORES_ROOM[0]
MIDDLE = CLUSTER.y + CLUSTER.height / 2


@dataclass(frozen=True)
class Drawing:
    """One chip to draw: its scales, what differs in the other chip, and a name for its ids.

    `others`: the other chip's numbers by key, where there is one to compare with.
    """

    view: ChipView
    scales: scales.ChipScales
    name: str
    others: Mapping[str, ChipNumber] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, ChipNumber]:
        """The chip's numbers by key."""
        return numbers_of(self.view.parts)

    def spans(self, key: str, before: str = "", after: str = "") -> list[Span]:
        """A number in words, with its ratio to the other chip's; nothing where it has none."""
        number = self.numbers.get(key)
        if number is None:
            return []
        head = [Span(before)] if before else []
        tail = [Span(after)] if after else []
        shown = Span(number.text, is_number=True, is_assumption=number.is_assumption)
        return [*head, shown, *tail, *self.ratio(key)]

    def ratio(self, key: str) -> list[Span]:
        """How often the other chip's number is in this one; nothing where they are equal."""
        number, other = self.numbers.get(key), self.others.get(key)
        if number is None or other is None or number.value == other.value:
            return []
        if key in PARTS_OF_LB and is_pooled(self.numbers) != is_pooled(self.others):
            return []  # a part is not a pool
        if isinstance(number.value, str) or isinstance(other.value, str):
            return []
        text = ratio_text(number.value, other.value)
        return [Span(text, is_ratio=True)] if text else []

    def is_assumed(self, *keys: str) -> str:
        """Class of a shape whose size follows from an assumption."""
        found = self.numbers
        return " guess" if any(found[key].is_assumption for key in keys if key in found) else ""

    def label(self, name: str) -> str:
        """All numbers of a part in one text, for readers and for a browser's own tip."""
        part = next((part for part in self.view.parts if part.name == name), None)
        return part_text(part) if part else ""


def is_pooled(numbers: Mapping[str, ChipNumber]) -> bool:
    """Whether both parts of an LB are one pool."""
    pool = numbers.get("core.is_pooled")
    return pool is not None and bool(pool.value)


def part_text(part: ChipPart) -> str:
    """`GB, global buffer: GB per cluster 8 MiB (published: …); …`."""
    texts = [f"{each.label} {each.text} ({each.source})" for each in part.numbers]
    return f"{part.title}: {'; '.join(texts)}" if texts else part.title


def dram_level(drawing: Drawing) -> str:
    """DRAM with a share per cluster, and the bandwidth of each share."""
    shape = drawing.view.shape
    tiles = tile_boxes(shape.clusters)
    width = scales.arrow_width(shape.dram_bandwidth)
    shares = [svg.rect(Box(tile.x, DRAM.y, tile.width, DRAM.height), "dram slab") for tile in tiles]
    arrows = [
        svg.arrow_down(tile.x + tile.width / 2, DRAM.bottom + 1, TILES.y - 1, width)
        for tile in tiles[: min(shape.clusters, MOST_TILES)]
    ]
    return svg.part(
        "dram", drawing.label("dram"), Box(2, 2, WIDTH - 6, TILES.y - 4),
        *shares, *arrows,
        svg.line_of(TEXT_X, 19, drawing.spans("cluster.dram_bytes", "DRAM", "each")),
        svg.line_of(TEXT_X, 37, drawing.spans("cluster.dram_bandwidth_bytes_per_s", "", "each")),
        svg.line_of(TEXT_X, 54, drawing.spans("cluster.dram_latency_cycles", "latency")),
    )  # fmt: skip


def tile_boxes(clusters: int) -> list[Box]:
    """The clusters side by side, at most `MOST_TILES`."""
    count = min(clusters, MOST_TILES)
    gap = 8.0
    width = (TILES.width - gap * (count - 1)) / count
    return [Box(TILES.x + (width + gap) * at, TILES.y, width, TILES.height) for at in range(count)]


def chip_level(drawing: Drawing) -> str:
    """The clusters; the first one is opened below."""
    clusters = drawing.view.shape.clusters
    tiles = tile_boxes(clusters)
    names = [
        f"+{clusters - MOST_TILES + 1}" if at == MOST_TILES - 1 < clusters - 1 else f"{at + 1}"
        for at in range(len(tiles))
    ]
    drawn = [
        svg.rect(tile, "tile open" if at == 0 else "tile", rx=5)
        + svg.line_of(
            tile.x + tile.width / 2, tile.y + 26, [Span(_cluster_name(name, tile))], "middle"
        )
        for at, (name, tile) in enumerate(zip(names, tiles, strict=True))
    ]
    count = counted(clusters, "cluster")
    number = drawing.numbers["chip.clusters"]
    spans = [Span(count, is_number=True, is_assumption=number.is_assumption)]
    return zoom(tiles[0], CLUSTER) + svg.part(
        "chip", drawing.label("chip"), Box(2, TILES.y - 2, WIDTH - 6, TILES.height + 4), *drawn,
        svg.line_of(TEXT_X, 83, [*spans, *drawing.ratio("chip.clusters")]),
        svg.line_of(TEXT_X, 101, drawing.spans("chip.clock_hz")),
    )  # fmt: skip


def _cluster_name(name: str, tile: Box) -> str:
    return f"cluster {name}" if tile.width > 66 and name.isdigit() else name  # noqa: PLR2004  # its width


def zoom(small: Box, large: Box) -> str:
    """The lines between a tile and the level below, which shows it magnified."""
    path = (
        f"M{small.x:.1f} {small.bottom:.1f}H{small.right:.1f}L{large.right:.1f} {large.y:.1f}"
        f"H{large.x:.1f}Z"
    )
    return svg.element("path", d=path, class_="zoom")


def cluster_level(drawing: Drawing) -> str:
    """One cluster: GB and the LBs of all cores by area, the port between them."""
    heading = level_heading(CLUSTER, "One cluster")
    frame = svg.rect(CLUSTER, "frame", rx=8)
    return heading + frame + _cores(drawing) + _gb(drawing) + _dma(drawing)


def level_heading(frame: Box, text: str) -> str:
    """What a frame shows, left of its upper edge."""
    return svg.element("text", text, x=TEXT_X, y=frame.y + 5, class_="level")


def _gb(drawing: Drawing) -> str:
    shape = drawing.view.shape
    if not shape.gb_bytes:
        lines = [
            svg.line_of(GB_X, MIDDLE + 4, [Span("no GB")]),
            svg.line_of(TEXT_X, 150, drawing.spans("cluster.gb_bytes", "GB")),
        ]
        return svg.part("gb", drawing.label("gb"), Box(2, 137, TEXT_WIDTH, 19), *lines)
    box = scales.gb_box(GB_X, MIDDLE, shape.gb_bytes * drawing.scales.area_per_byte)
    arrow = svg.arrow_right(
        max(box.right, GB_X) + 3, CORES_X - 3, MIDDLE, scales.arrow_width(shape.gb_bandwidth)
    )
    texts = [
        svg.line_of(TEXT_X, 150, drawing.spans("cluster.gb_bytes", "GB")),
        svg.line_of(TEXT_X, 167, drawing.spans("cluster.gb_bandwidth_bytes_per_s", "port")),
        svg.line_of(TEXT_X, 184, drawing.spans("cluster.gb_latency_cycles", "latency")),
    ]
    shapes = [svg.rect(box, "gb" + drawing.is_assumed("cluster.gb_bytes")), arrow]
    return svg.part("gb", drawing.label("gb"), Box(2, 137, TEXT_WIDTH, 53), *shapes, *texts)


def _dma(drawing: Drawing) -> str:
    number = drawing.numbers["cluster.dma_engines"]
    text = counted(int(number.value), "DMA engine")
    spans = [Span(text, is_number=True, is_assumption=number.is_assumption)]
    line = svg.line_of(TEXT_X, 208, [*spans, *drawing.ratio("cluster.dma_engines")])
    return svg.part("dma", drawing.label("dma"), Box(2, 193, TEXT_WIDTH, 21), line)


def core_boxes(drawing: Drawing) -> tuple[scales.TileGrid, Box]:
    """The grid of core tiles, and the tile that is opened below: the first of the last row."""
    grid = scales.core_grid(drawing.view.shape, drawing.scales.area_per_byte)
    top = MIDDLE - grid.rows * grid.pitch / 2
    return grid, Box(CORES_X, top + (grid.rows - 1) * grid.pitch, grid.side, grid.side)


def _cores(drawing: Drawing) -> str:
    shape = drawing.view.shape
    grid, opened = core_boxes(drawing)
    top = MIDDLE - grid.rows * grid.pitch / 2
    guess = drawing.is_assumed("core.lb_data_bytes")
    guess = " tiny" if grid.side < TINY else guess
    if shape.cores > MOST_CORES:
        tiles = _pattern(drawing, grid, top)
    else:
        tiles = "".join(
            svg.rect(
                Box(CORES_X + column * grid.pitch, top + row * grid.pitch, grid.side, grid.side),
                f"lb{guess}",
            )
            for row, column in (divmod(at, grid.columns) for at in range(shape.cores))
        )
    number = drawing.numbers["cluster.cores"]
    text = counted(shape.cores, "core")
    spans = [Span(text, is_number=True, is_assumption=number.is_assumption)]
    opened_class = "lb open tiny" if grid.side < TINY else "lb open"
    hit = Box(CORES_X - 6, CLUSTER.y + 4, CLUSTER.right - CORES_X + 2, CLUSTER.height - 8)
    return zoom(opened, CORE) + svg.part(
        "cluster", drawing.label("cluster"), hit, tiles, svg.rect(opened, opened_class),
        svg.line_of(TEXT_X, 232, [*spans, *drawing.ratio("cluster.cores")]),
        svg.line_of(TEXT_X, 249, [Span("tile: LB of one core")]),
    )  # fmt: skip


def _pattern(drawing: Drawing, grid: scales.TileGrid, top: float) -> str:
    """Tiles too many to draw one by one: whole rows and the short last one as a pattern."""
    pattern = f"tiles-{drawing.name}"
    full, rest = divmod(drawing.view.shape.cores, grid.columns)
    tile = svg.rect(Box(0, 0, grid.side, grid.side), "lb many")
    defined = svg.element(
        "pattern", tile, id=pattern, x=CORES_X, y=top, width=grid.pitch, height=grid.pitch,
        patternUnits="userSpaceOnUse",
    )  # fmt: skip
    rows = [Box(CORES_X, top, grid.columns * grid.pitch, full * grid.pitch)]
    rows += [Box(CORES_X, top + full * grid.pitch, rest * grid.pitch, grid.pitch)] if rest else []
    return defined + "".join(svg.rect(row, "", fill=f"url(#{pattern})") for row in rows)
