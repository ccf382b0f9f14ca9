"""Instances of a record -> their clusters and steps, and the next instance per cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.strategies.plan_files.record import record_refused
from graphturbo_core.strategies.steps.instances import InstanceGraph
from graphturbo_core.strategies.steps.kernels import Target


@dataclass(frozen=True, slots=True)
class Turns:
    """Per instance number its cluster, and the next instance of this cluster, if any."""

    cluster_of: Mapping[int, int]
    following: Mapping[int, int | None]

    @classmethod
    def of(cls, order: Sequence[int], shared: Cooperation | None) -> Turns:
        """Makes the turns of instances in this order; `shared` None: one cluster runs all."""
        clusters = (0,) * len(order) if shared is None else shared.cluster_of
        cluster_of = dict(zip(order, clusters, strict=True))
        following: dict[int, int | None] = {}
        next_on: dict[int, int] = {}
        for number in reversed(order):
            following[number] = next_on.get(cluster_of[number])
            next_on[cluster_of[number]] = number
        return cls(cluster_of, following)

    def are_together(self, one: int, other: int) -> bool:
        """Whether the same cluster runs both."""
        return self.cluster_of[one] == self.cluster_of[other]


def check_shared(
    target: Target,
    graph: InstanceGraph,
    order: Sequence[int],
    shared: Cooperation | None,
    *,
    is_staged: bool,
) -> None:
    """Check that existing clusters run the instances, each in a later step than its producers.

    `is_staged`: see `Frame`.

    Raises:
        PlanError: PLAN_RECORD.
    """
    if shared is None:
        return
    most = target.clusters if is_staged or target.hardware.can_cooperate else 1
    if shared.clusters != most or most == 1:
        raise record_refused(f"{shared.clusters} clusters share the round, of {most}", "shared")
    try:
        shared.check(len(order))
    except InvariantError as error:
        raise record_refused(error.what, "kernels") from error
    step_of = dict(zip(order, shared.step_of, strict=True))
    for number in order:
        beside = [p for p in graph.producers[number] if step_of[p] >= step_of[number]]
        if beside:
            needed = graph.instances[beside[0]].name
            what = f"it runs in the step of {needed}, whose result it reads"
            raise record_refused(what, graph.instances[number].name)
