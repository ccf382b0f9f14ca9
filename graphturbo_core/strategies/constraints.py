"""PlanConstraints: what a person fixes of a plan, by layer, tensor and weight.

The algorithms follow them. They come from the edits of a plan file (docs/plan-files.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from graphturbo_core.products.plan import Binding, Decision, Residency, Scope

PLAN_STEP = "plan"
"""The step of decisions that a plan file made, not an algorithm."""
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

    `merges`: sets of layers that must be one group, disjoint; `apart`: pairs that may not.
    `alone`: sets of layers that share no group with another layer. `pieces`, `axes`: of whatever
    group a layer ends up in. `bindings`: of computed tensors. `scopes`: of tensors that outlive a
    loop nest; `piece_scopes`: the same of one piece, by tensor and piece from 0. `residencies`: of
    weights.
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
        """Whether groups or their splits are spoken of."""
        return bool(self.merges or self.apart or self.pieces or self.axes)

    @property
    def fix_splits(self) -> bool:
        """Whether piece counts or axes are spoken of."""
        return bool(self.pieces or self.axes)

    @property
    def fixed(self) -> frozenset[str]:
        """Tensors and weights whose memory is fixed: lowering may not choose another."""
        return frozenset({*self.scopes, *self.residencies})

    def scope_of(self, tensor: str, piece: int) -> Scope | None:
        """Where a piece of a tensor must wait; None: nothing is said of it."""
        return self.scopes.get(tensor, self.piece_scopes.get((tensor, piece)))

    def forbids(self, layers: Sequence[int]) -> bool:
        """Whether two of these layers must stay in different groups."""
        if not self.apart and not self.alone:
            return False
        inside = set(layers)
        return any(first in inside and second in inside for first, second in self.apart) or any(
            not inside.isdisjoint(own) and not inside.issubset(own) for own in self.alone
        )

    def decisions(self) -> tuple[Decision, ...]:
        """What was fixed besides groups, whose decisions stand where they are made."""
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
    """`axis 0 in 8 axis 2 in 4`, or that it is whole."""
    cuts = zip(binding.axes, binding.grid, strict=True)
    return " ".join(f"axis {axis} in {parts}" for axis, parts in cuts) or "whole"


NO_CONSTRAINTS = PlanConstraints()
