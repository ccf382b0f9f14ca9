"""A report -> its kernels on the rectangle of layers and samples, without their pixels.

Layers count from the top, samples from left to right. What several sub-graphs have of one layer
stands below each other in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.from_report import parts_of_model
from graphturbo_core.report.overview.hues import layers_of_groups
from graphturbo_core.report.report import Report

MOST_ACROSS = 24
"""Kernels side by side that can be told apart; of more there is only their number (our choice)."""
WHOLE = (0.0, 1.0, 0.0, 1.0)

Part = tuple[float, float, float, float]
"""Left and right, top and foot of a kernel within its stretch, each from 0 to 1."""


@dataclass(frozen=True, slots=True)
class KernelStretch:
    """Neighbouring layers of one sub-graph, from `top` to `foot` in layers, and its kernels.

    `across`: kernels that it has side by side; of more than `MOST_ACROSS` there are no `parts`.
    """

    top: float
    foot: float
    across: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class ModelPart:
    """A part of the model by its title: layers `first` to `last`, counted from 0."""

    title: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class KernelPicture:
    """What one run draws. `parts`: of the model, as `parts_of_model` has them."""

    layers: int
    parts: tuple[ModelPart, ...]
    stretches: tuple[KernelStretch, ...]

    def hue(self, layer: float) -> int:
        """The number of the part that a layer is in; -1 where there is none."""
        found = (n for n, part in enumerate(self.parts) if part.first <= layer < part.last + 1)
        return next(found, -1)


def kernel_picture(report: Report) -> KernelPicture:
    """The kernels of a report with the tables of pictures."""
    groups = layers_of_groups(report)
    kernels = _kernels_of(report)
    stretches = [
        KernelStretch(top, foot, *kernels[group])
        for group, ends in enumerate(_ends(groups))
        for top, foot in ends
    ]
    parts = tuple(ModelPart(p.title, p.first, p.last) for p in parts_of_model(report))
    return KernelPicture(len(report.tables["layers"]), parts, tuple(stretches))


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


def _kernels_of(report: Report) -> list[tuple[int, tuple[Part, ...]]]:
    """Of each group: kernels side by side in all rounds, and their parts where they are few."""
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    of_group: list[dict[Part, None]] = [{} for _ in number]
    for kernel, piece in zip(report.tables["kernels"], report.tables["pieces"], strict=True):
        extent, second = piece["extent"], piece["second_extent"]
        part = (
            piece["first"] / extent, piece["end"] / extent,
            piece["second_first"] / second, piece["second_end"] / second,
        )  # fmt: skip
        of_group[number[kernel["group"]]][part] = None
    return [_in_rounds(report, tuple(parts) or (WHOLE,)) for parts in of_group]


def _in_rounds(report: Report, parts: Sequence[Part]) -> tuple[int, tuple[Part, ...]]:
    """The parts of one round in every round, side by side."""
    rounds = report.tables["rounds"]
    columns = len({(left, right) for left, right, _, _ in parts})
    across = columns * sum(row["count"] for row in rounds)
    if across > MOST_ACROSS:
        return across, ()
    samples = sum(row["samples"] * row["count"] for row in rounds)
    found, at = [], 0
    for row in rounds:
        for _ in range(row["count"]):
            start, width = at / samples, row["samples"] / samples
            at += row["samples"]
            found += [
                (start + width * left, start + width * right, top, foot)
                for left, right, top, foot in parts
            ]
    return across, tuple(found)
