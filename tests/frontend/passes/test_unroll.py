"""RNN, GRU and LSTM written out: which ops come out, what stays whole, what becomes of weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from graphturbo_core.frontend.passes import unroll
from graphturbo_core.ir.graph import TensorKind
from tests.models import graph_of, imported, model_of, op_types

LSTM = """g (float[{t},3,2] x, float[{d},16,2] w, float[{d},16,4] r, float[{d},32] b)
  => (float[{t},{d},3,4] y, float[{d},3,4] h) {{
  y, h = LSTM <hidden_size = 4{more}> (x, w, r, b) }}"""
TWO = ', direction = "bidirectional"'


def _text(steps: int = 3, directions: int = 1, more: str = "") -> str:
    return LSTM.format(t=steps, d=directions, more=more)


def _weighted(text: str) -> bytes:
    """The model with all inputs but x as weights whose elements are numbered."""
    model = model_of(text)
    for value in [value for value in model.graph.input if value.name != "x"]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        numbers = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        model.graph.initializer.append(numpy_helper.from_array(numbers, value.name))
        model.graph.input.remove(value)
    return bytes(model.SerializeToString())


def test_an_lstm_becomes_one_product_of_the_input_and_one_of_each_later_state() -> None:
    """The first state is zero: two products of the three steps' states, and no forget gate."""
    found = Counter(op_types(imported(_weighted(_text()))).split())
    assert found == {
        "MatMul": 1 + 2, "Add": 2 + 2 + 2, "Slice": 3 + 3 + 4 + 4, "Sigmoid": 2 + 3 + 3,
        "Tanh": 6, "Mul": 2 + 3 + 3, "Concat": 1, "Unsqueeze": 1,
    }  # fmt: skip


def test_directions_have_weights_of_their_own() -> None:
    graph = imported(_weighted(_text(directions=2, more=TWO)))
    weights = {n: t for n, t in graph.tensors.items() if t.kind is TensorKind.WEIGHT}
    shapes = Counter(tensor.shape for tensor in weights.values())
    assert shapes == {(2, 16): 2, (4, 16): 2, (16,): 4}
    numbers = np.arange(2 * 16 * 4, dtype=np.float32).reshape(2, 16, 4)
    found = [t.value for t in weights.values() if t.shape == (4, 16)]
    for value, expected in zip(found, numbers, strict=True):
        assert value is not None
        assert np.array_equal(value, expected.T)


def test_the_input_of_all_steps_is_multiplied_at_once() -> None:
    graph = imported(_weighted(_text()))
    product = next(op for op in graph.ops if op.op_type == "MatMul")
    assert product.inputs[0] == "x"
    assert graph.tensors[product.outputs[0]].shape == (3, 3, 16)


def test_two_ops_of_one_weight_share_its_parts() -> None:
    text = """g (float[2,3,4] x, float[1,4,4] w, float[1,4,4] r)
      => (float[1,3,4] h, float[1,3,4] i) { y, h = RNN <hidden_size = 4> (x, w, r)
      z = Sin(x) u, i = RNN <hidden_size = 4> (z, w, r) }"""
    graph = imported(_weighted(text))
    weights = [t for t in graph.tensors.values() if t.kind is TensorKind.WEIGHT]
    assert len(weights) == 2


def test_a_backward_direction_begins_with_the_last_step() -> None:
    graph = imported(_weighted(_text(more=', direction = "reverse"')))
    slices = [op for op in graph.ops if op.op_type == "Slice" and op.attributes["axes"] == (0,)]
    assert [op.attributes["starts"] for op in slices] == [(2,), (1,), (0,)]


def test_outputs_keep_their_names_and_unused_ones_are_not_made() -> None:
    text = _text().replace("float[3,1,3,4] y, ", "")
    graph = imported(_weighted(text))
    assert graph.outputs == ("h",)
    assert "Concat" not in op_types(graph)


def test_known_whole_lengths_need_no_masks() -> None:
    text = """g (float[2,3,4] x, float[1,4,4] w, float[1,4,4] r) => (float[1,3,4] h)
      <int32[3] l = {L}>
      { y, h = RNN <hidden_size = 4> (x, w, r, , l) }"""
    assert "Where" not in op_types(imported(_weighted(text.replace("{L}", "{2,2,2}"))))
    assert "Where" in op_types(imported(_weighted(text.replace("{L}", "{2,1,2}"))))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_text(more=', activations = ["Sigmoid", "Tanh", "Cos"]'), "activations"),
        (_text(more=', activations = ["Sigmoid", "Tanh", "Affine"]'), "activations"),
        (_text().replace("float[1,32] b", "float[1,31] b"), "shapes"),
        (_text(steps=1025), "1025 time steps"),
        (_text(steps=513, directions=2, more=TWO), "1026 time steps"),
    ],
)
def test_what_is_not_written_out_stays_whole_with_a_note(text: str, reason: str) -> None:
    graph = imported(_weighted(text))
    assert op_types(graph) == "LSTM"
    assert any("is not unrolled" in note and reason in note for note in graph.notes)


def test_the_steps_of_a_model_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unroll, "MAX_STEPS_OF_MODEL", 5)
    text = """g (float[3,3,4] x, float[1,4,4] w, float[1,4,4] r)
      => (float[1,3,4] h, float[1,3,4] i) { y, h = RNN <hidden_size = 4> (x, w, r)
      z = Sin(x) u, i = RNN <hidden_size = 4> (z, w, r) }"""
    graph = imported(_weighted(text))
    assert Counter(op_types(graph).split())["RNN"] == 1
    assert any("more than the 5" in note for note in graph.notes)


def test_the_pass_can_be_left_out() -> None:
    assert op_types(graph_of(_text(), skip="unroll-recurrent")) == "LSTM"


def test_shapes_are_those_that_onnx_infers() -> None:
    """Of every op that is written: what this pass says and onnx's own inference."""
    text = _text(directions=2, more=TWO)
    graph = imported(_weighted(text))
    values = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, tensor.shape)
        for name, tensor in graph.tensors.items()
        if tensor.kind is not TensorKind.ACTIVATION
    ]
    for op in graph.ops:
        node = onnx.helper.make_node(op.op_type, op.inputs, op.outputs, **dict(op.attributes))
        known = [value for value in values if value.name in op.inputs]
        inner = onnx.helper.make_graph(
            [node], "g", known, [onnx.ValueInfoProto(name=op.outputs[0])]
        )
        opset = onnx.helper.make_opsetid("", op.opset)
        found = onnx.shape_inference.infer_shapes(
            onnx.helper.make_model(inner, opset_imports=[opset]), strict_mode=True
        ).graph.output[0]
        shape = tuple(dim.dim_value for dim in found.type.tensor_type.shape.dim)
        assert shape == graph.tensors[op.outputs[0]].shape, op.name
        values.append(found)
