"""What can be carried out of what a plan file says: a fault in words, empty where there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from math import prod

from graphturbo_core.errors import PlanError
from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.plan import Binding, Residency, Scope

MAX_NEAR = 3
"""Names that a refusal proposes."""
MAX_COMPARED = 20_000
"""Names that are compared with an unknown one; a comparison takes some 5 microseconds."""


SHARED_ENGINE = (
    "what computes or reads it works beyond LB: an engine that the cores share, or an op that is "
    "larger than an LB"
)
"""Why something of such an engine is bound to no core and lies in no LB."""


OWN_FETCHES = "each core fetches its own from DRAM"
"""Why no such weight lies where several cores get it from."""
SHARED_PLACES = frozenset({Residency.GB, Residency.SHARDED})


def binding_fault(
    binding: Binding, sizes: Sequence[int], uncut: Collection[int], cores: int
) -> str:
    """What is wrong with a binding of a tensor of these extents on so many cores.

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
        return f"axis {axis} has {sizes[axis]} elements in a piece, fewer than {parts} parts"
    return ""


def _cores_fault(chosen: Sequence[int], parts: int, cores: int) -> str:
    if parts > cores:
        return f"{parts} parts need as many cores, a cluster has {cores}"
    if len(chosen) != parts:
        return f"{parts} parts are bound to {len(chosen)} cores"
    if len(set(chosen)) < len(chosen):
        return "a core is named twice"
    outside = [core for core in chosen if not 0 <= core < cores]
    return f"there is no core {outside[0]}, only 0 to {cores - 1}" if outside else ""


def scope_fault(scope: Scope, *, is_graph_output: bool, has_gb: bool) -> str:
    """What is wrong with waiting in that memory, whatever its size."""
    if is_graph_output and scope is not Scope.DRAM:
        return "it is an output of the model, which ends in DRAM"
    if scope is Scope.GB and not has_gb:
        return "the chip has no GB"
    return ""


def unknown(what: str, name: str, known: Iterable[str], where: str) -> PlanError:
    """The refusal of a name that the model does not have, with the nearest ones."""
    names = sorted(set(known))
    near = get_close_matches(name, names[:MAX_COMPARED], MAX_NEAR, 0.5)
    choices = near or names[:MAX_NEAR]
    change = f"nearest: {', '.join(shown(each) for each in choices)}" if choices else ""
    return PlanError("PLAN_UNKNOWN_NAME", f"{what} {shown(name)} is not known", where, change)
