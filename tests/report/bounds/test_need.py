"""What outputs need, counted by hand."""

from __future__ import annotations

from graphturbo_core.report.bounds.need import ModelNeed, model_need
from graphturbo_core.report.bounds.regions import MOST_PARTS
from graphturbo_core.semantics.table import analyse
from tests.models import graph_of


def need_of(text: str) -> ModelNeed:
    return model_need(analyse(graph_of(text)))


CONV = """conv (float[2, 8, 9, 9] x, float[16, 8, 3, 3] w) => (float[2, 16, 9, 9] y) {
    y = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w) }"""


def test_a_convolution() -> None:
    need = need_of(CONV)
    # 2 x 16 x 81 outputs, each of 8 x 9 products.
    assert need.macs == 2 * 16 * 81 * 72
    assert need.is_exact
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
    assert (need.macs, need.regions["y"].elements) == (0, 24)


def test_readers_on_rows_and_on_columns_need_the_union() -> None:
    need = need_of(
        """cross (float[8, 8] x) => (float[2, 8] y, float[8, 4] z)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}> {
            y = Slice(x, zero, two, zero)
            z = Slice(x, zero, four, one)
        }"""
    )
    # Two rows of 8, four columns of 8, and 2 x 4 elements are in both.
    assert need.touched["x"] == 16 + 32 - 8
    assert need.regions["x"].is_exact


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
    assert "t" not in need.regions
    assert need.regions["y"].elements == 4


def test_one_product_for_queries_keys_and_values_is_needed_whole() -> None:
    """Constant indices pick its three parts, as PyTorch's export writes attention."""
    need = need_of(
        """packed (float[5, 2, 4] x, float[4, 12] w) => (float[5, 2, 4] y)
        <int64[4] apart = {5, 2, 3, 4}, int64 zero = {0}, int64 one = {1}, int64 two = {-1}> {
            p = MatMul(x, w)
            r = Reshape(p, apart)
            t = Transpose<perm = [2, 0, 1, 3]>(r)
            q = Gather<axis = 0>(t, zero)
            k = Gather<axis = 0>(t, one)
            v = Gather<axis = 0>(t, two)
            s = Mul(q, k)
            y = Add(s, v)
        }"""
    )
    assert (need.macs, need.is_exact) == (5 * 2 * 12 * 4, True)
    indices = {"zero": 1, "one": 1, "two": 1}
    assert dict(need.touched) == {"x": 40, "w": 48, "y": 40, **indices}


def test_one_row_of_queries_and_all_keys_are_two_products() -> None:
    """Of 12 columns 4 are needed in one of 5 rows, the other 8 in all."""
    need = need_of(
        """last (float[5, 4] x, float[4, 12] w) => (float[1, 4] q, float[5, 8] k)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}, int64[1] end = {12}> {
            p = MatMul(x, w)
            row = Slice(p, zero, one, zero)
            q = Slice(row, zero, four, one)
            k = Slice(p, four, end, one)
        }"""
    )
    assert (need.macs, need.is_exact) == ((4 + 5 * 8) * 4, True)


def diagonals(count: int) -> ModelNeed:
    """`count` disjoint blocks of one place each on the diagonal of a product."""
    size = 2 * count
    slices = " ".join(
        f"r{i} = Slice(p, b{i}, e{i}, rows) y{i} = Slice(r{i}, b{i}, e{i}, columns)"
        for i in range(count)
    )
    edges = ", ".join(
        f"int64[1] b{i} = {{{2 * i}}}, int64[1] e{i} = {{{2 * i + 1}}}" for i in range(count)
    )
    outputs = ", ".join(f"float[1, 1] y{i}" for i in range(count))
    return need_of(
        f"""many (float[{size}, 3] x, float[3, {size}] w) => ({outputs})
        <int64[1] rows = {{0}}, int64[1] columns = {{1}}, {edges}> {{
            p = MatMul(x, w) {slices} }}"""
    )


def test_a_union_of_as_many_parts_as_are_kept_is_exact() -> None:
    need = diagonals(MOST_PARTS)
    assert (need.macs, need.is_exact) == (3 * MOST_PARTS, True)


def test_beyond_the_cap_a_union_is_a_lower_bound_and_says_so() -> None:
    need = diagonals(MOST_PARTS + 1)
    assert (need.macs, need.is_exact) == (3 * MOST_PARTS, False)


def test_places_that_only_data_decide_are_counted_and_not_placed() -> None:
    """Of 8 rows of products the data choose 3: any row, so the product is 3 rows at least."""
    need = need_of(
        """asked (float[8, 6] x, float[6, 5] w, int64[3] i) => (float[3, 5] y) {
            p = MatMul(x, w)
            y = Gather(p, i)
        }"""
    )
    assert (need.macs, need.is_exact) == (3 * 5 * 6, False)
    assert need.touched["x"] == 3 * 6
    # Which rows is not known, nor whether other columns of w are read with them: 15 of 40 results
    # lie in 15 / 8 columns or more.
    assert need.touched["w"] == 2 * 6


def test_a_triangle_of_pairs_needs_the_rows_of_its_pairs() -> None:
    """Pairs (1, 0), (2, 0), (2, 1) of 4 rows: row 3 is not read, though all lie in one reshape."""
    need = need_of(
        """pairs (float[2, 4, 6] x) => (float[2, 3] y)
        <int64[2] flat = {2, 16}, int64[3] below = {4, 8, 9}> {
            t = Transpose<perm = [0, 2, 1]>(x)
            p = MatMul(x, t)
            r = Reshape(p, flat)
            y = Gather<axis = 1>(r, below)
        }"""
    )
    assert (need.macs, need.is_exact) == (2 * 3 * 6, True)
    assert need.touched["x"] == 2 * 3 * 6


def test_a_weight_of_two_layers_is_read_once() -> None:
    need = need_of(
        """shared (float[3, 4] x, float[4, 4] w) => (float[3, 4] y) {
            t = MatMul(x, w)
            y = MatMul(t, w)
        }"""
    )
    assert need.macs == 2 * 3 * 4 * 4
    assert need.touched["w"] == 4 * 4


def test_unknown_places_beside_others_are_fewer_by_as_many_as_the_others_have() -> None:
    """Of 8 rows beside 4 others the data choose 6: at least 2 are of the first 8, none of the 4."""
    need = need_of(
        """beside (float[8, 5] a, float[4, 5] b, float[5, 5] w, int64[6] i) => (float[6, 5] y) {
            p = MatMul(a, w)
            q = MatMul(b, w)
            c = Concat<axis = 0>(p, q)
            y = Gather(c, i)
        }"""
    )
    assert (need.macs, need.is_exact) == (2 * 5 * 5, False)
    assert need.regions["q"].elements == 0
