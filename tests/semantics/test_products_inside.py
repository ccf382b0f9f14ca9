"""Products inside one op, axes at a ratio and sums that do not add up, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.semantics.access import AxisKind, AxisMap, InnerProduct, OpSemantics
from graphturbo_core.semantics.cost import compute_cycles, matrix_cycles, product_peaks
from graphturbo_core.semantics.work import total_macs, work_of
from tests.semantics.models import chip, semantics


def one(text: str, opset: int = 21) -> OpSemantics:
    sem = semantics(text, opset)
    return sem.by_op[sem.graph.ops[0].name]


LSTM = """g (float[5,3,2] x, float[{d},16,2] w, float[{d},16,4] r) => (float[5,{d},3,4] y,
    float[{d},3,4] h) {{ y, h = LSTM <hidden_size = 4{more}> (x, w, r) }}"""


def test_an_lstm_multiplies_gates_by_input_and_state() -> None:
    """5 steps, 3 samples: 16 gates by 2 inputs and 4 hidden elements; the last state is free."""
    text = LSTM.format(d=1, more="")
    assert total_macs(semantics(text, 21)) == 5 * 3 * 16 * (2 + 4)
    op = one(text)
    assert op.engine is EngineKind.MATRIX
    assert op.uncut_axes == {0, 3} | {1}
    whole = work_of(op, full_box((5, 1, 3, 4)))
    assert whole.products == ((5, 3, 16, 2), (5, 3, 16, 4))
    assert whole.transcendentals == 5 * 3 * 5 * 4
    assert work_of(op, full_box((1, 3, 4)), 1).macs == 0
    part = work_of(op, ((0, 5), (0, 1), (1, 3), (0, 4)))
    assert part.macs == 5 * 2 * 16 * (2 + 4)


def test_directions_are_products_of_their_own() -> None:
    op = one(LSTM.format(d=2, more=', direction = "bidirectional"'))
    assert op.uncut_axes == {0, 3}
    assert work_of(op, ((0, 5), (1, 2), (0, 3), (0, 4))).macs == 5 * 3 * 16 * (2 + 4)
    weight = next(read for read in op.accesses[0] if read.tensor == "w")
    assert weight.box(((0, 5), (1, 2), (0, 3), (0, 4))) == ((1, 2), (0, 16), (0, 2))


def test_an_lstm_of_bytes_stays_whole() -> None:
    """5 steps, 2 directions, 3 samples: 16 gates by 2 inputs and 4 hidden elements, in bytes."""
    op = one(
        """g (float[5,3,2] x, uint8[2,2,16] w, uint8[2,4,16] r, float[2] s, uint8[2] z)
        => (float[5,2,3,4] y, float[2,3,4] h) { y, h = com.microsoft.DynamicQuantizeLSTM
        <hidden_size = 4, direction = "bidirectional"> (x, w, r, , , , , , s, z, s, z) }"""
    )
    work = work_of(op, full_box((5, 2, 3, 4)))
    assert work.byte_products == ((10, 3, 16, 2), (10, 3, 16, 4))
    assert not work.products
    assert work.transcendentals == 10 * 3 * 5 * 4
    assert op.uncut_axes == {0, 1, 2, 3}
    assert work_of(op, full_box((2, 3, 4)), 1).macs == 0


ATTENTION = """g (float[2,6,4,8] q, float[2,3,7,8] k, float[2,3,7,5] v) => (float[2,6,4,5] y)
    { y = Attention(q, k, v) }"""


def test_attention_multiplies_by_keys_and_by_values() -> None:
    """Heads [1, 4) of six, which share three of the keys': 4 queries by 7 keys, of 8 and 5."""
    op = one(ATTENTION, 23)
    box = ((0, 1), (1, 4), (0, 4), (0, 5))
    query, key, value = (access.box(box) for access in op.accesses[0])
    assert query == ((0, 1), (1, 4), (0, 4), (0, 8))
    assert key == ((0, 1), (0, 2), (0, 7), (0, 8))
    assert value == ((0, 1), (0, 2), (0, 7), (0, 5))
    work = work_of(op, box)
    assert work.products == ((3, 4, 7, 8), (3, 4, 5, 7))
    assert work.macs == 3 * 4 * 7 * (8 + 5)
    assert work.transcendentals == 3 * 4 * 2 * 7


def test_packed_heads_follow_in_blocks() -> None:
    """Two heads of 4 elements: places [3, 6) touch both, and count both."""
    op = one(
        """g (float[1,3,8] q, float[1,5,8] k, float[1,5,8] v) => (float[1,3,8] y)
        { y = Attention <q_num_heads = 2, kv_num_heads = 2> (q, k, v) }""",
        23,
    )
    first = ((0, 1), (0, 3), (0, 4))
    assert op.accesses[0][1].box(first) == ((0, 1), (0, 5), (0, 4))
    both = ((0, 1), (0, 3), (3, 6))
    assert op.accesses[0][1].box(both) == ((0, 1), (0, 5), (0, 8))
    assert work_of(op, both).macs == 2 * work_of(op, first).macs == 2 * 3 * 5 * (4 + 4)


def test_cycles_are_those_of_all_products_and_of_the_vector_work_between() -> None:
    """64 x 32 array: 4 x 7 x 8 takes 8 cycles, 4 x 5 x 7 takes 7; 64 lanes, 4 a transcendental."""
    op = one(ATTENTION, 23)
    work = work_of(op, ((0, 1), (1, 4), (0, 4), (0, 5)))
    hardware = chip()
    assert matrix_cycles((4, 7, 8), hardware, "fp16") == 8
    vector = 3 * 4 * (4 * 7 + 4 * 2 * 7)
    cycles = 3 * (8 + 7) + -(-vector // 64)
    assert compute_cycles(work, op, hardware, "fp16") == (EngineKind.MATRIX, cycles)


QUANTISED = """g (uint8[2,4,8] x, uint8[8,24] w, float[24] b, float s, float v)
    => (float[2,4,8] y) { y = com.microsoft.QAttention <num_heads = 2> (x, w, b, s, v) }"""


def test_projections_of_bytes_run_at_their_rate_and_scores_at_the_formats() -> None:
    """Each of 2 samples: 4 x 24 x 8 in bytes; for 2 heads 4 x 4 x 4 twice; 64 x 32 array.

    int8 takes two of 8 steps a cycle, fp16 one of 4; 64 lanes, 4 a transcendental. One core's
    vector engine does 64 MACs of fp16 a cycle and 128 of int8.
    """
    sem = semantics(QUANTISED, 21)
    (op,) = sem.by_op.values()
    work = work_of(op, full_box((1, 4, 8)))
    assert work.byte_products == ((1, 4, 24, 8),)
    assert work.products == ((2, 4, 4, 4), (2, 4, 4, 4))
    assert work.macs == 4 * 24 * 8 + 2 * 2 * 4 * 4 * 4
    hardware = chip()
    vector = -(-2 * 4 * (4 * 4 + 4 * 2 * 4) // 64)
    cycles = 8 // 2 + 2 * (4 + 4) + vector
    assert compute_cycles(work, op, hardware, "fp16") == (EngineKind.MATRIX, cycles)
    shared = replace(hardware, shared_engine=EngineKind.MATRIX.value)
    cycles = 768 // 128 + 256 // 64 + vector
    assert compute_cycles(work, op, shared, "fp16") == (EngineKind.VECTOR, cycles)
    assert product_peaks(sem, hardware, "fp16") == product_peaks(sem, hardware, "int8")


def test_a_past_adds_to_the_keys_and_leaves_samples_apart() -> None:
    """One query by 4 + 1 keys of 4 elements, then by as many values, for 2 heads of a sample."""
    op = one("""g (float[2,1,8] q, float[2,1,8] k, float[2,1,8] v, float[2,2,4,4] a,
        float[2,2,4,4] c) => (float[2,1,8] y, float[2,2,5,4] d, float[2,2,5,4] e)
        { y, d, e = com.microsoft.MultiHeadAttention <num_heads = 2> (q, k, v, , , , a, c) }""")
    work = work_of(op, ((1, 2), (0, 1), (0, 8)))
    assert work.products == ((2, 1, 5, 4), (2, 1, 4, 5))
    past = next(read for read in op.accesses[0] if read.tensor == "a")
    assert past.box(((1, 2), (0, 1), (0, 8))) == ((1, 2), (0, 2), (0, 4), (0, 4))
    assert op.uncut_axes == {1, 2, 3}


def test_a_block_that_is_only_touched_counts() -> None:
    product = InnerProduct(n=5, k=7, m_axes=(0,), count_axes=((1, 4),), m=2, count=3)
    op = one("g (float[6,8] x) => (float[6,8] y) { y = Relu(x) }")
    inner = OpSemantics(op.fusion, op.engine, op.accesses, op.output_shapes, 0, products=(product,))
    assert work_of(inner, ((1, 3), (3, 5))).products == ((3 * 2, 2 * 2, 5, 7),)


@pytest.mark.parametrize(
    ("box", "wanted"),
    [((0, 3), (0, 3)), ((3, 6), (1, 5)), ((8, 9), (4, 6)), ((0, 9), (0, 6))],
)
def test_an_axis_at_a_ratio(box: tuple[int, int], wanted: tuple[int, int]) -> None:
    """Nine of six, one beside: [3, 6) is 2 to 4, so 1 to 5; the ends are clipped."""
    axis = AxisMap(AxisKind.SCALED, 6, 0, pad=1, out_block=9, in_block=6)
    assert axis.interval((box,)) == wanted


def test_a_resize_reaches_its_neighbours_and_no_farther() -> None:
    """Twice as many, half a pixel off: 0 at -1/4 (input 0), 1 at 1/4 (0 and 1), 7 at 3 1/4."""
    op = one(
        """g (float[1,1,4,4] x) => (float[1,1,8,4] y) <float[4] s = {1,1,2,1}> {
        y = Resize <mode = "linear"> (x, , s) }"""
    )
    rows = [op.accesses[0][0].box(((0, 1), (0, 1), row, (0, 4)))[2] for row in [(0, 1), (3, 5)]]
    assert rows == [(0, 2), (0, 4)]
    assert op.accesses[0][0].axes[3].kind is AxisKind.SAME


def test_an_overlapping_transposed_convolution_reads_a_row_beside() -> None:
    """Kernel 4, stride 2, pad 1: row 4 takes inputs (4 + 1 - 3) / 2 = 1 to (4 + 1) / 2 = 2."""
    op = one("""g (float[1,2,8,8] x, float[2,3,4,4] w) => (float[1,3,16,16] y) {
        y = ConvTranspose <strides = [2,2], pads = [1,1,1,1]> (x, w) }""")
    lo, hi = op.accesses[0][0].box(((0, 1), (0, 3), (4, 5), (0, 16)))[2]
    assert lo <= 1
    assert hi >= 3
    assert (lo, hi) == (1, 4)


@pytest.mark.parametrize(
    "text",
    [
        """g (uint8[3,4] a, uint8[4,5] b) => (uint8[3,5] y) <float s = {0.5}, uint8 z = {1}>
        { y = QLinearMatMul(a, s, z, b, s, z, s, z) }""",
        "g (uint8[3,4] a, uint8[4,5] b) => (int32[3,5] y) { y = MatMulInteger(a, b) }",
        """g (uint8[1,4,3] x, uint8[5,4,1] w) => (int32[1,5,3] y) { y = ConvInteger(x, w) }""",
    ],
)
def test_rounded_sums_are_not_cut_over_k(text: str) -> None:
    """Their MACs are those of the plain product: 3 x 5 x 4."""
    op = one(text)
    assert op.contraction is not None
    assert not op.contraction.is_cut_over_k
    assert (op.contraction.reduce_size, op.contraction.k_inner) == (1, 4)
    assert total_macs(semantics(text, 21)) == 3 * 5 * 4


@pytest.mark.parametrize(
    ("equation", "a", "b", "y", "wanted"),
    [
        ("bhqd,bhkd->bhqk", "2,3,4,8", "2,3,5,8", "2,3,4,5", (4, 5, 8, 6)),
        ("ij,jk->ik", "4,6", "6,5", "4,5", (4, 5, 6, 1)),
        ("cd,abc->abd", "6,5", "2,4,6", "2,4,5", (8, 5, 6, 1)),
        ("abcd,cde->abe", "2,3,4,5", "4,5,7", "2,3,7", (6, 7, 20, 1)),
    ],
)
def test_an_equation_is_products(
    equation: str, a: str, b: str, y: str, wanted: tuple[int, ...]
) -> None:
    """M, N, K and how many: labels of one operand, of the other, of both and not in the result."""
    op = one(
        f"g (float[{a}] a, float[{b}] b) => (float[{y}] y) "
        f'{{ y = Einsum <equation = "{equation}"> (a, b) }}'
    )
    shape = tuple(int(size) for size in y.split(","))
    work = work_of(op, full_box(shape))
    assert (work.m, work.n, work.k, work.count) == wanted
    assert op.contraction is not None
    assert op.contraction.is_cut_over_k


@pytest.mark.parametrize(
    "text",
    [
        'g (float[3,3] a) => (float[3] y) { y = Einsum <equation = "ii->i"> (a) }',
        """g (float[3] a, float[3] b, float[3] c) => (float y)
        { y = Einsum <equation = "i,i,i->"> (a, b, c) }""",
        "g (float[3,4] x, int64 a) => (float[3,4] y) { y = CumSum(x, a) }",
    ],
)
def test_what_an_entry_cannot_resolve_is_opaque(text: str) -> None:
    assert one(text).is_opaque


def test_products_belong_to_the_output_in_use() -> None:
    """Only the last state is read: its work is all of the op's."""
    sem = semantics(
        LSTM.format(d=1, more="").replace(
            "(float[5,1,3,4] y,\n    float[1,3,4] h)", "(float[1,3,4] h)"
        ),
        21,
    )
    op = sem.by_op[sem.graph.ops[0].name]
    assert sem.graph.outputs == ("h",)
    assert {product.output for product in op.products} == {1}
    assert work_of(op, full_box((1, 3, 4)), 1).macs == 5 * 3 * 16 * (2 + 4)
