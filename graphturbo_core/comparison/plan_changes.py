"""Plans of two runs of one model -> what differs in each layer, with the texts of both sides.

A layer differs in
1. groups: the layers and ops that run with it as one group;
2. pieces: the number of pieces of its group, or the axes along which it is split;
3. cores: the division over the cores of a tensor that both plans bind, or the clusters;
4. output: the memory of a tensor that the layer hands on;
5. order: both plans have the same pieces, and another piece runs before one of them. Only pieces
   that both plans have count, so a piece that one plan alone has changes no order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.grouping import layers_text
from graphturbo_core.comparison.layer_plans import (
    Division,
    LayeredPlan,
    LayerPart,
    LayerPlan,
    before,
    grid_of,
    layered_plan,
)
from graphturbo_core.report.report import Report
from graphturbo_core.units import counted

GROUPS, PIECES, CORES, OUTPUT, ORDER = "groups", "pieces", "cores", "output", "order"
ASPECTS: Mapping[str, str] = {
    GROUPS: "Groups",
    PIECES: "Pieces",
    CORES: "Cores",
    OUTPUT: "Output in",
    ORDER: "Order",
}
"""What a plan decides of a layer, with its heading."""
WORDS = {OUTPUT: "output memory"}
MOST_CLUSTERS = 8
"""Aspects in a sentence, where the name alone is not clear."""
MERGED, SPLIT, REGROUPED = "merged", "split", "regrouped"
LOOP_NEST, NOTHING, OTHER_CORES = "loop nest", "none", "other cores"
MOST_RANGES, MOST_LISTED = 3, 3
"""Ranges of kernels, and distinct divisions of a tensor, that a text lists."""


@dataclass(frozen=True, slots=True)
class AspectSides:
    """One aspect of a layer. `a`, `b`: texts of both sides; `short`: the change, empty if none."""

    aspect: str
    a: str
    b: str
    short: str


@dataclass(frozen=True, slots=True)
class LayerDifference:
    """One layer, counted from 0, with every aspect in the order of `ASPECTS`."""

    layer: int
    name: str
    sides: tuple[AspectSides, ...]

    @property
    def changed(self) -> tuple[str, ...]:
        """The aspects that differ."""
        return tuple(each.aspect for each in self.sides if each.short)


def is_one_graph(a: Report, b: Report) -> bool:
    """Whether two reports are of one model: layers of the same names in the same order."""
    names = ([row["name"] for row in report.tables["layers"]] for report in (a, b))
    return a.contract["model"] == b.contract["model"] and next(names) == next(names)


def plan_changes(a: Report, b: Report) -> tuple[LayerDifference, ...]:
    """Every layer of two runs of one model, in order; near-linear in layers, kernels, tensors."""
    plans = layered_plan(a), layered_plan(b)
    moved, groups = _moved(*plans), GroupSides()
    found = []
    for row, own, other in zip(a.tables["layers"], plans[0].layers, plans[1].layers, strict=True):
        sides = (
            groups.of(own, other),
            _pieces(own, other),
            _cores(own, other),
            _output(own, other),
            _order(own, other, moved),
        )
        found.append(LayerDifference(row["index"], row["name"], sides))
    return tuple(found)


def change_counts(layers: Iterable[LayerDifference]) -> dict[str, int]:
    """Number of layers that differ, by aspect."""
    counts = dict.fromkeys(ASPECTS, 0)
    for layer in layers:
        for aspect in layer.changed:
            counts[aspect] += 1
    return counts


def changes_sentence(layers: Sequence[LayerDifference]) -> str:
    """`9 of 13 layers differ: 9 in groups, 2 in pieces. 4 layers are the same in both.`.

    A layer that differs in several aspects counts in each.
    """
    differing = sum(bool(layer.changed) for layer in layers)
    if not differing:
        count = counted(len(layers), "layer")
        return f"Both plans group, cut, place and order all {count} the same way."
    counts = change_counts(layers).items()
    said = ", ".join(
        f"{count:,} in {WORDS.get(aspect, aspect)}" for aspect, count in counts if count
    )
    verb = "differs" if differing == 1 else "differ"
    same = len(layers) - differing
    rest = f" {counted(same, 'layer')} {'is' if same == 1 else 'are'} the same in both."
    return f"{differing:,} of {counted(len(layers), 'layer')} {verb}: {said}.{rest if same else ''}"


@dataclass(frozen=True, slots=True)
class Company:
    """The layers that run in a group with a layer, and their text."""

    layers: frozenset[int]
    text: str


class GroupSides:
    """Groups of a layer on both sides; each group's layers are read once."""

    def __init__(self) -> None:
        """Know no group."""
        self._known: dict[tuple[str, ...], Company] = {}

    def of(self, own: LayerPlan, other: LayerPlan) -> AspectSides:
        """Both sides of a layer."""
        sides = self._company(own), self._company(other)
        short = ""
        if _members(own) != _members(other):
            inside = [len(plan.parts) for plan in (own, other)]
            short = f"{_regrouping(sides, inside)}{_change_text(sides, inside)}"
        return AspectSides(GROUPS, sides[0].text, sides[1].text, short)

    def _company(self, plan: LayerPlan) -> Company:
        key = tuple(part.group for part in plan.parts)
        if key not in self._known:
            layers = frozenset(layer for part in plan.parts for layer in part.layers)
            self._known[key] = Company(layers, _group_text(plan.parts))
        return self._known[key]


def _members(plan: LayerPlan) -> list[tuple[str, tuple[int, ...]]]:
    return [(part.group, part.ops) for part in plan.parts]


def _regrouping(sides: tuple[Company, Company], inside: Sequence[int]) -> str:
    """`merged`: B's group has more layers; `split`: fewer; `regrouped`: others.

    `inside`: groups within the layer, which decide where both have the same layers.
    """
    first, second = (side.layers for side in sides)
    if first == second:
        return REGROUPED if inside[0] == inside[1] else MERGED if inside[0] > inside[1] else SPLIT
    return MERGED if first < second else SPLIT if second < first else REGROUPED


def _change_text(sides: tuple[Company, Company], inside: Sequence[int]) -> str:
    """Layers that run together, else groups within the layer; nothing where both are as many."""
    counts = [len(side.layers) for side in sides]
    if counts[0] != counts[1]:
        return f" {counts[0]} → {counted(counts[1], 'layer')}"
    return f" {inside[0]} → {counted(inside[1], 'group')}" if inside[0] != inside[1] else ""


def _group_text(parts: Sequence[LayerPart]) -> str:
    """`layers 3 to 5`; of several groups in the layer their number."""
    if len(parts) > 1:
        return f"{counted(len(parts), 'group')} within the layer"
    layers = parts[0].layers if parts else ()
    if len(layers) == 1:
        return "this layer alone"
    return f"{counted(len(layers), 'layer')}: {layers_text(layers)}" if layers else NOTHING


def _pieces(own: LayerPlan, other: LayerPlan) -> AspectSides:
    splits = [sorted({(part.pieces, part.along) for part in plan.parts}) for plan in (own, other)]
    texts = [" + ".join(_piece_text(*split) for split in each) or NOTHING for each in splits]
    short = ""
    if splits[0] != splits[1]:
        counts = ["+".join(str(pieces) for pieces, _ in each) for each in splits]
        axes = ["+".join(along or "whole" for _, along in each) for each in splits]
        short = f"{counts[0]} → {counts[1]}"
        if counts[0] == counts[1]:
            short = f"{axes[0]} → {axes[1]}"
    return AspectSides(PIECES, texts[0], texts[1], short)


def _piece_text(pieces: int, along: str) -> str:
    return f"{counted(pieces, 'piece')}{f' along {along}' if along else ''}"


def _cores(own: LayerPlan, other: LayerPlan) -> AspectSides:
    """The tensor whose division differs, else the last one that both bind."""
    shared = [tensor for tensor in own.cores if tensor in other.cores]
    differing = [tensor for tensor in shared if own.cores[tensor] != other.cores[tensor]]
    tensor = (differing or shared or [""])[-1]
    divisions = [plan.cores.get(tensor) or [*plan.cores.values(), ()][-1] for plan in (own, other)]
    has_other = bool(differing) or (not shared and divisions[0] != divisions[1])
    texts = [_division_text(found) for found in divisions]
    if has_other and texts[0] == texts[1]:
        texts = [f"{texts[0]}: {_listed(found)}" for found in divisions]
    if own.clusters != other.clusters:
        texts = [
            f"{text}; cluster {_clusters(plan)}"
            for text, plan in zip(texts, (own, other), strict=True)
        ]
        return AspectSides(CORES, texts[0], texts[1], _cluster_short(own, other))
    return AspectSides(CORES, texts[0], texts[1], _core_short(divisions) if has_other else "")


def _clusters(plan: LayerPlan) -> str:
    """Numbers of clusters, from 0 as on all pages; after eight a count."""
    shown = ", ".join(map(str, plan.clusters[:MOST_CLUSTERS]))
    left = len(plan.clusters) - MOST_CLUSTERS
    return f"{shown} and {left} more" if left > 0 else shown


def _cluster_short(own: LayerPlan, other: LayerPlan) -> str:
    return f"cluster {_clusters(own)} → {_clusters(other)}"


def _core_short(divisions: Sequence[Sequence[Division]]) -> str:
    """What differs first: the number of cores, their axes, or which core has which part."""
    counts = ["+".join(str(n) for n in _core_counts(found)) or "0" for found in divisions]
    if counts[0] != counts[1]:
        return f"{counts[0]} → {counts[1]} cores"
    axes = ["+".join(dict.fromkeys(_axes_text(*each) for each in found)) for found in divisions]
    if axes[0] != axes[1]:
        return f"{axes[0]} → {axes[1].removeprefix('axis ')}"
    return OTHER_CORES


def _core_counts(divisions: Sequence[Division]) -> list[int]:
    return sorted({grid_of(binding)[1] for _, binding in divisions})


def _axes_text(axes: str, binding: str) -> str:
    """`axis 0 in 2, 2 in 2`; axes in one part are left out."""
    grid, _ = grid_of(binding)
    cuts = [f"{axis} in {n}" for axis, n in zip(axes.split(", "), grid, strict=False) if n > 1]
    return f"axis {', '.join(cuts)}" if cuts else "whole"


def _division_text(divisions: Sequence[Division]) -> str:
    """`4 cores, axis 0 in 2, 2 in 2`; several where the pieces are divided differently."""
    texts = [f"{counted(grid_of(each[1])[1], 'core')}, {_axes_text(*each)}" for each in divisions]
    listed = list(dict.fromkeys(texts))
    more = len(listed) - MOST_LISTED
    named = "; ".join(listed[:MOST_LISTED])
    return (f"{named} and {more} more" if more > 0 else named) or NOTHING


def _listed(divisions: Sequence[Division]) -> str:
    """The cores by number, as nested lists per axis."""
    named = dict.fromkeys(binding for _, binding in divisions)
    more = len(named) - MOST_LISTED
    text = " or ".join(list(named)[:MOST_LISTED])
    return f"{text} and {more} more" if more > 0 else text


def _output(own: LayerPlan, other: LayerPlan) -> AspectSides:
    shared = [tensor for tensor in own.places if tensor in other.places]
    if shared:
        places = [[plan.places[tensor] for tensor in shared] for plan in (own, other)]
    else:
        places = [list(plan.places.values()) for plan in (own, other)]
    texts = [_place_text(found) for found in places]
    short = f"{texts[0]} → {texts[1]}" if places[0] != places[1] else ""
    if short and texts[0] == texts[1]:
        short = "other outputs"
    return AspectSides(OUTPUT, texts[0], texts[1], short)


def _place_text(places: Sequence[Sequence[str]]) -> str:
    """`LB`; `GB + LB` where outputs or pieces differ."""
    named = dict.fromkeys(scope or LOOP_NEST for found in places for scope in found)
    return " + ".join(named) or NOTHING


def _moved(own: LayeredPlan, other: LayeredPlan) -> frozenset[int]:
    """Kernels of A, by number, that run after another piece in B."""
    first = before(own.pieces, other.pieces)
    second = before(other.pieces, own.pieces)
    return frozenset(
        number
        for number, piece in enumerate(own.pieces)
        if piece in first and first[piece] != second[piece]
    )


def _order(own: LayerPlan, other: LayerPlan, moved: frozenset[int]) -> AspectSides:
    is_comparable = _members(own) == _members(other) and len(own.kernels) == len(other.kernels)
    has_moved = is_comparable and any(kernel in moved for kernel in own.kernels)
    numbers = [_numbers_text(plan.kernels) for plan in (own, other)]
    texts = [
        f"kernel {text}" if len(plan.kernels) == 1 else f"kernels {text}" if text else NOTHING
        for text, plan in zip(numbers, (own, other), strict=True)
    ]
    short = ""
    if has_moved:
        short = "after other" if numbers[0] == numbers[1] else f"{numbers[0]} → {numbers[1]}"
    return AspectSides(ORDER, texts[0], texts[1], short)


def _numbers_text(kernels: Sequence[int]) -> str:
    """Numbers from 1: `3 to 5, 9`; after three ranges a count."""
    runs: list[list[int]] = []
    for kernel in kernels:
        if runs and kernel == runs[-1][1] + 1:
            runs[-1][1] = kernel
        else:
            runs.append([kernel, kernel])
    shown = ", ".join(
        str(first + 1) if first == last else f"{first + 1} to {last + 1}"
        for first, last in runs[:MOST_RANGES]
    )
    left = sum(last - first + 1 for first, last in runs[MOST_RANGES:])
    return f"{shown} and {left:,} more" if left else shown
