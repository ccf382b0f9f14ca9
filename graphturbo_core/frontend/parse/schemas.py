"""ONNX's schemas: which operator sets a model names, and which of its ops they describe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.graph import Op

DEFAULT_DOMAINS = ("", "ai.onnx")
"""The two spellings of ONNX's own domain."""

_RUNTIME_OPS = frozenset({"LayerNormalization", "SimplifiedLayerNormalization"})
"""What ONNX Runtime's optimiser writes into ONNX's own domain, whatever the model's operator set.

ONNX has the first from 17 on, and the second under another name (RMSNormalization) from 23 on.
"""


def opset_versions(model: onnx.ModelProto) -> Mapping[str, int]:
    """Opset version by domain; the default domain is the empty string.

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
    """The schema of an op type; None where ONNX has none."""
    try:
        return onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None


def is_custom_node(node: onnx.NodeProto, versions: Mapping[str, int]) -> bool:
    """Whether no ONNX schema describes the node, as it belongs to somebody else."""
    if node.domain in DEFAULT_DOMAINS:
        return node.op_type in _RUNTIME_OPS and not _is_described(node.op_type, versions[""])
    return schema_of(node.op_type, versions.get(node.domain, 1), node.domain) is None


def _is_described(op_type: str, opset: int) -> bool:
    return schema_of(op_type, opset, "") is not None


def is_custom(op: Op) -> bool:
    """Whether no ONNX schema describes the op, as it belongs to somebody else.

    Raises:
        ModelError: UNKNOWN_OP when the op claims to be ONNX's.
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
