"""Report -> what one sample of its model is called: on every panel the same noun."""

from __future__ import annotations

from graphturbo_core.report.report import Report

PICTURE_AXES = 4
"""A model with an input of so many axes takes images; samples are then called that."""


def sample_noun(report: Report) -> str:
    """What one sample is called: `image` or `sample`; `sample` of a report without pictures."""
    inputs = [row["tensor"] for row in report.tables.get("graph_edges", ()) if row["source"] < 0]
    axes = {row["tensor"]: row["axes"] for row in report.tables.get("tensors", ())}
    return "image" if any(axes.get(name) == PICTURE_AXES for name in inputs) else "sample"
