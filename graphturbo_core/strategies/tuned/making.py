"""Point -> Plan: bound, ordered, placed and assembled by `graphturbo`'s steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import KernelPlan, Plan, Residency
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER
from graphturbo_core.strategies.graphturbo.ordering import ready_steps_of
from graphturbo_core.strategies.plan_files.record import SEARCHED
from graphturbo_core.strategies.plus.cooperating import plan_at_price
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_groups
from graphturbo_core.strategies.plus.plus import lent_plan
from graphturbo_core.strategies.plus.runs import Runs
from graphturbo_core.strategies.steps.assemble import Recipe, assemble
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.placement import Nearest
from graphturbo_core.strategies.tuned.beyond import COOPERATION, LENDING, LENT, SPLITS
from graphturbo_core.strategies.tuned.orders import ORDERS, in_regions
from graphturbo_core.strategies.tuned.retention import NO_STAYS, Staying, staying
from graphturbo_core.strategies.tuned.shaping import Shaper
from graphturbo_core.strategies.tuned.space import AS_IS, WAITS, Point, SearchSpace
from graphturbo_core.strategies.tuned.starts import plain_splitter

NAME = SEARCHED


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """Key of a point before its plan is made: many points have equal drafts.

    `waits`: places of the groups that run only after all earlier groups. `residencies`: of weights
    that differ from the rules. `price`: percent at which clusters split runs of layers, 0 if one
    cluster runs all; if above 0, groups, order and retentions are not used. `has_remote_dram`: see
    `Cooperation`.
    """

    cuts: tuple[GroupCut, ...]
    order: str
    waits: tuple[int, ...]
    residencies: tuple[tuple[str, Residency], ...]
    nearest: Nearest
    is_scheduled: bool
    staying: Staying = NO_STAYS
    price: int = 0
    has_remote_dram: bool = False


@dataclass(frozen=True)
class Maker:
    """Makes the plans of points of one space."""

    target: Target
    space: SearchSpace

    @cached_property
    def _shaper(self) -> Shaper:
        return Shaper(self.target, self.space)

    def draft(self, point: Point) -> PlanDraft:
        """The draft of a point; values without effect are left out."""
        has_remote_dram = point.get(LENDING, AS_IS) == LENT
        wanted = tuple(self._wanted(point).items())
        price = self._price(point, has_remote_dram=has_remote_dram)
        if price:
            order = next(iter(ORDERS))
            return PlanDraft(
                (),
                order,
                (),
                wanted,
                Nearest.LB,
                True,
                price=price,
                has_remote_dram=has_remote_dram,
            )
        start, cuts = self._shaper.start(point), self._shaper.cuts(point)
        classes = self.space.classes
        return PlanDraft(
            cuts,
            point.get("order", next(iter(ORDERS))),
            tuple(
                place
                for place, cut in enumerate(cuts)
                if place and point.get(f"order {classes[cut.layers[0]]}") == WAITS
            ),
            wanted,
            Nearest.GB if point.get("hand on", AS_IS) == Nearest.GB.value else Nearest.LB,
            start.is_scheduled,
            staying(point, classes, self._weights),
            has_remote_dram=has_remote_dram,
        )

    def plan(self, draft: PlanDraft, stays: tuple[GbRetention, ...] = ()) -> Plan:
        """Returns the plan of a draft; `stays`: retentions from its own earlier simulation.

        Raises:
            CapacityError: TOO_MANY_PIECES.
        """
        key = draft.price, draft.has_remote_dram
        made = self._cluster_parallel[key] if draft.price else self._alone(draft)
        assert made is not None
        if draft.residencies:
            wanted = dict(draft.residencies)
            made = replace(made, kernels=tuple(_held(kernel, wanted) for kernel in made.kernels))
        made = replace(made, stays=stays)
        return lent_plan(self.target, made) if draft.has_remote_dram and not draft.price else made

    def _price(self, point: Point, *, has_remote_dram: bool) -> int:
        """Price for cluster-parallel runs; 0: none, no run is split, or too many pieces."""
        price = SPLITS.get(point.get(COOPERATION, AS_IS), 0)
        key = price, has_remote_dram
        if price and key not in self._cluster_parallel:
            splitter = plain_splitter(self.target)
            runs = Runs(self.target, self.space.graph, splitter, has_remote_dram)
            made = plan_at_price(runs, price)
            self._cluster_parallel[key] = made and replace(made, strategy=NAME, decisions=())
        return price if price and self._cluster_parallel[key] is not None else 0

    @cached_property
    def _cluster_parallel(self) -> dict[tuple[int, bool], Plan | None]:
        return {}

    def _alone(self, draft: PlanDraft) -> Plan:
        """Returns the plan of one cluster, weight residencies by rule.

        Raises:
            CapacityError: TOO_MANY_PIECES.
        """
        instances, groups = cut_groups(self.target, self.space.graph, draft.cuts)
        recipe = Recipe(
            NAME,
            self.space.graph.layers,
            groups,
            draft.nearest,
            scheduling=ACROSS_LAYERS if draft.is_scheduled else BY_LAYER,
            has_gb_inside=True,
        )
        order = in_regions(instances, ORDERS[draft.order](instances), draft.waits)
        names = [instance.name for instance in instances.instances]
        steps = ready_steps_of(names, instances.producers, order)
        return assemble(self.target, recipe, instances, order, steps)

    def _wanted(self, point: Point) -> dict[str, Residency]:
        """Returns the legal residencies that the point chooses, by weight.

        Weights of a shared engine are never in LB, nor layers above the weight part. Lowering
        streams weights without room in GB.
        """
        found: dict[str, Residency] = {}
        for layer, number in enumerate(self.space.classes):
            says = point.get(f"weights {number}", AS_IS)
            says = point.get("weights", AS_IS) if says == AS_IS else says
            if says != AS_IS:
                found.update(dict.fromkeys(self._weights[layer], Residency(says)))
        return {
            name: residency
            for name, residency in found.items()
            if residency is not Residency.LB or name in self._fits_lb
        }

    @cached_property
    def _weights(self) -> tuple[tuple[str, ...], ...]:
        graph = self.target.semantics.graph
        return tuple(
            tuple(
                dict.fromkeys(w for op in layer.ops for w in graph.weights_in(graph.op_by_name[op]))
            )
            for layer in self.space.graph.layers
        )

    @cached_property
    def _fits_lb(self) -> frozenset[str]:
        """Weights that may be resident in LB: every reading layer fits its weight part."""
        limit, sizes = self.target.budget.lb_weight_bytes, self.target.element_bytes
        tensors, sem = self.target.semantics.graph.tensors, self.target.semantics
        fits: set[str] = set()
        fails: set[str] = set()
        for layer, weights in zip(self.space.graph.layers, self._weights, strict=True):
            total = sum(tensors[name].elements * sizes[name] for name in weights)
            is_shared = any(op in sem.cluster_ops for op in layer.ops)
            (fails if total > limit or is_shared else fits).update(weights)
        return frozenset(fits - fails)


def _held(kernel: KernelPlan, wanted: Mapping[str, Residency]) -> KernelPlan:
    """The kernel with these residencies; shards do not change, they span several LBs."""
    held = {
        name: old if old is Residency.SHARDED else wanted.get(name, old)
        for name, old in kernel.residency.items()
    }
    return replace(kernel, residency=held)
