"""Models as exported for one sample, in which a constant belongs to that sample."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

POSITIONS, WIDTH, HEADS = 128, 768, 12
ABSENT = {"query": (WIDTH, WIDTH), "key": (WIDTH, WIDTH), "value": (WIDTH, WIDTH)}
"""Weights without numbers."""


def node(call: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    """One op; values are separated by spaces."""
    return helper.make_node(call, inputs.split(), [output], output, **attributes)


def masked_attention() -> bytes:
    """One attention of BERT-base on 128 positions; GatherND takes the mask by (sample, position).

    `transformers` writes a mask so where it maps a function over samples, heads, queries and keys.
    """
    sample, position = np.zeros((1, 1, 1, POSITIONS), np.int64), np.arange(POSITIONS)
    numbers = {
        "picks": np.stack([sample, position.reshape(sample.shape)], axis=-1),
        "all": np.array([1, 1, POSITIONS, POSITIONS], np.int64),
        "heads": np.array([1, POSITIONS, HEADS, WIDTH // HEADS], np.int64),
        "whole": np.array([1, POSITIONS, WIDTH], np.int64),
        "zero": np.array(0, np.float32),
        "lowest": np.array(np.finfo(np.float32).min),
        "scale": np.array((WIDTH // HEADS) ** -0.5, np.float32),
    }
    turned = {"query": [0, 2, 1, 3], "key": [0, 2, 3, 1], "value": [0, 2, 1, 3]}
    nodes = [
        node("Cast", "attention_mask", "bits", to=TensorProto.BOOL),
        node("GatherND", "bits picks", "kept_keys"),
        node("Expand", "kept_keys all", "kept"),
        node("Where", "kept zero lowest", "bias"),
    ]
    for name, axes in turned.items():
        nodes += [
            node("MatMul", f"x {name}", f"{name}_all"),
            node("Reshape", f"{name}_all heads", f"{name}_split"),
            node("Transpose", f"{name}_split", f"{name}_turned", perm=axes),
        ]
    nodes += [
        node("MatMul", "query_turned key_turned", "products"),
        node("Mul", "products scale", "scores"),
        node("Add", "scores bias", "biased"),
        node("Softmax", "biased", "shares", axis=-1),
        node("MatMul", "shares value_turned", "mixed"),
        node("Transpose", "mixed", "back", perm=[0, 2, 1, 3]),
        node("Reshape", "back whole", "y"),
    ]
    return _file(nodes, numbers)


def _file(nodes: list[onnx.NodeProto], numbers: dict[str, np.ndarray]) -> bytes:
    protos = [numpy_helper.from_array(value, name) for name, value in numbers.items()]
    for name, shape in ABSENT.items():
        proto = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT)
        proto.data_location = TensorProto.EXTERNAL
        proto.external_data.add(key="location", value="STRIPPED")
        protos.append(proto)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, POSITIONS, WIDTH]),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, [1, POSITIONS]),
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "attention", inputs, [output], protos)
    opset = helper.make_opsetid("", 18)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())
