"""Distances by hand: infinities, what is no number, text, and the steps of small types."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.graph import Tensor, TensorKind
from graphturbo_core.semantics.table import analyse
from graphturbo_core.verify.replay.compare import (
    compare,
    compared,
    distances,
    limit_of,
    magnitude,
    number_at,
)
from tests.models import graph_of

INF, NAN = np.inf, np.nan


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_distances_of_floats() -> None:
    found = floats(1, INF, INF, NAN, NAN, 1, 3)
    expected = floats(1.5, INF, -INF, NAN, 1, NAN, 3)
    assert distances(found, expected, "float32").tolist() == [0.5, 0, INF, 0, INF, INF, 0]


def test_distances_of_integers_text_and_complex_numbers() -> None:
    assert distances(np.array([2, 5]), np.array([4, 5]), "int64").tolist() == [2, 0]
    text = np.array(["a", "b"], dtype=object)
    assert distances(text, np.array(["a", "c"], dtype=object), "string").tolist() == [0, INF]
    assert distances(np.array([3 + 4j]), np.array([0j]), "complex64").tolist() == [5]


@pytest.mark.parametrize(
    ("found", "expected", "steps"),
    [
        (1.0, 1.0, 0),
        (1.0, 1.125, 1),
        (1.0, 0.9375, 1),
        (0.9375, 1.125, 2),
        (0.0, 2.0**-9, 1),
        (-(2.0**-9), 2.0**-9, 2),
        (448.0, 416.0, 1),
        (NAN, 448.0, INF),
        (NAN, NAN, 0),
    ],
)
def test_floats_of_a_byte_are_compared_in_steps(
    found: float, expected: float, steps: float
) -> None:
    """Of e4m3fn: 1 + 1/8 is next to 1, 15/16 below it; 2^-9 is the least; 416 comes before 448."""
    pair = [np.array([number], dtype=numpy_dtype("float8e4m3fn")) for number in (found, expected)]
    assert distances(*pair, "float8e4m3fn").tolist() == [steps]


def test_the_infinity_of_a_byte_is_no_step_beyond_the_largest() -> None:
    pair = [np.array([number], dtype=numpy_dtype("float8e5m2")) for number in (INF, 57344.0)]
    assert distances(*pair, "float8e5m2").tolist() == [INF]


def test_limits() -> None:
    """Relative to the largest, which counts as at least so much; one step of small types."""
    assert limit_of("float32", floats(1, -8), (0.01, 0.0)) == 0.08
    assert limit_of("float32", floats(0.5), (0.01, 1.0)) == 0.01
    assert limit_of("int8", np.array([100], np.int8), (0.1, 0.0)) == 1
    assert limit_of("int8", np.array([100], np.int8), (0.0, 0.0)) == 0


def test_magnitude_is_that_of_the_largest_finite_number() -> None:
    assert magnitude(floats(1, -3, INF, NAN)) == 3
    assert magnitude(floats()) == 0
    assert magnitude(floats(NAN)) == 0
    assert magnitude(np.array(["x"], dtype=object)) == 0


def test_one_output() -> None:
    tensor = Tensor("y", (2,), "float32", TensorKind.ACTIVATION)
    right = compared(tensor, floats(1, 4.25), floats(1, 4), (0.0625, 0.0))
    assert (right.max_abs_error, right.max_rel_error, right.tolerance) == (0.25, 0.0625, 0.25)
    assert right.is_right
    assert right.rel_tolerance == 0.0625
    small = compared(tensor, floats(0.25, 0.5), floats(0.25, 0.5), (0.0625, 2.0))
    assert (small.tolerance, small.rel_tolerance) == (0.125, 0.25)
    none = compared(tensor, floats(0, 0), floats(0, 0), (0.0625, 1.0))
    assert (none.max_rel_error, none.rel_tolerance) == (0.0, INF)
    assert not compared(tensor, floats(1, 4.5), floats(1, 4), (0.0625, 0.0)).is_right
    other = compared(tensor, floats(1), floats(1, 4), (0.0625, 0.0))
    assert (other.max_abs_error, other.is_right) == (INF, False)
    assert not compared(tensor, floats(NAN, 4), floats(1, 4), (0.0625, 0.0)).is_right


def test_every_output_is_compared() -> None:
    """One that nothing is known of is an error, never passed over."""
    whole = analyse(
        graph_of("g (float[2] x) => (float[2] y, float[2] z) { y = Relu(x) z = Neg(x) }")
    )
    both = {"y": floats(0, 1), "z": floats(1, -1)}
    assert [check.is_right for check in compare(whole, both, both)] == [True, True]
    with pytest.raises(KeyError):
        compare(whole, both, {"y": both["y"]})
    with pytest.raises(KeyError):
        compare(whole, {"z": both["z"]}, both)


def test_one_number_of_an_array() -> None:
    assert number_at(floats(1, 2, 3).reshape(3, 1), 2) == 3
    assert number_at(np.array([1 + 2j]), 0) == 1
    assert number_at(np.array(["x"], dtype=object), 0) == 0
