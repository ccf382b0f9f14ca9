"""Other placements of a kernel: which ones, that only its inside differs, the shortest is taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering import alternatives as alternatives_module
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import numbering, placing
from graphturbo_core.lowering.alternatives import alternatives
from graphturbo_core.lowering.assemble import NumberedKernel
from graphturbo_core.lowering.emission.emit import Common, Room
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.emission.template import template_key
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement, SharedValues
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.numbering import number_all
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from sample_models.bert import BertSize, bert
from tests.lowering.counting import check_program
from tests.lowering.equality import arrays_of
from tests.lowering.nets import chip, plan_of
from tests.models import imported

Placed = tuple[PlacementTask, KernelPlacement, tuple[KernelPlacement, ...]]


@cache
def encoder(layers: int, width: int, batch: int, sequence: int) -> GraphSemantics:
    """A BERT with heads of 16."""
    size = BertSize(layers, width, max(2, width // 16), 500, sequence)
    model = bert(size, {"batch": batch, "sequence": sequence})
    return analyse(imported(model.SerializeToString(), ImportOptions("test")))


def streaming(level: str = "full") -> Plan:
    """Two layers on a chip so small that they are many kernels."""
    return plan_of(encoder(2, 64, 4, 32), f"graphturbo:{level}", chip("tiny"))


def parking() -> Plan:
    """A layer with kernels that leave tensors in LB for the next."""
    return plan_of(encoder(1, 32, 2, 64), "graphturbo:full", chip("tiny"))


def halving() -> Plan:
    """Two layers in one kernel, whose scores take more than half of the staging buffer."""
    return plan_of(encoder(2, 128, 4, 64), "graphturbo:full", chip("generic-4x4"))


def placed(plan: Plan) -> list[Placed]:
    """Every kernel that found a place, with its task and the other placements of it."""
    found: list[Placed] = []

    def noted(
        task: PlacementTask, placement: KernelPlacement, places: Places
    ) -> tuple[KernelPlacement, ...]:
        others = alternatives(task, placement, places)
        found.append((task, placement, others))
        return others

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "alternatives", noted)
        lower(plan)
    return found


def without(plan: Plan) -> Program:
    """The program with each kernel in its own placement."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "alternatives", lambda *_: ())
        return lower(plan)


@pytest.mark.parametrize("plan", [streaming(), halving()])
def test_no_kernel_is_longer_and_one_is_shorter(plan: Plan) -> None:
    """Cycles of the whole go down; what lies in DRAM lies where it did."""
    program, plain = lower(plan), without(plan)
    found, before = simulate(program), simulate(plain)
    spans = zip(found.kernel_cycles, before.kernel_cycles, strict=True)
    assert all(one <= other for one, other in spans)
    assert found.makespan < before.makespan
    assert program.notes == plain.notes
    assert in_dram(program) == in_dram(plain)
    check_program(found)


def in_dram(program: Program) -> set[tuple[int, int, int]]:
    """Core, tensor and offset of each buffer there."""
    table = program.buffers
    rows = zip(table.memory, table.core, table.tensor, table.offset, strict=True)
    return {row[1:] for row in rows if row[0] == Memory.DRAM}


def test_copies_of_another_placement_are_what_would_have_been_emitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[bool] = []
    whole = numbering._copied

    def noted(common: object, model: numbering.KnownTemplate, setting: object) -> object:
        taken.append(model.shorter is not None and model.setting is not setting)
        return whole(common, model, setting)  # type: ignore[arg-type]

    monkeypatch.setattr(numbering, "_copied", noted)
    plan = plan_of(encoder(4, 64, 16, 64), "graphturbo:full", chip("generic-4x4"))
    copied = arrays_of(lower(plan))
    assert any(taken)
    monkeypatch.setattr(numbering, "template_key", lambda setting, kinds: id(setting))
    emitted = arrays_of(lower(plan))
    assert all(np.array_equal(copied[key], emitted[key]) for key in copied)


def test_stages_in_the_order_of_their_expected_begins() -> None:
    """One of the others has them so, numbered on; a second has the layers' order."""
    ((task, placement, others),) = placed(halving())
    names = [[stage.output for stage in each.stages] for each in others]
    assert [names[1], names[0] == names[1]] == [[s.output for s in placement.stages], False]
    times = task.alike.expected(task.stages)
    begins = {stage.output: times[stage.index][0] for stage in task.stages}
    assert names[0] == sorted(names[1], key=begins.__getitem__)
    for other in others:
        assert [stage.index for stage in other.stages] == list(range(len(other.stages)))
        assert other.grain.staging_parts == 2


def test_what_was_left_here_stays_until_it_is_read_last() -> None:
    """In either order; they differ."""
    moved = 0
    for task, _, _ in placed(parking()):
        other = alternatives_module._expected(task)
        for each in (task, other):
            for name, held in each.inherited.items():
                reads = [s.index for s in each.stages for o in s.operands if o.tensor == name]
                assert held.last == max(reads, default=0)
        moved += other.inherited != task.inherited
    assert moved


def test_half_of_the_staging_buffer_for_products_of_computed_operands() -> None:
    """And for no other nest."""
    ((_, placement, others),) = placed(halving())
    own = dict(zip((s.output for s in placement.stages), placement.tilings, strict=True))
    for other in others:
        pairs = list(zip(other.stages, other.tilings, strict=True))
        finer = {stage.output for stage, tiling in pairs if tiling != own[stage.output]}
        assert len(finer) == 2
        assert all("mask" in name for name in finer)


@pytest.mark.parametrize("level", ["gb", "lb", "order"])
def test_none_within_layers(level: str) -> None:
    assert not any(others for _, _, others in placed(streaming(level)))


def test_none_of_a_long_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, placement, _),) = placed(halving())
    computes = placement.computes
    for most, count in ((computes, 2), (computes - 1, 0)):
        monkeypatch.setattr(alternatives_module, "MOST_COMPUTES", most)
        ((_, _, others),) = placed(halving())
        assert len(others) == count


def spilled(placement: KernelPlacement) -> KernelPlacement:
    name = next(iter(placement.kept))
    return replace(placement, spilled=placement.spilled | {name}, shared=SharedValues())


def moved(placement: KernelPlacement) -> KernelPlacement:
    name = next(iter(placement.kept))
    held = placement.residents[name]
    residents = {**placement.residents, name: replace(held, offset=held.offset + 64)}
    return replace(placement, residents=residents, shared=SharedValues())


def shared(placement: KernelPlacement) -> KernelPlacement:
    """What is handed on in place of its own lies in a box of another's."""
    name = next(iter(placement.kept))
    held = replace(placement.residents[name], shares={})
    residents = {**placement.residents, name: held}
    return replace(placement, residents=residents, shared=SharedValues())


def skipped(placement: KernelPlacement) -> KernelPlacement:
    views = replace(placement.views, skipped=placement.views.skipped ^ {0})
    return replace(placement, views=views, shared=SharedValues())


class Changed:
    """Places that find a kernel's own placement with finer tiles, changed once more."""

    def __init__(self, change: Callable[[KernelPlacement], KernelPlacement]) -> None:
        self.change = change

    def place(self, task: PlacementTask) -> KernelPlacement:
        found = Places().place(replace(task, grain=replace(task.grain, staging_parts=1)))
        assert found is not None
        first, *rest = found.tilings
        tilings = (first._replace(reduced=first.reduced + 1), *rest)
        finer = replace(found, tilings=tilings, shared=SharedValues())
        return self.change(finer)


@pytest.mark.parametrize("change", [spilled, moved, shared, skipped])
def test_what_other_kernels_go_by_stays(
    change: Callable[[KernelPlacement], KernelPlacement],
) -> None:
    task, placement, _ = next(each for each in placed(parking()) if each[1].kept)
    same, other = (cast(Places, Changed(how)) for how in (lambda each: each, change))
    assert len(alternatives(task, placement, same)) == 2
    assert alternatives(task, placement, other) == ()


def test_orders_that_make_tensors_live_longer_are_left_out() -> None:
    """Of a small layer one kernel spills with stages by their expected begins."""
    found = [
        (placement.spilled, other.spilled)
        for task, placement, _ in placed(parking())
        if (other := Places().place(alternatives_module._expected(task))) is not None
    ]
    assert any(one < other for one, other in found)
    assert all(
        other.spilled == placement.spilled
        for _, placement, others in placed(parking())
        for other in others
    )


def test_a_product_that_does_not_fit_its_part_of_the_staging_buffer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its kernel has no other placement; it is not refused."""
    monkeypatch.setattr(alternatives_module, "STAGING_PARTS", 1 << 20)
    ((_, _, others),) = placed(halving())
    assert others == ()


def test_longer_code_is_taken_where_there_is_room() -> None:
    """The shorter run has more instructions: none more than the cap allows."""
    plan = halving()
    plain, found = without(plan), lower(plan)
    assert plain.size < found.size
    for cap, size in ((found.size, found.size), (found.size - 1, plain.size)):
        limits = Limits(max_instructions=cap, instructions_per_op=0)
        assert lower(plan, limits).size == size
    assert lower(plan, DEFAULT_LIMITS).size == found.size


def test_code_that_is_too_much_longer_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbering, "MOST_TIMES", 1)
    assert lower(halving()).size == without(halving()).size


def halved() -> tuple[Common, Setting, Room]:
    """The one kernel of `halving`, with what it is emitted from."""
    given: list[tuple[Any, ...]] = []
    whole = numbering.number_all
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "number_all", lambda *args: given.append(args) or whole(*args))
        lower(halving())
    ((common, ((setting, _),), room, _),) = given
    return common, setting, room


@pytest.mark.parametrize(
    ("cycles", "taken"),
    [((9, 8, 7), 2), ((9, 7, 8), 1), ((9, 7, 7), 1), ((7, 7, 8), 0), ((7, 8, 9), 0)],
)
def test_the_first_of_the_shortest(
    cycles: tuple[int, ...], taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    common, setting, room = halved()
    assert len(setting.others) == 2
    found: list[NumberedKernel] = []
    whole = numbering._scheduled

    def noted(common: Common, code: KernelCode) -> tuple[NumberedKernel, int]:
        found.append(whole(common, code)[0])
        return found[-1], cycles[len(found) - 1]

    monkeypatch.setattr(numbering, "_scheduled", noted)
    (kernel,) = number_all(common, [(setting, 0)], room, KnownKernels())
    assert kernel is found[taken]


def test_both_are_kept_for_other_lowerings() -> None:
    """And the other placements are in the key: what was compared with others is not this one."""
    plan, known = halving(), KnownKernels()
    size = lower(plan, known=known).size
    assert known.scheduled.instructions == without(plan).size + size
    common, setting, _ = halved()
    kinds = common.plan.semantics.kinds
    keys = {template_key(replace(setting, others=setting.others[:n]), kinds) for n in range(3)}
    assert len(keys) == 3
