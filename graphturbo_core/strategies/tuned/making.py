"""Point -> Plan: bound, ordered, placed and assembled as `graphturbo` does it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.strategies.assemble import Recipe, assemble
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.graphturbo.ordering import order_instances
from graphturbo_core.strategies.graphturbo.placement import Nearest
from graphturbo_core.strategies.graphturbo.splitting import SubGraph
from graphturbo_core.strategies.instances import InstanceGraph, Section, instance_graph
from graphturbo_core.strategies.kernels import Target
from graphturbo_core.strategies.plan import Group, KernelPlan, Plan, ReadyStep, Residency
from graphturbo_core.strategies.record import SEARCHED
from graphturbo_core.strategies.residency import weight_part_bytes
from graphturbo_core.strategies.tuned.orders import ORDERS, depth_first, in_regions
from graphturbo_core.strategies.tuned.shaping import Shaper, carry_of
from graphturbo_core.strategies.tuned.space import AS_IS, WAITS, Point, Space
from graphturbo_core.strategies.tuned.starts import Cut

NAME = SEARCHED


@dataclass(frozen=True)
class Maker:
    """Makes the plans of points of one space."""

    target: Target
    space: Space

    @cached_property
    def _shaper(self) -> Shaper:
        return Shaper(self.target, self.space)

    def __call__(self, point: Point) -> Plan:
        """The plan of a point.

        Raises:
            CapacityError: TOO_MANY_PIECES.
        """
        cuts = self._shaper.cuts(point)
        made = [self._group(cut, place) for place, cut in enumerate(cuts)]
        instances = instance_graph(self.target.semantics, [section for section, _ in made])
        recipe = Recipe(
            NAME,
            self.space.graph.layers,
            tuple(group for _, group in made),
            Nearest.GB if point.get("hand on", AS_IS) == Nearest.GB.value else Nearest.LB,
            is_scheduled_across_layers=self._shaper.start(point).is_scheduled,
            has_gb_inside=True,
        )
        order = self._order(point, cuts, instances)
        plan = assemble(self.target, recipe, instances, order, _ready_steps(instances, order))
        return self._with_residencies(plan, point)

    def _group(self, cut: Cut, place: int) -> tuple[Section, Group]:
        part, name = SubGraph(self.space.graph, cut.layers), f"g{place + 1}"
        carry = carry_of(part, cut) if cut.axis >= 0 else None
        section = section_of(part, name, carry, cut.pieces)
        covered = carry.covered_ops if carry else 0
        return section, Group(
            name, cut.layers, section.ops, cut.axis, cut.pieces, covered, part.whole_peak_bytes
        )

    def _order(
        self, point: Point, cuts: Sequence[Cut], instances: InstanceGraph
    ) -> tuple[int, ...]:
        chosen = ORDERS.get(point.get("order", ""), depth_first)
        classes = self.space.classes
        waits = [n for n, c in enumerate(cuts) if self._says(point, "order", classes[c.layers[0]])]
        return in_regions(instances, chosen(instances), waits)

    @staticmethod
    def _says(point: Point, what: str, number: int) -> bool:
        return point.get(f"{what} {number}") == WAITS

    def _with_residencies(self, plan: Plan, point: Point) -> Plan:
        wanted = self._wanted(point)
        if not wanted:
            return plan
        kernels = tuple(self._held(kernel, wanted) for kernel in plan.kernels)
        return replace(plan, kernels=kernels)

    def _wanted(self, point: Point) -> dict[str, Residency]:
        """The residency of each weight that the point speaks of and that it may have.

        What the cores share an engine for is never in LB, nor is a layer above the weight part; GB
        that has no room is streamed by lowering.
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
        """Weights that LB may hold: every layer that reads them fits its weight part."""
        limit, sizes = weight_part_bytes(self.target.hardware), self.target.element_bytes
        tensors, sem = self.target.semantics.graph.tensors, self.target.semantics
        fits: set[str] = set()
        fails: set[str] = set()
        for layer, weights in zip(self.space.graph.layers, self._weights, strict=True):
            total = sum(tensors[name].elements * sizes[name] for name in weights)
            is_shared = any(op in sem.cluster_ops for op in layer.ops)
            (fails if total > limit or is_shared else fits).update(weights)
        return frozenset(fits - fails)

    @staticmethod
    def _held(kernel: KernelPlan, wanted: Mapping[str, Residency]) -> KernelPlan:
        """Shards stay: several cores' LBs were shared out among them."""
        held = {
            name: old if old is Residency.SHARDED else wanted.get(name, old)
            for name, old in kernel.residency.items()
        }
        return replace(kernel, residency=held)


def _ready_steps(graph: InstanceGraph, order: Sequence[int]) -> tuple[ReadyStep, ...]:
    """Algorithm 3's steps where it gives this order, as for a plan that was written down."""
    found = order_instances([instance.name for instance in graph.instances], graph.producers)
    return found.steps if found.order == tuple(order) else ()
