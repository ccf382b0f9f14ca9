"""An export with a free number of samples -> the same model as exported for one sample.

Exporters fold what a fixed batch makes constant, so that such a file has no op that computes a
shape: a class token is a weight, and the elements that a pooling picks are numbers.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

Numbers = dict[str, np.ndarray]
Shapes = Mapping[str, tuple[int, ...]]


def fixed_to_one_sample(data: bytes) -> bytes:
    """The model for inputs of one sample, with every constant result in place of its op.

    1. Each free size of an input is 1.
    2. `Shape` of a value of known shape, and an op on constants, is a constant. Absent weights are
       no constants: they have no numbers.
    3. An `Expand` to the shape that its input has is no op.

    Shapes are inferred again until nothing changes: a constant of one layer is what the shapes of
    the next need.
    """
    model = onnx.load_model_from_string(data)
    for size in (size for value in model.graph.input for size in value.type.tensor_type.shape.dim):
        if size.dim_param:
            size.dim_value = 1
    outputs = [onnx.ValueInfoProto(name=value.name) for value in model.graph.output]
    del model.graph.value_info[:], model.graph.output[:]
    model.graph.output.extend(outputs)
    while _fold(model):
        pass
    _drop_unread(model.graph)
    return bytes(model.SerializeToString(deterministic=True))


def _fold(model: onnx.ModelProto) -> bool:
    """Replace ops by their constant results as far as shapes are known; whether any was."""
    graph, shapes = model.graph, _known_shapes(model)
    constants = {
        proto.name: numpy_helper.to_array(proto)
        for proto in graph.initializer
        if proto.data_location != onnx.TensorProto.EXTERNAL
    }
    renamed: dict[str, str] = {}
    kept: list[onnx.NodeProto] = []
    for node in graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)
        source = _source(node, shapes, {value.name for value in graph.output})
        found = None if source else _numbers(model, node, constants, shapes)
        if source:
            renamed[node.output[0]] = source
        elif found is None:
            kept.append(node)
        else:
            constants[node.output[0]] = found
            graph.initializer.append(numpy_helper.from_array(found, node.output[0]))
    has_changed = len(kept) < len(graph.node)
    del graph.node[:]
    graph.node.extend(kept)
    return has_changed


def _known_shapes(model: onnx.ModelProto) -> dict[str, tuple[int, ...]]:
    """Of the values whose sizes are all known."""
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    shapes = {proto.name: tuple(proto.dims) for proto in graph.initializer}
    for value in (*graph.input, *graph.value_info):
        shape = value.type.tensor_type.shape
        if value.type.tensor_type.HasField("shape") and all(
            size.HasField("dim_value") for size in shape.dim
        ):
            shapes[value.name] = tuple(size.dim_value for size in shape.dim)
    return shapes


def _source(node: onnx.NodeProto, shapes: Shapes, outputs: set[str]) -> str:
    """The value that the node's result is; empty if it is another."""
    is_same = node.op_type == "Expand" and node.input[0] in shapes
    is_same = is_same and shapes[node.input[0]] == shapes.get(node.output[0])
    is_passed = node.op_type == "Identity" or is_same
    return node.input[0] if is_passed and node.output[0] not in outputs else ""


def _numbers(
    model: onnx.ModelProto, node: onnx.NodeProto, constants: Numbers, shapes: Shapes
) -> np.ndarray | None:
    """The node's result if it is constant."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type == "Shape" and node.input[0] in shapes:
        ends = (attributes[end].i if end in attributes else None for end in ("start", "end"))
        return np.array(shapes[node.input[0]][slice(*ends)], np.int64)
    if node.op_type == "Constant" and "value" in attributes:
        proto = attributes["value"].t
        is_absent = proto.data_location == onnx.TensorProto.EXTERNAL
        return None if is_absent else numpy_helper.to_array(proto)
    if len(node.output) > 1 or not all(not name or name in constants for name in node.input):
        return None
    inputs = [onnx.ValueInfoProto(name=name) for name in dict.fromkeys(node.input) if name]
    outputs = [onnx.ValueInfoProto(name=node.output[0])]
    graph = onnx.helper.make_graph([node], "one", inputs, outputs)
    one = onnx.helper.make_model(graph, opset_imports=model.opset_import)
    feeds = {value.name: constants[value.name] for value in inputs}
    return np.asarray(ReferenceEvaluator(one).run(None, feeds)[0])


def _drop_unread(graph: onnx.GraphProto) -> None:
    read = {name for node in graph.node for name in node.input}
    kept = [proto for proto in graph.initializer if proto.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
