"""Two reports of one model -> the bytes of the plan diff: both groupings and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.comparison.layer_plans import group_members
from graphturbo_core.comparison.plan_changes import (
    ASPECTS,
    LayerDifference,
    change_counts,
    changes_sentence,
)
from graphturbo_core.report.canvases.canvas import Array, Show, pack, seconds_per_cycle
from graphturbo_core.report.overview.buffer import (
    kernel_columns,
    layer_edges,
    op_marks,
)
from graphturbo_core.report.overview.hues import hues_of
from graphturbo_core.report.report import Report
from graphturbo_core.report.sample_noun import sample_noun
from graphturbo_core.units import format_bytes, format_seconds

FIGURES = ("In flight", "LB peak, fullest core", "DRAM, one round")
"""What the picture reports of a layer on both sides, changed or not."""


def plan_diff_buffer(
    reports: tuple[Report, Report],
    layers: Sequence[LayerDifference],
    show: Show = str,
    extra: Mapping[str, object] | None = None,
) -> bytes:
    """Layers from top to bottom with A's groups, B's groups and what differs.

    `layers`: the `plan_changes` of the reports. `folds`: [first, last] of each stretch of layers
    that are the same in both. Everything is of the drawn round: the plan that the largest share of
    the samples follows.
    """
    a, b = reports
    hues = hues_of(a, b)
    runs: list[dict[str, object]] = []
    arrays: dict[str, Array] = {}
    for number, report in enumerate((a, b)):
        runs.append(_run(report, show))
        own = kernel_columns(report)
        arrays.update({f"{number}.{name}": array for name, array in own.items()})
    header: dict[str, object] = {
        "noun": sample_noun(b),
        "sentence": changes_sentence(layers),
        "aspects": list(ASPECTS.values()),
        "counts": list(change_counts(layers).values()),
        "figures": list(FIGURES),
        "folds": folds(layers),
        "blocks": [],
        "layers": _layers(layers, a, b, show),
        "ops": op_marks(b),
        "edges": layer_edges(b),
        "hues": {
            "meaning": hues.meaning,
            "titles": [show(title) for title in hues.titles],
            "of_layer": list(hues.of_layer),
            "of_group": list(hues.of_group),
        },
        "runs": runs,
        **(extra or {}),
    }
    return pack(header, arrays)


def folds(layers: Sequence[LayerDifference]) -> list[list[int]]:
    """[first, last] of each stretch of layers that are the same in both, in order."""
    found: list[list[int]] = []
    for each in layers:
        if each.changed:
            continue
        if found and found[-1][1] == each.layer - 1:
            found[-1][1] = each.layer
        else:
            found.append([each.layer, each.layer])
    return found


def _run(report: Report, show: Show) -> dict[str, object]:
    """A run's groups, and the one round that its arrays describe."""
    drawn = next(row for row in report.tables["rounds"] if row["is_drawn"])
    members = group_members(report)
    return {
        "strategy": show(report.contract["strategy"]),
        "profile": show(report.contract["profile"]),
        "seconds_per_cycle": seconds_per_cycle(report),
        "sequence": [{**drawn, "count": 1}],
        "kernels": len(report.tables["kernels"]),
        "groups": [
            {
                "name": show(row["name"]),
                "layers": list(members[row["index"]].layers),
                "pieces": row["pieces"],
                "along": row["along"],
            }
            for row in report.tables["groups"]
        ],
    }


def _layers(
    layers: Sequence[LayerDifference], a: Report, b: Report, show: Show
) -> list[dict[str, object]]:
    """A row per layer: texts of both sides, what differs, and figures with units."""
    figures = zip(_figures(a), _figures(b), strict=True)
    return [
        {
            "name": show(each.name),
            "ops": show(row["op_types"]),
            "sides": [[show(side.a), show(side.b), show(side.short)] for side in each.sides],
            "figures": [list(pair) for pair in zip(*both, strict=True)],
        }
        for each, row, both in zip(layers, b.tables["layers"], figures, strict=True)
    ]


def _figures(report: Report) -> list[tuple[str, ...]]:
    """Of each layer, the values of `FIGURES`."""
    return [
        (
            format_seconds(row["window_s"]),
            format_bytes(row["lb_peak_bytes"]),
            format_bytes(row["dram_bytes"]),
        )
        for row in report.tables["layers"]
    ]
