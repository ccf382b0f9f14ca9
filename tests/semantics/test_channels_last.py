"""Convolutions and pools of bytes whose channels are last: the same work, told of other axes."""

from __future__ import annotations

from graphturbo_core.semantics.access import AxisKind, OpSemantics
from graphturbo_core.semantics.work import total_macs, work_of
from tests.semantics.models import semantics

NUMBERS = "<float s = {0.5}, uint8 z = {1}>"


def one(text: str) -> OpSemantics:
    sem = semantics(text)
    return sem.by_op[sem.graph.ops[0].name]


def test_a_convolution_combines_the_last_axis() -> None:
    """5 x 4 places, 6 channels of 3 x 3 x 8 products; rows [1, 3) read rows [0, 4) of all."""
    text = (
        f"g (uint8[2,5,4,8] x, uint8[6,8,3,3] w) => (uint8[2,5,4,6] y) {NUMBERS} {{ y = "
        "com.microsoft.QLinearConv <channels_last = 1, pads = [1,1,1,1]> (x, s, z, w, s, z, s, z) }"
    )
    op = one(text)
    assert total_macs(semantics(text)) == 2 * 5 * 4 * 6 * 3 * 3 * 8
    assert op.is_of_bytes
    assert op.contraction is not None
    assert (op.contraction.m_axes, op.contraction.n_axis) == ((0, 1, 2), 3)
    assert not op.contraction.is_cut_over_k
    box = ((0, 1), (1, 3), (0, 4), (2, 5))
    assert op.accesses[0][0].box(box) == ((0, 1), (0, 4), (0, 4), (0, 8))
    assert op.accesses[0][1].box(box) == ((2, 5), (0, 8), (0, 3), (0, 3))
    work = work_of(op, box)
    assert (work.m, work.n, work.k, work.pixels) == (2 * 4, 3, 72, (2, 4))


def test_groups_are_blocks_of_the_last_axis() -> None:
    """Channels [2, 4) of 6 in three groups read channels [4, 8) of 12."""
    op = one(
        f"g (uint8[1,5,4,12] x, uint8[6,4,1,1] w) => (uint8[1,5,4,6] y) {NUMBERS} {{ y = "
        "com.microsoft.QLinearConv <channels_last = 1, group = 3> (x, s, z, w, s, z, s, z) }"
    )
    assert op.accesses[0][0].box(((0, 1), (0, 5), (0, 4), (2, 4)))[3] == (4, 8)


def test_a_pool_slides_over_the_axes_between() -> None:
    """Every result is the largest of 3 x 2; row 1 begins at 2."""
    op = one(
        "g (uint8[1,7,6,2] x) => (uint8[1,3,3,2] y) "
        "{ y = com.microsoft.NhwcMaxPool <kernel_shape = [3,2], strides = [2,2]> (x) }"
    )
    assert op.is_sliding
    assert op.accesses[0][0].box(((0, 1), (1, 2), (0, 3), (1, 2))) == (
        (0, 1), (2, 5), (0, 6), (1, 2),
    )  # fmt: skip
    assert work_of(op, ((0, 1), (1, 2), (0, 3), (1, 2))).vector_ops == 3 * 6


def test_a_global_pool_combines_the_axes_between() -> None:
    op = one(
        f"g (uint8[1,7,6,2] x) => (uint8[1,1,1,2] y) {NUMBERS} {{ y = "
        "com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (x, s, z, s, z) }"
    )
    kinds = [axis.kind for axis in op.accesses[0][0].axes]
    assert kinds == [AxisKind.SAME, AxisKind.REDUCE, AxisKind.REDUCE, AxisKind.SAME]
    assert work_of(op, ((0, 1), (0, 1), (0, 1), (0, 1))).vector_ops == 7 * 6 + 3
