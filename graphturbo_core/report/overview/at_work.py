"""Report -> the clusters that have samples, and how busy their engines are.

Every share of engines on the first screen is of these clusters: sentence and rows agree.
"""

from __future__ import annotations

from graphturbo_core.report.report import Report

ENGINE_KINDS = ("matrix", "vector", "move", "dma")
"""Kinds of engines, in the order of the first screen's numbers."""


def busy_at_work(report: Report) -> dict[str, float]:
    """Utilisation of the engines of the clusters that have samples."""
    share, per_kind = share_at_work(report), report.contract["utilization"]
    return {kind: per_kind.get(kind, 0.0) / share for kind in ENGINE_KINDS}


def share_at_work(report: Report) -> float:
    """Share of the chip's clusters that have samples."""
    (whole,) = report.tables["round"]
    return 1 - idle_clusters(report) / whole["clusters"]


def clusters_at_work(report: Report) -> int:
    """Clusters that have samples."""
    (whole,) = report.tables["round"]
    return int(whole["clusters"]) - idle_clusters(report)


def idle_clusters(report: Report) -> int:
    """Clusters without samples; none where clusters share one sample."""
    (whole,), batch = report.tables["round"], report.contract["batch"]
    if any(row["cluster"] > 0 for row in report.tables["pieces"]):
        return 0
    own = sum(row["count"] * row["samples"] for row in report.tables["rounds"])
    # A batch whose samples depend on each other is one cluster's.
    working = 1 if own == batch else min(batch, whole["clusters"])
    return int(whole["clusters"] - working)
