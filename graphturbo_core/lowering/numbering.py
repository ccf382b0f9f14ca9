"""Settings -> NumberedKernels: one kernel per template is emitted and scheduled, others copied."""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from graphturbo_core.errors import CapacityError
from graphturbo_core.ir.graph import Graph
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.emission.emit import Common, Room, emit_kernel
from graphturbo_core.lowering.emission.template import Setting, copied, template_key
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import find_conflicts
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.lowering.instructions.schedule import schedule, schedule_by_layer
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import too_many_instructions
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.scheduling import ACROSS_LAYERS

MOST_KEPT = 100_000
"""Most cached instructions for other lowerings (our choice: about 60 MB)."""

MOST_WAYS = 16
"""Most ways with cached placements, the oldest dropped (our choice: more than a comparison has)."""

MOST_TIMES = 2
"""Largest factor of instructions of an alternative placement (our choice)."""


class KnownTemplate(NamedTuple):
    """A kernel with its setting's placement, and the fastest alternative that is faster."""

    setting: Setting
    kernel: NumberedKernel
    shorter: NumberedKernel | None

    @property
    def instructions(self) -> int:
        """Of both."""
        return len(self.kernel.order) + (len(self.shorter.order) if self.shorter else 0)


@dataclass
class KnownKernels:
    """Cache for all lowerings of one model: each kernel is placed, emitted and scheduled once.

    Levels of a strategy, and plans of a search, differ only in some kernels. Above `MOST_KEPT`
    instructions, the least recently used templates are dropped.
    """

    _ways: dict[int, tuple[Graph, Hashable]] = field(default_factory=dict)
    _places: dict[tuple[int, int], Places] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _kernels: OrderedDict[Hashable, KnownTemplate] = field(default_factory=OrderedDict)
    _instructions: int = 0

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

    def find(self, key: Hashable) -> KnownTemplate | None:
        """The cached template of a way, a grain and a template key, or None."""
        found = self._kernels.get(key)
        if found is not None:
            self._kernels.move_to_end(key)
        return found

    def keep(self, key: Hashable, known: KnownTemplate) -> None:
        """Cache a kernel, unless it is known, without the lists that only emission reads."""
        if key in self._kernels:
            return
        setting = known.setting
        placement, *others = (
            replace(each, alike=StageMemo(each.plan))
            for each in (setting.placement, *setting.others)
        )
        bare = replace(setting, placement=placement, others=tuple(others))
        self._kernels[key] = known._replace(setting=bare)
        self._instructions += known.instructions
        while self._instructions > MOST_KEPT:
            _, forgotten = self._kernels.popitem(last=False)
            self._instructions -= forgotten.instructions


def number_all(
    common: Common, settings: Sequence[tuple[Setting, int]], room: Room, kept: KnownKernels
) -> list[NumberedKernel]:
    """Emit and number one kernel per unknown template; the others are copies.

    `settings`: with a lower bound on each one's instructions. All copies of a kernel count as soon
    as it is emitted, so that a too long program is refused early. Nothing of a refused program is
    cached: the next grain needs the memory.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS.
    """
    way, kinds = kept.way(common.plan, common.machine), common.plan.semantics.kinds
    number: dict[Hashable, int] = {}
    classes = [
        number.setdefault((way, its.placement.grain, template_key(its, kinds)), len(number))
        for its, _ in settings
    ]
    keys = list(number)
    times, least = Counter(classes), Counter[int]()
    for each, (_, count) in zip(classes, settings, strict=True):
        least[each] += count
    known: list[KnownTemplate] = []
    for each, (setting, count) in zip(classes, settings, strict=True):
        if each < len(known):
            continue
        ahead = replace(room, ahead=room.ahead - count)
        found = _with_room(kept.find(keys[each]), ahead)
        if found is None:
            code = emit_kernel(common, setting.placement, setting.around, ahead)
        else:
            code = found.kernel.code
        room = replace(room, ahead=room.ahead - least[each]).with_kernels(code, times[each])
        if not room.holds(0, 0):
            op = setting.placement.kernel.ops[-1]
            raise too_many_instructions(common.plan, op, room.fewest(0, 0))
        known.append(found or _numbered(common, setting, code))
    for key, found in zip(keys, known, strict=True):
        kept.keep(key, found)
    chosen = _chosen(known, [times[each] for each in range(len(known))], room)
    return [
        _copied(common, chosen[each], setting)
        for each, (setting, _) in zip(classes, settings, strict=True)
    ]


def _with_room(known: KnownTemplate | None, room: Room) -> KnownTemplate | None:
    """A known kernel within the room; one beyond it is emitted again, and refused.

    So a refusal has the same numbers with and without the cache.
    """
    has_room = known is not None and room.with_kernels(known.kernel.code, 1).holds(0, 0)
    return known if has_room else None


def _chosen(
    known: Sequence[KnownTemplate], times: Sequence[int], room: Room
) -> list[KnownTemplate]:
    """Variants in the program: the faster alternative per kernel, while there is room for it.

    `times`: number of copies per kernel; `room`: the room left without alternatives.
    """
    chosen = []
    for each, count in zip(known, times, strict=True):
        if each.shorter is None:
            chosen.append(each)
            continue
        without = room.with_kernels(each.kernel.code, -count)
        changed = without.with_kernels(each.shorter.code, count)
        has_room = changed.holds(0, 0)
        room = changed if has_room else room
        chosen.append(each if has_room else each._replace(shorter=None))
    return chosen


def _copied(common: Common, model: KnownTemplate, setting: Setting) -> NumberedKernel:
    """The kernel of a setting, copied from one with the same key and placement.

    The mapping of names, ops and places is independent of the placement variant.
    """
    kernel = model.shorter or model.kernel
    if model.setting is setting:
        return kernel
    return replace(kernel, code=copied(kernel.code, model.setting, setting, common.op_index))


def _numbered(common: Common, setting: Setting, code: KernelCode) -> KnownTemplate:
    """The kernel in sequence order, and its fastest alternative if that is faster."""
    kernel, cycles = _scheduled(common, code)
    shorter = None
    room = Room(MOST_TIMES * code.size, MOST_TIMES * len(code.access_buffer), 0)
    for other in setting.others:
        try:
            its = emit_kernel(common, other, setting.around, room)
        except CapacityError:
            continue
        found, its_cycles = _scheduled(common, its)
        if its_cycles < cycles:
            shorter, cycles = found, its_cycles
    return KnownTemplate(setting, kernel, shorter)


def _scheduled(common: Common, code: KernelCode) -> tuple[NumberedKernel, int]:
    """A kernel in sequence order, and its cycles alone: 0 without list scheduling."""
    plan, machine = common.plan, common.machine
    conflicts = find_conflicts(code, plan.hardware.is_pooled)
    order, cycles = np.arange(code.size), 0
    engines, channels = len(machine.engines()), len(machine.channels())
    if plan.scheduling == ACROSS_LAYERS:
        order, cycles = schedule(code, conflicts, engines, channels)
    elif plan.scheduling.is_listed:
        order = schedule_by_layer(code, conflicts, engines, channels)
    return NumberedKernel(code, conflicts, order), cycles
