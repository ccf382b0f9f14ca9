"""Plan and its simulated cycles -> GB retentions: weights in GB before and between their readers.

Our choice: the paper refetches weights for every non-adjacent instance and leaves DRAM idle while
kernels compute. The choice is an estimate: lowering gives each retention the room that is free, and
the plan is simulated before it is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.strategies.plus.weight_bytes import product_reads
from graphturbo_core.strategies.steps.kernels import PlanCost

MOST_EARLY = 8
"""Most kernels between the prefetch of a weight and its reader (our choice: an earlier prefetch
occupies GB for longer)."""

AHEAD_SHARE = 3
"""1/AHEAD_SHARE of a kernel's free GB bytes is reserved for the weights that it prefetches itself
(our choice: of 2, 3 and 4 the best on the paper's models)."""


NOTHING: frozenset[str] = frozenset()


class _Run(NamedTuple):
    """Adjacent kernels that share one fetch of a weight."""

    first: int
    last: int


def chosen_stays(
    plan: Plan, spent: PlanCost, barred: frozenset[str], wanted: frozenset[str] = NOTHING
) -> tuple[GbRetention, ...]:
    """Returns the retained weights with their first and last kernel, by each kernel's DRAM load.

    0. Weights in `wanted` get room first, as in `wanted_stays`.

    1. A weight that several kernels fetch is retained from the first to the last of them, or over
       adjacent ones: the most cycles saved per byte and kernel first.
    2. Then, kernel by kernel, its fetches are moved to idle DRAM cycles of the kernels before it,
       the nearest first.
    A retention must shorten a kernel that takes longer than its cores are busy. GB must have room
    beside its other contents and four weight tiles. `barred`: weights that are never retained.
    """
    if not spent.loads or not plan.hardware.has_gb:
        return ()
    books = _Books(plan, spent, barred)
    books.keep_wanted(wanted)
    books.keep_for_later()
    books.fetch_early()
    return tuple(books.stays)


def wanted_stays(plan: Plan, spent: PlanCost, wanted: frozenset[str]) -> tuple[GbRetention, ...]:
    """Returns retentions of these weights alone, even without an estimated gain, while GB has room.

    From the first kernel that fetches them to the last that reads them; where kernels share one
    fetch, or only one reads them, from the kernel before it.
    """
    if not spent.loads or not plan.hardware.has_gb:
        return ()
    books = _Books(plan, spent, NOTHING)
    books.keep_wanted(wanted)
    return tuple(books.stays)


def paying_stays(
    plan: Plan, before: Sequence[int], after: Sequence[int]
) -> tuple[GbRetention, ...]:
    """Returns the retentions whose kernels became shorter in sum.

    `before`, `after`: cycles per kernel without and with retentions. A retention touches the kernel
    that fetches and those that read. Retentions with a kernel in common are judged together, since
    the effects on that kernel cannot be separated.
    """
    import networkx as nx  # noqa: PLC0415  # some 150 ms that no other strategy should cost

    touching: nx.Graph[int] = nx.Graph()
    for stay in plan.stays:
        span = range(stay.first, stay.last + 1)
        readers = [kernel for kernel in span if stay.weight in plan.kernels[kernel].residency]
        nx.add_star(touching, [stay.first, *(readers or [stay.last])])
    paid: set[int] = set()
    for kernels in nx.connected_components(touching):
        if sum(before[kernel] - after[kernel] for kernel in kernels) > 0:
            paid |= kernels
    return tuple(stay for stay in plan.stays if stay.first in paid)


@dataclass(frozen=True)
class _Again:
    """A weight that several runs of kernels fetch."""

    weight: str
    runs: tuple[_Run, ...]

    @property
    def kernels(self) -> range:
        return range(self.runs[0].first, self.runs[-1].last + 1)


class _Books:
    """Budget left per kernel: cycles it can become shorter, idle DRAM cycles, free GB bytes."""

    def __init__(self, plan: Plan, spent: PlanCost, barred: frozenset[str]) -> None:
        hardware = plan.hardware
        self._hardware = hardware
        self._plan = plan
        fixed = hardware.launch_cycles + hardware.barrier_cycles
        net = [max(0, cycles - fixed) for cycles in spent.kernel_cycles]
        pairs = list(zip(net, spent.loads, strict=True))
        self._slack = [max(0, cycles - load.core_cycles) for cycles, load in pairs]
        self._idle = [max(0, cycles - load.dram_cycles) for cycles, load in pairs]
        fetched = [sum(product_reads(plan, kernel).values()) for kernel in plan.kernels]
        slots = plan.budget.gb_weight_ring_bytes
        free = [max(0, hardware.gb_bytes - max(load.gb_bytes, slots)) for load in spent.loads]
        self._room = [
            room - min(size, room // AHEAD_SHARE) for room, size in zip(free, fetched, strict=True)
        ]
        self._reads = [
            {
                name: size
                for name, size in product_reads(plan, kernel).items()
                if name not in barred and kernel.residency[name] is not Residency.SHARDED
            }
            for kernel in plan.kernels
        ]
        self._left = [dict(reads) for reads in self._reads]
        self.stays: list[GbRetention] = []

    def _cycles(self, size_bytes: int) -> int:
        return self._hardware.transfer_cycles(size_bytes, self._hardware.dram_bandwidth)

    def _bytes(self, cycles: int) -> int:
        """Bytes that DRAM delivers in these cycles."""
        return cycles * self._hardware.dram_bandwidth // self._hardware.clock_hz

    def _runs(self) -> Mapping[str, list[_Run]]:
        """Per weight, each kernel that fetches it, with the next ones that find it in GB.

        Adjacent kernels of a group with the weight in GB are assumed to have room for it.
        """
        found: dict[str, list[_Run]] = {}
        for place, reads in enumerate(self._reads):
            for name in reads:
                runs = found.setdefault(name, [])
                if runs and runs[-1].last == place - 1 and self._is_held(name, place):
                    runs[-1] = _Run(runs[-1].first, place)
                else:
                    runs.append(_Run(place, place))
        return found

    def _is_held(self, name: str, place: int) -> bool:
        """Whether a kernel finds the weight in GB from the kernel before it."""
        own, before = self._plan.kernels[place], self._plan.kernels[place - 1]
        held = {each.residency[name] for each in (own, before)}
        return own.group == before.group and held == {Residency.GB}

    def keep_wanted(self, wanted: frozenset[str]) -> None:
        """Rule 0, by the order of fetching kernels; rule 2 may add weights without room here."""
        found = {name: runs for name, runs in self._runs().items() if name in wanted}
        for name, runs in sorted(found.items(), key=lambda item: (item[1][0].first, item[0])):
            stay = self._wanted(name, runs)
            if stay is None:
                continue
            self._take(stay)
            cycles, is_early = self._cycles(stay.size_bytes), stay.first < runs[0].first
            for run in runs if is_early else runs[1:]:
                self._slack[run.first] -= min(self._slack[run.first], cycles)
            if is_early:
                self._idle[stay.first] -= min(self._idle[stay.first], cycles)

    def _wanted(self, name: str, runs: Sequence[_Run]) -> GbRetention | None:
        """Retention of a weight, up to the room in GB; whole if a run has several kernels."""
        first = runs[0].first - (len(runs) == 1)
        last = runs[-1].last
        whole = max(self._reads[run.first][name] for run in runs)
        size = min(whole, max(0, min(self._room[max(0, first) : last + 1])))
        is_whole = any(run.last > run.first for run in runs)
        is_there = first >= 0 and size > 0 and (size == whole or not is_whole)
        return GbRetention(name, first, last, size) if is_there else None

    def keep_for_later(self) -> None:
        """Rule 1."""
        found = [each for name, runs in self._runs().items() for each in _spans(name, runs)]
        ranked = sorted(
            found, key=lambda each: (-self._density(each), each.kernels.start, each.weight)
        )
        for each in ranked:
            size = self._size(each)
            if not self._saved(each, size):
                continue
            for run in each.runs[1:]:
                self._slack[run.first] -= min(self._slack[run.first], self._cycles(size))
            self._take(GbRetention(each.weight, each.kernels.start, each.kernels.stop - 1, size))

    def _size(self, each: _Again) -> int:
        """Bytes that may be retained: the whole weight where kernels share its fetch already."""
        kernels = each.kernels
        size = max(self._left[run.first].get(each.weight, 0) for run in each.runs)
        room = max(0, min(self._room[kernels.start : kernels.stop]))
        is_whole = any(run.last > run.first for run in each.runs)
        is_left = all(
            self._left[kernel].get(each.weight) == self._reads[kernel].get(each.weight)
            for kernel in kernels
        )
        if not is_left or (is_whole and room < size):
            return 0
        return min(size, room)

    def _saved(self, each: _Again, size: int) -> int:
        """Cycles by which the kernels become shorter."""
        cycles = self._cycles(size)
        return sum(min(cycles, self._slack[run.first]) for run in each.runs[1:])

    def _density(self, each: _Again) -> float:
        size = self._size(each)
        return self._saved(each, size) / (size * len(each.kernels)) if size else 0.0

    def _take(self, stay: GbRetention) -> None:
        """Book a stay."""
        self.stays.append(stay)
        for kernel in range(stay.first, stay.last + 1):
            self._room[kernel] -= stay.size_bytes
            if stay.weight in self._left[kernel]:
                left = self._left[kernel][stay.weight] - stay.size_bytes
                self._left[kernel][stay.weight] = max(0, left)

    def fetch_early(self) -> None:
        """Rule 2."""
        fetched = {(n, run.first): run for n, runs in self._runs().items() for run in runs}
        for reader, reads in enumerate(self._reads):
            runs = [(name, fetched[name, reader]) for name in reads if (name, reader) in fetched]
            for early in range(reader - 1, max(-1, reader - 1 - MOST_EARLY), -1):
                between = self._plan.kernels[early:reader]
                for name, run in runs:
                    if not any(name in kernel.residency for kernel in between):
                        self._fetch(name, early, run)

    def _fetch(self, name: str, early: int, run: _Run) -> None:
        """Prefetch as much of a run's weight as an earlier kernel has idle DRAM cycles for."""
        reader, left = run.first, self._left[run.first][name]
        cycles = min(self._slack[reader], self._idle[early])
        room = max(0, min(self._room[early : run.last + 1]))
        size = min(left, self._bytes(cycles), room)
        if size <= 0 or (run.last > run.first and size < self._reads[reader][name]):
            return
        self._slack[reader] -= self._cycles(size)
        self._idle[early] -= self._cycles(size)
        self._take(GbRetention(name, early, run.last, size))


def _spans(name: str, runs: Sequence[_Run]) -> Iterator[_Again]:
    """All runs of a weight together, and each sequence of adjacent runs."""
    if len(runs) > 1:
        yield _Again(name, tuple(runs))
    touching = [[runs[0]]]
    for before, run in pairwise(runs):
        if run.first != before.last + 1:
            touching.append([])
        touching[-1].append(run)
    yield from (_Again(name, tuple(part)) for part in touching if 1 < len(part) < len(runs))
