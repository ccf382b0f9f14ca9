"""Kernels that differ by names alone share one placement, and no others do."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Any

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.boxes import hull
from graphturbo_core.lowering import known as known_kernels
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.lowering.local_buffer import places as places_module
from graphturbo_core.lowering.local_buffer.place_kernel import PlacementTask
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.local_buffer.places import Places
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Binding, Plan, Scope
from graphturbo_core.semantics.table import analyse
from sample_models.bert import BertSize, bert
from tests.lowering.nets import chip, placements_of, plan_of
from tests.models import imported
from tests.strategies.samples import weighted

REPEATED = """
g (float[8,64] x, float[64,64] w1, float[64,64] w2) => (float[8,64] y) {
  a = Relu (x)
  b1 = MatMul (a, w1)
  c1 = Sigmoid (b1)
  b2 = MatMul (c1, w2)
  c2 = Sigmoid (b2)
  y = Relu (c2)
}
"""


class Compared(Places):
    """Each placement is what its kernel gets by itself, and is of its own plan."""

    def place(self, task: PlacementTask) -> KernelPlacement | None:
        found = super().place(task)
        assert found == Places().place(task)
        assert found is None or (found.plan, found.alike) == (task.plan, task.alike)
        return found


@pytest.mark.parametrize("strategy", ["layerwise", "astitch", "graphturbo:lb", "graphturbo:full"])
def test_what_is_shared_is_what_each_kernel_gets_by_itself(
    strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four encoder layers, on a chip where kernels hand some tensors on in LB.

    A second lowering finds what the first one left.
    """
    monkeypatch.setattr(known_kernels, "Places", Compared)
    model = bert(BertSize(4, 64, 4, 500, 32), {"batch": 4, "sequence": 32})
    sem, known = analyse(imported(model.SerializeToString(), ImportOptions("test"))), KnownKernels()
    for each in (strategy, "graphturbo:full"):
        lower(plan_of(sem, each, chip("tiny")), known=known)


def tasks_of(plan: Plan) -> list[PlacementTask]:
    """What is placed for a plan, in order."""
    tasks: list[PlacementTask] = []

    class Noting(Places):
        def place(self, task: PlacementTask) -> KernelPlacement | None:
            tasks.append(task)
            return super().place(task)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known_kernels, "Places", Noting)
        lower(plan)
    return tasks


@pytest.mark.parametrize("is_placed_before", [False, True])
def test_too_many_tiles_are_refused_as_if_nothing_were_known(is_placed_before: bool) -> None:
    task = tasks_of(plan_of(weighted(REPEATED), "layerwise", chip("tiny")))[0]
    places = Places()
    if is_placed_before:
        placed = places.place(task)
        assert placed is not None
    few = replace(task, computes=task.max_instructions)
    with pytest.raises(CapacityError) as refused:
        places.place(few)
    assert refused.value.fields["fewest"] > task.max_instructions


def test_placements_of_another_plan_are_found_and_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With room for fewer placements than a plan has, its own are placed again."""
    plan, known = plan_of(weighted(REPEATED), "layerwise", chip("tiny")), KnownKernels()
    place, seen = places_module.place_kernel, list[str]()
    monkeypatch.setattr(
        places_module, "place_kernel", lambda task: seen.append(task.kernel.name) or place(task)
    )
    lower(plan, known=known)
    first = len(seen)
    lower(plan, known=known)
    assert len(seen) == first > 2
    monkeypatch.setattr(places_module, "MOST_PLACED", 2)
    for _ in range(2):
        seen.clear()
        lower(replace(plan, number_format="bf16"), known=known)
        assert len(seen) >= first
    (*_, last) = known._places.values()
    assert len(last._known) <= 2


def counted(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many of a plan's kernels are placed from nothing."""
    place, seen = places_module.place_kernel, list[str]()

    def placing(task: PlacementTask) -> tuple[KernelPlacement | None, int]:
        seen.append(task.kernel.name)
        return place(task)

    monkeypatch.setattr(places_module, "place_kernel", placing)
    lower(plan)
    return len(seen)


def test_layers_that_are_alike_are_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two sigmoids are; of the products one reads what a ReLU made.

    The second sigmoid's placement has the names of its own tensors.
    """
    plan = plan_of(weighted(REPEATED), "layerwise", chip("tiny"))
    assert len(plan.kernels) == 6
    assert counted(plan, monkeypatch) == 5
    first, second = (placements_of(plan)[kernel] for kernel in (2, 4))
    assert first.tilings == second.tilings
    assert (first.read, second.read) == ({"b1"}, {"b2"})
    assert second.kernel is plan.kernels[4]


def test_pieces_that_differ_by_place_are_placed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a few rows each; the tensors in LB of each have its own rows."""
    text = """
    g (float[512,128] x) => (float[512,128] y) {
      a = Sigmoid (x)
      b = Softmax <axis=1> (a)
      y = Add (a, b)
    }
    """
    plan = plan_of(weighted(text), "graphturbo:full", chip("tiny"))
    assert len(plan.kernels) > 2
    once = counted(replace(plan, kernels=plan.kernels[:1]), monkeypatch)
    assert counted(plan, monkeypatch) == once
    for kernel, placement in zip(plan.kernels, placements_of(plan), strict=True):
        assert placement.kernel is kernel
        assert placement.residents
        for held in placement.residents.values():
            assert reduce(hull, held.boxes.values()) == kernel.boxes[held.tensor]


def test_pieces_with_windows_are_placed_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Edges clip the windows of the first and the last rows, so rows are not compared by size."""
    text = """
    g (float[1,8,64,64] x, float[8,8,3,3] w) => (float[1,8,64,64] y) {
      a = Sigmoid (x)
      y = Conv <pads=[1,1,1,1]> (a, w)
    }
    """
    plan = plan_of(weighted(text), "graphturbo:full", chip("tiny"))
    assert len(plan.kernels) == 8
    once = counted(replace(plan, kernels=plan.kernels[:1]), monkeypatch)
    assert counted(plan, monkeypatch) == 8 * once


@pytest.mark.parametrize(
    "change",
    [{"scopes": {"c2": Scope.LB}}, {"kept": frozenset({"c2"})}, {"outputs": {}}],
    ids=["in LB", "kept", "not handed out"],
)
def test_what_else_becomes_of_the_result_is_another_placement(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first sigmoid's result waits in DRAM for its reader."""
    plan = plan_of(weighted(REPEATED), "layerwise", chip("tiny"))
    kernels = list(plan.kernels)
    kernels[4] = replace(kernels[4], **change)
    assert counted(replace(plan, kernels=tuple(kernels)), monkeypatch) == 6


def test_what_the_next_kernel_reads_is_part_of_a_placement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both results stay in LB: rows are read of the one, and columns of the other."""
    plan = plan_of(weighted(REPEATED), "layerwise", chip("tiny"))
    kernels = [
        replace(kernel, kept=frozenset(kernel.outputs) & {"c1", "c2"}) for kernel in plan.kernels
    ]
    halves = Binding((1,), (4,), (0, 1, 2, 3))
    kernels[5] = replace(kernels[5], bindings={"y": halves})
    assert counted(replace(plan, kernels=tuple(kernels)), monkeypatch) == 6


@pytest.mark.parametrize(("relu", "sigmoid", "placed"), [("p2", "q2", 3), ("q2", "p2", 4)])
def test_names_break_ties_as_they_would(
    relu: str, sigmoid: str, placed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two layers with branches of equal size: not shared where names sort the other way."""
    text = f"""
    g (float[8,64] x, float[64,64] w1, float[64,64] w2, float[64,64] w3) => (float[8,64] y) {{
      n0 = Relu (x)
      l1 = MatMul (n0, w1)
      p1 = Relu (l1)
      q1 = Sigmoid (l1)
      n1 = Add (p1, q1)
      l2 = MatMul (n1, w2)
      {relu} = Relu (l2)
      {sigmoid} = Sigmoid (l2)
      n2 = Add ({relu}, {sigmoid})
      y = MatMul (n2, w3)
    }}
    """
    plan = plan_of(weighted(text), "tvm", chip("tiny"))
    assert len(plan.kernels) == 4
    assert counted(plan, monkeypatch) == placed
