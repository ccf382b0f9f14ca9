"""Reports -> rows of the passes: each step's product, and what Algorithms 1 to 4 decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Literal

from graphturbo_core.report.overview.group_names import in_words, words_of
from graphturbo_core.report.report import Report
from graphturbo_core.units import counted, format_bytes, format_count
from graphturbo_ui.figures.tables import BOTH, MAX_ROWS, Table, step_rows
from graphturbo_ui.text import safe_text


def product_rows(*reports: Report, names: str = BOTH) -> Table:
    """Every step with its seconds and what it made, columns a run."""
    rows = step_rows(*reports, names=names)
    for row in rows:
        for name, report in zip(names, reports, strict=False):
            ran = row[f"{name} (s)"] is not None
            row[f"{name}'s product"] = product(str(row["step"]), report) if ran else ""
    return rows


def product(step: str, report: Report) -> str:
    """What a step made, in numbers; steps of a smaller round are of the largest's kind."""
    name = step.partition(" (")[0]
    told = PRODUCTS.get(name)
    return told(report) if told else ""


def _plan(report: Report) -> str:
    tables = report.tables
    parts = [
        counted(len(tables["groups"]), "sub-graph"),
        counted(len(tables["kernels"]), "kernel"),
        counted(len(tables["decisions"]), "decision"),
    ]
    return ", ".join(parts)


def _program(report: Report) -> str:
    instructions = counted(len(report.arrays["start"]), "instruction")
    engines = counted(len(report.tables["engines"]), "engine")
    return f"{instructions} on {engines}, {counted(len(report.arrays['buffer_space']), 'buffer')}"


def _rounds(report: Report) -> str:
    contract = report.contract
    rounds = counted(contract["rounds"], "round")
    return f"{rounds} of {contract['cluster_batch']} samples per cluster"


def _graph(report: Report) -> str:
    nodes, edges = len(report.tables["graph_nodes"]), len(report.tables["graph_edges"])
    return f"{counted(nodes, 'op')}, {counted(edges, 'read')} of activations"


def _trace(report: Report) -> str:
    return f"{format_count(report.tables['round'][0]['cycles'])} cycles per round"


def _verified(report: Report) -> str:
    verify = report.contract["verify"]
    return "every output agrees" if verify.get("ok") else "an output differs"


PRODUCTS: Mapping[str, Callable[[Report], str]] = {
    "profile": lambda report: f"{counted(len(report.tables['chip']), 'number')} with a source",
    "import": _graph,
    "divide the batch": _rounds,
    "plan": _plan,
    "lower": _program,
    "simulate": _trace,
    "verify": _verified,
}


def split_table(*reports: Report, names: str = BOTH) -> Table:
    """Algorithm 1: a row per part and axis of its last output."""
    return [
        {
            "run": name,
            "part": row["part"],
            "name": safe_text(in_words(row["name"], words if row["part"] != "layer" else {})),
            "axis": row["axis"],
            "split": "taken" if row["taken"] else "possible" if row["possible"] else "no",
            "pieces": row["pieces"] or None,
            "ops covered": f"{row['covered_ops']} of {row['ops']}",
            "peak of a piece": format_bytes(row["peak_bytes"]) if row["pieces"] else "",
            "peak unsplit": format_bytes(row["whole_peak_bytes"]),
            "limit": format_bytes(row["capacity_bytes"]),
        }
        for name, report, words in zip(names, reports, words_of(*reports), strict=False)
        for row in islice(report.tables["splits"], MAX_ROWS // len(reports))
    ]


def decision_table(*reports: Report, names: str = BOTH) -> Table:
    """Algorithm 2 and what follows it: every merge and refusal in order."""
    return [
        {
            "run": name,
            "number": row["index"] + 1,
            "step": safe_text(row["step"]),
            "answer": "yes" if row["taken"] else "no",
            "what": safe_text(
                in_words(row["subject"], words) if row["step"] == FIT else row["subject"]
            ),
            "numbers": safe_text(row["numbers"], max_length=400),
            "rule": safe_text(row["rule"], max_length=400),
        }
        for name, report, words in zip(names, reports, words_of(*reports), strict=False)
        for row in islice(report.tables["decisions"], MAX_ROWS // len(reports))
    ]


def ready_table(*reports: Report, names: str = BOTH) -> Table:
    """Algorithm 3: what runs, and the ready list after it, newest last."""
    return [
        {
            "run": name,
            "step": row["index"] + 1,
            "runs": safe_text(in_words(row["run"], words)),
            "ready after it": safe_text(in_words(row["ready"], words), max_length=1000),
        }
        for name, report, words in zip(names, reports, words_of(*reports), strict=False)
        for row in islice(report.tables["ready"], MAX_ROWS // len(reports))
    ]


def binding_table(*reports: Report, names: str = BOTH) -> Table:
    """Algorithm 4: a row per kernel and tensor; cores as the vendor's nested list."""
    return [
        {
            "run": name,
            "kernel": safe_text(in_words(row["kernel"], words)),
            "tensor": safe_text(row["tensor"]),
            "op": safe_text(row["op"]),
            "cores": safe_text(row["binding"], max_length=400),
            "axes": row["axes"],
            "memory": row["scope"] or "its loop nest",
        }
        for name, report, words in zip(names, reports, words_of(*reports), strict=False)
        for row in islice(report.tables["bindings"], MAX_ROWS // len(reports))
    ]


FIT = "fit"
"""Step of the decisions that are about a sub-graph by its key."""
Listed = Literal["splits", "decisions", "ready", "bindings"]
TABLES: Mapping[str, tuple[Listed, Callable[..., Table]]] = {
    "splits": ("splits", split_table),
    "merges": ("decisions", decision_table),
    "the ready list": ("ready", ready_table),
    "bindings": ("bindings", binding_table),
}
"""A table per algorithm: the rows of a report that it lists, and what makes it."""
