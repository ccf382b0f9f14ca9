"""Model bytes -> model bytes without weights: small enough to upload, weights not disclosed.

Names, shapes and types of weights remain; their numbers are removed. So are comments and metadata,
in which exporters leave paths and source lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import onnx
from google.protobuf.message import Message

from graphturbo_core.frontend.parse.element_types import dtype_name, numpy_dtype
from graphturbo_core.frontend.parse.parsing import parse_model
from graphturbo_core.frontend.parse.proposals import PROPOSED_DIMS
from graphturbo_core.frontend.parse.structure import unique_names
from graphturbo_core.limits import Limits

MAX_KEPT_BYTES = 1024
"""Constants up to this size remain: scalars, scales of a resize, small tables (our choice)."""
STRIPPED = "STRIPPED"
"""File name that stripped weights refer to; it is never written or opened."""
FIRST_IR_WITH_FREE_INITIALIZERS = 4
"""First version of the format in which an initializer need not be an input."""
COMMENTS = ("doc_string", "metadata_props")
_INTEGERS = ("int32", "int64")


@dataclass(frozen=True, slots=True)
class Stripped:
    """The stripped model, and counts of its constants; `absent` had no numbers."""

    data: bytes
    removed: int
    removed_bytes: int
    kept: int
    absent: int


def strip_weights(data: bytes, limits: Limits) -> Stripped:
    """Returns the model without the numbers of its weights; its schedule is the same.

    1. A constant up to MAX_KEPT_BYTES remains.
    2. So does an integer constant of up to `limits.max_elements_value_propagation` elements: import
       computes shapes with it.
    3. A constant inside a model-local function remains: a function has no initializers.
    4. Any other becomes an initializer that refers to a file that does not exist, also a Constant
       node.
    5. Comments, metadata and the training part are removed; proposed sizes of dimensions remain.

    Raises:
        ModelError: the bytes are not a model, or more than `limits.max_strip_bytes`.
    """
    model = parse_model(data, replace(limits, max_model_bytes=limits.max_strip_bytes))
    model.ClearField("training_info")
    found: list[onnx.TensorProto] = []
    kept = moved = 0
    for graph in _graphs(model.graph):
        moved += _move_constants(graph, limits)
        large = [proto for proto in graph.initializer if _is_weight(proto, limits)]
        kept += len(graph.initializer) - len(large)
        found += large
    removed = [_size_bytes(p) for p in found if p.data_location != onnx.TensorProto.EXTERNAL]
    for proto in found:
        _empty(proto)
    if moved:
        model.ir_version = max(model.ir_version, FIRST_IR_WITH_FREE_INITIALIZERS)
    _forget_comments(model)
    slim = model.SerializeToString(deterministic=True)
    return Stripped(slim, len(removed), sum(removed), kept, len(found) - len(removed))


def _graphs(*outermost: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Graphs and those inside their nodes, at any depth."""
    waiting = list(outermost)
    while waiting:
        graph = waiting.pop()
        yield graph
        for node in graph.node:
            waiting += _inner_graphs(node)


def _inner_graphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    inner = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    return inner + [graph for attribute in node.attribute for graph in attribute.graphs]


def _move_constants(graph: onnx.GraphProto, limits: Limits) -> int:
    """Turn Constant nodes with a weight into initializers; returns their number.

    Nodes get the names that import would give them, since a generated name has the position.
    """
    stay = []
    names = unique_names(graph.node, limits.max_name_length)
    for node, name in zip(graph.node, names, strict=True):
        held = _held(node)
        if held is None or not _is_weight(held, limits):
            stay.append((node, name))
            continue
        graph.initializer.append(held)
        graph.initializer[-1].name = node.output[0]
    moved = len(graph.node) - len(stay)
    if moved:
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node, _ in stay]
        del graph.node[:]
        graph.node.extend(copies)
        for node, (_, name) in zip(graph.node, stay, strict=True):
            node.name = name
    return moved


def _held(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """The tensor of a Constant node."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    tensors = (attribute.t for attribute in node.attribute if attribute.name == "value")
    return next(tensors, None)


def _is_weight(proto: onnx.TensorProto, limits: Limits) -> bool:
    """Whether a constant's numbers are removed (rules 1 and 2), or already absent."""
    is_shape_like = dtype_name(proto.data_type, proto.name) in _INTEGERS
    if is_shape_like and prod(proto.dims) <= limits.max_elements_value_propagation:
        return False
    return _size_bytes(proto) > MAX_KEPT_BYTES


def _size_bytes(proto: onnx.TensorProto) -> int:
    dtype = numpy_dtype(dtype_name(proto.data_type, proto.name))
    size_bytes: int = prod(proto.dims) * dtype.itemsize
    return size_bytes


def _empty(proto: onnx.TensorProto) -> None:
    """Remove the numbers; name, shape and type remain."""
    bare = onnx.TensorProto(name=proto.name, data_type=proto.data_type, dims=proto.dims)
    bare.data_location = onnx.TensorProto.EXTERNAL
    bare.external_data.add(key="location", value=STRIPPED)
    proto.CopyFrom(bare)


def _forget_comments(model: onnx.ModelProto) -> None:
    proposals = [entry.value for entry in model.metadata_props if entry.key == PROPOSED_DIMS]
    for message, field in product((model, *_commented(model)), COMMENTS):
        if field in message.DESCRIPTOR.fields_by_name:
            message.ClearField(field)
    for value in proposals:
        model.metadata_props.add(key=PROPOSED_DIMS, value=value)


def _commented(model: onnx.ModelProto) -> Iterator[Message]:
    """Messages that may have a comment, in all graphs and functions."""
    bodies = [node for function in model.functions for node in function.node]
    inside = [graph for node in bodies for graph in _inner_graphs(node)]
    graphs = list(_graphs(model.graph, *inside))
    for function in model.functions:
        yield function
        yield from function.value_info
    for graph in graphs:
        yield graph
        yield from (*graph.initializer, *graph.input, *graph.output, *graph.value_info)
    for node in (node for owner in (*graphs, *model.functions) for node in owner.node):
        yield node
        yield from node.attribute
