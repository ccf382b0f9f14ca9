"""Settings -> NumberedKernels: one kernel of each class is emitted and scheduled, others copied."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphturbo_core.ir.graph import Graph
from graphturbo_core.lowering.alike import Alike
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.code import KernelCode, Machine
from graphturbo_core.lowering.conflicts import find_conflicts
from graphturbo_core.lowering.cutting import Grain
from graphturbo_core.lowering.emit import Common, Room, emit_kernel
from graphturbo_core.lowering.schedule import schedule
from graphturbo_core.lowering.template import Setting, copied, template_key
from graphturbo_core.lowering.tiling import too_many_instructions
from graphturbo_core.strategies.plan import Plan

MOST_KEPT = 100_000
"""Instructions of kernels that are kept for other lowerings (our choice: some 60 MB)."""

_Known = tuple[Setting, NumberedKernel]


@dataclass
class KnownKernels:
    """Kernels that lowerings of one model have in common: each is emitted and scheduled once.

    Levels of a strategy, and plans that one tries, differ in some of their kernels alone. Of more
    instructions than `MOST_KEPT` those are forgotten that were not asked for longest.
    """

    _ways: list[tuple[Graph, Hashable]] = field(default_factory=list)
    _kernels: OrderedDict[Hashable, _Known] = field(default_factory=OrderedDict)
    _instructions: int = 0

    def way(self, plan: Plan, machine: Machine, grain: Grain) -> int:
        """A number: under equal ones kernels with the same template key have the same code.

        What emission reads of a plan, and no key says, is in it. A graph is the same one, not an
        equal one; what is kept holds it, so that no other takes its place in memory.
        """
        chosen = (
            machine, plan.number_format, plan.rules, plan.feeding,
            plan.is_scheduled_across_layers, grain,
        )  # fmt: skip
        graph = plan.semantics.graph
        for place, (known, its) in enumerate(self._ways):
            if known is graph and its == chosen:
                return place
        self._ways.append((graph, chosen))
        return len(self._ways) - 1

    def find(self, key: Hashable) -> _Known | None:
        """What was kept under a way and a template key."""
        found = self._kernels.get(key)
        if found is not None:
            self._kernels.move_to_end(key)
        return found

    def keep(self, key: Hashable, setting: Setting, kernel: NumberedKernel) -> None:
        """Keep a kernel, unless it is known, without the lists that only emission reads."""
        if key in self._kernels:
            return
        placement = replace(setting.placement, alike=Alike(setting.placement.plan))
        self._kernels[key] = replace(setting, placement=placement), kernel
        self._instructions += len(kernel.order)
        while self._instructions > MOST_KEPT:
            _, (_, forgotten) = self._kernels.popitem(last=False)
            self._instructions -= len(forgotten.order)


def number_all(
    common: Common, settings: Sequence[tuple[Setting, int]], room: Room, kept: KnownKernels
) -> list[NumberedKernel]:
    """Emit and number one kernel of each class that is not known, the others are its copies.

    `settings`: with how many instructions each has at least. All copies of a kernel count as soon
    as it is emitted, so that what is too long is refused before the rest is. Of what is refused
    nothing is kept: the next grain needs the memory.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS.
    """
    way = kept.way(common.plan, common.machine, settings[0][0].placement.grain)
    number: dict[Hashable, int] = {}
    classes = [
        number.setdefault((way, template_key(setting, common.plan.semantics.kinds)), len(number))
        for setting, _ in settings
    ]
    keys = list(number)
    times, least = Counter(classes), Counter[int]()
    for each, (_, count) in zip(classes, settings, strict=True):
        least[each] += count
    known: list[_Known] = []
    for each, (setting, count) in zip(classes, settings, strict=True):
        if each < len(known):
            continue
        ahead = replace(room, ahead=room.ahead - count)
        found = _with_room(kept.find(keys[each]), ahead)
        if found is None:
            code = emit_kernel(common, setting.placement, setting.around, ahead)
        else:
            code = found[1].code
        room = replace(room, ahead=room.ahead - least[each]).with_kernels(code, times[each])
        if not room.holds(0, 0):
            op = setting.placement.kernel.ops[-1]
            raise too_many_instructions(common.plan, op, room.fewest(0, 0))
        known.append(found or (setting, _numbered(common, code)))
    for key, found in zip(keys, known, strict=True):
        kept.keep(key, *found)
    return [
        _copied(common, known[each], setting)
        for each, (setting, _) in zip(classes, settings, strict=True)
    ]


def _with_room(known: _Known | None, room: Room) -> _Known | None:
    """A known kernel that there is room for; one that there is not is emitted again, and refused.

    So what is refused is refused with the same numbers, whatever was lowered before.
    """
    has_room = known is not None and room.with_kernels(known[1].code, 1).holds(0, 0)
    return known if has_room else None


def _copied(common: Common, model: _Known, setting: Setting) -> NumberedKernel:
    """The kernel of a setting, from one with the same key."""
    known, numbered = model
    if known is setting:
        return numbered
    return replace(numbered, code=copied(numbered.code, known, setting, common.op_index))


def _numbered(common: Common, code: KernelCode) -> NumberedKernel:
    plan, machine = common.plan, common.machine
    conflicts = find_conflicts(code, plan.hardware.is_pooled)
    if plan.is_scheduled_across_layers:
        order = schedule(code, conflicts, len(machine.engines()), len(machine.channels()))
    else:
        order = np.arange(len(code.rows))
    return NumberedKernel(code, conflicts, order)
