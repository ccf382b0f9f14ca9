"""Tensors of a kernel without room in LB -> which of them are given up: streamed, or spilled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from graphturbo_core.lowering.stages.views import Need
from graphturbo_core.lowering.tiling.stage_cuts import StageCuts

SINGLE_ATTEMPTS = 32
"""Tensors that a kernel gives up in attempts of one each. In later attempts all without room are
given up together (our choice: an op of thousands of inputs would be attempted thousands of times).

Attempts that give up none do not count: one that divides computed from read parts, and up to one
per tensor whose tiles cores exchange after it."""


SEVERAL = 2
"""Tensors given up from which another choice is tried (our choice: tried for a single one too, none
of 39 runs of `graphturbo` on four chips is faster by 0.1 %)."""

Wanted = Mapping[str, Need]
GivingUp = Callable[[tuple[str, ...], Wanted, StageCuts], tuple[str, ...]]
"""(tensors without room, tensors that want a place and may be given up) -> those given up."""


def those_without_room(failed: tuple[str, ...], wanted: Wanted, cuts: StageCuts) -> tuple[str, ...]:
    """Those that find no room themselves."""
    return failed


def longest_beside(failed: tuple[str, ...], wanted: Wanted, cuts: StageCuts) -> tuple[str, ...]:
    """The tensor with most bytes in most stages of all that are live beside the one without room.

    A residual that waits for the end of a block may keep the place of everything inside it.
    """
    if len(failed) > 1 or failed[0] not in wanted:
        return failed
    own = wanted[failed[0]]

    def taken(name: str) -> tuple[int, str]:
        need = wanted[name]
        return cuts.asked_bytes(need) * (need.last - need.first + 1), name

    beside = (n for n, need in wanted.items() if need.first <= own.last and own.first <= need.last)
    return (max(beside, key=taken),)


def moved_bytes(given_up: Iterable[str], asked: Wanted, cuts: StageCuts) -> int:
    """Bytes that a core writes and reads outside its LB for these tensors, beyond a single load."""
    total = 0
    for name in given_up:
        need = asked.get(name)
        if need is not None:
            times = len(cuts.uses.get(name, ())) + (1 if need.shares else -1)
            total += cuts.asked_bytes(need) * times
    return total
