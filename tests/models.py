"""Tiny models for tests, in ONNX's text form, and their imported graphs."""

from __future__ import annotations

import onnx

from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.ir.graph import Graph


def model_of(text: str, opset: int = 17, ir_version: int = 8) -> onnx.ModelProto:
    """A model from a graph in text form; not checked, so that it may be wrong on purpose."""
    header = f'<ir_version: {ir_version}, opset_import: ["" : {opset}]>'
    return onnx.parser.parse_model(f"{header}\n{text}")


def model_bytes(text: str, opset: int = 17) -> bytes:
    """The file of such a model."""
    return bytes(model_of(text, opset).SerializeToString(deterministic=True))


def graph_of(text: str, opset: int = 17, batch: int | None = None, skip: str = "") -> Graph:
    """The imported, checked graph of such a model; `skip` names passes, separated by spaces."""
    options = ImportOptions("test", batch=batch, skip_passes=tuple(skip.split()))
    return imported(model_bytes(text, opset), options)


def imported(data: bytes, options: ImportOptions | None = None) -> Graph:
    """The checked graph of a file."""
    graph = import_model(data, options or ImportOptions("test"))
    graph.check()
    return graph


def op_types(graph: Graph) -> str:
    """The ops in order, for comparison in a line."""
    return " ".join(op.op_type for op in graph.ops)
