"""Checks of plan-file choices against lowering: a fault as text, empty if there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from math import prod

from graphturbo_core.errors import PlanError
from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.plan import Binding, Residency, Scope

MAX_NEAR = 3
"""Most names that a refusal proposes."""
MAX_COMPARED = 20_000
"""Most names compared with an unknown one; one comparison takes about 5 microseconds."""


SHARED_ENGINE = (
    "its writer or reader works outside LB: an engine that the cores share, or an op that is "
    "larger than an LB"
)
"""Reason why a tensor of such an engine has no core binding and is not in LB."""


OWN_FETCHES = "each core fetches its own from DRAM"
"""Reason why such a weight is in no memory that cores share."""
SHARED_PLACES = frozenset({Residency.GB, Residency.SHARDED})


def binding_fault(
    binding: Binding, sizes: Sequence[int], uncut: Collection[int], cores: int
) -> str:
    """Returns the fault of a binding for a tensor of these extents on `cores` cores, or "".

    `uncut`: axes that its op needs whole.
    """
    axes, grid = binding.axes, binding.grid
    if len(axes) != len(grid):
        return f"{len(axes)} axes and {len(grid)} numbers of parts"
    if len(set(axes)) < len(axes):
        return "an axis is cut twice"
    for axis, parts in zip(axes, grid, strict=True):
        fault = _cut_fault(axis, parts, sizes, uncut)
        if fault:
            return fault
    return _cores_fault(binding.cores, prod(grid), cores)


def _cut_fault(axis: int, parts: int, sizes: Sequence[int], uncut: Collection[int]) -> str:
    if not 0 <= axis < len(sizes):
        return f"it has no axis {axis}, only {len(sizes)} axes"
    if parts < 1:
        return f"axis {axis} is cut into {parts} parts"
    if parts > 1 and axis in uncut:
        return f"axis {axis} cannot be cut: its op needs it whole"
    if parts > sizes[axis]:
        return f"axis {axis} has {sizes[axis]} elements per piece, fewer than {parts} parts"
    return ""


def _cores_fault(chosen: Sequence[int], parts: int, cores: int) -> str:
    if parts > cores:
        return f"{parts} parts need {parts} cores, a cluster has {cores}"
    if len(chosen) != parts:
        return f"{parts} parts are bound to {len(chosen)} cores"
    if len(set(chosen)) < len(chosen):
        return "a core is named twice"
    outside = [core for core in chosen if not 0 <= core < cores]
    return f"there is no core {outside[0]}, only 0 to {cores - 1}" if outside else ""


def scope_fault(scope: Scope, *, is_graph_output: bool, has_gb: bool) -> str:
    """Returns the fault of a scope, independent of sizes, or ""."""
    if is_graph_output and scope is not Scope.DRAM:
        return "it is an output of the model, which must be in DRAM"
    if scope is Scope.GB and not has_gb:
        return "the chip has no GB"
    return ""


def unknown(what: str, name: str, known: Iterable[str], where: str) -> PlanError:
    """The refusal of a name that the model does not have, with the nearest names."""
    names = sorted(set(known))
    near = get_close_matches(name, names[:MAX_COMPARED], MAX_NEAR, 0.5)
    choices = near or names[:MAX_NEAR]
    change = f"nearest: {', '.join(shown(each) for each in choices)}" if choices else ""
    return PlanError("PLAN_UNKNOWN_NAME", f"{what} {shown(name)} is not known", where, change)
