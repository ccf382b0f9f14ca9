"""What outputs need, counted by hand."""

from __future__ import annotations

from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.report.bounds import compulsory_bytes, model_bound_s
from graphturbo_core.report.need import ModelNeed, model_need
from graphturbo_core.semantics.cost import product_peaks
from graphturbo_core.semantics.table import analyse
from tests.models import graph_of


def need_of(text: str) -> ModelNeed:
    return model_need(analyse(graph_of(text)), transcendental_ops=4)


CONV = """conv (float[2, 8, 9, 9] x, float[16, 8, 3, 3] w) => (float[2, 16, 9, 9] y) {
    y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }"""


def test_a_convolution() -> None:
    need = need_of(CONV)
    # 2 x 16 x 81 outputs, each of 8 x 9 products.
    assert need.macs == need.matrix_macs == 2 * 16 * 81 * 72
    assert dict(need.touched) == {"x": 2 * 8 * 81, "w": 16 * 72, "y": 2 * 16 * 81}


def test_a_stride_above_the_window_leaves_rows_and_their_work_out() -> None:
    need = need_of(
        """skip (float[1, 4, 8, 8] x, float[4, 4, 1, 1] a, float[4, 4, 1, 1] b)
        => (float[1, 4, 4, 4] y) {
            t = Conv<kernel_shape = [1, 1]>(x, a)
            y = Conv<kernel_shape = [1, 1], strides = [2, 2]>(t, b)
        }"""
    )
    # Only the 4 x 4 even places of t are read, so only they and their inputs are needed.
    assert need.macs == 2 * 16 * 4 * 4
    assert need.touched["x"] == 4 * 16


def test_two_readers_on_different_rows_need_both() -> None:
    need = need_of(
        """halves (float[8, 6] x) => (float[4, 6] y) <int64[2] parts = {4, 4}> {
            a, b = Split<axis = 0>(x, parts)
            y = Add(a, b)
        }"""
    )
    assert need.touched["x"] == 48
    assert (need.macs, need.vector_ops) == (0, 24)


def test_readers_on_rows_and_on_columns_need_at_least_the_larger() -> None:
    need = need_of(
        """cross (float[8, 8] x) => (float[2, 8] y, float[8, 4] z)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}> {
            y = Slice(x, zero, two, zero)
            z = Slice(x, zero, four, one)
        }"""
    )
    # The union has 16 + 32 - 8 = 40 elements and is no product: 32 is what is certain.
    assert need.touched["x"] == 32


def test_a_table_counts_with_the_rows_asked_for() -> None:
    text = "pick (int64[{0}] i, float[100, 5] t) => (float[{0}, 5] y) {{ y = Gather(t, i) }}"
    assert need_of(text.format(3)).touched["t"] == 15
    assert need_of(text.format(300)).touched["t"] == 500


def test_of_a_row_of_every_sample_all_samples_are_needed() -> None:
    """One of 7 rows of each of 4 samples: the axis that is looked up is cut, not the batch."""
    need = need_of(
        """pick (float[4, 7, 5] x) => (float[4, 5] y)
        <int64 first = {0}> { y = Gather <axis = 1> (x, first) }"""
    )
    assert need.touched["x"] == 20


def test_what_no_output_reads_is_not_needed() -> None:
    need = need_of(
        """unread (float[4] x) => (float[4] y) { y = Exp(x)  t = Exp(y) }""",
    )
    # One transcendental of 4 element-operations for each of 4 elements.
    assert need.vector_ops == 16


def test_the_bound_is_the_scarcest_resource() -> None:
    graph = graph_of(CONV)
    semantics, chip = analyse(graph), load_profile("generic-4x4")
    need = model_need(semantics, 1)
    size = compulsory_bytes(semantics, need, "fp16")
    assert size == 2 * (2 * 8 * 81 + 16 * 72 + 2 * 16 * 81)
    rates = ("fp16", product_peaks(semantics, chip, "fp16"))
    # 10,080 bytes over 64 GB/s take 157.5 ns; 186,624 MACs over 16 x 1024 a cycle 11.4 ns.
    assert model_bound_s(need, chip, rates, size) == size / 64e9
    assert model_bound_s(need, chip, rates, 0) == 2 * 16 * 81 * 72 / (16 * 1024 * 1e9)
