"""Reports -> rows and facts of sub-graphs and ops: what the graph view draws and tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from graphturbo_core.report.canvases.canvas import seconds_per_cycle
from graphturbo_core.report.contract import split_axes
from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.overview.group_names import names_of_groups
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.graph_rows import shapes_text
from graphturbo_core.report.rows.group_rows import GroupRow
from graphturbo_core.report.rows.run_rows import KernelRow
from graphturbo_core.report.sample_noun import sample_noun
from graphturbo_core.units import counted, format_bytes, format_seconds
from graphturbo_ui.figures.tables import BOTH, Table
from graphturbo_ui.session.selection import Selection, selected_in
from graphturbo_ui.text import safe_text

TABLES: Mapping[str, Literal["groups", "graph_nodes", "layers"]] = {
    "group": "groups", "op": "graph_nodes", "layer": "layers",
}  # fmt: skip
"""Kind of a selection -> the table of its rows."""
MAX_TYPES = 8
"""Op types told of one sub-graph, the most frequent first."""
MAX_ENDS = 6
"""Tensors that are listed for one side of an op."""


def group_table(*reports: Report, names: str = BOTH) -> Table:
    """A row a sub-graph of every run, in the order of `group_selections`."""
    return [
        {
            "run": name,
            "sub-graph": safe_text(called),
            "layers": row["layers"],
            "ops": row["ops"],
            "split axis": split_axes(listed),
            "pieces": row["pieces"],
            "ops covered": row["covered_ops"],
            "peak": format_bytes(row["peak_bytes"]),
            "binding": row["binding"],
            "output waits in": row["scope"],
            "why merged": safe_text(row["why"]),
            "why not further": safe_text(row["why_not"]),
        }
        for name, report, own in zip(names, reports, names_of_groups(*reports), strict=False)
        for row, listed, called in zip(
            report.tables["groups"], report.contract["groups"], own, strict=True
        )
    ]


def otherwise_table(*reports: Report, names: str = BOTH) -> Table:
    """A row per stretch of layers in which the paper's method decides otherwise than `best`.

    Times are of one round, the largest.
    """
    return [
        {
            "run": name,
            "layers": safe_text(row["layers"]),
            "sub-graphs, paper": row["groups"],
            "sub-graphs, best": row["best_groups"],
            "kernels, paper": None if row["is_rest"] else row["kernels"],
            "kernels, best": None if row["is_rest"] else row["best_kernels"],
            "paper (ms a round)": row["cycles"] * scale,
            "best (ms a round)": row["best_cycles"] * scale,
            "saved (ms a round)": (row["cycles"] - row["best_cycles"]) * scale,
        }
        for name, report in zip(names, reports, strict=False)
        for scale in [1e3 * seconds_per_cycle(report)]
        for row in report.tables["otherwise"]
    ]


def group_selections(*reports: Report, names: str = BOTH) -> list[Selection]:
    """What each row of `group_table` stands for."""
    return [
        Selection(name, "group", index)
        for name, report in zip(names, reports, strict=False)
        for index in range(len(report.tables["groups"]))
    ]


def facts(selected: Selection, reports: Mapping[str, Report]) -> tuple[str, Mapping[str, str]]:
    """Title and facts of what is selected; nothing where a run has no such sub-graph or op.

    `reports`: the runs' by name. Names stand as the model gave them: the sink makes them safe.
    """
    report = reports.get(selected.run)
    if report is None or selected.index >= len(report.tables[TABLES[selected.kind]]):
        return "", {}
    if selected.kind == "group":
        return f"Sub-graph {group_title(selected, reports)}", group_facts(report, selected.index)
    if selected.kind == "op":
        row = report.tables["graph_nodes"][selected.index]
        return f"{row['op_type']} {row['op']}", op_facts(selected, reports)
    layer = report.tables["layers"][selected.index]
    return f"Layer {layer['name']}", layer_facts(selected, reports)


def group_title(selected: Selection, reports: Mapping[str, Report]) -> str:
    """`stage 1 of B (g2)`: the key is for plan edits."""
    name = _names(reports)[selected.run][selected.index]
    key = reports[selected.run].tables["groups"][selected.index]["name"]
    return f"{name} of {selected.run} ({key})"


def _names(reports: Mapping[str, Report]) -> dict[str, list[str]]:
    """Names of the sub-graphs of each run, which stand in the page's order."""
    return dict(zip(reports, names_of_groups(*reports.values()), strict=True))


def group_facts(report: Report, group: int) -> Mapping[str, str]:
    """What a click on a sub-graph tells: size, split, binding, and why it is as it is."""
    row = report.tables["groups"][group]
    names = AxisNames(report, sample_noun(report))
    axes = names.along(row, group) or names.in_words(row["along"], group)
    kernels = [k for k in report.tables["kernels"] if k["group"] == row["name"]]
    return {
        "ops": f"{row['ops']} of {counted(row['layers'], 'layer')}: {_op_types(report, group)}",
        "split (Algorithm 1)": _quadruple(row, axes),
        "pieces": f"{row['pieces']}, run as {counted(len(kernels), 'kernel')} in this round",
        "time of its kernels": _times(report, kernels),
        "live activations at their peak": format_bytes(row["peak_bytes"]),
        "output": row["outputs"] or "none",
        "binding of its output": names.in_words(row["binding"], group) or "none",
        "its output is kept in": row["scope"] or "none",
        "why merged (the plan's record)": row["why"] or "not merged",
        "why not further (the plan's record)": row["why_not"] or "nothing left to merge",
    }


def _times(report: Report, kernels: Sequence[KernelRow]) -> str:
    """How long kernels run, launches and barriers apart, and the least that any order takes."""
    if not kernels:
        return "none"
    took = sum(row["end_cycle"] - row["start_cycle"] for row in kernels)
    scale = seconds_per_cycle(report)
    least = format_seconds(sum(row["least_cycles"] for row in kernels) * scale)
    return f"{format_seconds(took * scale)}; at least {least} in any order of their instructions"


def _quadruple(row: GroupRow, axes: str) -> str:
    """(split, ops covered, pieces, axis) as Algorithm 1 records them, in words."""
    if row["split_axis"] < 0:
        return "none: it runs whole"
    return (
        f"{counted(row['pieces'], 'piece')} along {axes}, carried by "
        f"{row['covered_ops']} of {row['ops']} ops"
    )


def _op_types(report: Report, group: int) -> str:
    """`3 Conv, 2 Relu`, the most frequent first."""
    counts: dict[str, int] = {}
    for row in report.tables["graph_nodes"]:
        if row["group"] == group:
            op_type = row["op_type"]
            counts[op_type] = counts.get(op_type, 0) + 1
    told = [f"{n} {name}" for name, n in sorted(counts.items(), key=lambda item: -item[1])]
    more = len(told) - MAX_TYPES
    return ", ".join([*told[:MAX_TYPES], *([f"{more} more types"] if more > 0 else [])])


def op_facts(selected: Selection, reports: Mapping[str, Report]) -> Mapping[str, str]:
    """Facts of a clicked op: type, tensors, layer, and its sub-graphs in every run."""
    own = reports[selected.run]
    row = own.tables["graph_nodes"][selected.index]
    layer = own.tables["layers"][row["layer"]]
    return {
        "type": row["op_type"],
        "name": row["op"],
        "reads": _ends(own, selected.index, "source") or "none",
        "output shape": shapes_text(row["output_shapes"]),
        "weights": shapes_text(row["weight_shapes"]) or "none",
        "attributes": row["attributes"] or "none",
        "read by": _ends(own, selected.index, "target") or "none (a result of the model)",
        "layer": f"{layer['name']} ({layer['op_types']})",
        **_homes(selected, reports),
    }


def _ends(report: Report, op: int, at: Literal["source", "target"]) -> str:
    """The ops that an op reads, with shapes (`source`), or that read it: `2x64 of Conv stem`."""
    own: Literal["source", "target"] = "target" if at == "source" else "source"
    edges = [row for row in report.tables["graph_edges"] if row[own] == op]
    nodes = report.tables["graph_nodes"]
    said = []
    for edge in edges[:MAX_ENDS]:
        end = nodes[edge[at]] if edge[at] >= 0 else None
        name = f"{end['op_type']} {end['op']}" if end else f"input {edge['tensor']}"
        said.append(f"{edge['shape']} of {name}" if at == "source" else name)
    if len(edges) > MAX_ENDS:
        said.append(f"{len(edges) - MAX_ENDS} more")
    return ", ".join(said)


def layer_facts(selected: Selection, reports: Mapping[str, Report]) -> Mapping[str, str]:
    """What a layer that another view selected is, and its sub-graphs in every run."""
    row = reports[selected.run].tables["layers"][selected.index]
    return {"op types": row["op_types"], **_homes(selected, reports)}


def _homes(selected: Selection, reports: Mapping[str, Report]) -> dict[str, str]:
    """The sub-graphs, in every run, of the ops that are selected."""
    called = _names(reports)
    return {
        f"sub-graph in {name}": "; ".join(
            dict.fromkeys(_home(reports[name], op, called[name]) for op in sorted(ops))
        )
        or "none"
        for name, ops in selected_in(selected, reports).items()
    }


def _home(report: Report, op: int, names: Sequence[str]) -> str:
    """The sub-graph of an op and how that is cut."""
    group = report.tables["groups"][report.tables["graph_nodes"][op]["group"]]
    size = f"{counted(group['ops'], 'op')}"
    return f"{names[group['index']]}: {size} in {counted(group['pieces'], 'piece')}"


def graph_summary(*reports: Report, names: str = BOTH) -> str:
    """The graph view in a sentence."""
    parts = [
        f"{name} runs {counted(len(report.tables['graph_nodes']), 'op')} as "
        f"{counted(len(report.tables['groups']), 'sub-graph')}"
        for name, report in zip(names, reports, strict=False)
    ]
    return f"{'; '.join(parts)}. The vertical axis is the same for both: order of dependence."
