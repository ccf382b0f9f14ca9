"""Equal template keys, equal code: each field that emission reads is changed by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
import pytest

from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.emission.copies import copied
from graphturbo_core.lowering.emission.emit import Common, Room, emit_kernel
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.emission.template import template_key
from graphturbo_core.lowering.global_buffer.sites import (
    AheadFetch,
    GbRing,
    InputFetch,
    KernelEnvironment,
    ResidentWeight,
    RetainedBox,
    Shard,
    Site,
)
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, Resident, SharedValues
from graphturbo_core.lowering.local_buffer.rings import Ring
from graphturbo_core.lowering.local_buffer.weight_part import WeightPart
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.stages.views import Views
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import Tiling
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.products.program import Memory
from graphturbo_core.products.scheduling import ACROSS_LAYERS
from graphturbo_core.strategies.best.early_inputs import input_stays
from tests.lowering.chips import shared, sharing
from tests.lowering.global_buffer.gb_outputs import few_in_turn
from tests.lowering.nets import chip, plan_of
from tests.lowering.small_plans import (
    HALO,
    TURNED_LATER,
    TWICE,
    batches,
    halo,
    one_conv,
    rows_of_a_map,
    turned,
    turned_back,
)
from tests.strategies.samples import weighted

SOFT = (
    "g (float[16,16] x, float[16,256] w) => (float[16,256] y) { a = Softmax (x) y = MatMul (a, w) }"
)
THRICE = """g (float[16,64] x, float[64,64] w, float[64,64] v) => (float[16,64] y)
{ a = MatMul (x, w) b = MatMul (a, v) y = MatMul (b, w) }"""
LATER = """g (float[16,16] x, float[16,16] b) => (float[16,16] y)
{ a = Softmax (x) c = Softmax (b) y = Add (a, c) }"""
TURNS = """g (float[4,16,16] x) => (float[4,16,16] y)
{ a = Softmax <axis = 1> (x) b = Exp (a) c = Softmax <axis = 1> (b) d = Exp (c)
e = Softmax <axis = 1> (d) y = Exp (e) }"""
"""Of two ops in turn: two placements with copies."""


def _staying(text: str, *stays: GbRetention) -> Plan:
    plan = plan_of(weighted(text), "tvm", replace(chip("generic-4x4"), cores=1))
    return replace(plan, scheduling=ACROSS_LAYERS, stays=stays)


def _early(plan: Plan) -> Plan:
    stays = input_stays(plan)
    assert stays
    return replace(plan, stays=stays)


CASES = {
    "two layers in LB": (halo, 0),
    "left in GB": (lambda: plan_of(weighted(HALO), "graphturbo:gb", chip("tiny")), 0),
    "read from GB": (lambda: plan_of(weighted(HALO), "graphturbo:gb", chip("tiny")), 1),
    "a piece of a batch": (batches, 2),
    "exchanged parts": (lambda: turned(2), 0),
    "read as computed": (lambda: turned_back(3072), 0),
    "tiles from other cores": (lambda: turned_back(1664, TURNED_LATER, width=16), 0),
    "a weight in shards": (lambda: plan_of(weighted(TWICE), "layerwise", sharing()), 0),
    "tiles of a resident weight": (lambda: one_conv(40)[0], 0),
    "a shared engine": (lambda: plan_of(weighted(TWICE), "tvm", shared()), 0),
    "fetched early": (lambda: _staying(SOFT, GbRetention("w", 0, 1, 8192)), 0),
    "an input fetched early": (lambda: _staying(LATER, GbRetention("b", 0, 1, 512)), 0),
    "parts of an input fetched early": (lambda: _early(batches()), 2),
    "rows of an input fetched early": (lambda: _early(rows_of_a_map()), 1),
    "outputs in turn": (few_in_turn, 0),
    "staying": (lambda: _staying(THRICE, GbRetention("w", 0, 2, 8192)), 2),
    "two ops in turn": (lambda: plan_of(weighted(TURNS), "layerwise", chip("tiny")), 2),
}
"""Plans, and the kernel of each."""

FOLLOWS = {
    "placement.plan": "`KnownKernels.way` compares what emission reads of a plan",
    "placement.alike": "a memory of what follows from stages and tilings",
    "placement.shared": "values that follow from the other fields",
    "placement.grain": "`number_all` puts it beside the key",
    "placement.stages.index": "the stage's place in the tuple",
    "placement.stages.ops": "the key has their kinds, equal for ops that differ by name alone",
    "placement.stages.first": "follows from the ops' kinds",
    "placement.stages.operands": "follow from the ops' kinds",
    "placement.stages.output_index": "the place of the output, by name, in the ops",
    "placement.stages.is_passing": "follows from the first op's kind",
    "placement.views.maps": "a view's access follows from its op's kind; the key has its holder",
    "placement.residents.own.boxes": "the shares, which the key has of the resident itself",
    "placement.residents.own.shares": "the same",
    "placement.residents.own.cut": "the same",
    "placement.kernel.branches": "names; the key has whether there are any",
    "placement.stages.classes": "the classes of the machine, which `KnownKernels.way` compares",
    "around.sources.held": "no case leaves rows that others answer for: None in all of them",
    "around.targets.held": "the same",
    "around.early_inputs.source.held": "None for what is given",
    "around.early_inputs.source.scratch": "the same",
    "around.early_inputs.source.maker": "the same: no kernel makes it",
    "around.early_inputs.target.held": "None for what is fetched",
    "around.early_inputs.target.scratch": "the same",
}
"""Fields that are not changed by themselves, and why.

Names are not changed either: the key has their places in `Setting.names`.
"""

NESTED = {
    "placement": KernelPlacement, "placement.kernel": KernelPlan, "placement.stages": Stage,
    "placement.tilings": Tiling, "placement.residents": Resident, "placement.rings": Ring,
    "placement.views": Views, "placement.weights": WeightPart, "around": KernelEnvironment,
    "around.sources": Site, "around.targets": Site, "around.ring": GbRing,
    "around.held": ResidentWeight, "around.shards": Shard, "around.retained": RetainedBox,
    "around.early": AheadFetch, "around.early.retained": RetainedBox,
    "around.early_inputs": InputFetch, "around.early_inputs.source": Site,
    "around.early_inputs.target": Site,
}  # fmt: skip
"""What emission reads, by path."""
MORE = {"placement.tilings.innermost": (1,)}
"""What is added to a number that is a place among few."""
NAMES = {"str", "tuple[str, ...]"}
"""Types of fields that hold names."""


@dataclass(frozen=True)
class Case:
    """A kernel with what emission has in common for all."""

    common: Common
    setting: Setting

    def key(self, setting: Setting) -> object:
        return template_key(setting, self.common.plan.semantics.kinds)

    def code(self, setting: Setting) -> KernelCode:
        room = Room(10**6, 10**7, 0)
        return emit_kernel(self.common, setting.placement, setting.around, room)

    def follows(self, path: str, holder: Any, key: object) -> bool:
        """Whether a field, or a mapping's value, follows from others of the kernel.

        The maker of what lies in DRAM is one of two, by `is_spill`. The box of a value inside a
        nest is what the nest's output needs of it.
        """
        if path == "placement.kernel.boxes" and isinstance(holder, Mapping):
            inside = {op.outputs[0] for s in self.setting.placement.stages for op in s.ops[:-1]}
            return key in inside
        is_far = isinstance(holder, Site) and holder.memory is Memory.DRAM
        return path in FOLLOWS or (is_far and key == "maker")

    def others(self, value: Any, path: str) -> Iterator[tuple[str, Any]]:
        """Every value that differs in one place, with the path of fields to it."""
        if _types(type(value)):
            yield from self._other_fields(value, path)
        elif isinstance(value, Mapping):
            yield from self._other_items(value, path)
        elif isinstance(value, frozenset):
            more = frozenset(MEMBERS.get(path, lambda setting: ())(self.setting)) - value
            yield from ((path, value ^ {member}) for member in (*value, *more))
        elif isinstance(value, tuple):
            for at, item in enumerate(value):
                around = value[:at], value[at + 1 :]
                yield from (
                    (p, (*around[0], own, *around[1])) for p, own in self.others(item, path)
                )
        elif isinstance(value, Enum):
            yield from ((path, member) for member in type(value) if member is not value)
        elif isinstance(value, bool):
            yield path, not value
        elif isinstance(value, int):
            yield from ((path, value + more) for more in MORE.get(path, (1, 64)))

    def _other_fields(self, value: Any, path: str) -> Iterator[tuple[str, Any]]:
        for name, its_type in _types(type(value)).items():
            at, own = f"{path}.{name}", getattr(value, name)
            if self.follows(at, value, name):
                continue
            if own is not None and its_type.endswith("| None"):
                yield at, _changed(value, name, None)
            yield from ((p, _changed(value, name, other)) for p, other in self.others(own, at))

    def _other_items(self, value: Mapping[Any, Any], path: str) -> Iterator[tuple[str, Any]]:
        for key, item in value.items():
            if not self.follows(path, value, key):
                yield path, {other: value[other] for other in value if other != key}
                yield from ((p, {**value, key: own}) for p, own in self.others(item, path))

    def settings(self) -> Iterator[tuple[str, Setting]]:
        """Settings that differ from the kernel's own in one place; none knows another's tiles."""
        placement, around = self.setting.placement, self.setting.around
        for path, changed in self.others(placement, "placement"):
            bare = replace(changed, alike=StageMemo(changed.plan), shared=SharedValues())
            yield path, replace(self.setting, placement=bare)
        for path, other in self.others(around, "around"):
            yield path, replace(self.setting, around=other)


MEMBERS: dict[str, Callable[[Setting], Iterable[object]]] = {
    "placement.kept": lambda setting: setting.names,
    "placement.spilled": lambda setting: setting.names,
    "placement.kernel.kept": lambda setting: setting.names,
    "placement.residents.direct": lambda setting: range(len(setting.placement.stages)),
    "placement.views.skipped": lambda setting: range(len(setting.placement.stages)),
}
"""What sets may have."""


def _types(kind: type) -> dict[str, str]:
    """Fields of a dataclass or a named tuple that may be given, with their types; else none."""
    if is_dataclass(kind):
        return {field.name: str(field.type) for field in fields(kind) if field.init}
    types = kind.__annotations__ if hasattr(kind, "_fields") else {}
    return {name: own.__forward_arg__ for name, own in types.items()}


def _changed(value: Any, name: str, own: Any) -> Any:
    if is_dataclass(value):
        return replace(value, **{name: own})  # type: ignore[type-var]
    return value._replace(**{name: own})


@cache
def _cases(name: str) -> list[Case]:
    """All kernels of a plan."""
    make, _ = CASES[name]
    found: list[Case] = []
    number_all = lowering.number_all

    def spy(common: Common, settings: Any, *rest: Any) -> Any:
        found[:] = [Case(common, setting) for setting, _ in settings]
        return number_all(common, settings, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "number_all", spy)
        lowering.lower(make())
    return found


def _case(name: str) -> Case:
    return _cases(name)[CASES[name][1]]


@pytest.mark.parametrize("name", CASES)
def test_the_part_of_a_key_that_copies_share_is_what_each_would_make_itself(name: str) -> None:
    for case in _cases(name):
        placement = replace(case.setting.placement, shared=SharedValues())
        alone = replace(case.setting, placement=placement)
        assert case.key(case.setting) == case.key(alone)


def test_copies_of_a_placement_share_values() -> None:
    """The first and the last kernel of a chain are placed for themselves."""
    shared = [id(case.setting.placement.shared) for case in _cases("two ops in turn")]
    assert shared[1] == shared[3] != shared[2] == shared[4]


def arrays(code: KernelCode) -> dict[str, Any]:
    assert code.transfers is not None
    return {
        f"{type(table).__name__}.{field.name}": getattr(table, field.name)
        for table in (code, code.buffers, code.transfers)
        for field in fields(table)
        if table is not code or field.name not in ("buffers", "transfers")
    }


def is_same(a: KernelCode, b: KernelCode) -> bool:
    pairs = zip(arrays(a).values(), arrays(b).values(), strict=True)
    return all(np.array_equal(x, y) if isinstance(x, np.ndarray) else x == y for x, y in pairs)


@pytest.mark.parametrize("name", CASES)
def test_what_the_key_leaves_out_does_not_change_the_code(name: str) -> None:
    """Where a changed kernel has the same key, a copy of the first is what it would be itself."""
    case = _case(name)
    setting, op_index = case.setting, case.common.op_index
    key, code = case.key(setting), case.code(setting)
    left_out = [(path, other) for path, other in case.settings() if case.key(other) == key]
    assert left_out
    for path, other in left_out:
        assert is_same(copied(code, setting, other, op_index), case.code(other)), path


def test_every_field_is_changed_in_some_case() -> None:
    """A new field is changed too, or has its reason here."""
    changed = {path for name in CASES for path, _ in _case(name).settings()}
    deeper = {path.rpartition(".")[0] for path in (*changed, *FOLLOWS)}
    wanted = {
        f"{path}.{name}"
        for path, kind in NESTED.items()
        for name, its_type in _types(kind).items()
        if its_type not in NAMES
    }
    assert wanted - changed - deeper - FOLLOWS.keys() == set()
