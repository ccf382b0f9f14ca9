"""PinnedPlan: a plan read from a file, and the check that a strategy satisfied its edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from graphturbo_core.errors import InvariantError, PlanError
from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.strategies.constraints import PlanConstraints
from graphturbo_core.strategies.plan_files.edits import NO_EDITS, Edits
from graphturbo_core.strategies.plan_files.record import Record


@dataclass(frozen=True)
class PinnedPlan:
    """Constraints of one round, read from a plan file: the record of a plan, and edits of it.

    Without edits the record is the plan. With edits the strategy decides again and follows them.
    """

    record: Record | None = None
    edits: Edits = NO_EDITS

    @property
    def is_edited(self) -> bool:
        """Whether the strategy must decide again."""
        return self.edits != NO_EDITS


NO_PINNED_PLAN = PinnedPlan()


def check_no_groups(constraints: PlanConstraints, strategy: str) -> None:
    """Refuse edits of groups for a strategy with fixed groups.

    Raises:
        PlanError: PLAN_STRATEGY.
    """
    for key, constrained in (
        ("merge", constraints.merges), ("keep_apart", constraints.apart),
        ("pieces", constraints.pieces), ("axis", constraints.axes),
    ):  # fmt: skip
        if constrained:
            what = f"groups and pieces of strategy {strategy} cannot be chosen"
            change = "use graphturbo:order or graphturbo:full, or drop it"
            raise PlanError("PLAN_STRATEGY", what, f"edits.{key}", change)


def check_no_edits(strategy: str) -> NoReturn:
    """Refuse all edits for a strategy that searches: its points are not plans that a user edits.

    Raises:
        PlanError: PLAN_STRATEGY.
    """
    what = f"strategy {strategy} searches and follows no edits"
    change = "write them into a plan of graphturbo:full"
    raise PlanError("PLAN_STRATEGY", what, "edits", change)


def check_followed(plan: Plan, constraints: PlanConstraints) -> None:
    """Check that the plan satisfies every constraint.

    Raises:
        PlanError: PLAN_NO_EFFECT: no kernel binds or stores the tensor of a binding or scope.
        InvariantError: a constraint is not satisfied: our bug.
    """
    _check_groups(plan, constraints)
    bound = (("binding", tensor) for tensor in constraints.bindings)
    scoped = (("scope", tensor) for tensor in constraints.scopes)
    for key, tensor in (*bound, *scoped):
        if not any(tensor in _held(kernel, key) for kernel in plan.kernels):
            what = f"{shown(tensor)} only passes between ops that share tiles"
            where, change = f"edits.{key}.{tensor}", "name a tensor that `kernels` lists"
            raise PlanError("PLAN_NO_EFFECT", what, where, change)
    for tensor, piece in constraints.piece_scopes:
        _check_piece(plan, tensor, piece)
    for kernel in plan.kernels:
        for name in _unfollowed(kernel, constraints):
            raise InvariantError("PLAN_NOT_FOLLOWED", f"{name!r} in {kernel.name}")


def _check_piece(plan: Plan, tensor: str, piece: int) -> None:
    pieces = [kernel.piece for kernel in plan.kernels if tensor in kernel.scopes]
    if piece in pieces:
        return
    what = f"{shown(tensor)} only passes between ops that share tiles"
    if pieces:
        what = f"{shown(tensor)} has {max(pieces) + 1} pieces and no piece {piece + 1}"
    where, change = f"edits.scope.{tensor}", "name a tensor and piece that `kernels` lists"
    raise PlanError("PLAN_NO_EFFECT", what, where, change)


def _held(kernel: KernelPlan, key: str) -> Mapping[str, object]:
    return kernel.bindings if key == "binding" else kernel.scopes


def _unfollowed(kernel: KernelPlan, constraints: PlanConstraints) -> Iterator[str]:
    for tensor, binding in constraints.bindings.items():
        if kernel.bindings.get(tensor, binding) != binding:
            yield tensor
    for tensor, scope in kernel.scopes.items():
        if constraints.scope_of(tensor, kernel.piece) not in (None, scope):
            yield tensor
    for weight, residency in constraints.residencies.items():
        if kernel.residency.get(weight, residency) is not residency:
            yield weight


def _check_groups(plan: Plan, constraints: PlanConstraints) -> None:
    if not constraints.shape_groups:
        return
    group_of = {layer: group for group in plan.groups for layer in group.layers}
    for merge in constraints.merges:
        if len({group_of[layer].name for layer in merge}) > 1:
            raise InvariantError("PLAN_NOT_FOLLOWED", f"layers {merge} are not one group")
    for first, second in constraints.apart:
        if group_of[first] is group_of[second]:
            raise InvariantError("PLAN_NOT_FOLLOWED", f"layers {first}, {second} are not apart")
    _check_alone(constraints, {layer: group.layers for layer, group in group_of.items()})
    for constrained, name in ((constraints.pieces, "pieces"), (constraints.axes, "split_axis")):
        wrong = [key for key, value in constrained.items() if getattr(group_of[key], name) != value]
        if wrong:
            raise InvariantError("PLAN_NOT_FOLLOWED", f"{name} of layer {wrong[0]}")


def _check_alone(constraints: PlanConstraints, layers_with: Mapping[int, tuple[int, ...]]) -> None:
    """`layers_with`: by layer, all layers of its group."""
    for own in constraints.alone:
        if any(not {*layers_with[layer]} <= {*own} for layer in own):
            raise InvariantError("PLAN_NOT_FOLLOWED", f"layers {own} are not among themselves")
