"""Boxes carried backwards through several ops."""

from __future__ import annotations

from graphturbo_core.ir.boxes import Box, is_empty
from graphturbo_core.semantics.propagate import needed_boxes
from tests.semantics.models import semantics

CHAIN = """g (float[1,2,8,8] x, float[2,2,3,3] v, float[2,2,3,3] w) => (float[1,2,8,8] z) {
    a = Conv <pads = [1,1,1,1]> (x, v)
    b = Conv <pads = [1,1,1,1]> (a, w)
    z = Add(b, x) }"""


def rows(lo: int, hi: int) -> Box:
    """A box of the chain's activations cut along the rows."""
    return ((0, 1), (0, 2), (lo, hi), (0, 8))


def test_halos_grow_backwards() -> None:
    """Rows [4, 6): b the same, a [3, 7), x [2, 8) (also [4, 6) for the addition)."""
    sem = semantics(CHAIN)
    boxes = needed_boxes(sem, sem.graph.ops, {"z": rows(4, 6)})
    assert boxes == {
        "z": rows(4, 6), "b": rows(4, 6), "a": rows(3, 7), "x": rows(2, 8),
        "v": ((0, 2), (0, 2), (0, 3), (0, 3)), "w": ((0, 2), (0, 2), (0, 3), (0, 3)),
    }  # fmt: skip


def test_wanted_inside_joins_what_readers_need() -> None:
    """Rows [0, 2) of a wanted besides [3, 7) for b: the hull [0, 7)."""
    sem = semantics(CHAIN)
    boxes = needed_boxes(sem, sem.graph.ops, {"z": rows(4, 6), "a": rows(0, 2)})
    assert boxes["a"] == rows(0, 7)


def test_an_axis_that_may_not_be_cut_is_computed_whole() -> None:
    """One column of a softmax needs the row."""
    sem = semantics("""g (float[4,5] x) => (float[4,5] y) {
        r = Relu(x) y = Softmax(r) }""")
    boxes = needed_boxes(sem, sem.graph.ops, {"y": ((1, 2), (0, 1))})
    assert boxes == dict.fromkeys(("y", "r", "x"), ((1, 2), (0, 5)))


def test_an_operand_out_of_reach_is_empty() -> None:
    """The first half of a concat does not need the second operand, nor what makes it."""
    sem = semantics("""g (float[2,3] x, float[2,3] b) => (float[2,6] y) {
        r = Relu(b) y = Concat <axis = 1> (x, r) }""")
    boxes = needed_boxes(sem, sem.graph.ops, {"y": ((0, 2), (0, 3))})
    assert boxes["x"] == ((0, 2), (0, 3))
    assert is_empty(boxes["r"])
    assert is_empty(boxes["b"])


def test_an_operand_that_only_says_a_type_is_empty() -> None:
    """It has a box all the same: whoever asks what an op needs finds every activation it names."""
    sem = semantics("""g (float[2,3] x, double[4] t) => (double[2,3] y) {
        r = Neg(t) y = CastLike(x, r) }""")
    (cast,) = [op for op in sem.graph.ops if op.op_type == "CastLike"]
    boxes = needed_boxes(sem, [cast], {"y": ((0, 1), (0, 3))})
    assert boxes["x"] == ((0, 1), (0, 3))
    assert boxes["r"] == ((0, 0),)


TWINS = """g (float[8,4] x) => (float[8,4] y, float[8,4] z)
{ a = Relu (x) y = Sigmoid (a) z = Sigmoid (a) }"""


def test_equal_readers_that_want_different_boxes_both_count() -> None:
    sem = semantics(TWINS)
    first, second = ((0, 2), (0, 4)), ((3, 5), (0, 4))
    boxes = needed_boxes(sem, sem.graph.ops, {"y": first, "z": second})
    assert (boxes["a"], boxes["y"], boxes["z"]) == (((0, 5), (0, 4)), first, second)


def test_readers_of_two_kinds_that_want_equal_boxes_both_count() -> None:
    text = "g (float[8,4] x) => (float[8,4] y, float[8,4] z) { y = Relu (x) z = Softmax (x) }"
    sem = semantics(text)
    wanted = ((2, 3), (0, 1))
    boxes = needed_boxes(sem, sem.graph.ops, {"y": wanted, "z": wanted})
    assert (boxes["x"], boxes["y"], boxes["z"]) == (((2, 3), (0, 4)), wanted, ((2, 3), (0, 4)))
