"""Report -> what its plan decides of each layer: group, pieces, cores, memory of outputs, order."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graphturbo_core.report.report import Report

Layers = tuple[int, ...]
Division = tuple[str, str]
"""Axes and cores of a binding, as the table of bindings writes them."""
PieceKey = tuple[str, tuple[int, ...], int]
"""One kernel: the digest of its group, its box, and its number among equal ones."""
START: PieceKey = ("", (), 0)
"""What runs before the first kernel."""


@dataclass(frozen=True, slots=True)
class LayerPart:
    """A group's part of one layer. `ops`: of this layer, as the model numbers them.

    `group`: digest of the group's layers and ops, equal in two runs where these are. `layers`: of
    the group.
    """

    group: str
    ops: tuple[int, ...]
    pieces: int
    along: str
    layers: Layers = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LayerPlan:
    """What a plan decides of one layer.

    `parts`: of its groups; more than one where groups are smaller than the layer. `cores`: distinct
    divisions over its kernels, by tensor, and `clusters` of these kernels. `places`: memories, by
    tensor that another layer reads or that the model hands out; "" is within a loop nest.
    `kernels`: of its groups, in the order in which they run.
    """

    parts: tuple[LayerPart, ...]
    cores: Mapping[str, tuple[Division, ...]]
    clusters: tuple[int, ...]
    places: Mapping[str, tuple[str, ...]]
    kernels: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LayeredPlan:
    """A plan by layers. `pieces`: its kernels in running order, each named by what it computes."""

    layers: tuple[LayerPlan, ...]
    pieces: tuple[PieceKey, ...]


def layered_plan(report: Report) -> LayeredPlan:
    """The plan of the drawn round, by layers; near-linear in ops, kernels and bound tensors."""
    nodes = report.tables["graph_nodes"]
    layer_of = {row["op"]: row["layer"] for row in nodes}
    kernels = _kernels_of_groups(report)
    parts = _parts(report)
    groups: dict[int, dict[int, None]] = defaultdict(dict)
    for row in nodes:
        groups[row["layer"]][row["group"]] = None
    cores, places = _bound(report, layer_of)
    clusters = [row["cluster"] for row in report.tables["pieces"]]
    found = []
    for layer in range(len(report.tables["layers"])):
        own = sorted(kernel for group in groups[layer] for kernel in kernels[group])
        found.append(
            LayerPlan(
                tuple(sorted((parts[group, layer] for group in groups[layer]), key=_first_ops)),
                cores[layer],
                tuple(sorted({clusters[kernel] for kernel in own})),
                places[layer],
                tuple(own),
            )
        )
    return LayeredPlan(tuple(found), tuple(_piece_keys(report)))


def _kernels_of_groups(report: Report) -> dict[int, list[int]]:
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    found: dict[int, list[int]] = defaultdict(list)
    for row in report.tables["kernels"]:
        found[number[row["group"]]].append(row["index"])
    return found


def _parts(report: Report) -> dict[tuple[int, int], LayerPart]:
    """The part of each group in each of its layers."""
    ops: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row in report.tables["graph_nodes"]:
        ops[row["group"], row["layer"]].add(row["origin"])
    members, rows = group_members(report), report.tables["groups"]
    return {
        (group, layer): LayerPart(
            members[group].digest,
            tuple(sorted(own)),
            rows[group]["pieces"],
            rows[group]["along"] if rows[group]["pieces"] > 1 else "",
            members[group].layers,
        )
        for (group, layer), own in ops.items()
    }


def _first_ops(part: LayerPart) -> tuple[tuple[int, ...], str]:
    return part.ops, part.group


@dataclass(frozen=True, slots=True)
class GroupMembers:
    """Layers of a group, and a digest of these and of its ops (as the model numbers them)."""

    layers: Layers
    digest: str


def group_members(report: Report) -> list[GroupMembers]:
    """The members of each group, in the order of the plan."""
    layers: list[set[int]] = [set() for _ in report.tables["groups"]]
    ops: list[set[int]] = [set() for _ in report.tables["groups"]]
    for row in report.tables["graph_nodes"]:
        layers[row["group"]].add(row["layer"])
        ops[row["group"]].add(row["origin"])
    pairs = ((tuple(sorted(own)), sorted(named)) for own, named in zip(layers, ops, strict=True))
    return [
        GroupMembers(own, hashlib.sha256(json.dumps([own, named]).encode()).hexdigest())
        for own, named in pairs
    ]


Bound = dict[int, dict[str, tuple[Any, ...]]]


def _bound(report: Report, layer_of: Mapping[str, int]) -> tuple[Bound, Bound]:
    """Per layer: divisions over the cores by tensor, and memories by tensor handed on."""
    outer = _handed_on(report)
    cores: dict[int, dict[str, dict[Division, None]]] = defaultdict(lambda: defaultdict(dict))
    places: dict[int, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for row in report.tables["bindings"]:
        layer = layer_of[row["op"]]
        cores[layer][row["tensor"]][row["axes"], row["binding"]] = None
        if row["tensor"] in outer:
            places[layer][row["tensor"]][row["scope"]] = None
    return _sorted(cores), _sorted(places)


def _sorted(found: Mapping[int, Mapping[str, Iterable[Any]]]) -> Bound:
    layers: Bound = defaultdict(dict)
    for layer, tensors in found.items():
        layers[layer] = {tensor: tuple(sorted(values)) for tensor, values in tensors.items()}
    return layers


def _handed_on(report: Report) -> set[str]:
    """Bound tensors that another layer reads, or nobody: those are the model's outputs."""
    nodes = report.tables["graph_nodes"]
    inside, found = set(), set()
    for edge in report.tables["graph_edges"]:
        is_input = edge["source"] < 0
        if is_input or nodes[edge["source"]]["layer"] == nodes[edge["target"]]["layer"]:
            inside.add(edge["tensor"])
        else:
            found.add(edge["tensor"])
    unread = {row["tensor"] for row in report.tables["bindings"]} - inside
    return found | unread


def _piece_keys(report: Report) -> Iterator[PieceKey]:
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    digests = [group.digest for group in group_members(report)]
    seen: Counter[tuple[int, tuple[int, ...]]] = Counter()
    for row, piece in zip(report.tables["kernels"], report.tables["pieces"], strict=True):
        group = number[row["group"]]
        first = piece["axis"], piece["first"], piece["end"]
        box = (*first, piece["second_axis"], piece["second_first"], piece["second_end"])
        yield digests[group], box, seen[group, box]
        seen[group, box] += 1


def before(own: Sequence[PieceKey], other: Sequence[PieceKey]) -> dict[PieceKey, PieceKey]:
    """Per kernel that both runs have, the kernel before it among those; `START` for the first."""
    shared = set(own) & set(other)
    found: dict[PieceKey, PieceKey] = {}
    last = START
    for piece in own:
        if piece in shared:
            found[piece] = last
            last = piece
    return found


@lru_cache(maxsize=1024)
def grid_of(binding: str) -> tuple[tuple[int, ...], int]:
    """Parts per axis and number of cores of a binding's nested list: `[[0,1],[2,3]]`: (2, 2), 4."""
    level = json.loads(binding)
    grid = []
    while isinstance(level, list):
        grid.append(len(level))
        level = level[0]
    cores = 1
    for parts in grid:
        cores *= parts
    return tuple(grid), cores
