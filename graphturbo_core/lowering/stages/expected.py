"""Stages of a kernel -> expected times without address conflicts, to choose separate bytes."""

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
    """Cycles of a stage: its largest share per kind of engine, and its weight's fetch.

    The fetch is that of the tiled weight, once from DRAM at the cluster's rate.
    """

    engines: tuple[tuple[EngineKind, int], ...]
    fetch: int


def stage_load(plan: Plan, stage: Stage) -> StageLoad:
    """Load of a stage on engines and DRAM, independent of its tiles."""
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
    """Returns begin and end of each stage in cycles from the kernel's start, without reuse.

    Our choice, an estimate used for addresses only. Weights arrive in the stages' order, one after
    the other. A stage begins when its inputs are complete, its weight begins to arrive, and its
    engines have done the shares of earlier stages. It ends when its longest engine and its weight
    have ended. Among several the first ready one begins; ties: the lower number.
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
    """Begin and end of the arrival of each stage's weight, in cycles; 0 without a weight."""
    begins, ends, cycle = [], [], 0
    for load in loads:
        begins.append(cycle if load.fetch else 0)
        cycle += load.fetch
        ends.append(cycle if load.fetch else 0)
    return begins, ends
