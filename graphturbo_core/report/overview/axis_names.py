"""Reports -> names of the axes that sub-graphs are split along, where the shapes are sure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from graphturbo_core.report.report import Report
from graphturbo_core.semantics.layouts import Layout, is_convolution


class AxisNames:
    """Names of the axes of each sub-graph's last result."""

    def __init__(self, report: Report, noun: str) -> None:
        """`noun`: what one sample is called."""
        self._noun = noun
        nodes = [row for row in report.tables["graph_nodes"] if row["output_shapes"]]
        self._ranks = {row["group"]: len(row["output_shapes"][-1]) for row in nodes}
        results = ((row["op_type"], len(row["output_shapes"][-1])) for row in nodes)
        self._layout = Layout(results, is_of_images=noun == "image")
        self._with_convolution = {
            row["group"] for row in report.tables["graph_nodes"] if is_convolution(row["op_type"])
        }

    def cuts(self, row: Mapping[str, object], group: int) -> list[tuple[str, int]]:
        """Name and parts of each axis that a row of a sub-graph is split along."""
        found: list[tuple[str, str]] = re.findall(r"(\d+)(?: in (\d+))?", str(row["along"]))
        pieces = int(str(row["pieces"]))
        rank = self._ranks.get(group, 0)
        cuts = [(self._name(int(axis), rank, group), int(parts or pieces)) for axis, parts in found]
        return [(name, parts) for name, parts in cuts if parts > 1]

    def along(self, row: Mapping[str, object], group: int) -> str:
        """`images`, or `images (4) and rows (2)`: the axes that a row is split along."""
        cuts = self.cuts(row, group)
        if len(cuts) == 1:
            return cuts[0][0]
        return " and ".join(f"{name} ({parts})" for name, parts in cuts)

    def in_words(self, text: str, group: int) -> str:
        """A split or a division of a sub-graph's last result with names for `axis 2`."""
        rank = self._ranks.get(group, 0)
        return re.sub(r"axis (\d+)", lambda found: self._name(int(found[1]), rank, group), text)

    def of_result(self, rank: int, group: int) -> list[str]:
        """Names of all axes of a result of a sub-graph that has `rank` axes."""
        return [self._name(axis, rank, group) for axis in range(rank)]

    def _name(self, axis: int, rank: int, group: int) -> str:
        if axis == 0:
            return f"{self._noun}s"
        is_with_convolution = group in self._with_convolution
        name = self._layout.name(axis, rank, is_with_convolution=is_with_convolution)
        return name or f"axis {axis}"
