"""Algorithm 1 on chains whose peaks are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.strategies.layers.carry import split_carry
from graphturbo_core.strategies.steps.splitting import (
    SplitInfo,
    Splitter,
    SubGraph,
    divisors,
    fewest_pieces,
    lexicographic,
    literal_candidates,
)
from tests.strategies.chains import HALO, POINTWISE
from tests.strategies.samples import layers_of


def whole(text: str) -> SubGraph:
    layers = layers_of(text)
    return SubGraph(layers, tuple(range(len(layers.layers))))


def split(text: str, capacity: int, **options: object) -> SplitInfo | None:
    return replace(Splitter(capacity), **options)(whole(text))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("capacity", "pieces", "peak"), [(12_288, 1, 12_288), (12_287, 2, 6_144), (3_072, 4, 3_072)]
)
def test_fewest_pieces_of_the_batch(capacity: int, pieces: int, peak: int) -> None:
    assert split(POINTWISE, capacity) == SplitInfo(True, 2, pieces, 0, peak)


def test_rows_when_the_batch_is_too_small() -> None:
    # 4 samples leave 3,072 bytes; channels end at the first convolution; of 8 rows, 8 pieces
    # leave 12,288 / 8 = 1,536.
    assert split(POINTWISE, 3_071) == SplitInfo(True, 2, 8, 2, 1_536)


def test_no_split() -> None:
    assert split(POINTWISE, 1_535) is None


def test_true_peak_counts_halos_and_literal_does_not() -> None:
    # Two pieces: z rows 0-4 need y rows 0-5 and x rows 0-6: (6 + 5) * 128 = 1,408 > 1,024.
    # Four: z rows 2-4 need y rows 1-5 and x rows 0-6: (6 + 4) * 128 = 1,280 > 1,024.
    # Eight: one row of z needs 3 of y and 5 of x: 8 * 128 = 1,024.
    assert split(HALO, 1_024) == SplitInfo(True, 2, 8, 2, 1_024)
    assert split(HALO, 1_280) == SplitInfo(True, 2, 4, 2, 1_280)
    # As printed: ceil(2,048 / 2) = 1,024.
    assert split(HALO, 1_024, is_literal_peak=True) == SplitInfo(True, 2, 2, 2, 1_024)


def test_axis_that_ends_is_no_split() -> None:
    splits = list(Splitter(3_071).splits(whole(POINTWISE)))
    # Channels of z: w sees them, y does not, so the first intermediate ends it (1 op reached).
    assert splits[1] == SplitInfo(False, 1, 0, 1, 0)


GATED = """g (float[1,2,8,8] x, float[8,2,1,1] v, float[16,8,1,1] w) => (float[1,16,8,8] z) {
    a = Conv(x, v)
    y = Conv(a, w)
    s = GlobalAveragePool(y)
    z = Mul(y, s) }"""
"""At 2 bytes: x 256, a 1,024, y and z 2,048, s 32. Peak: a + y = 3,072."""


def test_what_covers_most_ops_where_the_rest_may_be_whole() -> None:
    # One sample: no axis carries through all, since s needs every row of y, and a has no channel
    # of y. Channels cover y, s and z; two pieces hold all of a and half of y. Rows cover z alone.
    assert split(GATED, 2_048) is None
    assert split(GATED, 2_048, is_partial=True) == SplitInfo(True, 3, 2, 1, 2_048)
    splits = list(Splitter(2_048, is_partial=True).splits(whole(GATED)))
    assert [each.covered_ops for each in splits] == [4, 3, 1, 1]
    assert [each.is_split for each in splits] == [False, True, False, False]


def test_an_axis_that_carries_through_all_is_taken_first() -> None:
    assert split(POINTWISE, 3_072, is_partial=True) == split(POINTWISE, 3_072)


def test_every_output_must_be_split() -> None:
    # s is handed out too: rows of y are not there; two channels of it are, found from y's.
    text = GATED.replace("z) {", "z, float[1,16,1,1] s) {")
    assert split(text, 2_048, is_partial=True) == SplitInfo(True, 3, 2, 1, 2_048)
    text = GATED.replace("z) {", "z, float[1,8,8,8] a) {")
    assert split(text, 2_048, is_partial=True) is None


def test_operand_without_the_axis_counts_whole() -> None:
    # Rows of a: b is needed whole. a, z: 8 rows of 16 bytes; b: 8 * 8 * 2 = 128 bytes.
    text = "g (float[8,8] a, float[8,8] b) => (float[8,8] z) { z = MatMul(a, b) }"
    # Two pieces: (64 + 128 + 64) = 256, where the literal form says 384 / 2 = 192.
    assert split(text, 255) == SplitInfo(True, 1, 4, 0, 192)
    assert split(text, 192, is_literal_peak=True) == SplitInfo(True, 1, 2, 0, 192)


def test_elementwise_layer_works_in_place() -> None:
    text = "g (float[4,8] x) => (float[4,8] z) { z = Relu(x) }"
    assert whole(text).whole_peak_bytes == 4 * 8 * 2


def test_fused_add_does_not_work_in_place() -> None:
    text = """g (float[1,8,8,8] x, float[8,8,1,1] w, float[1,8,8,8] r) => (float[1,8,8,8] z) {
        y = Conv(x, w)
        z = Add(y, r) }"""
    # One layer reads x and r and writes z: three tensors of 1,024 bytes.
    assert whole(text).whole_peak_bytes == 3_072


def test_operand_with_a_later_reader_is_not_overwritten() -> None:
    text = """g (float[1,8,8,8] x, float[8,8,1,1] v, float[8,8,1,1] w)
        => (float[1,8,8,8] a, float[1,8,8,8] z) {
        y = MaxPool <kernel_shape = [1,1]> (x)
        a = Relu(y)
        b = Conv(y, v)
        z = Conv(b, w) }"""
    # x + y; y + a; y + a + b; a + b + z: three tensors of 1,024 at most.
    assert whole(text).whole_peak_bytes == 3_072


def test_candidates() -> None:
    assert divisors(12) == (1, 2, 3, 4, 6, 12)
    assert literal_candidates(11) == (1, 2, 4, 8, 9, 10, 11)
    assert literal_candidates(3) == (1, 2)


def test_literal_candidates_miss_three_of_six_and_take_what_does_not_divide() -> None:
    text = "g (float[6,4,4,4] x, float[4,4,1,1] w) => (float[6,4,4,4] z) { z = Conv(x, w) }"
    # x + z = 2 * 6 * 128 = 1,536 bytes. Capacity 512: 3 pieces; as printed 4, and 6 % 4 > 0.
    assert split(text, 512, candidates=divisors) == SplitInfo(True, 1, 3, 0, 512)
    first = next(Splitter(512, literal_candidates).splits(whole(text)))
    assert (first.is_split, first.pieces) == (False, 4)


def test_equation_one() -> None:
    deep = SplitInfo(True, 5, 8, 2, 100)
    outer = SplitInfo(True, 5, 16, 0, 50)
    few = SplitInfo(True, 3, 2, 1, 100)
    none = SplitInfo(False, 9, 1, 3, 100)
    assert lexicographic([outer, few, deep, none], 9) == outer
    assert lexicographic([few, deep], 9) == deep
    assert lexicographic([none], 9) is None
    assert fewest_pieces([outer, few, deep, none], 9) == few
    assert fewest_pieces([none], 9) is None


def test_lexicographic_stops_at_the_first_axis_that_covers_all() -> None:
    def axes() -> object:
        yield SplitInfo(True, 2, 4, 0, 10)
        pytest.fail("the next axis was worked out")

    assert lexicographic(axes(), 2) == SplitInfo(True, 2, 4, 0, 10)  # type: ignore[arg-type]


def test_a_split_is_along_an_axis_of_the_last_result() -> None:
    """b is a turned round: b's axis 0 is a's axis 1."""
    graph = layers_of(
        "g (float[4,8] x) => (float[4,8] a, float[8,4] b) "
        "{ a = Relu (x) b = Transpose <perm = [1, 0]> (a) }"
    )
    ops = [op.name for op in graph.semantics.graph.ops]
    assert split_carry(graph, ops, ("a", "b"), 0).axis_of["a"] == 1


def test_an_axis_of_prime_length_is_not_cut_to_single_steps_for_little() -> None:
    """x and y have 197 * 64 * 2 = 25,216 bytes each, of which one is live; a row has 128."""
    text = "g (float[1,197,64] x) => (float[1,197,64] y) { y = Relu(x) }"
    assert split(text, 12_608) == SplitInfo(True, 1, 2, 2, 12_608)
    # 197 pieces are 16 times the 12 or 13 that the bytes need, or less: 25,216 / 2,102 = 12.0.
    assert split(text, 2_101) == SplitInfo(True, 1, 197, 1, 128)
    assert split(text, 2_102) == SplitInfo(True, 1, 16, 2, 1_576)
    # Whoever asks for the axis gets it.
    assert split(text, 12_608, axis=1) == SplitInfo(True, 1, 197, 1, 128)
    # With halos rows are cut to single ones: 197 rows of 64 * 2 bytes, and their neighbours.
    rows = (
        "g (float[1,1,197,64] x, float[1,1,3,3] w) => (float[1,1,197,64] y)"
        " { y = Conv <pads = [1,1,1,1]> (x, w) }"
    )
    assert split(rows, 30_000) == SplitInfo(True, 1, 197, 2, 512)
