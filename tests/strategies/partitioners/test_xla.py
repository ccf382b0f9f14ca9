"""XLA's fusion on small graphs worked out by hand, and what holds for every graph."""

from __future__ import annotations

from hypothesis import given

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM, SOFTMAX
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners import xla_fusion
from graphturbo_core.strategies.partitioners.op_kernels import (
    MAX_KERNEL_OPS,
    RULE_MODEL_RESULT,
    in_legal_order,
)
from graphturbo_core.strategies.partitioners.xla import Xla
from graphturbo_core.strategies.partitioners.xla_fusion import fused_kernels
from graphturbo_core.strategies.partitioners.xla_rules import MOST_REPEATS
from tests.semantics.random_graphs import random_graphs
from tests.strategies.partitioners.xla_graphs import MAP, kernels, reasons


def test_a_product_is_a_call_of_a_library() -> None:
    """Neither is its producer fused into it, nor it into its reader."""
    body = "a = Relu(x) c = Conv(a, w) z = Relu(c)"
    assert kernels(body) == ["a", "c", "z"]
    assert set(reasons(body)) == {
        ("c z", xla_fusion.RULE_LIBRARY), ("a c", xla_fusion.RULE_LIBRARY),
    }  # fmt: skip


def test_a_chain_of_loops_is_one_fusion() -> None:
    body = "a = Relu(x) t = Transpose<perm = [0,1,3,2]>(a) e = Exp(t) z = Neg(e)"
    assert kernels(body) == ["a t e z"]
    assert {rule for _, rule in reasons(body)} == {xla_fusion.RULE_FUSED}


def test_a_reduction_is_fused_with_what_it_reads_and_what_reads_it() -> None:
    """The reader needs each sum once: no element is repeated."""
    found = kernels(
        "a = Relu(x) r = ReduceSum<keepdims = 0>(a, axes) z = Neg(r)",
        ", int64[1] axes = {3}", "float[1,4,8] z",
    )  # fmt: skip
    assert found == ["a r z"]


def test_a_cheap_op_is_computed_in_each_reader() -> None:
    """`y` and `z` differ in shape, so that they cannot be one kernel with two results."""
    body = "a = Neg(x) z = Relu(a) y = Concat<axis = 1>(a, a)"
    outputs = f"{MAP} z, float[1,8,8,8] y"
    assert kernels(body, outputs=outputs) == ["a z", "a y"]
    assert reasons(body, outputs=outputs) == [
        ("a y", xla_fusion.RULE_REPEATED), ("a z", xla_fusion.RULE_LAST),
    ]  # fmt: skip
    assert kernels(body, outputs=outputs, repeat=False, several=False) == ["a", "z", "y"]
    assert kernels(body, outputs=outputs, repeat=False) == ["a z", "y"]


def test_an_expensive_op_is_not_computed_again() -> None:
    body = "a = Exp(x) z = Relu(a) y = Concat<axis = 1>(a, a)"
    outputs = f"{MAP} z, float[1,8,8,8] y"
    assert ("a y", xla_fusion.RULE_SEVERAL) in reasons(body, outputs=outputs)
    assert kernels(body, outputs=outputs, several=False) == ["a", "z", "y"]


def test_a_cheap_chain_onto_an_expensive_op_is_not_either() -> None:
    """The fusion `e a` is the producer: it has an exponential inside."""
    body = "e = Exp(x) a = Neg(e) z = Relu(a) y = Concat<axis = 1>(a, a)"
    outputs = f"{MAP} z, float[1,8,8,8] y"
    assert kernels(body, outputs=outputs, several=False) == ["e a", "z", "y"]


def test_a_sum_that_a_product_needs_too_is_not_computed_again() -> None:
    """Its operands are twice its result, and the convolution cannot compute it."""
    body = "s = Add(x, v) c = Conv(s, w) z = Add(c, s)"
    inputs = f", {MAP} v"
    assert ("s z", xla_fusion.RULE_GROWS) in reasons(body, inputs)
    assert kernels(body, inputs) == ["s", "c", "z"]
    # With one operand, and with an operand that is a scalar, nothing grows.
    assert kernels("s = Neg(x) c = Conv(s, w) z = Add(c, s)") == ["s", "c", "s z"]
    assert kernels("s = Add(x, vb) c = Conv(s, w) z = Add(c, s)", ", float[1] vb") == [
        "s", "c", "s z",
    ]  # fmt: skip


def test_a_sum_that_all_readers_can_compute_is_computed_again() -> None:
    body = "s = Add(x, v) z = Relu(s) y = Concat<axis = 1>(s, s)"
    assert kernels(body, f", {MAP} v", f"{MAP} z, float[1,8,8,8] y") == ["s z", "s y"]


def test_a_result_of_the_model_is_not_fused() -> None:
    body = "a = Neg(x) z = Relu(a)"
    assert kernels(body, outputs=f"{MAP} z, {MAP} a", several=False) == ["a", "z"]
    assert reasons(body, outputs=f"{MAP} z, {MAP} a", several=False) == [("a z", RULE_MODEL_RESULT)]


def test_a_broadcast_is_computed_again_and_the_division_before_it_is_not() -> None:
    """The division has one reader, but that repeats its elements."""
    body = "d = Div(x, v) b = Expand(d, shape) z = Relu(b) y = Concat<axis = 1>(b, b)"
    inputs = f", {MAP} v, int64[4] shape = {{2,4,8,8}}"
    outputs = "float[2,4,8,8] z, float[2,8,8,8] y"
    assert ("d b", xla_fusion.RULE_REREAD) in reasons(body, inputs, outputs)
    assert kernels(body, inputs, outputs) == ["d", "b z", "b y"]


def test_a_conversion_has_one_operand_and_never_grows() -> None:
    """From 8 bytes to 2: more is read than written, and the convolution cannot compute it."""
    body = "a = Cast<to = 1>(q) c = Conv(a, w) z = Add(c, a)"
    assert kernels(body, ", int64[1,4,8,8] q") == ["a", "c", "a z"]


def test_a_sum_of_a_row_and_a_column_does_not_grow() -> None:
    """Two operands of 32 elements, a result of 256."""
    body = "s = Add(p, q) c = Conv(s, w) z = Add(c, s)"
    assert kernels(body, ", float[1,4,8,1] p, float[1,4,1,8] q") == ["s", "c", "s z"]


def test_a_lookup_is_not_computed_again() -> None:
    body = "a = Gather<axis = 3>(x, i) z = Relu(a) y = Concat<axis = 1>(a, a)"
    inputs, outputs = ", int64[8] i", f"{MAP} z, float[1,8,8,8] y"
    assert ("a y", xla_fusion.RULE_SEVERAL) in reasons(body, inputs, outputs)


def test_a_fusion_has_so_many_ops() -> None:
    chain = " ".join(f"a{n + 1} = Neg(a{n})" for n in range(298))
    found = [len(each.split()) for each in kernels(f"a0 = Neg(x) {chain} z = Neg(a298)")]
    assert found == [300 - MAX_KERNEL_OPS, MAX_KERNEL_OPS]


def test_a_reader_that_slides_repeats_what_it_reads() -> None:
    """A pooling of stride 2 and kernel 3 reads elements up to four times; of kernel 2 once."""
    pool = "z = MaxPool<kernel_shape = [{0},{0}], strides = [2,2]>(e)"
    outputs = "float[1,4,{0},{0}] z"
    three, two = f"e = Exp(x) {pool.format(3)}", f"e = Exp(x) {pool.format(2)}"
    assert reasons(three, outputs=outputs.format(3)) == [("e z", xla_fusion.RULE_REREAD)]
    assert kernels(two, outputs=outputs.format(4)) == ["e z"]
    assert kernels(three.replace("Exp", "Neg"), outputs=outputs.format(3)) == ["e z"]


def test_a_reduction_of_many_elements_is_not_repeated() -> None:
    """Sums of 8 elements are refused as expensive, of 64 as heavy; neither, where read once."""
    body = "r = ReduceSum(x, axes) z = Add(x, r)"
    short, long = (", int64[1] axes = {3}", ", int64[2] axes = {2,3}")
    assert ("r z", xla_fusion.RULE_HEAVY) in reasons(body, long)
    assert ("r z", xla_fusion.RULE_REREAD) in reasons(body, short)
    assert MOST_REPEATS == 10
    assert kernels("r = ReduceSum(x, axes) z = Neg(r)", long, "float[1,4,1,1] z") == ["r z"]


def test_a_repeat_is_seen_through_a_fusion() -> None:
    """`n` reads each sum once, but the fusion that it is in repeats `n`."""
    body = "r = ReduceSum(x, axes) n = Neg(r) z = Add(x, n)"
    assert kernels(body, ", int64[2] axes = {2,3}", several=False) == ["r", "n z"]


def test_siblings_with_loops_of_one_shape_are_one_kernel() -> None:
    """An expensive producer, and a reduction's loops are those of what it reads."""
    body = "e = Exp(x) y = Relu(e) r = ReduceSum(e, axes) c = Concat<axis = 1>(e, e)"
    inputs = ", int64[2] axes = {2,3}"
    outputs = f"{MAP} y, float[1,4,1,1] r, float[1,8,8,8] c"
    assert kernels(body, inputs, outputs, several=False) == ["e", "y", "r", "c"]
    assert kernels(body, inputs, outputs) == ["e y r", "c"]
    assert [rule for _, rule in reasons(body, inputs, outputs)][-2:] == [
        xla_fusion.RULE_SIBLINGS, xla_fusion.RULE_WITH_READER,
    ]  # fmt: skip


def test_softmax_is_three_kernels() -> None:
    """The maximum; the exponentials with their sum, which both read; the division."""
    body = """m = ReduceMax<axes = [3]>(x) d = Sub(x, m) e = Exp(d)
        s = ReduceSum(e, axes) z = Div(e, s)"""
    assert kernels(body, ", int64[1] axes = {3}") == ["m", "d e s", "z"]
    assert Xla().import_passes == (LAYER_NORM, SOFTMAX)


def test_what_would_close_a_cycle_is_not_one_kernel() -> None:
    """`y` and `z` read `e` in loops of one shape, but `z` needs `y` through the convolution."""
    body = "e = Exp(x) y = Relu(e) c = Conv(y, w) z = Mul(e, c)"
    assert kernels(body) == ["e y", "c", "z"]


def test_a_fusion_has_so_many_operands_and_results() -> None:
    many = ", ".join(f"{MAP} v{n}" for n in range(120))
    sums = " ".join(f"s{n + 1} = Add(s{n}, v{n})" for n in range(120))
    found = [each.split() for each in kernels(f"s0 = Relu(x) {sums} z = Neg(s120)", f", {many}")]
    assert len(found) == 2
    assert sum(map(len, found)) == 122
    rules = [rule for _, rule in reasons(f"s0 = Relu(x) {sums} z = Neg(s120)", f", {many}")]
    assert rules.count(xla_fusion.RULE_BUDGET) == 1
    last = found[-1]
    assert 1 + 1 + sum(op.startswith("s") for op in last) == xla_fusion.MOST_TENSORS


def test_a_fusion_has_so_many_reductions() -> None:
    parts = " ".join(f"r{n} = ReduceSum(x, axes)" for n in range(9))
    sums = " ".join(f"s{n} = Add(s{n - 1}, r{n})" for n in range(1, 9))
    body = f"{parts} s0 = Neg(r0) {sums} z = Neg(s8)"
    inputs, outputs = ", int64[1] axes = {3}", "float[1,4,8,1] z"
    assert xla_fusion.RULE_REDUCTIONS in {rule for _, rule in reasons(body, inputs, outputs)}
    fewer = body.replace("Add(s7, r8)", "Neg(s7)").replace("r8 = ReduceSum(x, axes) ", "")
    assert kernels(fewer.replace("r8", ""), inputs, outputs) == [
        "r0 r1 r2 r3 r4 r5 r6 r7 s0 s1 s2 s3 s4 s5 s6 s7 s8 z"
    ]


def test_a_scatter_is_read_but_not_fused_into_its_reader() -> None:
    body = "a = Neg(x) s = ScatterElements<axis = 3>(a, i, u) z = Relu(s)"
    inputs = ", int64[1,4,8,1] i, float[1,4,8,1] u"
    found = reasons(body, inputs)
    assert ("s z", xla_fusion.RULE_KIND) in found
    assert kernels(body, inputs) == ["a s", "z"]


def test_a_sort_is_a_call_of_a_library() -> None:
    body = "a = Neg(x) t, i = TopK(a, k) z = Relu(t)"
    outputs = "float[1,4,8,2] z, int64[1,4,8,2] i"
    assert kernels(body, ", int64[1] k = {2}", outputs) == ["a", "t", "z"]


def test_a_reduction_with_two_results_is_not_fused_into_its_reader() -> None:
    pool = "p, i = MaxPool<kernel_shape = [2,2], strides = [2,2]>(a)"
    outputs = "float[1,4,4,4] z, int64[1,4,4,4] i"
    found = reasons(f"a = Neg(x) {pool} z = Relu(p)", outputs=outputs)
    assert ("p z", xla_fusion.RULE_KIND) in found
    assert ("a p", xla_fusion.RULE_FUSED) in found


@given(random_graphs())
def test_every_op_runs_and_kernels_have_a_legal_order(sem: GraphSemantics) -> None:
    """A kernel reads tensors of earlier kernels alone; a tensor leaves one kernel."""
    found = fused_kernels(sem, "fp16")
    made: set[str] = set(sem.graph.inputs)
    ran: set[str] = set()
    for ops, handed in in_legal_order(sem.graph, found.kernels):
        own = {tensor for op in ops for tensor in sem.graph.op_by_name[op].outputs}
        for op in ops:
            read = sem.graph.activations_in(sem.graph.op_by_name[op])
            assert set(read) <= made | own
        assert made.isdisjoint(handed)
        made |= set(handed)
        ran |= set(ops)
    assert ran == {op.name for op in sem.graph.ops}
    assert sem.graph.output_names <= made
