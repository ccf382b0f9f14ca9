"""Tile -> TileCost: engine, cycles and work of a compute, memoised by kind of tile.

Tiles that either engine may compute are divided over both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, Interval
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import engine_cycles
from graphturbo_core.semantics.work import is_work_by_extents, work_of


class TileCost(NamedTuple):
    """Cost of one op on one tile: engine, cycles (at least 1), MACs, vector operations.

    `other`: the engine that may compute it instead, and its cycles; None: no other may.
    """

    engine: EngineKind
    cycles: int
    macs: int
    vector_ops: int
    other: tuple[EngineKind, int] | None = None


class OpCosts:
    """Costs of one op's tiles, memoised: thousands of tiles have equal extents."""

    def __init__(self, plan: Plan, op: str, output_index: int) -> None:
        """Create the empty cache for boxes of this output of the op.

        `is_by_extents`: whether boxes of equal extents have equal costs.
        """
        self._plan = plan
        self._semantics = plan.semantics.by_op[op]
        self._output_index = output_index
        self.is_by_extents = is_work_by_extents(self._semantics, output_index)
        self._known: dict[tuple[Box | tuple[int, ...], int], TileCost] = {}

    def of(self, box: Box, sizes: tuple[int, ...], reduce: Interval | None) -> TileCost:
        """The cost of a box with these extents, over this cut of the reduced axis."""
        depth = -1 if reduce is None else reduce[1] - reduce[0]
        key = (sizes if self.is_by_extents else box), depth
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._worked_out(box, reduce)
        return found

    def _worked_out(self, box: Box, reduce: Interval | None) -> TileCost:
        plan, semantics = self._plan, self._semantics
        work = work_of(semantics, box, self._output_index, reduce)
        (engine, cycles), *others = engine_cycles(
            work, semantics, plan.hardware, plan.number_format, plan.feeding
        )
        operations = work.vector_ops + work.transcendentals * plan.hardware.transcendental_ops
        other = (others[0][0], max(1, others[0][1])) if others else None
        return TileCost(engine, max(1, cycles), work.macs, operations, other)


class EngineLoads:
    """Cycles of a stage's tiles so far, by core and engine; divides tiles that both may compute.

    A depthwise convolution leaves most of a matrix array idle, so a vector engine is about as fast
    at it. On one engine alone it stops the layers around it, which need the other (our choice:
    `best` divides its tiles where that is faster).
    """

    def __init__(self) -> None:
        """Start a stage."""
        self._of_core: dict[int, Counter[EngineKind]] = {}

    def taken(self, core: int, cost: TileCost, after: Sequence[TileCost]) -> TileCost:
        """The cost on the engine with which the core's busier engine has fewer cycles, counted.

        `after`: ops that follow on the same tile. On a tie the cheaper engine.
        """
        if cost.other is None:
            return cost
        loads = self._of_core.setdefault(core, Counter())
        for each in after:
            loads[each.engine] += each.cycles
        ways = (cost, cost._replace(engine=cost.other[0], cycles=cost.other[1]))
        found = min(ways, key=lambda way: max(_with(loads, way).values()))
        loads[found.engine] += found.cycles
        return found


def _with(loads: Counter[EngineKind], cost: TileCost) -> Counter[EngineKind]:
    more = loads.copy()
    more[cost.engine] += cost.cycles
    return more
