"""Report -> the clusters that have samples, and how busy their engines are.

Every share of engines on the first screen is of these clusters: sentence and rows agree. The
contract's shares, which the views below show, are of all clusters of the chip.
"""

from __future__ import annotations

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_percent

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


def of_all_clusters(*reports: Report) -> str:
    """`of all 4 clusters`, where one of the runs leaves some of them idle; else nothing."""
    idle = [report for report in reports if idle_clusters(report)]
    return f"of all {idle[0].tables['round'][0]['clusters']} clusters" if idle else ""


def idle_text(report: Report) -> str:
    """` (3 of 4 clusters have no samples)`; nothing where all have some."""
    idle, (whole,) = idle_clusters(report), report.tables["round"]
    verb = "has" if idle == 1 else "have"
    return f" ({idle} of {whole['clusters']} clusters {verb} no samples)" if idle else ""


def at_work_text(kind: str, *reports: Report) -> str:
    """How busy engines of a kind are by the first screen; nothing where no cluster is idle.

    `Of the clusters that have samples, as on the first screen: A 20 % (1 of 4), B 88 % (4 of 4).`
    """
    if not of_all_clusters(*reports):
        return ""
    names = ("A ", "B ") if len(reports) > 1 else ("",)
    shares = (
        f"{name}{format_percent(busy_at_work(report)[kind])} "
        f"({clusters_at_work(report)} of {report.tables['round'][0]['clusters']})"
        for name, report in zip(names, reports, strict=True)
    )
    return f"Of the clusters that have samples, as on the first screen: {', '.join(shares)}."


def idle_clusters(report: Report) -> int:
    """Clusters without samples; none where clusters share one sample."""
    (whole,), batch = report.tables["round"], report.contract["batch"]
    if any(row["cluster"] > 0 for row in report.tables["pieces"]):
        return 0
    own = sum(row["count"] * row["samples"] for row in report.tables["rounds"])
    # A batch whose samples depend on each other is one cluster's.
    working = 1 if own == batch else min(batch, whole["clusters"])
    return int(whole["clusters"] - working)
