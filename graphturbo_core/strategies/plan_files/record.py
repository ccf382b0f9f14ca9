"""Plan -> Record: the choices of a plan as stored in a plan file, without derived values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from graphturbo_core.errors import PlanError
from graphturbo_core.plain_yaml import shown
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Binding, Decision, Plan, Residency, Scope
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER, Scheduling
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding

SEARCHED = "tuned"
"""Strategy that decides per plan whether instructions are scheduled across layers."""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A group: its ops layer by layer, and the split; axis -1 is none.

    `further`: more axes with their parts; `pieces` is the product of all.
    """

    name: str
    ops: tuple[str, ...]
    axis: int
    pieces: int
    further: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """Choices of a kernel, by its instance's name, that group and piece do not determine.

    `branches`: of a kernel whose branches run at the same time, the ops of each one's sections.
    """

    name: str
    bindings: Mapping[str, Binding]
    scopes: Mapping[str, Scope]
    kept: tuple[str, ...]
    residency: Mapping[str, Residency]
    branches: tuple[tuple[tuple[str, ...], ...], ...] = ()


@dataclass(frozen=True, slots=True)
class StayRecord:
    """GB retention of a weight or an input, from one kernel to another by their names."""

    weight: str
    first: str
    last: str
    size_bytes: int


@dataclass(frozen=True)
class Record:
    """A plan of one round; kernels in the order in which they run.

    `is_scheduled_across_layers`: None if the strategy's name determines it. `stays`: in the order
    in which they get room. `cooperation`: clusters that share the round, by kernel.
    `divides_depthwise`: as in `Feeding`. `tile_buffers`: `Feeding.tiles` if a search chose more
    than two; None: the strategy's own.
    """

    groups: tuple[GroupRecord, ...]
    kernels: tuple[KernelRecord, ...]
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()
    is_scheduled_across_layers: bool | None = None
    stays: tuple[StayRecord, ...] = ()
    cooperation: Cooperation | None = None
    divides_depthwise: bool = False
    tile_buffers: int | None = None

    def feeding(self, own: Feeding) -> Feeding:
        """How engines get their operands; `own`: the strategy's own feeding."""
        tiles = own.tiles if self.tile_buffers is None else self.tile_buffers
        return replace(own, tiles=tiles, divides_depthwise=self.divides_depthwise)

    def scheduling(self, own: Scheduling) -> Scheduling:
        """How instructions are scheduled; `own`: the strategy's own scheduling."""
        if self.is_scheduled_across_layers is None:
            return own
        return ACROSS_LAYERS if self.is_scheduled_across_layers else BY_LAYER

    @property
    def ops_of_groups(self) -> dict[str, tuple[str, ...]]:
        """The ops of each group by its name."""
        return {group.name: group.ops for group in self.groups}


def recorded(plan: Plan) -> Record:
    """Returns the record of `plan`, tensors in order of production."""
    groups = (
        GroupRecord(g.name, g.ops, g.split_axis, g.pieces, g.further_splits) for g in plan.groups
    )
    kernels = (
        KernelRecord(
            kernel.name, kernel.bindings, kernel.scopes, tuple(sorted(kernel.kept)),
            kernel.residency, kernel.branches,
        )
        for kernel in plan.kernels
    )  # fmt: skip
    is_said = plan.strategy != SEARCHED
    scheduled = None if is_said else plan.scheduling == ACROSS_LAYERS
    names = [kernel.name for kernel in plan.kernels]
    stays = (StayRecord(s.weight, names[s.first], names[s.last], s.size_bytes) for s in plan.stays)
    feeding = plan.feeding
    return Record(
        tuple(groups), tuple(kernels), plan.decisions, plan.notes, scheduled, tuple(stays),
        plan.cooperation, feeding.divides_depthwise,
        feeding.tiles if feeding.tiles > DEFAULT_FEEDING.tiles else None,
    )  # fmt: skip


def record_refused(what: str, where: str) -> PlanError:
    """The refusal of a record that is not a plan of this model on this chip."""
    return PlanError("PLAN_RECORD", what, f"record of {shown(where)}", "emit the plan again")
