"""Two runs of one model -> the layers that they group, or cut, differently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.figures import GroupLayers, RunFigures
from graphturbo_core.units import counted

MOST_RANGES = 20
"""Ranges of layers that are listed."""


@dataclass(frozen=True, slots=True)
class GroupingChange:
    """Layers (counted from 0) whose groups differ, with the groups of both runs."""

    layers: tuple[int, ...]
    a: tuple[GroupLayers, ...]
    b: tuple[GroupLayers, ...]


def is_one_model(a: RunFigures, b: RunFigures) -> bool:
    """Whether layers of two runs can be matched by their numbers."""
    return a.model == b.model and a.sub_graphs_fine == b.sub_graphs_fine


def grouping_changes(a: RunFigures, b: RunFigures) -> tuple[GroupingChange, ...]:
    """Smallest sets of layers that are whole groups in both runs, where these groups differ.

    Groups are equal where layers, pieces and split axes are. Near-linear in layers.
    """
    root = _joined((*a.groups, *b.groups))
    sets: dict[int, list[int]] = {}
    for layer in sorted({layer for group in (*a.groups, *b.groups) for layer in group.layers}):
        sets.setdefault(root(layer), []).append(layer)
    owned = [_by_root(run.groups, root) for run in (a, b)]
    found = (
        GroupingChange(
            tuple(layers), tuple(owned[0].get(first, ())), tuple(owned[1].get(first, ()))
        )
        for first, layers in sets.items()
    )
    return tuple(change for change in found if _shapes(change.a) != _shapes(change.b))


def _joined(groups: Sequence[GroupLayers]) -> Callable[[int], int]:
    """Layers of one group are one set, and so are sets that share a layer: its first layer."""
    parent: dict[int, int] = {}

    def root(layer: int) -> int:
        parent.setdefault(layer, layer)
        while parent[layer] != layer:
            parent[layer] = parent[parent[layer]]
            layer = parent[layer]
        return layer

    for group in groups:
        for layer in group.layers[1:]:
            first, other = sorted((root(group.layers[0]), root(layer)))
            parent[other] = first
    return root


def _by_root(
    groups: Sequence[GroupLayers], root: Callable[[int], int]
) -> dict[int, list[GroupLayers]]:
    found: dict[int, list[GroupLayers]] = {}
    for group in groups:
        if group.layers:
            found.setdefault(root(group.layers[0]), []).append(group)
    return found


def _shapes(groups: Sequence[GroupLayers]) -> list[tuple[tuple[int, ...], int, str]]:
    return sorted((group.layers, group.pieces, group.along) for group in groups)


def layers_text(layers: Sequence[int]) -> str:
    """Numbers as the pages show them, from 1: `3 to 13, 20`; after 20 ranges a count."""
    runs: list[list[int]] = []
    for layer in sorted(layers):
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    shown = ", ".join(
        str(first + 1) if first == last else f"{first + 1} to {last + 1}"
        for first, last in runs[:MOST_RANGES]
    )
    left = sum(last - first + 1 for first, last in runs[MOST_RANGES:])
    return f"{shown} and {counted(left, 'layer')} more" if left else shown


def groups_text(groups: Sequence[GroupLayers]) -> str:
    """`1 group in 8 pieces along axis 0`; of several groups the number and all pieces."""
    if not groups:
        return "no group"
    pieces = sum(group.pieces for group in groups)
    if len(groups) > 1:
        return f"{counted(len(groups), 'group')}, {counted(pieces, 'kernel')}"
    along = groups[0].along
    cut = f"in {counted(pieces, 'piece')}" if pieces > 1 else "in one piece"
    return f"1 group {cut}{f' along {_axis(along)}' if along and pieces > 1 else ''}"


def _axis(along: str) -> str:
    return f"axis {along}" if along.isdigit() else along
