"""Bytes -> ModelProto: binary protobuf only, from memory; opens no file."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from google.protobuf.message import DecodeError

from graphturbo_core.errors import ModelError
from graphturbo_core.limits import Limits

_TEXT_PROBE_BYTES = 4096
_EXPORT_HINT = "export the model again as a binary .onnx file"


def parse_model(data: bytes, limits: Limits) -> onnx.ModelProto:
    """Returns the model, with a graph that has nodes.

    Raises:
        ModelError: TOO_LARGE, EMPTY_FILE, TEXT_FILE, NOT_ONNX, EMPTY_GRAPH, TOO_MANY_OPS.
    """
    if len(data) > limits.max_model_bytes:
        raise too_large(len(data), limits)
    if not data:
        raise ModelError("EMPTY_FILE", "the file is empty (0 bytes)", change=_EXPORT_HINT)
    if _is_text(data):
        raise ModelError(
            "TEXT_FILE",
            "the file is text, not a binary ONNX model",
            f"it begins with {data[:24].decode('utf-8', 'replace')!r}",
            _EXPORT_HINT,
        )
    try:
        model = onnx.load_model_from_string(data)
    except DecodeError as error:
        raise ModelError(
            "NOT_ONNX",
            "the file is not a complete ONNX model",
            f"{len(data)} bytes do not parse as protobuf",
            "download or export it again; it may be cut off",
        ) from error
    _check_graph(model, limits)
    _check_text(model)
    return model


def too_large(size_bytes: int, limits: Limits) -> ModelError:
    """The refusal of a file above the limit."""
    return ModelError(
        "TOO_LARGE",
        f"the model has {size_bytes} bytes",
        f"the limit is {limits.max_model_bytes}",
        "leave its weights out with `python -m graphturbo_core strip IN OUT`: shapes are enough",
    )


def _is_text(data: bytes) -> bool:
    """Whether the first bytes are printable: protobuf's field tags are control characters."""
    probe = data[:_TEXT_PROBE_BYTES]
    try:
        text = probe.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(probe) - 3:
            return False
        text = probe[: error.start].decode("utf-8")
    return all(char.isprintable() or char in "\t\r\n\ufeff" for char in text)


def _check_graph(model: onnx.ModelProto, limits: Limits) -> None:
    if not model.HasField("graph") or not model.graph.node:
        raise ModelError(
            "EMPTY_GRAPH",
            "the file holds no graph with nodes",
            "ModelProto.graph",
            "check that it is an ONNX model and not cut off",
        )
    if len(model.graph.node) > limits.max_ops:
        raise ModelError(
            "TOO_MANY_OPS",
            f"the graph has {len(model.graph.node)} nodes",
            f"the limit is {limits.max_ops}",
            "import a part of the model",
        )
    if model.graph.sparse_initializer:
        raise ModelError(
            "SPARSE_WEIGHT",
            "sparse initializers are not supported",
            f"graph {model.graph.name!r}",
            "store the weights dense",
        )


def _check_text(model: onnx.ModelProto) -> None:
    """Check that names are valid UTF-8; protobuf returns others as bytes."""
    for name in _names(model):
        if not isinstance(name, str):
            raise ModelError(
                "BAD_TEXT",
                f"the name {name!r} is not valid UTF-8",
                f"graph {model.graph.name!r}",
                "export the model again; the file may be damaged",
            )


def _names(model: onnx.ModelProto) -> Iterator[object]:
    graph = model.graph
    for entry in model.opset_import:
        yield entry.domain
    for function in model.functions:
        yield from (function.name, function.domain, *function.input, *function.output)
    for node in (*graph.node, *(node for function in model.functions for node in function.node)):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        for attribute in node.attribute:
            yield attribute.name
    for proto in graph.initializer:
        yield proto.name
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield value.name
        for dim in value.type.tensor_type.shape.dim:
            yield dim.dim_param
