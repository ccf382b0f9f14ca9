"""Settings -> NumberedKernels: one kernel per template is emitted and scheduled, others copied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.emission.copies import copied
from graphturbo_core.lowering.emission.emit import Common, Room, emit_kernel
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.emission.template import template_key
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import find_conflicts
from graphturbo_core.lowering.instructions.schedule import schedule, schedule_by_layer
from graphturbo_core.lowering.known import EmittedKernel, KnownKernels, KnownTemplate, Recent
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.tiling.cutting import Grain
from graphturbo_core.lowering.tiling.tiling import too_many_instructions
from graphturbo_core.products.scheduling import ACROSS_LAYERS

MOST_TIMES = 2
"""Largest factor of instructions of an alternative placement (our choice)."""


Key = tuple[int, Grain, Hashable]
"""Of a kernel: way, grain, and template key."""


@dataclass(frozen=True)
class _Emission:
    """Code of a setting: emitted, or a known kernel's at the bandwidths of this machine.

    `scheduled`: its key among scheduled kernels; `room`: for its own placement.
    """

    common: Common
    kept: KnownKernels
    scheduled: Key
    setting: Setting
    room: Room

    @cached_property
    def key(self) -> Hashable:
        """Without bandwidths, and with the staging slots, which are chosen by expected times."""
        setting = self.setting
        way = self.kept.way(self.common.plan, self.common.machine.without_bandwidths())
        slots = [
            (index, slots.slot_bytes, slots.slots, slots.rows, slots.sets, slots.base)
            for each in (setting.placement, *setting.others)
            for index, slots in each.staging.items()
        ]
        return way, *self.scheduled[1:], tuple(slots)

    @cached_property
    def _known(self) -> EmittedKernel | None:
        return self.kept.emitted.find(self.key)

    def _again(self, known: EmittedKernel, code: KernelCode) -> KernelCode:
        """One of the known codes, as this setting's."""
        machine = self.common.machine
        bandwidths = [channel.bandwidth for channel in machine.channels()]
        code = copied(code, known.setting, self.setting, self.common.op_index)
        return code.at_bandwidths(machine.hardware, bandwidths)

    @cached_property
    def own(self) -> KernelCode:
        """The code of the setting's own placement.

        Raises:
            CapacityError: TOO_MANY_INSTRUCTIONS.
        """
        if self._known is not None:
            code = self._known.codes[0]
            if code is not None and _has_room(code, self.room):
                return self._again(self._known, code)
        return emit_kernel(self.common, self.setting.placement, self.setting.around, self.room)

    @cached_property
    def whole(self) -> EmittedKernel:
        """With the code of the alternatives."""
        if self._known is not None:
            others = [code and self._again(self._known, code) for code in self._known.codes[1:]]
            return EmittedKernel(self.setting, (self.own, *others))
        return EmittedKernel(self.setting, (self.own, *map(self._other, self.setting.others)))

    def _other(self, placement: KernelPlacement) -> KernelCode | None:
        """The code of an alternative; None if it is much longer."""
        room = Room(MOST_TIMES * self.own.size, MOST_TIMES * len(self.own.access_buffer), 0)
        try:
            return emit_kernel(self.common, placement, self.setting.around, room)
        except CapacityError:
            return None


def number_all(
    common: Common, settings: Sequence[tuple[Setting, int]], room: Room, kept: KnownKernels
) -> list[NumberedKernel]:
    """Emit and number one kernel per unknown template; the others are copies.

    `settings`: with a lower bound on each one's instructions. All copies of a kernel count as soon
    as it is emitted, so that a too long program is refused early. No kernel of a refused program
    is cached: the next grain needs the memory.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS.
    """
    way, kinds = kept.way(common.plan, common.machine), common.plan.semantics.kinds
    number: dict[Key, int] = {}
    classes = [
        number.setdefault((way, its.placement.grain, template_key(its, kinds)), len(number))
        for its, _ in settings
    ]
    keys = list(number)
    times, least = Counter(classes), Counter[int]()
    for each, (_, count) in zip(classes, settings, strict=True):
        least[each] += count
    known, emitted = list[KnownTemplate](), Recent[EmittedKernel]()
    for each, (setting, count) in zip(classes, settings, strict=True):
        if each < len(known):
            continue
        ahead = replace(room, ahead=room.ahead - count)
        found = kept.scheduled.find(keys[each])
        if found is not None and not _has_room(found.kernel.code, ahead):
            found = None
        emission = _Emission(common, kept, keys[each], setting, ahead)
        code = emission.own if found is None else found.kernel.code
        room = replace(room, ahead=room.ahead - least[each]).with_kernels(code, times[each])
        if not room.holds(0, 0):
            op = setting.placement.kernel.ops[-1]
            raise too_many_instructions(common.plan, op, room.fewest(0, 0))
        if found is None:
            found = _numbered(common, emission.whole)
            emitted.keep(emission.key, emission.whole)
        known.append(found)
    for key, found in zip(keys, known, strict=True):
        kept.scheduled.keep(key, found)
    kept.emitted.keep_all(emitted)
    chosen = _chosen(known, [times[each] for each in range(len(known))], room)
    return [
        _copied(common, chosen[each], setting)
        for each, (setting, _) in zip(classes, settings, strict=True)
    ]


def _has_room(code: KernelCode, room: Room) -> bool:
    """Whether a known kernel is within the room; one beyond it is emitted again, and refused.

    So a refusal has the same numbers with and without the cache.
    """
    return room.with_kernels(code, 1).holds(0, 0)


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


def _numbered(common: Common, emitted: EmittedKernel) -> KnownTemplate:
    """The kernel in sequence order, and its fastest alternative if that is faster."""
    own, *others = emitted.codes
    assert own is not None, "a refused kernel"
    kernel, cycles = _scheduled(common, own)
    shorter = None
    for code in others:
        if code is None:
            continue
        found, its_cycles = _scheduled(common, code)
        if its_cycles < cycles:
            shorter, cycles = found, its_cycles
    return KnownTemplate(emitted.setting, kernel, shorter)


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
