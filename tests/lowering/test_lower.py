"""Whole programs: computed once, read after written, stored, fetched once, within bounds."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Buffers, Cause, Memory, Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import total_macs
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.registry import parse_strategy
from tests.full import EVERY_DAY, examples, often, paired
from tests.lowering.counting import check_program
from tests.lowering.nets import (
    MODELS,
    STRATEGIES,
    analysed,
    chip,
    conv_net,
    conv_nets,
    plan_of,
    small_model,
)
from tests.strategies.plans import make_plan
from tests.strategies.samples import weighted

CHIPS = ("generic-4x4", "stcp920")


def same_bytes(one: Program | Buffers, other: Program | Buffers) -> bool:
    """Whether all arrays agree to the byte; a plan is the plan it came from."""
    return all(_is_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, Buffers) and isinstance(other, Buffers):
        return same_bytes(one, other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return one == other


@pytest.mark.parametrize(("model", "strategy", "name"), paired(MODELS, STRATEGIES, CHIPS))
def test_small_models(model: str, name: str, strategy: str) -> None:
    plan = plan_of(small_model(model), strategy, chip(name))
    program = lower(plan)
    check_program(simulate(program))
    assert same_bytes(program, lower(plan))
    _check_totals(plan, program)


def _check_totals(plan: Plan, program: Program) -> None:
    """Sums known from the graph: work without recompute, inputs and outputs at the DRAM port."""
    if all(group.pieces == 1 for group in plan.groups):
        assert program.macs.sum() == total_macs(plan.semantics)
    graph = plan.semantics.graph
    written = sum(graph.tensors[name].elements for name in graph.outputs) * 2
    is_output = (program.target == Memory.DRAM) & (program.cause == Cause.OUTPUT)
    assert program.size_bytes[is_output].sum() == written
    is_input = (program.source == Memory.DRAM) & (program.cause == Cause.INPUT)
    read = (program.size_bytes - program.halo_bytes)[is_input].sum()
    assert read <= sum(graph.tensors[name].elements for name in graph.inputs) * 2


@pytest.mark.parametrize("strategy", often(STRATEGIES, ("astitch", "graphturbo:lb")))
def test_a_pool_of_data_and_weights(strategy: str) -> None:
    plan = plan_of(small_model("teaching-resnet"), strategy, chip("stcp920-10mib"))
    check_program(simulate(lower(plan)))


@pytest.mark.parametrize("strategy", often(STRATEGIES, EVERY_DAY))
def test_a_chip_on_which_little_fits(strategy: str) -> None:
    plan = plan_of(small_model("resnet"), strategy, chip("tiny"))
    program = lower(plan)
    check_program(simulate(program))
    assert same_bytes(program, lower(plan))


@settings(max_examples=examples(60))
@given(
    conv_nets(),
    st.sampled_from(STRATEGIES),
    st.sampled_from(["tiny", "tiny", "generic-4x4", "stcp920", "stcp920-10mib"]),
)
def test_random_networks(sem: GraphSemantics, strategy: str, name: str) -> None:
    try:
        program = lower(plan_of(sem, strategy, chip(name)))
    except CapacityError:
        assert name == "tiny"
        return
    check_program(simulate(program))


@settings(max_examples=examples(12))
@given(
    conv_nets(),
    st.sampled_from(["graphturbo:order", "graphturbo:full"]),
    st.sampled_from([8192, 16384, 32768]),
    st.sampled_from([1.0, 0.75, 0.5]),
    st.integers(1, 4),
)
def test_what_the_strategy_thought_to_fit_spills(
    sem: GraphSemantics, strategy: str, split_bytes: int, left: float, cores: int
) -> None:
    """A plan in pieces made for more LB than there is: lowering must find another place."""
    roomy = replace(chip("tiny"), cores=cores, split_capacity_bytes=split_bytes, gb_bytes=65536)
    options = {"graphturbo.fit": "cluster"}
    plan = make_plan(parse_strategy(strategy), sem, roomy, "fp16", options)
    tight = replace(roomy, lb_data_bytes=int(roomy.lb_data_bytes * left))
    try:
        program = lower(replace(plan, hardware=tight))
    except CapacityError:
        return
    check_program(simulate(program))


SPECIAL = {
    "product with a batch of weights": (
        "g (float[6,64,64] x, float[6,64,80] w) => (float[6,64,80] y)"
        "{ t = MatMul (x, w) y = Relu (t) }"
    ),
    "partial sums of uneven rows": (
        "g (float[4,64,9,28] x, float[64,64,3,3] w) => (float[4,64,9,28] y)"
        "{ y = Conv <pads = [1,1,1,1]> (x, w) }"
    ),
    "streamed tensor read twice in a nest, K cut": (
        "g (float[4,64,48,48] x, float[64,64,3,3] w) => (float[4,64,48,48] y)"
        "{ c = Conv <pads = [1,1,1,1]> (x, w) y = Add (c, x) }"
    ),
    "two groups, each wider than a slot": (
        "g (float[4,128,8,8] x, float[128,64,3,3] w) => (float[4,128,8,8] y)"
        "{ y = Conv <pads = [1,1,1,1], group = 2> (x, w) }"
    ),
    "four narrow groups": (
        "g (float[4,32,8,8] x, float[64,8,3,3] w) => (float[4,64,8,8] y)"
        "{ y = Conv <pads = [1,1,1,1], group = 4> (x, w) }"
    ),
    "attention": (
        "g (float[2,16,64] x, float[64,64] wq, float[64,64] wk, float[64,64] wv)"
        "=> (float[2,16,64] y) { q = MatMul (x, wq) k = MatMul (x, wk) v = MatMul (x, wv)"
        "t = Transpose <perm = [0,2,1]> (k) s = MatMul (q, t) a = Softmax <axis = -1> (s)"
        "o = MatMul (a, v) y = Add (o, x) }"
    ),
    "one weight for two convolutions": (
        "g (float[4,8,8,8] x, float[8,8,3,3] w) => (float[4,8,8,8] y)"
        "{ a = Conv <pads = [1,1,1,1]> (x, w) b = Relu (a) y = Conv <pads = [1,1,1,1]> (b, w) }"
    ),
    "an output that is read again": (
        "g (float[4,8,8,8] x, float[8,8,3,3] w) => (float[4,8,8,8] y, float[4,8,8,8] z)"
        "{ y = Conv <pads = [1,1,1,1]> (x, w) b = Relu (y) z = Conv <pads = [1,1,1,1]> (b, w) }"
    ),
    "split": (
        "g (float[4,8,8,8] x, float[4,4,3,3] w) => (float[4,4,8,8] y)"
        "{ r = Relu (x) a, b = Split <axis = 1, num_outputs = 2> (r)"
        "c = Conv <pads = [1,1,1,1]> (a, w) d = Conv <pads = [1,1,1,1]> (b, w) y = Add (c, d) }"
    ),
    "long K": (
        "g (float[64,5000] x, float[5000,64] w, float[64] wb) => (float[64,64] y)"
        "{ y = Gemm (x, w, wb) }"
    ),
    "transposed convolution": (
        "g (float[4,16,8,8] x, float[16,8,3,3] w) => (float[4,8,15,15] y)"
        "{ y = ConvTranspose <pads = [1,1,1,1], strides = [2,2]> (x, w) }"
    ),
    "table": (
        "g (int64[4,8] x, float[500,64] w) => (float[4,8,64] y)"
        "{ e = Gather <axis = 0> (w, x) y = Relu (e) }"
    ),
    "normalisation": (
        "g (float[2,16,64] x, float[64] w, float[64] wb, float[64,256] v) => (float[2,16,256] y)"
        "{ n = LayerNormalization (x, w, wb) y = MatMul (n, v) }"
    ),
    "an input twice": "g (float[4,8,8,8] x) => (float[4,8,8,8] y) { y = Add (x, x) }",
}


@pytest.mark.parametrize(("case", "name"), paired(SPECIAL, CHIPS))
def test_special_cases(case: str, name: str) -> None:
    sem = weighted(SPECIAL[case])
    for strategy in ("layerwise", "graphturbo:lb", "graphturbo:order", "graphturbo:full"):
        check_program(simulate(lower(plan_of(sem, strategy, chip(name)))))


def test_pieces_along_channels_fetch_their_own_weights() -> None:
    """One wide convolution on little LB is split along its channels: each piece has weights of its
    own, though its code is a copy of the first piece's and its group holds weights in GB.
    """
    text = (
        "g (float[1,8,16,16] x, float[64,8,3,3] w) => (float[1,64,16,16] y)"
        "{ c = Conv <pads = [1,1,1,1]> (x, w) y = Relu (c) }"
    )
    small = replace(chip("tiny"), lb_data_bytes=16384, split_capacity_bytes=16384)
    for strategy in ("graphturbo:order", "graphturbo:full"):
        plan = plan_of(weighted(text), strategy, small)
        assert [(group.split_axis, group.pieces > 1) for group in plan.groups] == [(1, True)]
        check_program(simulate(lower(plan)))


def test_pieces_that_cut_a_weight_differently_fetch_no_element_first_twice() -> None:
    """One kernel takes the 3 x 24 x 3 x 3 weight in two cuts of K, a later one in one tile."""
    steps = [("concat", 16, 2), ("concat", 8, 0), ("concat", 16, 2), ("conv", 3, 4)]
    sem = analysed(conv_net([*steps, ("pool", 16, 1), ("pool", 8, 3)], 4, 28), 1)
    roomy = replace(chip("tiny"), cores=1, gb_bytes=131072)
    plan = plan_of(sem, "graphturbo:order", roomy)
    tight = replace(plan, hardware=replace(roomy, lb_data_bytes=4096))
    check_program(simulate(lower(tight)))
