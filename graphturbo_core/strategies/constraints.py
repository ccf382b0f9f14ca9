"""PlanConstraints: user constraints on a plan, by layer, tensor and weight.

They are read from the edits of a plan file (docs/plan-files.md). The algorithms follow them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from graphturbo_core.products.plan import Binding, Decision, Residency, Scope

PLAN_STEP = "plan"
"""Step name of decisions that come from a plan file."""
RULE_FORCED = "forced by the plan"
RULE_FORBIDDEN = "forbidden by the plan"
RULE_FIXED = "fixed by the plan"

K = TypeVar("K")
V = TypeVar("V")


def _none() -> Mapping[K, V]:
    return MappingProxyType({})


@dataclass(frozen=True)
class PlanConstraints:
    """Layers by index, tensors and weights by name.

    `merges`: disjoint sets of layers that must be one group. `apart`: pairs that may not share a
    group. `alone`: sets of layers that share no group with another layer. `pieces`, `axes`: of
    the group that contains the layer. `bindings`: of computed tensors. `scopes`: of tensors that
    outlive a loop nest; `piece_scopes`: the same per piece, by tensor and piece from 0.
    `residencies`: of weights.
    """

    merges: tuple[tuple[int, ...], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()
    alone: tuple[tuple[int, ...], ...] = ()
    pieces: Mapping[int, int] = field(default_factory=_none)
    axes: Mapping[int, int] = field(default_factory=_none)
    bindings: Mapping[str, Binding] = field(default_factory=_none)
    scopes: Mapping[str, Scope] = field(default_factory=_none)
    piece_scopes: Mapping[tuple[str, int], Scope] = field(default_factory=_none)
    residencies: Mapping[str, Residency] = field(default_factory=_none)

    @property
    def shape_groups(self) -> bool:
        """Whether a constraint concerns groups or their splits."""
        return bool(self.merges or self.apart or self.pieces or self.axes)

    @property
    def fix_splits(self) -> bool:
        """Whether a constraint concerns piece counts or axes."""
        return bool(self.pieces or self.axes)

    @property
    def fixed(self) -> frozenset[str]:
        """Tensors and weights of fixed memory: lowering may not choose another."""
        return frozenset({*self.scopes, *self.residencies})

    def scope_of(self, tensor: str, piece: int) -> Scope | None:
        """Memory that must hold a piece of a tensor; None: no constraint."""
        return self.scopes.get(tensor, self.piece_scopes.get((tensor, piece)))

    def forbids(self, layers: Sequence[int]) -> bool:
        """Whether two of these layers must be in different groups."""
        if not self.apart and not self.alone:
            return False
        inside = set(layers)
        return any(first in inside and second in inside for first, second in self.apart) or any(
            not inside.isdisjoint(own) and not inside.issubset(own) for own in self.alone
        )

    def decisions(self) -> tuple[Decision, ...]:
        """Decisions for all constraints except groups; the grouping records those itself."""
        said = [
            *((name, "binding", binding_text(binding)) for name, binding in self.bindings.items()),
            *((name, "scope", scope.value) for name, scope in self.scopes.items()),
            *(
                (name, f"scope of piece {piece + 1}", scope.value)
                for (name, piece), scope in self.piece_scopes.items()
            ),
            *((name, "residency", held.value) for name, held in self.residencies.items()),
        ]
        return tuple(
            Decision(PLAN_STEP, RULE_FIXED, (name,), True, {key: text}) for name, key, text in said
        )


def binding_text(binding: Binding) -> str:
    """A binding as text: `axis 0 in 8 axis 2 in 4`, or `whole`."""
    cuts = zip(binding.axes, binding.grid, strict=True)
    return " ".join(f"axis {axis} in {parts}" for axis, parts in cuts) or "whole"


NO_CONSTRAINTS = PlanConstraints()
