"""One op on arrays: by ONNX Runtime, by onnx's reference, by our own definition, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.graph import AttributeValue, Op
from graphturbo_core.verify import single_op
from graphturbo_core.verify.single_op import OpRunner, load_runtime


@pytest.fixture
def runner() -> OpRunner:
    return OpRunner(load_runtime())


def op_of(op_type: str, inputs: int, outputs: tuple[str, ...] = ("y",), opset: int = 17) -> Op:
    names = tuple(f"x{place}" for place in range(inputs))
    return Op("op", op_type, "", names, outputs, {}, opset)


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32)


def test_an_op_is_run_on_the_arrays_given(runner: OpRunner) -> None:
    found = runner.run(op_of("Add", 2), [floats(1, 2), floats(3, 5)], {})
    assert found["y"].tolist() == [4, 7]


def test_a_missing_input_stays_missing(runner: OpRunner) -> None:
    """Clip without a lower bound."""
    found = runner.run(op_of("Clip", 3), [floats(-9, 5), None, np.array(2, np.float32)], {})
    assert found["y"].tolist() == [-9, 2]


def test_outputs_have_the_names_of_the_op_and_may_be_left_out(runner: OpRunner) -> None:
    """The two largest of 3, 1, 2 are at places 0 and 2; nobody wants them themselves."""
    op = op_of("TopK", 2, ("", "places"))
    found = runner.run(op, [floats(3, 1, 2), np.array([2])], {})
    assert {name: numbers.tolist() for name, numbers in found.items()} == {"places": [0, 2]}


def test_attributes_are_those_of_the_call(runner: OpRunner) -> None:
    data = floats(1, 2, 3, 4).reshape(2, 2)
    attributes: tuple[dict[str, AttributeValue], ...] = ({"perm": (1, 0)}, {"perm": (0, 1)})
    found = [runner.run(op_of("Transpose", 1), [data], perm)["y"].ravel() for perm in attributes]
    assert [numbers.tolist() for numbers in found] == [[1, 3, 2, 4], [1, 2, 3, 4]]


def test_our_own_op(runner: OpRunner) -> None:
    """x * scale + shift along axis 1: 1 * 2 + 10 and 3 * 4 + 20."""
    op = Op("op", "ScaleShift", "graphturbo", ("x", "s", "b"), ("y",), {}, 1)
    found = runner.run(op, [floats(1, 3).reshape(1, 2), floats(2, 4), floats(10, 20)], {})
    assert found["y"].tolist() == [[12, 32]]


def quantised_product(bias: np.ndarray, swaps: tuple[int, int]) -> list[np.ndarray]:
    """Operands of our QLinearMatMulAdd, of random bytes, with a scale a column.

    Weights of seven bits: on x86 processors without VNNI, ONNX Runtime cuts off the sum of two
    products of bytes at 16 bits.
    """
    generator = np.random.default_rng(3)
    data = generator.integers(0, 256, (40, 300), np.uint8)
    weight = generator.integers(-64, 64, (300, 9), np.int8)
    return [
        data.T if swaps[0] else data, floats(0.02)[0], np.uint8(7),
        weight.T if swaps[1] else weight, generator.uniform(0.001, 0.02, 9).astype(np.float32),
        generator.integers(-5, 5, 9, np.int8), floats(0.3)[0], np.uint8(120), bias,
    ]  # fmt: skip


@pytest.mark.parametrize("swaps", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_our_product_of_bytes_is_that_of_onnx_runtime(
    swaps: tuple[int, int], runner: OpRunner
) -> None:
    """Its QGemm has the same operands in another order, of two matrices and an int32 bias."""
    bias = np.random.default_rng(4).integers(-9000, 9000, 9, np.int32)
    given = [np.asarray(item) for item in quantised_product(bias, swaps)]
    attributes: dict[str, AttributeValue] = {"transA": swaps[0], "transB": swaps[1]}
    names = tuple(f"x{place}" for place in range(9))
    ours = Op("op", "QLinearMatMulAdd", "graphturbo", names, ("y",), {}, 1)
    theirs = Op("op", "QGemm", "com.microsoft", names, ("y",), {}, 1)
    found = runner.run(ours, given, attributes)["y"]
    expected = runner.run(theirs, [*given[:6], bias, *given[6:8]], attributes)["y"]
    assert found.dtype == np.uint8
    assert len(np.unique(expected)) > 50
    assert np.array_equal(found, expected)


def test_a_floating_bias_is_added_to_the_scaled_sums(runner: OpRunner) -> None:
    """(5 - 3) * 4 + (1 - 3) * -2 = 12; times 0.5 * 0.25, plus 0.75: 2.25; over 0.5: 4.5, so 4.

    Plus 10 that is 14; with a bias of 200 it is 403 + 10, and 255 is the largest byte.
    """
    op = Op("op", "QLinearMatMulAdd", "graphturbo", tuple("abcdefghi"), ("y",), {}, 1)
    found = []
    for bias in (0.75, 200):
        inputs = [
            np.array([[5, 1]], np.uint8), floats(0.5)[0], np.uint8(3),
            np.array([[4], [-2]], np.int8), floats(0.25)[0], np.int8(0), floats(0.5)[0],
            np.uint8(10), floats(bias),
        ]  # fmt: skip
        arrays = [np.asarray(item) for item in inputs]
        found.append(runner.run(op, arrays, {})["y"].tolist())
    assert found == [[[14]], [[255]]]


def test_types_that_onnx_runtime_leaves_out_go_to_onnx_itself(runner: OpRunner) -> None:
    """A transposed matrix of 8-bit floats, and 1.5 + 2.25 in bfloat16."""
    data = np.array([[1, 2], [3, 4]], dtype=numpy_dtype("float8e4m3fn"))
    found = runner.run(op_of("Transpose", 1, opset=21), [data], {})["y"]
    assert found.astype(np.float32).tolist() == [[1, 3], [2, 4]]
    pair = [np.array([number], dtype=numpy_dtype("bfloat16")) for number in (1.5, 2.25)]
    assert runner.run(op_of("Add", 2), pair, {})["y"].astype(np.float32).tolist() == [3.75]


@pytest.mark.parametrize("dtype", [object, str])
def test_text(dtype: type, runner: OpRunner) -> None:
    data = np.array(["a", "b"], dtype=dtype)
    found = runner.run(op_of("Concat", 2), [data, data], {"axis": 0})["y"]
    assert found.tolist() == ["a", "b", "a", "b"]


def test_what_nobody_can_run_is_refused(runner: OpRunner) -> None:
    with pytest.raises(ModelError, match="Add 'op' cannot be run by itself") as caught:
        runner.run(op_of("Add", 2), [floats(1, 2), floats(1, 2, 3)], {})
    assert caught.value.code == "NO_KERNEL"
    foreign = Op("op", "Twice", "somebody", ("x",), ("y",), {}, 1)
    with pytest.raises(ModelError, match="is no ONNX operator, and ONNX Runtime does not") as found:
        runner.run(foreign, [floats(1)], {})
    assert found.value.code == "NO_KERNEL"


def test_an_op_of_onnx_runtimes_own_domain(runner: OpRunner) -> None:
    """Half of 1 3 by the transposed 2 4: half of 2 + 12."""
    op = Op("op", "FusedMatMul", "com.microsoft", ("a", "b"), ("y",), {}, 1)
    pair = [floats(1, 3).reshape(1, 2), floats(2, 4).reshape(1, 2)]
    assert runner.run(op, pair, {"alpha": 0.5, "transB": 1})["y"].tolist() == [[7]]


def test_a_model_is_made_once_for_each_shape(
    runner: OpRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(single_op, "MAX_SESSIONS", 2)
    for length, kept in ((2, 1), (2, 1), (3, 2), (4, 2)):
        runner.run(op_of("Neg", 1), [np.ones(length, np.float32)], {})
        assert len(runner._cache) == kept
