"""Reports -> the buffer of the pictures of Algorithms 1 to 4: a header, and the curve of GB."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.report.algorithms.binds import bind_picture
from graphturbo_core.report.algorithms.merges import merge_picture
from graphturbo_core.report.algorithms.orders import gb_curve, order_picture
from graphturbo_core.report.algorithms.splits import split_picture
from graphturbo_core.report.canvases.canvas import Array, Show, pack, seconds_per_cycle
from graphturbo_core.report.overview.group_names import names_of_groups
from graphturbo_core.report.overview.hues import hues_of, hues_of_groups
from graphturbo_core.report.report import Report
from graphturbo_core.report.sample_noun import sample_noun
from graphturbo_core.units import counted


def algorithms_buffer(
    *reports: Report, show: Show = str, extra: Mapping[str, object] | None = None
) -> bytes:
    """The pictures of one run or two; `show` passes over names of models and profiles.

    The last run is B: its sub-graphs have the hues.
    """
    a, b = reports[0], reports[-1]
    hues = hues_of(a, b)
    names = names_of_groups(*reports)
    runs, arrays = [], {}
    for number, report in enumerate(reports):
        own = hues.of_group if report is b else hues_of_groups(report, hues)
        runs.append({**_run(report, own, show), "groups": _groups(report, names[number], show)})
        arrays.update({f"{number}.{name}": array for name, array in _curves(report).items()})
    chip = {row["key"]: row["value"] for row in b.tables["chip"]}
    header = {
        "noun": sample_noun(b),
        "cores": chip.get("cluster.cores", 1),
        "hues": {
            "titles": [show(title) for title in hues.titles],
            "of_layer": list(hues.of_layer),
        },
        "layers": [show(row["name"]) for row in b.tables["layers"]],
        "runs": runs,
        **(extra or {}),
    }
    return pack(header, arrays)


def _curves(report: Report) -> dict[str, Array]:
    return gb_curve(report) if report.tables["ready"] else {}


def _run(report: Report, hue_of: Sequence[int], show: Show) -> dict[str, object]:
    """One run: the four pictures, and a sentence for each that it has not."""
    pictures = {
        "split": split_picture(report, hue_of, show),
        "merge": merge_picture(report, show),
        "order": order_picture(report, show),
        "bind": bind_picture(report, show),
    }
    return {
        "strategy": show(report.contract["strategy"]),
        "samples": report.contract["cluster_batch"],
        "seconds_per_cycle": seconds_per_cycle(report),
        "hue_of_group": list(hue_of),
        "missing": {
            name: show(_missing(name, report)) for name, own in pictures.items() if own is None
        },
        **pictures,
    }


def _groups(report: Report, names: Sequence[str], show: Show) -> list[dict[str, object]]:
    return [
        {"name": show(name), "pieces": row["pieces"], "layers": row["layers"]}
        for row, name in zip(report.tables["groups"], names, strict=True)
    ]


def _missing(name: str, report: Report) -> str:
    """Why a run has none of a picture."""
    strategy = report.contract["strategy"]
    layers, groups = len(report.tables["layers"]), len(report.tables["groups"])
    batch = report.contract["cluster_batch"]
    if name == "split":
        return (
            f"{strategy} does without Algorithm 1: each kernel runs whole, on "
            f"{counted(batch, sample_noun(report))} at once."
        )
    if name == "merge" and layers == 1:
        return "The model has one layer: there is nothing to merge."
    if name == "merge" and report.tables["decisions"]:
        return (
            f"{strategy} does without Algorithm 2: it forms its {counted(groups, 'sub-graph')} by "
            "other rules. The table of merges lists them."
        )
    if name == "merge":
        return f"{strategy} does without Algorithm 2: it merges no layers."
    if name == "order":
        return f"{strategy} has no ready list: its kernels run in the order of its plan."
    return f"{strategy} divides no tensor over cores."
