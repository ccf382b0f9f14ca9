"""Plan -> Cuts: groups in fewer pieces where refetched weights cost more cycles than LB overflow.

Our choice: the paper's Algorithm 1 raises the count until a piece fits the cores and ignores the
weights that each further piece refetches. This file compares both in cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.graphturbo.fitting import core_bytes, section_of
from graphturbo_core.strategies.layers.carry import Carry
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut, carry_of, cuts_of
from graphturbo_core.strategies.plus.weight_bytes import fetched_again
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import (
    SubGraph,
    carried_sizes,
    divides,
    divisors,
)

OVERFLOW_MOVES = 2
"""Transfers per overflowing byte: one write and one read (our choice: lowering may do better, or
spill more than the overflow)."""
GB_SHARE = 2
"""Overflow goes through GB if it needs at most this part of GB, else through DRAM (our choice:
whole tensors spill, and the other part is for weights and outputs)."""


def fewer_pieces(
    target: Target, graph: LayerGraph, plan: Plan, least_gain: int = 0
) -> tuple[GroupCut, ...]:
    """Returns the groups of a plan, each in the count up to its own with the fewest move cycles.

    Counted are refetched weights, and the LB overflow of the worst core times the cores. On a tie
    the larger count. Returns the plan's own groups if the total gain is at most `least_gain`
    cycles.
    """
    found, gain = [], 0
    for cut, again_bytes in zip(cuts_of(plan), fetched_again(plan), strict=True):
        best = cut
        if cut.pieces > 1 and again_bytes:
            tried = _Tried(target, SubGraph(graph, cut.layers), cut, again_bytes)
            best = replace(cut, pieces=min(tried.counts, key=tried.cycles))
            gain += tried.cycles(cut.pieces) - tried.cycles(best.pieces)
        found.append(best)
    return tuple(found) if gain > least_gain else cuts_of(plan)


def neighbours_too(
    target: Target, graph: LayerGraph, plan: Plan, fewer: Sequence[GroupCut]
) -> tuple[GroupCut, ...]:
    """Returns `fewer`, and the plan's other groups one count lower where the overflow fits GB.

    A group in fewer pieces waits for all pieces of the groups before it. Tensors handed on in LB
    piece by piece then spill, unless these groups have fewer pieces too.
    """
    return tuple(
        _one_count_down(target, graph, cut) if own == cut and own.pieces > 1 else cut
        for own, cut in zip(cuts_of(plan), fewer, strict=True)
    )


def _one_count_down(target: Target, graph: LayerGraph, cut: GroupCut) -> GroupCut:
    tried = _Tried(target, SubGraph(graph, cut.layers), cut)
    lower = tried.counts[min(1, len(tried.counts) - 1)]
    is_fitting = _fits_gb(target.hardware, tried.overflow_bytes(lower))
    return replace(cut, pieces=lower) if is_fitting else cut


@dataclass(frozen=True)
class _Tried:
    """A split group in other counts; `again_bytes`: weights refetched at its own count."""

    target: Target
    part: SubGraph
    cut: GroupCut
    again_bytes: int = 0

    @cached_property
    def _carry(self) -> Carry:
        return carry_of(self.part, self.cut)

    @property
    def counts(self) -> tuple[int, ...]:
        """Its own count, then lower ones that divide all tensors inside, falling."""
        size = carried_sizes(self.part, self._carry)[self.part.outputs[-1]]
        lower = (
            count
            for count in reversed(divisors(size))
            if count < self.cut.pieces and divides(self.part, self._carry, count)
        )
        return (self.cut.pieces, *lower)

    def overflow_bytes(self, pieces: int) -> int:
        """LB overflow of the worst core for one piece, times the cores."""
        section = section_of(self.part, "tried", self._carry, pieces)
        held = core_bytes(self.target, section, self._carry)
        return max(0, held - self.target.budget.lb_data_bytes) * self.target.hardware.cores

    def cycles(self, pieces: int) -> int:
        """Cycles to refetch weights and move the overflow, at this piece count."""
        hardware = self.target.hardware
        again = self.again_bytes * (pieces - 1) // (self.cut.pieces - 1)
        overflow = self.overflow_bytes(pieces)
        rate = hardware.gb_bandwidth if _fits_gb(hardware, overflow) else hardware.dram_bandwidth
        moved = hardware.transfer_cycles(OVERFLOW_MOVES * overflow, rate)
        return hardware.transfer_cycles(again, hardware.dram_bandwidth) + pieces * moved


def _fits_gb(hardware: Hardware, overflow_bytes: int) -> bool:
    return hardware.gb_bytes > 0 and GB_SHARE * overflow_bytes <= hardware.gb_bytes
