"""ChipView -> the SVG of a chip: DRAM, clusters, one cluster, one core, each level magnified."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.report.chips.chip_parts import numbers_of
from graphturbo_core.report.chips.chip_view import ChipView
from graphturbo_ui.figures.chips import svg
from graphturbo_ui.figures.chips.core_level import core_level
from graphturbo_ui.figures.chips.memory_levels import (
    HEIGHT,
    WIDTH,
    Drawing,
    chip_level,
    cluster_level,
    dram_level,
)
from graphturbo_ui.figures.chips.scales import chip_scales

SCALES = (
    "Area: bytes of GB and of the LB per core. Bars: bytes in one core. Engines: operations per "
    "cycle. Arrows: bandwidth, log scale. DRAM: not to scale. Scales are equal in both pictures."
)

SHORT_SCALES = (
    "Area: bytes of GB and of the LB per core. Bars: bytes in one core. Arrows: bandwidth, log "
    "scale. Equal scales in both."
)
"""The same in one line, in front of an audience."""


def chip_pictures(views: Sequence[ChipView]) -> tuple[str, ...]:
    """An SVG per chip, on equal scales; all but the first have ratios to the first."""
    scales = chip_scales([view.shape for view in views])
    first = numbers_of(views[0].parts)
    return tuple(
        chip_svg(Drawing(view, scales, str(place), first if place else {}))
        for place, view in enumerate(views)
    )


def chip_svg(drawing: Drawing) -> str:
    """The picture of one chip."""
    levels = (dram_level, chip_level, cluster_level, core_level)
    label = f"Hierarchy of {drawing.view.name}, from DRAM at the top to the engines of one core"
    return svg.element(
        "svg", *[level(drawing) for level in levels],
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="group", aria_label=label, class_="chip",
    )  # fmt: skip
