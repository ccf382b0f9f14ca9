"""AStitch's plans on small graphs: who divides, how values pass, and that it computes the model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphturbo_core.ir.boxes import full_box
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Binding, Plan, Scope
from graphturbo_core.semantics.nests import loop_nests
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.baselines.stitch_binding import (
    Dominance,
    StitchBinder,
    dominants,
    hand_on,
    is_combining,
    reads_own,
)
from graphturbo_core.strategies.baselines.stitch_schemes import (
    PACK_STEP,
    RULE_BOUNDARY,
    RULE_GLOBAL,
    RULE_LOCAL,
    RULE_ONE_TO_MANY,
    RULE_OUT_OF_NEST,
    RULE_REGION,
    SCHEME_STEP,
    STITCH_STEP,
)
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plan_files.edits import EditedCuts, Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.full import paired
from tests.models import model_bytes
from tests.soundness import check_right
from tests.strategies.samples import hardware, plan_of, weighted
from tests.verify.small_samples import BATCH, SMALL

CORES = tuple(range(8))
SOFTMAX = """{
    s = MatMul(x, y)
    m = ReduceMax <axes = [2]> (s)
    d = Sub(s, m)
    e = Exp(d)
    t = ReduceSum (e, v)
    p = Div(e, t)
    z = MatMul(p, x) }"""


def softmax(rows: int, columns: int) -> GraphSemantics:
    """A softmax of one sample's rows, written out between two products."""
    shapes = f"float[1,{rows},{columns}] x, float[1,{columns},{columns}] y"
    sem = weighted(
        f"g ({shapes}, float[1,{columns},{columns}] u) => (float[1,{rows},{columns}] z) "
        "<int64[1] v = {2}>" + SOFTMAX.replace("(p, x)", "(p, u)")
    )
    return sem


def astitch(sem: GraphSemantics, **chip: int) -> Plan:
    return plan_of(sem, "astitch", replace(hardware(), **chip))


def schemes(plan: Plan) -> dict[str, str]:
    """The scheme of each tensor that waits between loop nests, and of each loop nest's ops."""
    return {
        " ".join(decision.subject): decision.rule
        for decision in plan.decisions
        if decision.step == SCHEME_STEP
    }


def test_a_softmax_is_one_kernel_of_regional_schemes() -> None:
    """64 rows on 8 cores: each core has 8 whole rows, so nothing passes between cores."""
    plan = astitch(softmax(64, 32))
    assert [kernel.ops for kernel in plan.kernels] == [("s",), ("m", "d", "e", "t", "p"), ("z",)]
    stitched = plan.kernels[1]
    assert set(stitched.bindings.values()) == {Binding((1,), (8,), CORES)}
    assert stitched.scopes == {"m": Scope.LB, "e": Scope.LB, "t": Scope.LB, "p": Scope.DRAM}
    assert schemes(plan) == {
        "m": RULE_ONE_TO_MANY,  # broadcast along the row
        "d e": RULE_LOCAL,  # the difference is never stored
        "e": RULE_ONE_TO_MANY,  # summed, and divided
        "t": RULE_ONE_TO_MANY,
    }
    assert plan.kernels[0].scopes == {"s": Scope.DRAM}


def test_one_big_row_is_divided_and_passes_through_gb() -> None:
    """2 rows of 4,096: the sum runs on 2 cores, the elementwise ops on 8, 4 to a row."""
    plan = astitch(softmax(2, 4096))
    stitched = plan.kernels[1]
    rows, parts = Binding((1,), (2,), (0, 4)), Binding((1, 2), (2, 4), CORES)
    assert stitched.bindings == {"m": rows, "t": rows, "d": parts, "e": parts, "p": parts}
    assert {stitched.scopes[tensor] for tensor in ("m", "e", "t")} == {Scope.GB}
    assert {rule for rule in schemes(plan).values()} == {RULE_LOCAL, RULE_GLOBAL}
    without_gb = astitch(softmax(2, 4096), gb_bytes=0)
    assert {without_gb.kernels[1].scopes[tensor] for tensor in ("m", "e", "t")} == {Scope.DRAM}


LAYER_NORM = """g (float[1,64,32] x, float[32,32] w, float[32] v1, float[32] v2, float[32,32] w2)
    => (float[1,64,32] z) <int64[1] v = {2}, float v3 = {0.001}> {
    s = MatMul(x, w)
    m = ReduceMean (s, v)
    d = Sub(s, m)
    q = Mul(d, d)
    n = ReduceMean (q, v)
    a = Add(n, v3)
    r = Sqrt(a)
    h = Div(d, r)
    g1 = Mul(h, v1)
    g2 = Add(g1, v2)
    z = MatMul(g2, w2) }"""


def test_a_layer_norm_is_one_kernel() -> None:
    """Rows on cores; what a row comes to (mean, variance, root) stays with its row."""
    plan = astitch(weighted(LAYER_NORM))
    stitched = ("m", "d", "q", "n", "a", "r", "h", "g1", "g2")
    assert [kernel.ops for kernel in plan.kernels] == [("s",), stitched, ("z",)]
    assert set(plan.kernels[1].bindings.values()) == {Binding((1,), (8,), CORES)}
    found = schemes(plan)
    assert found["m"] == found["r"] == RULE_ONE_TO_MANY
    assert found["n"] == RULE_OUT_OF_NEST
    assert found["h g1 g2"] == found["a r"] == RULE_LOCAL
    assert RULE_GLOBAL not in found.values()
    region = next(d for d in plan.decisions if d.rule == RULE_REGION)
    assert region.subject == ("g2", *stitched)
    assert region.numbers == {
        "ops": 9, "dominant": "n", "as": "reduction", "division": "axis 1 in 8",
    }  # fmt: skip


def test_decisions_name_products_and_packs() -> None:
    shape, weight = "float[1,8,16,16]", "float[8,8,1,1] w"
    plan = astitch(
        weighted(
            f"""g ({shape} x, {weight}) => ({shape} a, {shape} b) {{
            c = Conv(x, w) a = Relu(c) d = Conv(x, w) b = Sigmoid(d) }}"""
        )
    )
    assert [kernel.ops for kernel in plan.kernels] == [("c",), ("d",), ("a", "b")]
    told = [(d.step, d.rule, d.subject, d.is_taken) for d in plan.decisions]
    assert told[:2] == [
        (STITCH_STEP, RULE_BOUNDARY, ("g1", "c"), False),
        (STITCH_STEP, RULE_BOUNDARY, ("g2", "d"), False),
    ]
    assert [(step, subject) for step, _, subject, _ in told[2:]] == [
        (STITCH_STEP, ("g3", "a")), (STITCH_STEP, ("g3", "b")), (PACK_STEP, ("g3", "a", "b")),
    ]  # fmt: skip


def nests_of(text: str) -> tuple[GraphSemantics, list[Any]]:
    sem = weighted(text)
    layers = relay_layers(sem)
    return sem, [n for layer in layers for n in loop_nests(sem, layer.ops, lambda _: False)]


DOMINANTS = """g (float[64,1] x, float[64,128] y) => (float[64,128] z, float[64,1] t)
    <int64[1] v = {1}> {
    e = Exp(x)
    z = Mul(y, e)
    t = ReduceSum (z, v) }"""


def test_reductions_divide_first_then_what_is_dear_and_broadcast_then_results() -> None:
    sem, nests = nests_of(DOMINANTS)
    found = [(nests[d.place].output, d.dominance, d.elements) for d in dominants(sem, nests)]
    assert found == [
        ("t", Dominance.REDUCTION, 64 * 128),
        ("e", Dominance.EXPENSIVE, 64),
        ("z", Dominance.OUTPUT, 64 * 128),
    ]


def test_the_largest_reduction_divides_first() -> None:
    sem, nests = nests_of("""g (float[8,16] x, float[8,32] y) => (float[8,1] a, float[8,1] b)
        <int64[1] v = {1}> { a = ReduceSum(x, v) b = ReduceSum(y, v) }""")
    assert [nests[d.place].output for d in dominants(sem, nests)] == ["b", "a"]


def test_others_follow_the_dominant_op() -> None:
    """A sum over the first axis lies by columns: the cheap ops before and after it do too, though
    alone they would be cut by rows."""
    text = """g (float[16,32] x) => (float[16,32] z) <int64[1] v = {0}> {
        r = Relu(x) t = ReduceSum (r, v) n = Neg(t) z = Add(r, n) }"""
    plan = astitch(weighted(text))
    (kernel,) = plan.kernels
    assert set(kernel.bindings.values()) == {Binding((1,), (8,), CORES)}
    assert kernel.scopes["r"] is kernel.scopes["n"] is Scope.LB
    tvm = plan_of(weighted(text), "tvm", hardware())
    assert tvm.kernels[0].bindings["r"] == Binding((0,), (8,), CORES)


def test_a_binding_is_handed_on_where_its_axes_go_on() -> None:
    sem, nests = nests_of("""g (float[16,32] x) => (float[32,16] a, float[16,1] b)
        <int64[1] v = {1}> { r = Relu(x) a = Transpose <perm = [1,0]> (r) b = ReduceSum(r, v) }""")
    by_output = {nest.output: nest for nest in nests}
    rows, columns = Binding((0,), (8,), CORES), Binding((1,), (8,), CORES)
    assert hand_on(sem, by_output["a"], rows, "r") == columns
    assert hand_on(sem, by_output["b"], rows, "r") == rows
    assert hand_on(sem, by_output["b"], columns, "r") is None  # that axis is reduced


HALF = """g (float[16,8] x) => (float[8,8] h, float[16,8] a)
    <int64[1] v1 = {0}, int64[1] v2 = {8}> {
    t = Sigmoid(x) r = Relu(t) h = Slice(r, v1, v2, v1) a = Neg(t) }"""


def test_a_core_reads_its_own_part_only_where_extents_agree() -> None:
    """Of `r` only 8 rows are needed, one a core; core 1 then needs a row of core 0's two of `t`."""
    sem, nests = nests_of(HALF)
    reader = next(nest for nest in nests if nest.ops[0] == "r")
    rows = Binding((0,), (8,), CORES)
    boxes = {name: full_box(tensor.shape) for name, tensor in sem.graph.tensors.items()}
    bindings = dict.fromkeys(("t", "r", "h", "a"), rows)
    assert reads_own(sem, reader, "t", (bindings, boxes))
    narrow = {**boxes, reader.output: ((0, 8), (0, 8))}
    assert not reads_own(sem, reader, "t", (bindings, narrow))


def test_a_window_reads_its_neighbours_rows() -> None:
    sem, nests = nests_of("""g (float[1,4,16,16] x) => (float[1,4,16,16] p) {
        r = Relu(x) p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (r) }""")
    boxes = {name: full_box(tensor.shape) for name, tensor in sem.graph.tensors.items()}
    rows, channels = Binding((2,), (8,), CORES), Binding((1,), (4,), CORES[:4])
    assert not reads_own(sem, nests[1], "r", ({"r": rows, "p": rows}, boxes))
    assert reads_own(sem, nests[1], "r", ({"r": channels, "p": channels}, boxes))


def test_one_nest_alone_is_bound_as_ever() -> None:
    """A core fewer than its four channels need rows: Algorithm 4's plain binding."""
    text = "g (float[2,4,16,16] x, float[4,4,3,3] w) => (float[2,4,14,14] z) { z = Conv(x, w) }"
    sem = weighted(text)
    assert astitch(sem).kernels[0].bindings == plan_of(sem, "tvm", hardware()).kernels[0].bindings


def edited(sem: GraphSemantics, edits: Edits) -> Plan:
    task = PlanTask(sem, hardware(), "fp16", {}, PinnedPlan(None, edits))
    plan = plan_for(parse_strategy("astitch"), task)
    simulate(lower(plan)).check()
    return plan


def test_edits_of_a_stitched_kernel_are_followed() -> None:
    """A scope of an inner tensor; and a binding, which the others follow: two cores to its rows."""
    sem = softmax(64, 32)
    assert edited(sem, Edits(scope={"e": Scope.GB})).kernels[1].scopes["e"] is Scope.GB
    plan = edited(sem, Edits(binding={"t": EditedCuts((1,), (4,))}))
    assert plan.kernels[1].bindings["t"] == Binding((1,), (4,), (0, 2, 4, 6))
    assert plan.kernels[1].bindings["e"] == Binding((1, 2), (4, 2), CORES)
    assert schemes(plan)["e"] == schemes(plan)["t"] == RULE_GLOBAL


def test_the_binder_keeps_its_choices() -> None:
    """A subclass of Algorithm 4's binder, with the same open choices."""
    binder = StitchBinder(4, is_strict=True)
    assert (binder.cores, binder.is_strict) == (4, True)


def test_reasons_of_groups() -> None:
    text = """g (float[1,8,16,16] x, float[8,8,1,1] w) => (float[1,8,16,16] z) {
        c = Conv(x, w) a = Relu(c) z = Sigmoid(a) }"""
    report = run_report(model_bytes(text), RunRequest("m", "astitch"))
    product, region = report.tables["groups"]
    assert product["why"] == RULE_BOUNDARY
    assert (
        region["why"]
        == f"{RULE_REGION} (ops 2, dominant Sigmoid_2, as output, division axis 1 in 8)"
    )
    assert str(region["why_not"]) == "astitch stitches nothing to or across a compute-intensive op"


@pytest.mark.parametrize(
    ("name", "chip"), paired(["bert-base", "densenet-121", "dlrm"], ["stcp920", "generic-4x4"])
)
def test_it_computes_the_model(name: str, chip: str) -> None:
    model = SMALL[name]().SerializeToString(deterministic=True)
    check_right(run_report(model, RunRequest(name, "astitch", chip, BATCH, verify=True)))


@pytest.mark.parametrize("gb_bytes", [0, 65_536])
@pytest.mark.parametrize(("rows", "columns"), [(64, 32), (2, 512)])
def test_both_ways_of_a_softmax_are_sound(rows: int, columns: int, gb_bytes: int) -> None:
    """Invariants of Program and Trace; replay of such graphs is in the test of ops at size."""
    plan = astitch(softmax(rows, columns), gb_bytes=gb_bytes)
    simulate(lower(plan)).check()


@pytest.mark.parametrize(("columns", "combines"), [(1, False), (2, True), (3, True)])
def test_an_op_combines_from_two_elements_on(columns: int, combines: bool) -> None:
    text = f"g (float[4,{columns}] x) => (float[4,{columns}] y) {{ y = Softmax <axis = 1> (x) }}"
    sem = weighted(text)
    assert is_combining(sem, sem.graph.ops[0].name) == combines
