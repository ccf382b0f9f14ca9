"""Bound kernels in order -> Placements: memories of outputs, and cores of each kernel.

Section 3.5 of the reference: an output is resident in LB if the next instance consumes it. Else it
spills to GB, or to DRAM if GB has no room. Graph outputs go to DRAM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from graphturbo_core.errors import PlanError
from graphturbo_core.ir.boxes import contains, volume
from graphturbo_core.products.plan import Scope
from graphturbo_core.semantics.fit import LiveBytes
from graphturbo_core.strategies.steps.instances import InstanceGraph
from graphturbo_core.strategies.steps.kernels import BoundKernel
from graphturbo_core.strategies.steps.legal import SHARED_ENGINE
from graphturbo_core.strategies.steps.redistribution import Arrival, choose_cores
from graphturbo_core.units import bytes_beside, format_bytes


class Nearest(Enum):
    """The nearest memory in which an output may wait."""

    LB = "LB"
    GB = "GB"
    DRAM = "DRAM"


@dataclass(frozen=True)
class Placement:
    """Placement of one kernel: outputs resident in LB, scope per output, core per part."""

    kept: frozenset[str]
    scopes: Mapping[str, Scope]
    cores: tuple[int, ...]


def place_outputs(
    graph: InstanceGraph, bound: Sequence[BoundKernel], order: Sequence[int], nearest: Nearest
) -> tuple[Placement, ...]:
    """Returns placements in execution order.

    A kernel's cores depend on the outputs that the kernel before it leaves in LB, so kernels are
    placed in order.
    """
    walk = _PlacementWalk(graph, bound, nearest)
    following = [*order[1:], None]
    return tuple(walk.place(now, after) for now, after in zip(order, following, strict=True))


class _PlacementWalk:
    """Walk over the kernels; `cores`: of the next kernel, chosen with the kernel before it."""

    def __init__(
        self, graph: InstanceGraph, bound: Sequence[BoundKernel], nearest: Nearest
    ) -> None:
        self.graph, self.bound, self.nearest = graph, bound, nearest
        self.hardware = bound[0].target.hardware
        self._gb_room = bound[0].target.gb_room_bytes
        self._lb_data_bytes = bound[0].target.budget.lb_data_bytes
        self.graph_outputs = graph.semantics.graph.output_names
        self.constraints = bound[0].target.constraints
        self.cores = tuple(range(self.hardware.cores))
        self._live: dict[tuple[object, ...], LiveBytes] = {}

    def place(self, now: int, after: int | None) -> Placement:
        """Keep outputs in LB that fit beside both kernels; the largest spills first.

        An output that a plan file requires in LB spills last, and then the plan is refused.
        """
        own_cores = self.cores
        kept = self._candidates(now, after)
        kept.sort(key=lambda t: (self._constrained(now, t) is None, self._output_bytes(now, t), t))
        self.cores = tuple(range(self.hardware.cores))
        while kept and after is not None:
            found = self._fitting_cores(now, after, kept, own_cores)
            if found is not None:
                self.cores = found
                break
            kept.pop()
        scopes = {
            tensor: self._scope(now, after, tensor, tensor in kept)
            for tensor in self.bound[now].instance.outputs
        }
        return Placement(frozenset(kept), scopes, own_cores)

    def _candidates(self, now: int, after: int | None) -> list[str]:
        if after is None:
            return []
        is_usual = self.nearest is Nearest.LB
        parked = self.bound[now].binding.parked
        return [
            tensor
            for tensor in self.bound[now].instance.outputs
            if after in self.graph.readers[tensor][now]
            and (
                is_usual and tensor not in parked
                if self._constrained(now, tensor) is None
                else self._constrained(now, tensor) is Scope.LB
            )
            and not self._is_in_gb(now, after, tensor)
        ]

    def _scope(self, now: int, after: int | None, tensor: str, is_kept: bool) -> Scope:
        """Scope of an output; one resident in LB has another copy only for later readers."""
        readers = self.graph.readers[tensor][now]
        constrained = self._constrained(now, tensor)
        if constrained is not None:
            self._check_constrained(now, after, tensor, constrained, is_kept)
            return constrained
        if tensor in self.graph_outputs or self.nearest is Nearest.DRAM:
            return Scope.DRAM
        if is_kept and all(reader == after for reader in readers):
            return Scope.LB
        return Scope.GB if self._output_bytes(now, tensor) <= self._gb_room else Scope.DRAM

    def _constrained(self, number: int, tensor: str) -> Scope | None:
        """The scope that a plan file names for this instance's part of a tensor."""
        return self.constraints.scope_of(tensor, self.graph.instances[number].piece)

    def _check_constrained(
        self, now: int, after: int | None, tensor: str, scope: Scope, is_kept: bool
    ) -> None:
        """Check the scope that a plan file names.

        Raises:
            PlanError: PLAN_SCOPE: the tensor cannot be in this memory.
        """
        size = self._output_bytes(now, tensor)
        late = [r for r in self.graph.readers[tensor][now] if r != after]
        fault = ""
        if scope is Scope.LB and self._is_in_gb(now, after, tensor):
            fault = SHARED_ENGINE
        elif scope is Scope.LB and late:
            fault = f"{self.graph.instances[late[-1]].name} reads it and does not run right after"
        elif scope is Scope.LB and not is_kept:
            part = format_bytes(size)
            fault = f"no LB has room for its part of {part} beside the running kernels"
        elif scope is Scope.GB and size > self._gb_room:
            demand, room = bytes_beside(size, self._gb_room)
            fault = f"{demand} are more than the {room} of GB for outputs"
        if fault:
            what = f"{tensor!r} of {self.graph.instances[now].name} cannot wait in {scope.value}"
            change = "choose a farther memory, or drop it"
            raise PlanError("PLAN_SCOPE", f"{what}: {fault}", f"edits.scope.{tensor}", change)

    def _is_in_gb(self, now: int, after: int | None, tensor: str) -> bool:
        """Whether an engine that the cores share computes the tensor, or reads it next."""
        readers = () if after is None else (after,)
        return any(tensor in self.bound[number].binding.in_gb for number in (now, *readers))

    def _cores_for(self, after: int, arrivals: Mapping[str, Arrival]) -> tuple[int, ...]:
        """Cores of the next kernel, chosen so that the fewest bytes move."""
        if self.bound[after].is_pinned:
            return tuple(range(self.hardware.cores))
        return choose_cores(list(arrivals.values()), self.hardware.cores)

    def _output_bytes(self, number: int, tensor: str) -> int:
        kernel = self.bound[number]
        return volume(kernel.instance.outputs[tensor]) * kernel.target.element_bytes[tensor]

    def _arrivals(
        self, now: int, after: int, kept: Sequence[str], own_cores: Sequence[int]
    ) -> dict[str, Arrival]:
        before, kernel = self.bound[now], self.bound[after]
        return {
            tensor: Arrival(
                {own_cores[part]: box for part, box in before.shares(tensor).items()},
                kernel.needs(tensor),
                kernel.target.element_bytes[tensor],
            )
            for tensor in kept
        }

    def _fitting_cores(
        self, now: int, after: int, kept: Sequence[str], own_cores: Sequence[int]
    ) -> tuple[int, ...] | None:
        """Cores of the next kernel if `kept` fits the LBs until `now` ends and while it begins.

        The peak counted: a share that its own core does not need is in LB until it is handed on,
        while the first nest's inputs arrive.
        """
        limit = self._lb_data_bytes
        if max((max(s) for s in self._live_bytes(now, kept).values()), default=0) > limit:
            return None
        arrivals = self._arrivals(now, after, kept, own_cores)
        chosen = self._cores_for(after, arrivals)
        live = self._live_bytes(after, ())
        is_fitting = all(
            (live[part][0] if part in live else 0) + _passing_bytes(arrivals, part, core) <= limit
            for part, core in enumerate(chosen)
        )
        return chosen if is_fitting else None

    def _live_bytes(self, number: int, kept: Sequence[str]) -> LiveBytes:
        """Live bytes, computed once for pieces of one section with equal box extents."""
        kernel = self.bound[number]
        shape = tuple((hi - lo for box in kernel.instance.boxes.values() for lo, hi in box))
        key = (kernel.instance.section, shape, frozenset(kept))
        if key not in self._live:
            self._live[key] = kernel.hold.live_bytes(kept)
        return self._live[key]


def _passing_bytes(arrivals: Mapping[str, Arrival], part: int, core: int) -> int:
    """Bytes in a core's LB that its own part does not read in place."""
    return sum(
        volume(arrival.owned[core]) * arrival.element_bytes
        for arrival in arrivals.values()
        if core in arrival.owned
        and not (part in arrival.needed and contains(arrival.needed[part], arrival.owned[core]))
    )
