"""Cache of a model's kernels: their placements, code and order, for all its lowerings."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

from graphturbo_core.ir.graph import Graph
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.products.plan import Plan

MOST_KEPT = 100_000
"""Most cached instructions for other lowerings, scheduled and emitted ones each (our choice: about
60 MB; their arrays are mostly the same ones)."""

MOST_WAYS = 16
"""Most ways with cached placements, the least recently used dropped (our choice: more than a
comparison has)."""


class EmittedKernel(NamedTuple):
    """Code of a setting's placement and of each alternative; None: refused for its length."""

    setting: Setting
    codes: tuple[KernelCode | None, ...]

    @property
    def instructions(self) -> int:
        """Of all."""
        return sum(code.size for code in self.codes if code is not None)


class KnownTemplate(NamedTuple):
    """A kernel with its setting's placement, and the fastest alternative that is faster."""

    setting: Setting
    kernel: NumberedKernel
    shorter: NumberedKernel | None

    @property
    def instructions(self) -> int:
        """Of both."""
        return len(self.kernel.order) + (len(self.shorter.order) if self.shorter else 0)


KernelT = TypeVar("KernelT", EmittedKernel, KnownTemplate)


@dataclass
class Recent(Generic[KernelT]):
    """Kernels by key, the least recently used dropped above `MOST_KEPT` instructions."""

    kernels: OrderedDict[Hashable, KernelT] = field(default_factory=OrderedDict)
    instructions: int = 0

    def find(self, key: Hashable) -> KernelT | None:
        """The kernel of a key, or None."""
        found = self.kernels.get(key)
        if found is not None:
            self.kernels.move_to_end(key)
        return found

    def keep(self, key: Hashable, known: KernelT) -> None:
        """Cache a kernel, unless it is known, without the lists that only emission reads."""
        if key in self.kernels:
            return
        self.kernels[key] = known._replace(setting=_bare(known.setting))
        self.instructions += known.instructions
        while self.instructions > MOST_KEPT:
            _, forgotten = self.kernels.popitem(last=False)
            self.instructions -= forgotten.instructions

    def keep_all(self, others: Recent[KernelT]) -> None:
        """Cache those of another cache too, its least recently used first."""
        for key, known in others.kernels.items():
            self.keep(key, known)


def _bare(setting: Setting) -> Setting:
    placement, *others = (
        replace(each, alike=StageMemo(each.plan)) for each in (setting.placement, *setting.others)
    )
    return replace(setting, placement=placement, others=tuple(others))


@dataclass
class KnownKernels:
    """Cache for all lowerings of one model: each kernel is placed, emitted and scheduled once.

    Levels of a strategy, and plans of a search, differ only in some kernels. On chips of other
    bandwidths an emitted kernel has the same code with other cycles.
    """

    scheduled: Recent[KnownTemplate] = field(default_factory=Recent)
    emitted: Recent[EmittedKernel] = field(default_factory=Recent)
    _ways: dict[int, tuple[Graph, Hashable]] = field(default_factory=dict)
    _places: dict[tuple[int, int], Places] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def way(self, plan: Plan, machine: Machine) -> int:
        """Cache key of a plan: with equal keys, equal grain and template key give equal code.

        Contains everything that emission reads of a plan outside the template key. Graphs are
        compared by identity; the cache references the graph, so that its id is not reused.
        """
        chosen = (
            machine, plan.number_format, plan.rules, plan.feeding,
            plan.scheduling,
        )  # fmt: skip
        graph = plan.semantics.graph
        for number, (known, its) in self._ways.items():
            if known is graph and its == chosen:
                self._ways[number] = self._ways.pop(number)  # the most recent is the last
                return number
        if len(self._ways) >= MOST_WAYS:
            self._drop(next(iter(self._ways)))
        number = next(self._numbers)
        self._ways[number] = graph, chosen
        return number

    def _drop(self, way: int) -> None:
        """Forget the placements of a way; its number is not used again."""
        del self._ways[way]
        for key in [key for key in self._places if key[0] == way]:
            del self._places[key]

    def places(self, plan: Plan, machine: Machine) -> Places:
        """The cached placements of a plan's kernels."""
        return self._places.setdefault((self.way(plan, machine), plan.shard_bytes), Places())
