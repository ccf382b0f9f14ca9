"""Reports of a chain of layers with made-up plans, of which each change can be worked out by hand.

A layer n has two ops, 2n and 2n + 1; the second one's result, `t{n}`, is what layer n + 1 reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from graphturbo_core.report.report import Report
from graphturbo_core.report.tables import Tables
from tests.comparison.runs import report_of

WHOLE = (-1, 0, 1)
HALVES = ((0, 0, 4), (0, 4, 8))
"""Axis, first and end of the pieces of a group that is split in two along axis 0."""
FOUR = "[0,1,2,3]"


@dataclass(frozen=True)
class MadePlan:
    """`groups`: layers of each. `pieces`: groups in two pieces.

    `order`: (group, piece) per kernel as they run; by group where empty. `scopes`: memory of a
    layer's result, GB where it is not named. `cores`: axes and binding of a layer's result.
    """

    groups: Sequence[Sequence[int]]
    pieces: Sequence[int] = ()
    order: Sequence[tuple[int, int]] = ()
    scopes: Mapping[int, str] = field(default_factory=dict)
    cores: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    cluster: int = 0

    @property
    def kernels(self) -> list[tuple[int, int]]:
        """Group and piece of each kernel."""
        counts = [2 if group in self.pieces else 1 for group in range(len(self.groups))]
        return [*self.order] or [(g, n) for g, count in enumerate(counts) for n in range(count)]


def made_report(plan: MadePlan, **contract: object) -> Report:
    """A real report whose plan is this one, over as many layers as it has."""
    base = report_of("tvm@2")
    layers = sum(len(group) for group in plan.groups)
    group_of = {layer: number for number, own in enumerate(plan.groups) for layer in own}
    layer_row, node_row = base.tables["layers"][0], base.tables["graph_nodes"][0]
    tables: dict[str, Any] = {
        **base.tables,
        "layers": [{**layer_row, "index": n, "name": f"layer{n}"} for n in range(layers)],
        "graph_nodes": [
            {**node_row, "index": op, "op": f"op{op}", "origin": op, "layer": op // 2,
             "group": group_of[op // 2]}
            for op in range(2 * layers)
        ],
        "graph_edges": [
            {"source": op - 1, "target": op, "shape": "8", "bytes": 16,
             "tensor": f"m{op // 2}" if op % 2 else f"t{op // 2 - 1}" if op else "x"}
            for op in range(2 * layers)
        ],
        "stages": [{"index": 0, "title": "all", "first_layer": 0, "last_layer": layers - 1}],
        **_plan_tables(plan),
    }  # fmt: skip
    found = {name: tuple(rows) for name, rows in tables.items()}
    return replace(
        base,
        contract=cast(Any, {**base.contract, "sub_graphs_fine": layers, **contract}),
        tables=cast(Tables, found),
    )


def _plan_tables(plan: MadePlan) -> dict[str, list[dict[str, Any]]]:
    base = report_of("tvm@2").tables
    kernels = plan.kernels
    return {
        "groups": [
            {**base["groups"][0], "index": n, "name": f"g{n}", "layers": len(own),
             "pieces": 2 if n in plan.pieces else 1, "along": "axis 0" if n in plan.pieces else ""}
            for n, own in enumerate(plan.groups)
        ],
        "kernels": [
            {**base["kernels"][0], "index": at, "name": f"g{group}/{piece}", "group": f"g{group}"}
            for at, (group, piece) in enumerate(kernels)
        ],
        "pieces": [
            {**base["pieces"][0], "kernel": at, "cluster": plan.cluster, "extent": 8,
             **dict(zip(("axis", "first", "end"), _span(plan, group, piece), strict=True))}
            for at, (group, piece) in enumerate(kernels)
        ],
        "bindings": [
            row for group, piece in kernels for row in _bindings(plan, group, f"g{group}/{piece}")
        ],
    }  # fmt: skip


def _span(plan: MadePlan, group: int, piece: int) -> tuple[int, int, int]:
    return HALVES[piece] if group in plan.pieces else WHOLE


def _bindings(plan: MadePlan, group: int, kernel: str) -> list[dict[str, str]]:
    """Both results of each layer; the first one exists within its loop nest alone."""
    rows = []
    for layer in plan.groups[group]:
        axes, binding = plan.cores.get(layer, ("0", FOUR))
        scope = plan.scopes.get(layer, "GB")
        for op, tensor, where in ((0, f"m{layer}", ""), (1, f"t{layer}", scope)):
            rows.append({
                "kernel": kernel, "tensor": tensor, "op": f"op{2 * layer + op}", "axes": axes,
                "binding": binding, "scope": where,
            })  # fmt: skip
    return rows
