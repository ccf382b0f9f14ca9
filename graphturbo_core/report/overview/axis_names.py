"""Reports -> names of the axes that sub-graphs are split along, where the shapes are sure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graphturbo_core.report.report import Report
from graphturbo_core.semantics.layouts import ATTENTION, CONVOLUTION, PRODUCT

PICTURE = ("channels", "rows", "columns")
"""Axes 1 to 3 of what a convolution of pictures gives."""


class AxisNames:
    """Names of the axes of each sub-graph's last result."""

    def __init__(self, report: Report, noun: str) -> None:
        """`noun`: what one sample is called."""
        self._noun = noun
        nodes = report.tables["graph_nodes"]
        self._ranks = {
            row["group"]: len(row["output_shapes"][-1]) for row in nodes if row["output_shapes"]
        }
        made = {
            (row["op_type"], len(shape)) for row in nodes for shape in row["output_shapes"][-1:]
        }
        self._has_heads = (PRODUCT, 4) in made
        self._has_waves = (CONVOLUTION, 3) in made
        self._has_tokens = any(op_type in ATTENTION for op_type, _ in made)
        self._with_conv = {row["group"] for row in nodes if row["op_type"] == CONVOLUTION}

    def cuts(self, row: Mapping[str, object], group: int) -> list[tuple[str, int]]:
        """Name and parts of each axis that a row of a sub-graph is split along."""
        found: list[tuple[str, str]] = re.findall(r"(\d+)(?: in (\d+))?", str(row["along"]))
        pieces = int(str(row["pieces"]))
        cuts = [(self._name(int(axis), group), int(parts or pieces)) for axis, parts in found]
        return [(name, parts) for name, parts in cuts if parts > 1]

    def _name(self, axis: int, group: int) -> str:
        rank = self._ranks.get(group, 0)
        if axis == 0:
            return f"{self._noun}s"
        if rank == 1 + len(PICTURE) and self._is_picture(group):
            return PICTURE[axis - 1]
        is_sequence = self._has_tokens and not self._has_waves
        return "tokens" if (rank, axis) == (3, 1) and is_sequence else f"axis {axis}"

    def _is_picture(self, group: int) -> bool:
        """Four axes of a model with heads of attention are a picture where a convolution ends."""
        return self._noun == "image" and (not self._has_heads or group in self._with_conv)
