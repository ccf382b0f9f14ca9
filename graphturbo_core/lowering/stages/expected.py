"""Stages of a kernel -> when each would run if no address held it up: whose bytes to keep apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Interval, volume
from graphturbo_core.lowering.stages.stage import Stage, tensor_bytes
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.cost import compute_cycles
from graphturbo_core.semantics.work import work_of


class StageLoad(NamedTuple):
    """Cycles of a stage: of its largest share on each kind of engine, and of its weight's fetch.

    The fetch is that of the tiled weight, once from DRAM at the cluster's rate.
    """

    engines: tuple[tuple[EngineKind, int], ...]
    fetch: int


def stage_load(plan: Plan, stage: Stage) -> StageLoad:
    """What a stage takes of engines and DRAM; its tiles are not looked at."""
    share = max(stage.shares.values(), key=volume)
    busy: dict[EngineKind, int] = {}
    for place, op in enumerate(stage.ops):
        semantics = plan.semantics.by_op[op.name]
        work = work_of(semantics, share, 0 if place else stage.output_index)
        engine, cycles = compute_cycles(
            work, semantics, plan.hardware, plan.number_format, plan.feeding
        )
        busy[engine] = busy.get(engine, 0) + cycles
    weight, fetch = stage.tile_weight(), 0
    if weight is not None:
        size = tensor_bytes(plan, weight.tensor, weight.reads.box(stage.box))
        fetch = plan.hardware.transfer_cycles(size, plan.hardware.dram_bandwidth)
    return StageLoad(tuple(busy.items()), fetch)


def expected_times(stages: Sequence[Stage], loads: Sequence[StageLoad]) -> list[Interval]:
    """Begin and end of each stage, in cycles from the kernel's start, where no bytes are reused.

    Our choice, an estimate that addresses alone go by: weights arrive in the stages' order, one
    behind the other. A stage begins once all that it reads is complete, its weight begins to arrive
    and its engines have done the shares of those that began before; it ends when its longest
    engine and its weight have. Of several the one that is ready first begins, then the lower.
    """
    maker = {stage.output: stage.index for stage in stages}
    later: list[list[int]] = [[] for _ in stages]
    missing = [0] * len(stages)
    for stage in stages:
        read = {maker.get(operand.tensor, stage.index) for operand in stage.operands}
        before = [index for index in read if index < stage.index]
        missing[stage.index] = len(before)
        for index in before:
            later[index].append(stage.index)
    ready, arrived = _arrivals(loads)
    waiting = [(ready[index], index) for index in range(len(stages)) if not missing[index]]
    heapify(waiting)
    free = Counter[EngineKind]()
    times = [(0, 0)] * len(stages)
    while waiting:
        cycle, index = heappop(waiting)
        engines = loads[index].engines
        begin = max([cycle, *(free[engine] for engine, _ in engines)])
        for engine, cycles in engines:
            free[engine] = begin + cycles
        end = max(arrived[index], begin + max((cycles for _, cycles in engines), default=0))
        times[index] = begin, end
        for other in later[index]:
            ready[other] = max(ready[other], end)
            missing[other] -= 1
            if not missing[other]:
                heappush(waiting, (ready[other], other))
    return times


def _arrivals(loads: Sequence[StageLoad]) -> tuple[list[int], list[int]]:
    """When the weight of each stage begins to arrive, and when all of it is there; 0 without."""
    begins, ends, cycle = [], [], 0
    for load in loads:
        begins.append(cycle if load.fetch else 0)
        cycle += load.fetch
        ends.append(cycle if load.fetch else 0)
    return begins, ends
