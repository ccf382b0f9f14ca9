"""Layers that several sub-graphs share -> the part of each sub-graph, by its work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from graphturbo_core.report.report import Report


def layer_shares(report: Report, groups: Sequence[Sequence[int]]) -> list[list[float]]:
    """Per sub-graph, its part of each of its layers; 1 of a layer that it has alone.

    By engine cycles; equal parts of a layer without instructions. Our choice: a partition by ops
    may divide a layer, and another run's time of the layer is divided in the same way.
    """
    owners = Counter(layer for members in groups for layer in members)
    if max(owners.values(), default=0) <= 1:
        return [[1.0] * len(members) for members in groups]
    work = _work(report)
    total: Counter[int] = Counter()
    for number, members in enumerate(groups):
        for layer in members:
            total[layer] += work.get((number, layer), 0)
    return [
        [
            work.get((number, layer), 0) / total[layer] if total[layer] else 1 / owners[layer]
            for layer in members
        ]
        for number, members in enumerate(groups)
    ]


def _work(report: Report) -> dict[tuple[int, int], int]:
    """Engine cycles by sub-graph and layer."""
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    of_kernel = np.array([number[row["group"]] for row in report.tables["kernels"]], np.int64)
    kernel = report.arrays["kernel"].astype(np.int64)
    layer = report.arrays["layer"].astype(np.int64)
    is_known = (kernel >= 0) & (kernel < len(of_kernel)) & (layer >= 0)
    layers = len(report.tables["layers"])
    places = of_kernel[kernel[is_known]] * layers + layer[is_known]
    keys, place = np.unique(places, return_inverse=True)
    cycles = np.bincount(place, report.arrays["hold"][is_known])
    return {
        (int(key) // layers, int(key) % layers): int(own)
        for key, own in zip(keys.tolist(), cycles.tolist(), strict=True)
    }
