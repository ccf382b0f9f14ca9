"""AStitch's partition on small graphs worked out by hand, and what holds for every graph."""

from __future__ import annotations

import pytest
from hypothesis import given

from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.baselines.stitch import (
    MAX_STITCHED_OPS,
    StitchedKernel,
    is_compute_intensive,
    stitched_kernels,
)
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import sample_semantics, weighted

MAP = "float[1,4,8,8]"
W = "float[4,4,1,1] w"


def kernels(body: str, inputs: str = "", outputs: str = f"{MAP} z") -> list[str]:
    """Each kernel's ops with spaces, its regions with bars."""
    text = f"g ({MAP} x, {W}{inputs}) => ({outputs}) {{ {body} }}"
    return [told(kernel) for kernel in stitched_kernels(weighted(text))]


def told(kernel: StitchedKernel) -> str:
    return " | ".join(" ".join(region) for region in kernel.regions)


def test_a_convolution_takes_no_epilogue() -> None:
    """TVM runs all three as one kernel; here bias and relu are one of their own."""
    found = kernels("c = Conv(x, w) a = Add(c, vb) z = Relu(a)", ", float[1,4,1,1] vb")
    assert found == ["c", "a z"]


def test_what_lies_before_and_after_a_product_is_apart() -> None:
    """A residual block: `a` is read by the sum, which needs it through a convolution besides."""
    found = kernels("c0 = Conv(x, w) a = Relu(c0) c1 = Conv(a, w) s = Add(c1, a) z = Relu(s)")
    assert found == ["c0", "a", "c1", "s z"]


def test_independent_branches_are_packed() -> None:
    found = kernels("""c0 = Conv(x, w) a = Relu(c0) c1 = Conv(x, w) b = Sigmoid(c1)
        d0 = Conv(a, w) d1 = Conv(b, w) z = Add(d0, d1)""")
    assert found == ["c0", "c1", "a | b", "d0", "d1", "z"]


def test_a_packing_that_would_close_a_cycle_is_not_done() -> None:
    """Of two chains the first region of one and the second of the other, and the reverse of it,
    need nothing of each other, but either kernel would then need the other one."""
    found = kernels(
        """a0 = Conv(x, w) a1 = Relu(a0) b0 = Conv(x, w) b1 = Relu(b0)
        a2 = Conv(a1, w) a3 = Relu(a2) b2 = Conv(b1, w) b3 = Relu(b2) z = Conv(a3, w)
        y = Conv(b3, w)""",
        outputs=f"{MAP} z, {MAP} y",
    )
    assert found == ["a0", "b0", "a1 | b1", "a2", "b2", "a3 | b3", "z", "y"]


def test_what_only_later_ops_need_is_stitched_to_the_first_of_them() -> None:
    """The mask is ready from the start; both sums read it, the second one through the first."""
    found = kernels(
        "m = Sigmoid(y) c0 = Conv(x, w) s0 = Add(c0, m) c1 = Conv(s0, w) z = Add(c1, m)",
        f", {MAP} y",
    )
    assert found == ["c0", "m s0", "c1", "z"]


def test_what_sinks_joins_all_of_its_first_readers() -> None:
    """`m` is read in two regions of one level: the three are one region then."""
    found = kernels(
        """m = Sigmoid(y) c0 = Conv(x, w) s0 = Add(c0, m) c1 = Conv(x, w) s1 = Add(c1, m)
        z = Conv(s0, w) u = Conv(s1, w)""",
        f", {MAP} y",
        f"{MAP} z, {MAP} u",
    )
    assert found == ["c0", "c1", "m s0 s1", "z", "u"]


def test_what_a_product_reads_first_stays_before_it() -> None:
    """`m` sunk to the sum would run after the convolution that needs it."""
    found = kernels("m = Sigmoid(x) c0 = Conv(m, w) c1 = Conv(c0, w) z = Add(c1, m)")
    assert found == ["m", "c0", "c1", "z"]


def test_a_pooling_and_a_normalisation_are_stitched() -> None:
    """They multiply nothing: one reduces windows, the other a row."""
    found = kernels(
        """c = Conv(x, w) r = Relu(c)
        p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (r) z = Softmax <axis = 3> (p)"""
    )
    assert found == ["c", "r p z"]


def test_lookups_and_ops_of_several_results_are_stitched() -> None:
    text = """g (int64[4] i, float[100,8] w) => (float[4,4] z) {
        e = Gather(w, i) p, q = Split <axis = 1, num_outputs = 2> (e) z = Add(p, q) }"""
    assert [told(k) for k in stitched_kernels(weighted(text))] == ["e p z"]


def test_opaque_ops_and_recurrent_cells_are_kernels_of_their_own() -> None:
    text = """g (float[3,1,8] x, float[1,32,8] w, float[1,32,8] v) => (float[3,1,1,8] z) {
        a = Relu(x) y = LSTM <hidden_size = 8> (a, w, v) z = Relu(y) }"""
    assert [told(k) for k in stitched_kernels(weighted(text))] == ["a", "y", "z"]
    text = f"""g ({MAP} x) => ({MAP} b, {MAP} z) {{
        a = Relu(x) b = graphturbo.Unknown(a) z = Relu(b) }}"""
    assert [told(k) for k in stitched_kernels(weighted(text))] == ["a", "b", "z"]


def test_a_kernel_has_as_many_ops_as_tvm_fuses() -> None:
    """300 in a chain are 256 and 44; three chains of 100 at one level are two and one."""
    chain = " ".join(f"y{i} = Exp({f'y{i - 1}' if i else 'x'})" for i in range(300))
    text = f"g (float[8] x) => (float[8] y299) {{ {chain} }}"
    assert [len(k.ops) for k in stitched_kernels(weighted(text))] == [MAX_STITCHED_OPS, 44]
    three = " ".join(
        f"{name}{i} = Exp({f'{name}{i - 1}' if i else 'x'})" for name in "abc" for i in range(100)
    )
    text = f"g (float[8] x) => (float[8] a99, float[8] b99, float[8] c99) {{ {three} }}"
    found = stitched_kernels(weighted(text))
    assert [[len(region) for region in k.regions] for k in found] == [[100, 100], [100]]


def check_partition(sem: GraphSemantics) -> None:
    """Every op once; products alone; kernels in order; regions connected and as large as may be."""
    graph = sem.graph
    found = stitched_kernels(sem)
    assert sorted(op for k in found for op in k.ops) == sorted(op.name for op in graph.ops)
    place = {op: number for number, kernel in enumerate(found) for op in kernel.ops}
    for op in graph.ops:
        for tensor in graph.activations_in(op):
            if tensor in graph.producer:
                assert place[graph.producer[tensor].name] <= place[op.name]
    for kernel in found:
        is_compute = [is_compute_intensive(sem.by_op[op]) for op in kernel.ops]
        assert is_compute == [True] if kernel.is_boundary else not any(is_compute)
        for region in kernel.regions:
            check_connected(sem, region)
            check_not_merged_further(sem, region)


def readers_of(sem: GraphSemantics, op: str) -> set[str]:
    graph = sem.graph
    return {
        reader.name
        for tensor in graph.op_by_name[op].outputs
        for reader in graph.consumers.get(tensor, ())
        if tensor in graph.activations_in(reader)
    }


def check_connected(sem: GraphSemantics, region: tuple[str, ...]) -> None:
    inside, linked = set(region), {region[0]}
    edges = [(op, reader) for op in region for reader in readers_of(sem, op) & inside]
    while len(linked) < len(inside):
        more = {op for edge in edges if linked & set(edge) for op in edge} - linked
        assert more, region
        linked |= more


def check_not_merged_further(sem: GraphSemantics, region: tuple[str, ...]) -> None:
    """What a region hands on, a product reads among others, or nobody else does."""
    if is_compute_intensive(sem.by_op[region[0]]):
        return
    readers = {reader for op in region for reader in readers_of(sem, op)} - set(region)
    assert not readers or any(is_compute_intensive(sem.by_op[reader]) for reader in readers)


@given(random_graphs())
def test_any_graph(sem: GraphSemantics) -> None:
    check_partition(sem)


@pytest.mark.parametrize(
    ("model", "batch"), [("densenet-121", 2), ("mobilenet-v2", 2), ("dlrm", 4), ("conformer", 1)]
)
def test_samples(model: str, batch: int) -> None:
    check_partition(sample_semantics(model, batch))
