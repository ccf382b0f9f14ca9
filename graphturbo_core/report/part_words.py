"""Names of sub-graphs and of parts in edits -> words: names like `g4-before` are for plan files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from graphturbo_core.report.report import Report

SIDES = {"": "", "-before": "first part of ", "-after": "second part of "}
"""What `EditChoices.parts_around` adds to the name of a sub-graph, in words."""
INTERNAL = re.compile(r"g(\d+)(-before|-after|)-*")


def group_text(name: str) -> str:
    """`sub-graph 4` of `g4`, `first part of sub-graph 4` of `g4-before`; others as they are."""
    found = INTERNAL.fullmatch(name)
    return f"{SIDES[found[2]]}sub-graph {found[1]}" if found else name


def layers_text(layers: Iterable[int], names: Sequence[str]) -> str:
    """`layers 2 to 4 (conv1 to conv3)`: numbers from 1, as the first screen has them."""
    own = sorted(set(layers))
    first, last = own[0], own[-1]
    if first == last:
        return f"layer {first + 1} ({names[first]})"
    ends = f"{first + 1} to {last + 1} ({names[first]} to {names[last]})"
    is_run = len(own) == last - first + 1
    return f"layers {ends}" if is_run else f"{len(own)} of the layers {ends}"


def part_words(parts: Mapping[str, Sequence[str]], report: Report | None) -> dict[str, str]:
    """Words per part, each with its ops: its layers; without a report that has them, its name."""
    nodes = report.tables["graph_nodes"] if report is not None else ()
    names = [row["name"] for row in report.tables["layers"]] if report is not None else []
    layer_of = {node["op"]: node["layer"] for node in nodes}
    return {
        part: layers_text([layer_of[op] for op in ops], names)
        if ops and all(op in layer_of for op in ops)
        else group_text(part)
        for part, ops in parts.items()
    }
