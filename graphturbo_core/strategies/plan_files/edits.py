"""Edits -> PlanConstraints: looks up the user's names in the model, or refuses them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import prod
from types import MappingProxyType
from typing import TypeVar

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.plan import Binding, Layer, Residency, Scope
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.constraints import PlanConstraints
from graphturbo_core.strategies.steps.binding import spread_binding
from graphturbo_core.strategies.steps.legal import scope_fault, unknown

MAX_APART = 10_000
"""Most pairs of layers in `keep_apart` edits: each merge checks all of them."""

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class EditedCuts:
    """A binding in an edit, parts from 1; without cores the parts are spread evenly."""

    axes: tuple[int, ...]
    grid: tuple[int, ...]
    cores: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Edits:
    """The `edits` of a plan file.

    Keys of `pieces`, `axis`, `residency` and members of `merge` and `keep_apart` are ops, or
    `names` of several ops; keys of `residency` may also be weights. Keys of `binding` and `scope`
    are tensors that an op computes. A scope may be given per piece, counted from 1.
    """

    names: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    merge: tuple[tuple[str, ...], ...] = ()
    keep_apart: tuple[tuple[str, ...], ...] = ()
    pieces: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    axis: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    binding: Mapping[str, EditedCuts] = field(default_factory=lambda: MappingProxyType({}))
    scope: Mapping[str, Scope | Mapping[int, Scope]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    residency: Mapping[str, Residency] = field(default_factory=lambda: MappingProxyType({}))


NO_EDITS = Edits()


def with_groups(edits: Edits, groups: Mapping[str, tuple[str, ...]]) -> Edits:
    """The edits with a name for each of these groups that they use; own names go first."""
    lists = (*edits.merge, *edits.keep_apart, edits.pieces, edits.axis, edits.residency)
    used = {name for names in lists for name in names}
    known = {name: ops for name, ops in groups.items() if name in used}
    return replace(edits, names={**known, **edits.names})


def with_other_names(edits: Edits, taken: Collection[str]) -> Edits:
    """The edits without names that are `taken`: `g2` becomes `was-g2`."""
    new: dict[str, str] = {}
    for name in edits.names:
        other = name
        while other in taken or (other != name and other in edits.names):
            other = f"was-{other}"
        new[name] = other
    return replace(
        edits,
        names={new[name]: ops for name, ops in edits.names.items()},
        merge=tuple(tuple(new.get(n, n) for n in names) for names in edits.merge),
        keep_apart=tuple(tuple(new.get(n, n) for n in names) for names in edits.keep_apart),
        pieces={new.get(name, name): value for name, value in edits.pieces.items()},
        axis={new.get(name, name): value for name, value in edits.axis.items()},
        residency={new.get(name, name): value for name, value in edits.residency.items()},
    )


def find_constraints(
    edits: Edits, semantics: GraphSemantics, hardware: Hardware, layers: Sequence[Layer]
) -> PlanConstraints:
    """Returns the edits as constraints by layer, tensor and weight.

    Raises:
        PlanError: PLAN_UNKNOWN_NAME with the nearest names; PLAN_CONFLICT, two edits contradict
            each other; PLAN_SCOPE or PLAN_BINDING, no plan of this model can satisfy the edit.
    """
    names = _Names(
        {op: layer.index for layer in layers for op in layer.ops},
        [layer.name for layer in layers],
        edits.names,
        semantics.graph,
    )
    grouped = grouping_constraints(edits, names)
    scopes = _scopes(edits.scope, names, hardware)
    return replace(
        grouped,
        bindings={
            names.computed(tensor, "binding"): _binding(cuts, tensor, hardware)
            for tensor, cuts in edits.binding.items()
        },
        scopes={tensor: scope for (tensor, piece), scope in scopes.items() if piece is None},
        piece_scopes={
            (tensor, piece): scope for (tensor, piece), scope in scopes.items() if piece is not None
        },
        residencies=_residencies(edits.residency, names, hardware),
    )


def grouping_constraints(edits: Edits, names: LayersOfNames) -> PlanConstraints:
    """Returns the constraints on groups and their splits: all that needs no more than the layers.

    Raises:
        PlanError: PLAN_UNKNOWN_NAME with the nearest names; PLAN_CONFLICT, two edits contradict
            each other.
    """
    asked = [names.layers(m, f"edits.merge[{i}]") for i, m in enumerate(edits.merge)]
    alone, apart = _alone(edits, names, asked), _apart(edits, names)
    whole = [own for own in alone if not PlanConstraints(apart=apart).forbids(own)]
    constraints = PlanConstraints(
        merges=tuple(merge for merge in _united([*asked, *whole]) if len(merge) > 1),
        alone=alone,
        apart=apart,
        pieces=_by_layer("pieces", edits.pieces, names),
        axes=_by_layer("axis", edits.axis, names),
    )
    for merge in constraints.merges:
        _check_merge(set(merge), constraints, names.titles)
    return constraints


@dataclass(frozen=True)
class LayersOfNames:
    """Layers of the ops and groups that edits name; `titles`: the name of each layer."""

    layer_of: Mapping[str, int]
    titles: Sequence[str]
    groups: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        """Refuse groups of unknown ops."""
        for name, op in ((name, op) for name, ops in self.groups.items() for op in ops):
            if op not in self.layer_of:
                raise unknown("op", op, self.layer_of, f"edits.names.{name}")

    def ops(self, name: str, where: str) -> tuple[str, ...]:
        """An op, or all ops of a name; an op has precedence over a name."""
        if name in self.layer_of:
            return (name,)
        if name in self.groups:
            return tuple(self.groups[name])
        raise unknown("op or group", name, [*self.layer_of, *self.groups], where)

    def layers(self, names: Iterable[str], where: str) -> tuple[int, ...]:
        """The layers of these ops or groups, rising."""
        ops = (op for name in names for op in self.ops(name, where))
        return tuple(sorted({self.layer_of[op] for op in ops}))


@dataclass(frozen=True)
class _Names(LayersOfNames):
    """Lookup of all names that edits may use."""

    graph: Graph

    def computed(self, tensor: str, key: str) -> str:
        """A tensor that an op computes."""
        if tensor not in self.graph.producer:
            raise unknown("tensor", tensor, self.graph.producer, f"edits.{key}")
        return tensor

    def weights(self, name: str) -> tuple[str, ...]:
        """A weight, or all of an op or a name."""
        known = self.graph.tensors.get(name)
        if known is not None and name not in self.graph.producer:
            if name in self.graph.inputs:
                what = f"{shown(name)} is an input of the model, not a weight"
                raise PlanError("PLAN_UNKNOWN_NAME", what, "edits.residency", "name a weight")
            return (name,)
        ops = self.ops(name, "edits.residency")
        found = (w for op in ops for w in self.graph.weights_in(self.graph.op_by_name[op]))
        weights = tuple(dict.fromkeys(found))
        if not weights:
            what = f"{shown(name)} has no weights"
            raise PlanError("PLAN_UNKNOWN_NAME", what, f"edits.residency.{name}", "drop it")
        return weights


def _united(merges: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """The sets with overlapping ones united, by their first layer."""
    sets: list[set[int]] = []
    for merge in merges:
        apart = [known for known in sets if known.isdisjoint(merge)]
        meeting = [known for known in sets if not known.isdisjoint(merge)]
        sets = [*apart, set(merge).union(*meeting)]
    return tuple(sorted(tuple(sorted(layers)) for layers in sets))


def _alone(
    edits: Edits, names: LayersOfNames, merges: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """Layers of groups with a given count or axis, and the layers that a merge adds to them.

    A count of one op applies to its final group; a count of a group divides exactly that group.
    """
    own = [
        set(names.layers([name], f"edits.{key}.{name}"))
        for key, constrained in (("pieces", edits.pieces), ("axis", edits.axis))
        for name in constrained
        if name not in names.layer_of
    ]
    united = _united([*merges, *(tuple(layers) for layers in own)])
    return tuple(layers for layers in united if any(one <= {*layers} for one in own))


def _apart(edits: Edits, names: LayersOfNames) -> tuple[tuple[int, int], ...]:
    """Every pair of layers of different members."""
    pairs: dict[tuple[int, int], None] = {}
    for place, members in enumerate(edits.keep_apart):
        where = f"edits.keep_apart[{place}]"
        layers = [names.layers([member], where) for member in members]
        for one, other in combinations(layers, 2):
            shared = set(one) & set(other)
            if shared:
                what = f"{' and '.join(map(shown, members))} are in one layer, which is never cut"
                raise PlanError("PLAN_CONFLICT", what, where, "name ops of different layers")
            if len(pairs) + len(one) * len(other) > MAX_APART:
                what = f"more than {MAX_APART} pairs of layers must be in different groups"
                raise PlanError("PLAN_CONFLICT", what, where, "name ops instead of groups")
            pairs.update(((min(a, b), max(a, b)), None) for a in one for b in other)
    return tuple(sorted(pairs))


def _by_layer(key: str, constrained: Mapping[str, int], names: LayersOfNames) -> dict[int, int]:
    found: dict[int, int] = {}
    for name, value in constrained.items():
        where = f"edits.{key}.{name}"
        for layer in names.layers([name], where):
            if found.setdefault(layer, value) != value:
                what = f"a layer of {shown(name)} has edits with {found[layer]} and {value}"
                raise PlanError("PLAN_CONFLICT", what, where, "keep one of them")
    return found


def _binding(cuts: EditedCuts, tensor: str, hardware: Hardware) -> Binding:
    if cuts.cores is not None:
        return Binding(cuts.axes, cuts.grid, cuts.cores)
    parts = prod(cuts.grid)
    if parts > hardware.cores:
        what = f"{shown(tensor)} is cut into {parts} parts, a cluster has {hardware.cores} cores"
        raise PlanError("PLAN_BINDING", what, f"edits.binding.{tensor}", "cut it into fewer")
    if len(cuts.axes) != len(cuts.grid):
        what = f"{shown(tensor)} has {len(cuts.axes)} axes and {len(cuts.grid)} numbers of parts"
        raise PlanError("PLAN_BINDING", what, f"edits.binding.{tensor}", "give one for each axis")
    pairs = list(zip(cuts.axes, cuts.grid, strict=True))
    return spread_binding(pairs, tuple(range(hardware.cores)))


def _scopes(
    constrained: Mapping[str, Scope | Mapping[int, Scope]], names: _Names, hardware: Hardware
) -> dict[tuple[str, int | None], Scope]:
    """Scopes by tensor and piece from 0; piece None: all pieces."""
    found: dict[tuple[str, int | None], Scope] = {}
    for tensor, named in constrained.items():
        names.computed(tensor, "scope")
        if isinstance(named, Scope):
            found[tensor, None] = named
        else:
            found |= {(tensor, piece - 1): scope for piece, scope in named.items()}
    for (tensor, _), scope in found.items():
        is_output = tensor in names.graph.output_names
        fault = scope_fault(scope, is_graph_output=is_output, has_gb=hardware.gb_bytes > 0)
        if fault:
            what = f"{shown(tensor)} cannot wait in {scope.value}: {fault}"
            raise PlanError("PLAN_SCOPE", what, f"edits.scope.{tensor}", "choose DRAM, or drop it")
    return found


def _residencies(
    constrained: Mapping[str, Residency], names: _Names, hardware: Hardware
) -> dict[str, Residency]:
    found: dict[str, Residency] = {}
    for name, residency in constrained.items():
        where = f"edits.residency.{name}"
        if residency is Residency.GB and not hardware.gb_bytes:
            what = f"the weights of {shown(name)} cannot be resident in GB: the chip has none"
            raise PlanError("PLAN_RESIDENCY", what, where, "choose LB or stream")
        if residency is Residency.SHARDED and not hardware.shards_weights:
            what = (
                f"the weights of {shown(name)} cannot be sharded: the chip does not shard weights"
            )
            raise PlanError("PLAN_RESIDENCY", what, where, "choose LB, GB or stream")
        for weight in names.weights(name):
            if found.setdefault(weight, residency) is not residency:
                both = f"{found[weight].value} and {residency.value}"
                what = f"weight {shown(weight)} has edits with {both}"
                raise PlanError("PLAN_CONFLICT", what, where, "keep one of them")
    return found


def _check_merge(merge: set[int], constraints: PlanConstraints, titles: Sequence[str]) -> None:
    """Refuse a merge whose layers must also be apart, or have two different splits."""
    for first, second in constraints.apart:
        if first in merge and second in merge:
            both = f"{shown(titles[first])} and {shown(titles[second])}"
            what = f"{both} must be in one group and apart"
            raise PlanError("PLAN_CONFLICT", what, "edits.keep_apart", "drop one of them")
    for key, constrained in (("pieces", constraints.pieces), ("axis", constraints.axes)):
        values = sorted({constrained[layer] for layer in merge if layer in constrained})
        if len(values) > 1:
            what = f"layers that must be one group have edits with {values[0]} and {values[1]}"
            raise PlanError("PLAN_CONFLICT", what, f"edits.{key}", "keep one of them")
