"""ONNX's schemas: operator sets of a model, and the ops with a schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.graph import Op

DEFAULT_DOMAINS = ("", "ai.onnx")
"""The two spellings of ONNX's own domain."""

_RUNTIME_OPS = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""Ops that ONNX Runtime's optimiser writes into ONNX's own domain in any operator set.

ONNX has the first since 17, and the second as RMSNormalization since 23.
"""


def opset_versions(model: onnx.ModelProto) -> Mapping[str, int]:
    """Returns the opset version by domain; the default domain is the empty string.

    Raises:
        ModelError: NO_OPSET, OPSET_TOO_NEW.
    """
    versions = {
        "" if entry.domain in DEFAULT_DOMAINS else entry.domain: int(entry.version)
        for entry in model.opset_import
    }
    newest = onnx.defs.onnx_opset_version()
    if not versions:
        raise ModelError(
            "NO_OPSET",
            "the model names no operator set",
            "ModelProto.opset_import",
            "export the model again; the file may be cut off",
        )
    version = versions.setdefault("", 1)
    if not 1 <= version <= newest:
        raise ModelError(
            "OPSET_TOO_NEW",
            f"operator set version {version} is not known",
            f"known are 1 to {newest}",
            "export the model with an older opset",
        )
    return versions


@cache
def schema_of(op_type: str, opset: int, domain: str) -> onnx.defs.OpSchema | None:
    """The schema of an op type; None if ONNX has none."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def is_custom_node(node: onnx.NodeProto, versions: Mapping[str, int]) -> bool:
    """Whether the node is of a foreign domain, without an ONNX schema."""
    if node.domain in DEFAULT_DOMAINS:
        return node.op_type in _RUNTIME_OPS and not _is_described(node.op_type, versions[""])
    return schema_of(node.op_type, versions.get(node.domain, 1), node.domain) is None


def _is_described(op_type: str, opset: int) -> bool:
    return schema_of(op_type, opset, "") is not None


def is_custom(op: Op) -> bool:
    """Whether the op is of a foreign domain, without an ONNX schema.

    Raises:
        ModelError: UNKNOWN_OP if the op has ONNX's domain but no schema.
    """
    is_known = schema_of(op.op_type, op.opset, op.domain) is not None
    if not is_known and not op.domain and op.op_type not in _RUNTIME_OPS:
        raise ModelError(
            "UNKNOWN_OP",
            f"{op.op_type} {op.name!r} is not an operator of version {op.opset}",
            "domain 'ai.onnx'",
            "check its spelling and the model's operator set version",
        )
    return not is_known
