"""Reports -> stacked bars from the lower bound to the time: what separates a schedule from it.

Runs are drawn over the whole batch.
"""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from graphturbo_core.report.report import Report
from graphturbo_ui.figures.accounting import laid_out
from graphturbo_ui.palette import CAUSE_COLOURS, STEP_COLOURS, WAITED_FOR

STEP_WORDS: Mapping[str, str] = {
    "bound": "lower bound",
    "other_clusters": "other clusters could help",
    "repeated": "work repeated where pieces overlap",
    "unfilled": "work beyond the bound",
    "data_matrix": "waits for matrix work",
    "data_vector": "waits for vector work",
    "data_dram": "waits for data from DRAM",
    "data_gb": "waits for data through GB",
    "data_lb": "waits for data from other cores",
    "address": "waits for buffer space",
    "channel": "waits for a channel",
    "barrier": "launch or barrier",
    "idle": "nothing to do",
    "halo": "halo bytes",
    "activation": "activations in DRAM",
    "spill": "spills",
    "weight_again": "weights fetched again",
    "other_bytes": "inputs or results more than once",
    "dram_idle": "DRAM waits for the engines",
}
"""Words of the steps in the order in which they are drawn."""
BOUND_WORDS: Mapping[str, str] = {
    "matrix": "matrix engines", "vector": "vector engines", "dram": "DRAM",
}  # fmt: skip
PATTERNS: Mapping[str, str] = {"matrix": "|", "vector": "-", "dram": "/", "gb": "x", "lb": "."}
"""Pattern of a wait for data, by where the data come from."""
NO_TIME = "no time to account for"


def bound_step_rows(*reports: Report, names: str = "AB") -> list[dict[str, object]]:
    """Milliseconds of the whole batch per step, and its share of the latency."""
    return [
        {
            "run": name,
            "bound by": BOUND_WORDS[report.contract["bound_steps"]["resource"]],
            "step": words,
            "time (ms)": 1e3 * seconds,
            "share of the latency (%)": 100 * seconds / report.contract["latency_s"],
        }
        for name, report in zip(names, reports, strict=False)
        for step, words in STEP_WORDS.items()
        if (seconds := report.contract["bound_steps"]["steps"].get(step, 0.0))
    ]


def bound_step_figure(*reports: Report, names: str = "AB") -> go.Figure:
    """A bar per run as long as its latency, the lower bound first."""
    rows = bound_step_rows(*reports, names=names)
    found = {(f"{row['run']} · {row['bound by']}", row["step"]): row for row in rows}
    labels = list(dict.fromkeys(label for label, _ in found))
    figure = go.Figure(
        [
            go.Bar(
                name=words,
                orientation="h",
                y=labels,
                x=[found.get((label, words), {}).get("time (ms)", 0.0) for label in labels],
                marker={"color": _colour(step), "pattern": {"shape": _pattern(step)}},
                hovertemplate=f"%{{y}}: {words} %{{x:,.4g}} ms<extra></extra>",
            )
            for step, words in STEP_WORDS.items()
            if any((label, words) in found for label in labels)
        ]
    )
    figure.update_xaxes(title_text="time of the whole batch (ms)", rangemode="tozero")
    figure.update_yaxes(title_text="run", autorange="reversed")
    return laid_out(figure, len(labels), NO_TIME)


def _colour(step: str) -> str:
    return STEP_COLOURS.get(step) or CAUSE_COLOURS[step]


def _pattern(step: str) -> str:
    """Waits for data have a pattern each, in the colours of what they wait for."""
    return PATTERNS[step.removeprefix(WAITED_FOR)] if step.startswith(WAITED_FOR) else ""
