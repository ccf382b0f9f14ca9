"""Axis maps, work and fusion kinds of the families, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.errors import InvariantError
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.semantics.access import AxisKind, FusionKind, OpSemantics
from graphturbo_core.semantics.ops.shaping import reshape_maps
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.semantics.work import (
    is_work_by_extents,
    total_macs,
    work_of,
)
from tests.models import imported
from tests.semantics.models import semantics


def one(text: str, opset: int = 18) -> OpSemantics:
    """Semantics of a graph's first op."""
    sem = semantics(text, opset)
    return sem.by_op[sem.graph.ops[0].name]


CONV = """g (float[2,3,8,8] x, float[4,3,3,3] w, float[4] b) => (float[2,4,4,4] y) {
    y = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w, b) }"""


def test_convolution_window_and_work() -> None:
    """Rows [1, 3) of the output, stride 2, pad 1: from 1*2-1 = 1 to 2*2-1+2+1 = 6."""
    conv = one(CONV)
    box = ((0, 1), (2, 4), (1, 3), (0, 4))
    data, weight, bias = (access.box(box) for access in conv.accesses[0])
    assert data == ((0, 1), (0, 3), (1, 6), (0, 8))
    assert weight == ((2, 4), (0, 3), (0, 3), (0, 3))
    assert bias == ((2, 4),)
    work = work_of(conv, box)
    assert (work.m, work.n, work.k, work.count) == (1 * 2 * 4, 2, 3 * 9, 1)
    assert work.macs == 8 * 2 * 27
    assert work.vector_ops == 0


def test_convolution_cut_over_k() -> None:
    """One of three input channels: K = 1 * 9."""
    conv = one(CONV)
    contraction = conv.contraction
    assert contraction is not None
    assert (contraction.data_reduce_axis, contraction.weight_reduce_axis) == (1, 1)
    assert (contraction.reduce_size, contraction.k_inner) == (3, 9)
    assert work_of(conv, full_box((2, 4, 4, 4)), reduce=(1, 2)).macs == 2 * 4 * 4 * 4 * 9


def test_depthwise_groups_are_products_of_their_own() -> None:
    """Channels [1, 4) of 4: three products of 25 x 1 x 9."""
    conv = one("""g (float[1,4,5,5] x, float[4,1,3,3] w) => (float[1,4,5,5] y) {
        y = Conv <group = 4, pads = [1,1,1,1]> (x, w) }""")
    box = ((0, 1), (1, 4), (0, 5), (0, 5))
    assert conv.accesses[0][0].box(box)[1] == (1, 4)
    work = work_of(conv, box)
    assert (work.m, work.n, work.k, work.count) == (25, 1, 9, 3)
    assert work.macs == 3 * 25 * 9


def test_grouped_channels_are_read_by_group() -> None:
    """Output channels [2, 4) of 6 in 2 groups of 3 touch both groups of 2 input channels."""
    conv = one("""g (float[1,4,4,4] x, float[6,2,1,1] w) => (float[1,6,4,4] y) {
        y = Conv <group = 2> (x, w) }""")
    read = conv.accesses[0][0]
    assert read.box(((0, 1), (0, 3), (0, 4), (0, 4)))[1] == (0, 2)
    assert read.box(((0, 1), (2, 4), (0, 4), (0, 4)))[1] == (0, 4)
    work = work_of(conv, ((0, 1), (0, 6), (0, 4), (0, 4)))
    assert (work.m, work.n, work.k, work.count) == (16, 3, 2, 2)


def test_transposed_convolution_in_blocks() -> None:
    """Stride 2, kernel 2, two groups: output row 3 comes from input row 1; K = 2 * 1."""
    op = one("""g (float[1,4,3,3] x, float[4,3,2,2] w) => (float[1,6,6,6] y) {
        y = ConvTranspose <group = 2, strides = [2,2]> (x, w) }""")
    data, weight = op.accesses[0]
    box = ((0, 1), (3, 6), (3, 4), (0, 6))
    assert data.box(box) == ((0, 1), (2, 4), (1, 2), (0, 3))
    assert weight.box(box) == ((2, 4), (0, 3), (0, 2), (0, 2))
    assert work_of(op, full_box((1, 6, 6, 6))).macs == 6 * 36 * 2


def test_matmul_shared_right_operand_folds_batch_into_rows() -> None:
    """[2,3,4] x [4,5]: M = 6, one product; per-batch right operand: two products of M = 3."""
    shared = one("g (float[2,3,4] a, float[4,5] b) => (float[2,3,5] y) { y = MatMul(a, b) }")
    work = work_of(shared, full_box((2, 3, 5)))
    assert (work.m, work.n, work.k, work.count) == (6, 5, 4, 1)
    own = one("g (float[2,3,4] a, float[2,4,5] b) => (float[2,3,5] y) { y = MatMul(a, b) }")
    work = work_of(own, full_box((2, 3, 5)))
    assert (work.m, work.n, work.k, work.count) == (3, 5, 4, 2)


def test_gemm_transposed_reduce_axes() -> None:
    """A is [K, M] and B is [N, K]: K is axis 0 and axis 1."""
    op = one("""g (float[4,3] a, float[5,4] b) => (float[3,5] y) {
        y = Gemm <transA = 1, transB = 1> (a, b) }""")
    contraction = op.contraction
    assert contraction is not None
    assert (contraction.data_reduce_axis, contraction.weight_reduce_axis) == (0, 1)
    assert work_of(op, full_box((3, 5))).macs == 3 * 5 * 4


@pytest.mark.parametrize(("op", "ops"), [("MaxPool", 9), ("AveragePool", 9 + 1)])
def test_pooling_counts_its_windows(op: str, ops: int) -> None:
    """18 results, 9 elements a window; averaging scales once more."""
    pool = one(f"""g (float[2,1,7,7] x) => (float[2,1,3,3] y) {{
        y = {op} <kernel_shape = [3,3], strides = [2,2]> (x) }}""")
    assert pool.fusion is FusionKind.CONTRACTION
    assert pool.engine is EngineKind.VECTOR
    assert work_of(pool, full_box((2, 1, 3, 3))).vector_ops == 18 * ops


def test_reduction_counts_elements_read_and_may_be_cut() -> None:
    """[2,6,4] over axis 1: 48 additions and 8 scalings; a third of the axis: 16 and 8."""
    op = one("""g (float[2,6,4] x) => (float[2,4] y) <int64[1] a = {1}> {
        y = ReduceMean <keepdims = 0> (x, a) }""")
    assert op.accesses[0][0].axes[1].kind is AxisKind.REDUCE
    assert op.accesses[0][0].axes[2].out_axis == 1
    assert work_of(op, full_box((2, 4))).vector_ops == 48 + 8
    assert work_of(op, full_box((2, 4)), reduce=(0, 2)).vector_ops == 16 + 8


def test_transcendentals_are_counted_apart() -> None:
    """Elu: 3 plain operations and one exponential an element."""
    op = one("g (float[5] x) => (float[5] y) { y = Elu(x) }")
    work = work_of(op, ((1, 4),))
    assert (work.vector_ops, work.transcendentals) == (9, 3)
    assert work_of(op, ((2, 2),)).vector_ops == 0


def test_old_softmax_folds_to_a_matrix() -> None:
    """Before opset 13 the default axis 1 takes all axes after it along."""
    text = "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }"
    assert one(text, opset=11).uncut_axes == {1, 2}
    assert one(text, opset=13).uncut_axes == {2}
    assert one(text).fusion is FusionKind.CONTRACTION
    assert not one(text).is_opaque


def test_old_parameters_are_attributes() -> None:
    """Opset 9 writes the parameters of Slice and Pad as attributes."""
    cut = one(
        """g (float[8,4] x) => (float[3,4] y) {
        y = Slice <starts = [-5], ends = [-2], axes = [0]> (x) }""",
        opset=9,
    )
    assert cut.accesses[0][0].box(((1, 3), (0, 4))) == ((4, 6), (0, 4))
    assert cut.is_view
    padded = one("g (float[3] x) => (float[6] y) { y = Pad <pads = [2,1]> (x) }", opset=9)
    assert padded.accesses[0][0].box(((1, 4),)) == ((0, 2),)
    assert padded.accesses[0][0].box(((0, 2),)) == ((0, 0),)


def test_cropping_pad_is_an_offset() -> None:
    """A pad of -1 in front: output 0 is input 1."""
    op = one("g (float[3,4] x) => (float[3,3] y) <int64[4] p = {0,-1,0,0}> { y = Pad(x, p) }")
    assert op.accesses[0][0].box(((0, 3), (0, 2))) == ((0, 3), (1, 3))


def test_concat_and_split_are_offsets() -> None:
    """Columns [2, 5) of 3 + 4: the last of the first, the first two of the second."""
    cat = one("""g (float[2,3] a, float[2,4] b) => (float[2,7] y) {
        y = Concat <axis = 1> (a, b) }""")
    boxes = [access.box(((0, 2), (2, 5))) for access in cat.accesses[0]]
    assert boxes == [((0, 2), (2, 3)), ((0, 2), (0, 2))]
    parts = one("""g (float[2,7] x) => (float[2,3] y, float[2,4] z) <int64[2] s = {3,4}> {
        y, z = Split <axis = 1> (x, s) }""")
    assert parts.accesses[1][0].box(((0, 2), (1, 3))) == ((0, 2), (4, 6))
    assert parts.is_view


def test_channel_shuffle_follows_its_groups() -> None:
    """[8] -> [2, 4] reads 4 channels a group; [4, 2] -> [8] reads one of 4 per 2 channels."""
    split, merged = reshape_maps((1, 8, 5), (1, 2, 4, 5)), reshape_maps((1, 4, 2, 5), (1, 8, 5))
    assert split[1].interval(((0, 1), (1, 2), (0, 4), (0, 5))) == (4, 8)
    assert merged[1].interval(((0, 1), (2, 5), (0, 5))) == (1, 3)
    assert [axis.kind for axis in merged] == [
        AxisKind.SAME, AxisKind.GROUPED, AxisKind.INNER, AxisKind.SAME,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("windows", "read"),
    [
        pytest.param((70, 71), ((1, 2), (0, 1), (6, 7)), id="one window"),
        pytest.param((70, 72), ((1, 2), (0, 1), (6, 8)), id="two in one row"),
        pytest.param((72, 88), ((1, 2), (1, 3), (0, 8)), id="two whole rows"),
        pytest.param((71, 73), ((1, 2), (0, 2), (0, 8)), id="the end of a row and the next"),
        pytest.param((63, 65), ((0, 2), (0, 8), (0, 8)), id="of two images"),
    ],
)
def test_a_window_is_one_row_and_column_of_the_windows_of_its_image(
    windows: tuple[int, int], read: tuple[tuple[int, int], ...]
) -> None:
    """[2, 8, 8, 7, 7] -> [128, 49]: window 70 is number 6 of image 1; pixel 16 is in row 2."""
    maps = reshape_maps((2, 8, 8, 7, 7), (128, 49))
    box = (windows, (16, 17))
    assert tuple(axis.interval(box) for axis in maps) == (*read, (2, 3), (2, 3))


def test_an_axis_that_each_step_has_whole_follows_none() -> None:
    """[4, 6, 5] -> [12, 10]: a step has two of the six rows of 5, so the 5 are read whole."""
    first, rows, inner = reshape_maps((4, 6, 5), (12, 10))
    assert [first.kind, rows.kind, inner.kind] == [
        AxisKind.GROUPED, AxisKind.INNER, AxisKind.WHOLE,
    ]  # fmt: skip
    assert (first.interval(((4, 5), (0, 10))), rows.interval(((4, 5), (0, 10)))) == ((1, 2), (2, 4))


@pytest.mark.parametrize(
    ("rows", "read"),
    [((0, 1), (0, 2)), ((1, 2), (1, 4)), ((2, 3), (3, 6)), ((3, 4), (5, 7)), ((1, 3), (1, 6))],
)
def test_rows_of_blocks_that_do_not_nest(rows: tuple[int, int], read: tuple[int, int]) -> None:
    """[7, 4] -> [4, 7]: row i holds elements 7i to 7i + 7, in rows 7i // 4 to (7i + 10) // 4."""
    batch, first, inner = reshape_maps((2, 7, 4), (2, 4, 7))
    box = ((1, 2), rows, (2, 3))
    assert (batch.interval(box), first.interval(box), inner.interval(box)) == ((1, 2), read, (0, 4))


def test_a_row_of_shifted_scores_is_three_rows() -> None:
    """Row 100 of 511 scores holds elements 51,100 to 51,611: rows 199.6 to 201.6 of 256."""
    first = reshape_maps((12, 4, 511, 256), (12, 4, 256, 511))[2]
    assert first.interval(((0, 1), (0, 1), (100, 101), (0, 256))) == (199, 202)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=4), st.data())
def test_a_reshape_reads_every_row_that_it_shows_and_no_other(
    sizes: list[int], data: st.DataObject
) -> None:
    """Where the elements of a box lie, counted one by one; where it is whole beside the first axis
    of its run, each row between the first and the last is one of those.
    """
    total = prod(sizes)
    columns = data.draw(st.sampled_from([n for n in range(1, total + 1) if total % n == 0]))
    shape, out_shape = tuple(sizes), (total // columns, columns)
    lo = data.draw(st.integers(0, out_shape[0] - 1))
    rows = (lo, data.draw(st.integers(lo + 1, out_shape[0])))
    part = data.draw(st.sampled_from([(0, columns), (columns - 1, columns)]))
    shown = np.arange(total).reshape(out_shape)[slice(*rows), slice(*part)].ravel()
    places = np.unravel_index(shown, shape)
    maps = reshape_maps(shape, out_shape)
    for axis, at in zip(maps, places, strict=True):
        begin, end = axis.interval((rows, part))
        assert begin <= at.min() and at.max() < end
        if part == (0, columns) and axis.kind is not AxisKind.WHOLE:
            assert (begin, end) == (at.min(), at.max() + 1)


def test_scale_shift_is_two_operations_a_channel() -> None:
    """Our own domain: x, scale [C], shift [C] along axis 1."""
    op = one("""g (float[2,3,4] x, float[3] s, float[3] b) => (float[2,3,4] y) {
        y = graphturbo.ScaleShift(x, s, b) }""")
    assert op.is_pointwise
    assert op.accesses[0][1].box(((0, 2), (1, 2), (0, 4))) == ((1, 2),)
    assert work_of(op, full_box((2, 3, 4))).vector_ops == 24 * 2


OPAQUE = """g (float[3,4] x, int64 a) => (float[3,4] y) {
    r = Relu(x) y = CumSum(r, a) }"""


def test_an_unknown_op_is_opaque_and_noted() -> None:
    """Along an axis that is data. fp16: CumSum touches 24 + 4 + 24 bytes, Relu 48: 52 of 100."""
    sem = semantics(OPAQUE)
    assert sem.opaque_ops == ("y",)
    assert sem.notes() == (
        "1 op(s) of type CumSum have no semantics and run whole: 52 % of the bytes, "
        "none of the counted MACs",
    )
    op = sem.by_op["y"]
    assert op.uncut_axes == {0, 1}
    assert op.accesses[0][0].box(((0, 1), (0, 1))) == ((0, 3), (0, 4))
    assert work_of(op, full_box((3, 4))).vector_ops == 24 + 4 + 24


def test_whole_graph_work() -> None:
    """Products count MACs, all other ops none."""
    sem = semantics("""g (float[2,4] x, float[4,3] w) => (float[6] y) <int64[1] s = {6}> {
        m = MatMul(x, w) e = Exp(m) r = Relu(e) t = Transpose(r) y = Reshape(t, s) }""")
    assert total_macs(sem) == 2 * 3 * 4


def test_check_names_a_wrong_shape() -> None:
    """A read that disagrees with its tensor is our bug."""
    sem, other = (
        semantics("g (float[3] x) => (float[3] y) { y = Relu(x) }"),
        semantics("g (float[4] x) => (float[4] y) { y = Relu(x) }"),
    )
    with pytest.raises(InvariantError, match="'y' reads 'x' as"):
        GraphSemantics(sem.graph, other.by_op).check()


def test_unknown_parameters_are_opaque() -> None:
    """A reduction along axes that are computed cannot be resolved."""
    op = one("""g (float[3,4] x, int64[1] a) => (float[1,4] y) {
        y = ReduceSum <keepdims = 1> (x, a) }""")
    assert op.is_opaque


def test_heads_that_do_not_divide_a_row_leave_it_whole() -> None:
    text = "g (float[2,3,8] x, float[5,2] c, float[5,2] s, int64[2,3] p) => (float[2,3,8] y) "
    assert one(text + "{ y = RotaryEmbedding <num_heads = 3> (x, c, s, p) }", 23).is_opaque


def test_a_resized_axis_of_some_dozens_is_not_read_whole() -> None:
    resize = one(
        "g (float[1,1,6,30] x) => (float[1,1,6,45] y) <float[4] s = {1,1,1,1.5}> "
        '{ y = Resize <mode = "linear"> (x, , s) }'
    )
    assert resize.accesses[0][0].axes[3].kind is AxisKind.SCALED


def test_extents_say_the_work_only_where_every_read_goes_by_them() -> None:
    """A pool's window clips at an edge; what is read after it has no say."""
    pool = one(
        "g (float[1,1,5,5] x) => (float[1,1,3,3] y) "
        "{ y = AveragePool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (x) }"
    )
    (reads,) = pool.accesses[0]
    cut = reads._replace(axes=tuple(axis._replace(kind=AxisKind.OFFSET) for axis in reads.axes))
    assert is_work_by_extents(pool)
    assert not is_work_by_extents(replace(pool, accesses=((cut, reads),)))
    assert is_work_by_extents(replace(pool, accesses=((reads, cut),)))


def test_scales_of_a_cache_are_read_for_all_samples() -> None:
    """GroupQueryAttention's inputs 12 and 13; two of them where there are two samples, too."""
    float_ = onnx.TensorProto.FLOAT
    given = {
        "q": [2, 1, 32], "k": [2, 1, 16], "v": [2, 1, 16], "a": [2, 2, 4, 8], "c": [2, 2, 4, 8],
        "ks": [2], "vs": [2],
    }  # fmt: skip
    inputs = [onnx.helper.make_tensor_value_info(n, float_, shape) for n, shape in given.items()]
    inputs.append(onnx.helper.make_tensor_value_info("n", onnx.TensorProto.INT32, [2]))
    results = {"y": [2, 1, 32], "d": [2, 2, 4, 8], "e": [2, 2, 4, 8]}
    outputs = [onnx.helper.make_tensor_value_info(n, float_, s) for n, s in results.items()]
    total = onnx.helper.make_tensor("t", onnx.TensorProto.INT32, [], [3])
    names = ["q", "k", "v", "a", "c", "n", "t", "", "", "", "", "", "ks", "vs"]
    node = onnx.helper.make_node(
        "GroupQueryAttention", names, list(results), domain="com.microsoft", num_heads=4,
        kv_num_heads=2,
    )  # fmt: skip
    graph = onnx.helper.make_graph([node], "g", inputs, outputs, [total])
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=9)
    found = imported(bytes(model.SerializeToString()), ImportOptions("scales"))
    (attention,) = analyse(found).by_op.values()
    kinds = {read.tensor: [axis.kind for axis in read.axes] for read in attention.accesses[0]}
    assert kinds["ks"] == kinds["vs"] == [AxisKind.WHOLE]
    assert kinds["q"][0] is AxisKind.SAME


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_a_bias_is_read_along_the_channels_of_the_result(op: str) -> None:
    sem = semantics(
        "g (float[1,2,4,4] x, float[2,2,1,1] w, float[2] b) => (float[1,2,4,4] y) "
        f"{{ y = {op} (x, w, b) }}"
    )
    (found,) = sem.by_op.values()
    (bias,) = (read for read in found.accesses[0] if read.tensor == "b")
    assert [(axis.kind, axis.out_axis) for axis in bias.axes] == [(AxisKind.SAME, 1)]
