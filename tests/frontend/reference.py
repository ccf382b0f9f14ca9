"""Runs models with ONNX Runtime: the file as it is, and the imported graph written as ONNX again.

The way back is independent of the importer: a clean-up that changed a number shows up here.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from graphturbo_core.ir.graph import Graph, Op, Tensor

Values = Mapping[str, np.ndarray]


def random_inputs(graph: Graph, seed: int = 0) -> dict[str, np.ndarray]:
    """Standard normal numbers for every graph input."""
    random = np.random.default_rng(seed)
    return {
        name: random.standard_normal(graph.tensors[name].shape).astype(graph.tensors[name].dtype)
        for name in graph.inputs
    }


def run_model(data: bytes, inputs: Values) -> list[np.ndarray]:
    """ONNX Runtime's outputs for a file, one thread, no optimisation."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, dict(inputs)))


def run_graph(graph: Graph, inputs: Values) -> list[np.ndarray]:
    """ONNX Runtime's outputs for an imported graph whose weights all have values."""
    nodes = [node for op in graph.ops for node in _nodes(op, graph)]
    weights = [
        numpy_helper.from_array(np.ascontiguousarray(tensor.value).reshape(tensor.shape), name)
        for name, tensor in graph.tensors.items()
        if tensor.value is not None and name not in graph.producer
    ]
    proto = helper.make_graph(
        nodes,
        "again",
        [_value_info(graph.tensors[name]) for name in graph.inputs],
        [_value_info(graph.tensors[name]) for name in graph.outputs],
        weights,
    )
    opset = helper.make_opsetid("", graph.ops[0].opset)
    model = helper.make_model(proto, opset_imports=[opset], ir_version=8)
    return run_model(model.SerializeToString(), inputs)


def _value_info(tensor: Tensor) -> onnx.ValueInfoProto:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(tensor.dtype))
    return helper.make_tensor_value_info(tensor.name, kind, tensor.shape)


def _nodes(op: Op, graph: Graph) -> list[onnx.NodeProto]:
    if op.op_type != "ScaleShift":
        return [helper.make_node(op.op_type, op.inputs, op.outputs, op.name, **op.attributes)]
    x, scale, shift = op.inputs
    shape = (-1,) + (1,) * (len(graph.tensors[x].shape) - 2)
    names = [f"{op.name}{suffix}" for suffix in ("/shape", "/a", "/b", "/scaled")]
    constant = helper.make_tensor(names[0], onnx.TensorProto.INT64, [len(shape)], shape)
    return [
        helper.make_node("Constant", [], names[:1], value=constant),
        helper.make_node("Reshape", [scale, names[0]], names[1:2]),
        helper.make_node("Reshape", [shift, names[0]], names[2:3]),
        helper.make_node("Mul", [x, names[1]], names[3:]),
        helper.make_node("Add", [names[3], names[2]], op.outputs),
    ]
