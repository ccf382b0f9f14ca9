"""What holds for every strategy on every graph and chip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import Box, contains, is_empty, volume
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.registry import STRATEGIES
from tests.full import paired
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import hardware, plan_of, sample_plan

STRATEGIES = (
    "layerwise",
    "tvm",
    "astitch",
    *(f"graphturbo:{x}" for x in STRATEGIES["graphturbo"].levels),
)


@st.composite
def small_chips(draw: st.DrawFn) -> Hardware:
    """Chips on which maps of 4 x 6 x 6 values need several pieces, or do not fit at all."""
    data = draw(st.sampled_from([64, 256, 1024, 65_536]))
    cores = draw(st.integers(1, 8))
    return replace(
        hardware(),
        cores=cores,
        lb_data_bytes=data,
        split_capacity_bytes=data * cores,
        gb_bytes=draw(st.sampled_from([0, 512, 65_536])),
    )


def slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(lo, hi) for lo, hi in box)


def check_outputs_once_and_before_use(plan: Plan) -> None:
    """Every element is handed out once, and only after that read."""
    tensors = plan.semantics.graph.tensors
    done = {
        tensor: np.zeros(tensors[tensor].shape, dtype=np.int8)
        for kernel in plan.kernels
        for tensor in kernel.outputs
    }
    for kernel in plan.kernels:
        for tensor, box in kernel.boxes.items():
            if tensor not in kernel.bindings and tensor in done:
                assert (done[tensor][slices(box)] == 1).all(), (kernel.name, tensor)
        for tensor, box in kernel.outputs.items():
            assert contains(kernel.boxes[tensor], box)
            done[tensor][slices(box)] += 1
    assert all((count == 1).all() for count in done.values())


def check_groups(plan: Plan) -> None:
    """Groups partition the ops, have as many kernels as pieces, and depend in one direction."""
    graph = plan.semantics.graph
    ops = [op for group in plan.groups for op in group.ops]
    assert sorted(ops) == sorted(op.name for op in graph.ops)
    for number, group in enumerate(plan.groups):
        kernels = [kernel for kernel in plan.kernels if kernel.group == number]
        assert sorted(kernel.piece for kernel in kernels) == list(range(group.pieces))
        assert all(kernel.ops == group.ops for kernel in kernels)
    group_of = {op: number for number, group in enumerate(plan.groups) for op in group.ops}
    for op in graph.ops:
        for name in graph.activations_in(op):
            if name in graph.producer:
                assert group_of[graph.producer[name].name] <= group_of[op.name]


def check_bindings(plan: Plan) -> None:
    """Shares cover each computed box once, on cores that exist; no core twice."""
    for kernel in plan.kernels:
        for tensor, binding in kernel.bindings.items():
            assert len(set(binding.cores)) == len(binding.cores) == np.prod(binding.grid)
            assert set(binding.cores) <= set(range(plan.hardware.cores))
            box = kernel.boxes[tensor]
            shares = binding.shares(box)
            assert sum(volume(share) for share in shares.values()) == volume(box)


def check_scopes(plan: Plan) -> None:
    for kernel, following in zip(plan.kernels, [*plan.kernels[1:], None], strict=True):
        assert set(kernel.outputs) <= set(kernel.scopes)
        for tensor in kernel.kept:
            assert following is not None
            assert not is_empty(following.boxes[tensor])


def check_all(plan: Plan) -> None:
    plan.check()
    check_outputs_once_and_before_use(plan)
    check_groups(plan)
    check_bindings(plan)
    check_scopes(plan)


@given(random_graphs(), small_chips(), st.sampled_from(STRATEGIES))
def test_random_graphs(sem: GraphSemantics, chip: Hardware, strategy: str) -> None:
    check_all(plan_of(sem, strategy, chip))


@given(random_graphs(), small_chips(), st.data())
def test_literal_choices_keep_the_invariants(
    sem: GraphSemantics, chip: Hardware, data: st.DataObject
) -> None:
    names = ("peak", "candidates", "binding")
    options = {
        f"graphturbo.{name}": "literal" for name in names if data.draw(st.booleans(), label=name)
    }
    check_all(plan_of(sem, "graphturbo", chip, options))


@given(random_graphs(), small_chips())
def test_a_second_plan_is_the_same(sem: GraphSemantics, chip: Hardware) -> None:
    first, second = (plan_of(sem, "graphturbo", chip) for _ in range(2))
    assert first.kernels == second.kernels
    assert first.decisions == second.decisions


BATCHES = {"resnet50-slim": 3, "mobilenet-v2": 4, "densenet-121": 2, "teaching-resnet": 5}


@pytest.mark.parametrize(
    ("model", "strategy", "profile"), paired(BATCHES, STRATEGIES, ["stcp920", "generic-4x4"])
)
def test_samples(model: str, strategy: str, profile: str) -> None:
    check_all(sample_plan(model, BATCHES[model], strategy, profile))
