"""Report -> merges and refusals of Algorithm 2, each part named by its first layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphturbo_core.report.algorithms.splits import capacity_bytes
from graphturbo_core.report.canvases.canvas import Show
from graphturbo_core.report.overview.hues import layers_of_groups
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.group_rows import RANGE
from graphturbo_core.report.rows.partition.reasons import CAUSES
from graphturbo_core.report.rows.run_rows import DecisionRow
from graphturbo_core.units import format_bytes

BETWEEN = " + "
"""Between the parts in the subject of a decision."""


def merge_picture(report: Report, show: Show) -> dict[str, object] | None:
    """Decisions that join layers, in order; None where no decision does.

    `left_out`: other decisions, and those that do not follow from the ones before. `is_final`: the
    parts after the last decision are the sub-graphs of the run.
    """
    replay = _MergedParts([row["name"] for row in report.tables["layers"]])
    steps = []
    for row in report.tables["decisions"]:
        parts = replay.parts(row) if row["rule"] in CAUSES else None
        if parts is None:
            continue
        steps.append({**_step(row), "parts": list(parts), "rule": show(row["rule"])})
        if row["taken"]:
            replay.merge(parts)
    if not steps:
        return None
    groups = {layers[0]: layers[-1] for layers in layers_of_groups(report) if layers}
    return {
        "steps": steps,
        "left_out": len(report.tables["decisions"]) - len(steps),
        "is_final": groups == replay.last_of,
        "counts": _counts(report, steps),
        "capacity_bytes": capacity_bytes(report),
    }


class _MergedParts:
    """Parts so far: the last layer of each by its first."""

    def __init__(self, names: Sequence[str]) -> None:
        self._index_of = {name: index for index, name in enumerate(names)}
        self.last_of = {index: index for index in range(len(names))}

    def parts(self, row: DecisionRow) -> tuple[int, ...] | None:
        """The first layers of the parts that a decision names; None where one is no part."""
        found = []
        for part in row["subject"].split(BETWEEN):
            ends = (part, part) if part in self._index_of else tuple(part.split(RANGE))
            first, last = (self._index_of.get(end, -1) for end in (ends[0], ends[-1]))
            is_part = self.last_of.get(first) == last
            # A refused block is named by its fork, which may be part of a larger one already.
            if not is_part and not (CAUSES[row["rule"]] == "taken" and first >= 0):
                return None
            found.append(first)
        return tuple(found)

    def merge(self, parts: Sequence[int]) -> None:
        last = max(self.last_of[part] for part in parts)
        for part in parts:
            del self.last_of[part]
        self.last_of[min(parts)] = last


def _step(row: DecisionRow) -> dict[str, object]:
    """One decision; `pieces` 0 and `peak` empty where no split of the whole was computed."""
    return {
        "index": row["index"],
        "step": row["step"],
        "is_taken": row["taken"],
        "cause": CAUSES[row["rule"]],
        "counts": [int(count) for count in row["counts"].split("+") if count],
        "pieces": row["pieces"],
        "axis": row["axis"],
        "peak": format_bytes(row["peak_bytes"]) if row["peak_bytes"] else "",
        "peak_bytes": row["peak_bytes"],
    }


def _counts(report: Report, steps: Sequence[Mapping[str, object]]) -> list[int]:
    """Pieces of each layer alone: as a decision names them, else the first axis that is possible.

    0: no axis of it fits, or nothing names it.
    """
    found = [0] * len(report.tables["layers"])
    for row in reversed(report.tables["splits"]):
        if row["part"] == "layer" and row["possible"]:
            found[row["index"]] = row["pieces"]
    merged: set[int] = set()
    for layer, count, is_taken in _named(steps):
        if layer not in merged:
            found[layer] = count
        if is_taken:
            merged.add(layer)
    return found


def _named(steps: Sequence[Mapping[str, object]]) -> Iterator[tuple[int, int, bool]]:
    """Every part with its count, and whether it was merged then."""
    for step in steps:
        parts, counts = step["parts"], step["counts"]
        if isinstance(parts, list) and isinstance(counts, list) and len(parts) == len(counts):
            is_taken = bool(step["is_taken"])
            yield from ((*named, is_taken) for named in zip(parts, counts, strict=True))
