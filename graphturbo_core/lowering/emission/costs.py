"""Tile -> TileCost: engine, cycles and work of a compute, memoised by kind of tile."""

from __future__ import annotations

from typing import NamedTuple

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Box, Interval, extents
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import compute_cycles
from graphturbo_core.semantics.work import is_work_by_extents, work_of


class TileCost(NamedTuple):
    """Cost of one op on one tile: engine, cycles (at least 1), MACs, vector operations."""

    engine: EngineKind
    cycles: int
    macs: int
    vector_ops: int


class OpCosts:
    """Costs of one op's tiles, memoised: thousands of tiles have equal extents."""

    def __init__(self, plan: Plan, op: str, output_index: int) -> None:
        """Create the empty cache for boxes of this output of the op."""
        self._plan = plan
        self._semantics = plan.semantics.by_op[op]
        self._output_index = output_index
        self._is_by_extents = is_work_by_extents(self._semantics, output_index)
        self._known: dict[tuple[Box | tuple[int, ...], int], TileCost] = {}

    def of(self, box: Box, reduce: Interval | None) -> TileCost:
        """The cost of a box, over this cut of the reduced axis."""
        depth = -1 if reduce is None else reduce[1] - reduce[0]
        key = (extents(box) if self._is_by_extents else box), depth
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._worked_out(box, reduce)
        return found

    def _worked_out(self, box: Box, reduce: Interval | None) -> TileCost:
        plan, semantics = self._plan, self._semantics
        work = work_of(semantics, box, self._output_index, reduce)
        engine, cycles = compute_cycles(
            work, semantics, plan.hardware, plan.number_format, plan.feeding
        )
        operations = work.vector_ops + work.transcendentals * plan.hardware.transcendental_ops
        return TileCost(engine, max(1, cycles), work.macs, operations)
