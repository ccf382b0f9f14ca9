"""The beginning of a model: what one value in it depends on, for tests that a whole one slows."""

from __future__ import annotations

import onnx


def cut_after(data: bytes, op_type: str, count: int) -> bytes:
    """The model up to its `count`-th op of that type (counted from 1), whose result it gives."""
    model = onnx.load_model_from_string(data)
    graph = model.graph
    last = [node for node in graph.node if node.op_type == op_type][count - 1].output[0]
    needed, kept = {last}, []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    nodes = kept[::-1]
    weights = [proto for proto in graph.initializer if proto.name in needed]
    inputs = [value for value in graph.input if value.name in needed]
    del graph.node[:], graph.initializer[:], graph.input[:], graph.output[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)
    graph.input.extend(inputs)
    graph.output.extend([onnx.ValueInfoProto(name=last)])
    return bytes(model.SerializeToString())


def with_rows(data: bytes, old: int, new: int) -> bytes:
    """The model with a smaller table: absent weights of `old` rows have `new` ones."""
    model = onnx.load_model_from_string(data)
    for proto in model.graph.initializer:
        if proto.dims[:1] == [old] and proto.data_location == onnx.TensorProto.EXTERNAL:
            proto.dims[0] = new
    return bytes(model.SerializeToString())


def ending_at(data: bytes, op_type: str) -> bytes:
    """The model from its last op of that type to its end; what that op reads first is the input.

    Shapes are inferred: every size of the input is known.
    """
    model = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(data))
    graph = model.graph
    last = max(place for place, node in enumerate(graph.node) if node.op_type == op_type)
    (entry,) = (each for each in graph.value_info if each.name == graph.node[last].input[0])
    nodes = list(graph.node)[last:]
    read = {name for node in nodes for name in node.input}
    weights = [proto for proto in graph.initializer if proto.name in read]
    del graph.node[:], graph.initializer[:], graph.input[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)
    graph.input.append(entry)
    return bytes(model.SerializeToString())
