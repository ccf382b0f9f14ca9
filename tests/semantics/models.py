"""Small ONNX models in text form, and the graphs they make; the importer is not involved."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from graphturbo_core.hardware.hardware import Hardware, MatrixModel
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, Tensor, TensorKind
from graphturbo_core.semantics.table import GraphSemantics, analyse


def model(text: str, opset: int = 18) -> onnx.ModelProto:
    """A model from a graph in ONNX's text form, shapes inferred."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}, "graphturbo" : 1, "com.microsoft" : 1]>'
    return onnx.shape_inference.infer_shapes(
        onnx.parser.parse_model(f"{header}\n{text}"), strict_mode=True, data_prop=True
    )


def graph_of(proto: onnx.ModelProto) -> Graph:
    """The graph as the importer would give it, without clean-up; initializers are weights."""
    graph = proto.graph
    tensors = {item.name: _weight(item) for item in graph.initializer}
    inputs = tuple(item.name for item in graph.input if item.name not in tensors)
    values = {item.name: item for item in (*graph.input, *graph.value_info, *graph.output)}
    for name, value in values.items():
        kind = TensorKind.INPUT if name in inputs else TensorKind.ACTIVATION
        tensors.setdefault(name, _tensor(value, kind))
    opsets = {entry.domain: entry.version for entry in proto.opset_import}
    ops = tuple(_op(node, index, opsets[node.domain]) for index, node in enumerate(graph.node))
    return Graph(graph.name, ops, tensors, inputs, tuple(item.name for item in graph.output))


def semantics(text: str, opset: int = 18) -> GraphSemantics:
    """The checked semantics of a graph in ONNX's text form; ops are named after their output."""
    sem = analyse(graph_of(model(text, opset)))
    sem.graph.check()
    sem.check()
    return sem


def _dtype(elem_type: int) -> str:
    return str(np.dtype(helper.tensor_dtype_to_np_dtype(elem_type)))


def _tensor(value: onnx.ValueInfoProto, kind: TensorKind) -> Tensor:
    kind_type = value.type.tensor_type
    shape = tuple(dim.dim_value for dim in kind_type.shape.dim)
    return Tensor(value.name, shape, _dtype(kind_type.elem_type), kind)


def _weight(item: onnx.TensorProto) -> Tensor:
    value = numpy_helper.to_array(item)
    return Tensor(item.name, tuple(item.dims), str(value.dtype), TensorKind.WEIGHT, value)


def _op(node: onnx.NodeProto, index: int, opset: int) -> Op:
    return Op(
        next(filter(None, node.output), f"op{index}"),
        node.op_type,
        node.domain,
        tuple(node.input),
        tuple(node.output),
        {item.name: _attribute(item) for item in node.attribute},
        opset,
    )


def _attribute(item: onnx.AttributeProto) -> AttributeValue:
    value = helper.get_attribute_value(item)
    return tuple(value) if isinstance(value, list) else value


def chip(model: MatrixModel = MatrixModel.PASSES) -> Hardware:
    """64 x 32 array, 64 lanes, a transcendental is 4 operations, int8 twice as fast."""
    return Hardware(
        name="test", title="Test", clusters=1, cores=1, clock_hz=10**9, matrix_rows=64,
        matrix_columns=32, matrix_model=model, matrix_rate={"fp16": 1, "int8": 2},
        vector_lanes=64, vector_rate={"fp16": 1, "int8": 2}, transcendental_ops=4, dma_engines=1,
        lb_data_bytes=1 << 20, lb_weight_bytes=1 << 18, staging_bytes=1 << 18, is_pooled=False,
        gb_bytes=1 << 23, dram_bytes=1 << 32, lb_bandwidth=1, gb_bandwidth=1, dram_bandwidth=1,
        link_bandwidth=1, dram_latency_cycles=0, gb_latency_cycles=0, link_latency_cycles=0,
        launch_cycles=0, barrier_cycles=0, split_capacity_bytes=1 << 23, channel_padding=1,
        numbers=(),
    )  # fmt: skip
