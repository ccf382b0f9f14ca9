"""Endings, and latencies of merged stages -> the schedule that may have stages of both kinds.

A merged stage runs one convolution that several ops have become. All of them end their state: none
has a successor in it. As a set of ops it is an ending of as many groups, each of one op; the
cheaper of both kinds counts. A pruning limits no merged stage.

Source: IOS, Ding et al., MLSys 2021, section 4, and the authors' program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.strategies.ios.best_stages import IosSchedule, cheapest_stages
from graphturbo_core.strategies.ios.endings import Endings, Pruning, Stage, endings_of

NO_PRUNING = Pruning()


@dataclass(frozen=True)
class MergedSchedule:
    """Stages in order of execution, and those of them that are merged."""

    schedule: IosSchedule
    merged: frozenset[Stage]


@dataclass(frozen=True)
class MergeLatencies:
    """Latencies of a block's stages, of both kinds.

    `apart`: of groups that run at once. `merged`: by the ops of a merged stage, in ascending order.
    """

    apart: Callable[[Stage], int | Fraction]
    merged: Mapping[tuple[int, ...], int | Fraction]

    def of(self, stage: Stage, most_groups: int | None) -> tuple[int | Fraction, bool]:
        """The smaller latency of a stage, and whether it is that of the merged one.

        If both are equal, the groups run at once.
        """
        merged = self.merged.get(ops_of(stage))
        if merged is None:
            return self.apart(stage), False
        if most_groups is not None and len(stage) > most_groups:
            return merged, True
        apart = self.apart(stage)
        return (merged, True) if merged < apart else (apart, False)


def ops_of(stage: Stage) -> tuple[int, ...]:
    """Ops of a stage in ascending order."""
    return tuple(sorted(op for group in stage for op in group))


def best_merged_schedule(
    edges: Iterable[tuple[int, int]],
    n: int,
    latencies: MergeLatencies,
    pruning: Pruning = NO_PRUNING,
    limits: Limits = DEFAULT_LIMITS,
) -> MergedSchedule:
    """The schedule of least total latency of ops 0 to n - 1, with stages of both kinds.

    Ties are broken as in `best_schedule`. Ops of a merged stage must not need each other.

    Raises:
        OptionError, CapacityError: as `best_schedule`.
    """
    endings = endings_of(edges, n, pruning, limits)
    place_of = {op: place for place, op in enumerate(endings.order)}
    sets = [sum(1 << place_of[op] for op in ops) for ops in latencies.merged]
    most = pruning.most_groups

    def latency(stage: Stage) -> int | Fraction:
        return latencies.of(stage, most)[0]

    schedule = cheapest_stages(endings, _with_merged(endings, sets), latency)
    merged = (stage for stage in schedule.stages if latencies.of(stage, most)[1])
    return MergedSchedule(schedule, frozenset(merged))


def _with_merged(endings: Endings, sets: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """States with endings of both kinds, each set of ops once; no merged stage adds a state."""
    for state, listed in endings.states():
        last = sum(1 << place for place in endings.last_ops(state))
        able = [ops for ops in sets if not ops & ~last]
        yield state, sorted({*listed, *able}) if able else listed


def merged_pairs(
    edges: Iterable[tuple[int, int]],
    n: int,
    mergeable: Sequence[Collection[int]],
    limits: Limits = DEFAULT_LIMITS,
) -> int:
    """Pairs of a state and a merged stage that can end it: what Both adds to `IosSpace.pairs`.

    `mergeable`: disjoint sets of ops, of which any two or more may be merged. As in the authors'
    program, a merged stage may have a single op, mergeable or not. It is counted beside the equal
    set of groups, and no pruning excludes it. So the paper's counts for Inception-v3 are exact.

    Raises:
        OptionError, CapacityError: as `search_space`.
    """
    endings = endings_of(edges, n, NO_PRUNING, limits)
    place_of = {op: place for place, op in enumerate(endings.order)}
    sets = [sum(1 << place_of[op] for op in ops) for ops in mergeable]
    count = 0
    for state, _ in endings.states():
        last = sum(1 << place for place in endings.last_ops(state))
        count += last.bit_count()
        sizes = ((last & ops).bit_count() for ops in sets)
        count += sum(2**size - 1 - size for size in sizes)
    return count
