"""A report -> its kernels on the rectangle of layers and samples, without their pixels.

Layers count from the top. From left to right stand the pieces of one cluster's rounds, as Explore
draws them; a second split stands from the top to the foot of a kernel's layers. With fewer samples
than clusters, the clusters stand from left to right instead, idle ones empty. What several
sub-graphs have of one layer stands below each other in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.from_report import parts_of_model
from graphturbo_core.report.overview.hues import layers_of_groups
from graphturbo_core.report.report import Report

MOST_KERNELS = 24
"""Kernels of one sub-graph that are drawn one by one; of more, their number (our choice)."""
WHOLE = (0.0, 1.0, 0.0, 1.0)

Part = tuple[float, float, float, float]
"""Left and right, top and foot of a kernel within its stretch, each from 0 to 1."""


@dataclass(frozen=True, slots=True)
class KernelStretch:
    """Neighbouring layers of one sub-graph, from `top` to `foot` in layers, and its kernels.

    `kernels`: how many it has; of more than `MOST_KERNELS` the `parts` are those of their ground.
    """

    top: float
    foot: float
    kernels: int
    parts: tuple[Part, ...]

    @property
    def is_many(self) -> bool:
        """Whether there are too many kernels to draw each."""
        return self.kernels > MOST_KERNELS


@dataclass(frozen=True, slots=True)
class ModelPart:
    """A part of the model by its title: layers `first` to `last`, counted from 0."""

    title: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class KernelPicture:
    """What one run draws. `parts`: of the model, as `parts_of_model` has them.

    `clusters`: those that stand from left to right; 0 where samples do.
    """

    layers: int
    parts: tuple[ModelPart, ...]
    stretches: tuple[KernelStretch, ...]
    clusters: int = 0

    def hue(self, layer: float) -> int:
        """The number of the part that a layer is in; -1 where there is none."""
        found = (n for n, part in enumerate(self.parts) if part.first <= layer < part.last + 1)
        return next(found, -1)


def kernel_picture(report: Report) -> KernelPicture:
    """The kernels of a report with the tables of pictures."""
    groups = layers_of_groups(report)
    same: dict[tuple[Part, ...], tuple[Part, ...]] = {}
    kernels = [(count, same.setdefault(parts, parts)) for count, parts in _kernels_of(report)]
    stretches = [
        KernelStretch(top, foot, *kernels[group])
        for group, ends in enumerate(_ends(groups))
        for top, foot in ends
    ]
    parts = tuple(ModelPart(p.title, p.first, p.last) for p in parts_of_model(report))
    clusters = report.tables["round"][0]["clusters"] if has_idle_clusters(report) else 0
    return KernelPicture(len(report.tables["layers"]), parts, tuple(stretches), clusters)


def _ends(groups: Sequence[Sequence[int]]) -> Iterator[list[tuple[float, float]]]:
    """Top and foot of the stretches of each group; a layer of several is divided equally."""
    owners: dict[int, list[int]] = {}
    for group, layers in enumerate(groups):
        for layer in layers:
            owners.setdefault(layer, []).append(group)
    for group, layers in enumerate(groups):
        found: list[tuple[float, float]] = []
        for layer in layers:
            place, count = owners[layer].index(group), len(owners[layer])
            top, foot = layer + place / count, layer + (place + 1) / count
            if found and found[-1][1] == top:
                found[-1] = (found[-1][0], foot)
            else:
                found.append((top, foot))
        yield found


def has_idle_clusters(report: Report) -> bool:
    """Whether the batch has fewer samples than the chip has clusters, so that some may idle."""
    return bool(report.contract["batch"] < report.tables["round"][0]["clusters"])


def _kernels_of(report: Report) -> list[tuple[int, tuple[Part, ...]]]:
    """Of each group: kernels side by side in all rounds, and their parts where they are few."""
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    of_group: list[dict[int, dict[Part, None]]] = [{} for _ in number]
    for kernel, piece in zip(report.tables["kernels"], report.tables["pieces"], strict=True):
        extent, second = piece["extent"], piece["second_extent"]
        part = (
            piece["first"] / extent, piece["end"] / extent,
            piece["second_first"] / second, piece["second_end"] / second,
        )  # fmt: skip
        of_cluster = of_group[number[kernel["group"]]].setdefault(piece["cluster"], {})
        of_cluster[part] = None
    if has_idle_clusters(report):
        return [_on_clusters(report, found) for found in of_group]
    return [
        _in_rounds(
            report, tuple({part: None for own in found.values() for part in own}) or (WHOLE,)
        )
        for found in of_group
    ]


def _on_clusters(
    report: Report, of_cluster: Mapping[int, Mapping[Part, None]]
) -> tuple[int, tuple[Part, ...]]:
    """The parts of a sub-graph at the clusters that run it, which stand side by side."""
    (round_row,) = report.tables["round"]
    repeats, clusters = round_row["repeats"], round_row["clusters"]
    sharing = 1 + max(row["cluster"] for row in report.tables["pieces"])
    kernels = sum(map(len, of_cluster.values())) * repeats
    placed = []
    for repeat in range(repeats):
        for cluster, parts in sorted(of_cluster.items()):
            drawn = tuple(parts) if kernels <= MOST_KERNELS else (WHOLE,)
            start = min(part[0] for part in drawn)
            width = max(part[1] for part in drawn) - start
            place = repeat * sharing + cluster
            placed += [
                ((place + (left - start) / width) / clusters,
                 (place + (right - start) / width) / clusters, top, foot)
                for left, right, top, foot in drawn
            ]  # fmt: skip
    return kernels, tuple(placed) or (WHOLE,)


def _in_rounds(report: Report, parts: Sequence[Part]) -> tuple[int, tuple[Part, ...]]:
    """The parts of one round in every round, side by side."""
    rounds = report.tables["rounds"]
    kernels = len(parts) * sum(row["count"] for row in rounds)
    if kernels > MOST_KERNELS:
        return kernels, (WHOLE,)
    samples = sum(row["samples"] * row["count"] for row in rounds)
    placed, before = [], 0
    for row in rounds:
        for _ in range(row["count"]):
            start, width = before / samples, row["samples"] / samples
            before += row["samples"]
            placed += [
                (start + width * left, start + width * right, top, foot)
                for left, right, top, foot in parts
            ]
    return kernels, tuple(placed)
