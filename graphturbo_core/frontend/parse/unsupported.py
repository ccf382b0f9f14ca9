"""Ops that import cannot type -> one refusal that names them all, with what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Graph, Op, Tensor
from graphturbo_core.semantics.ops.maps import OPAQUE_FORMAT
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import total_macs

REASONS: Mapping[str, str] = {
    "SUB_GRAPH": "control flow",
    "UNKNOWN_OP": "no ONNX operator and no recorded type",
    "NOT_A_TENSOR": "no tensor",
    "DYNAMIC_SHAPE": "a shape that depends on data",
}
"""Codes of refusals that concern an op and leave others to be looked at; a few words on each."""

_CHANGE = "export the model without them, with fixed sizes, or import a part of it"
_SHOWN_TYPES = 20
"""Op types that a refusal names; its `ops` field holds them all (our choice)."""


@dataclass(frozen=True)
class Untyped:
    """Ops that were refused, each with why, and ops that read what those would have given."""

    refused: Sequence[tuple[Op, ModelError]]
    behind: Sequence[Op]


def unsupported(typed: Graph, untyped: Untyped) -> ModelError:
    """The refusal of a model; `typed` is what is known of the rest of it.

    Of the refused ops the bytes that are known (inputs that have a shape) are set against those
    that all ops touch, since nothing is known of what they give; nor are their MACs, so that those
    of the rest are told. One alone also says why it is refused, and what to change.
    """
    ops = tuple((op.name, op.op_type, error.code) for op, error in untyped.refused)
    shares = _shares(typed, untyped)
    if len(untyped.refused) == 1:
        ((_, only),) = untyped.refused
        reason = ", ".join(part for part in (only.what, only.where) if part)
        what = f"1 op is not supported ({REASONS[only.code]}): {reason}"
        return ModelError("UNSUPPORTED_OPS", what, shares, only.change, ops=ops)
    return ModelError("UNSUPPORTED_OPS", _listed(untyped), shares, _CHANGE, ops=ops)


def _listed(untyped: Untyped) -> str:
    """How many of which type, and why."""
    kinds: dict[tuple[str, str], list[Op]] = {}
    for op, error in untyped.refused:
        name = f"{op.domain}.{op.op_type}" if op.domain else op.op_type
        kinds.setdefault((name, error.code), []).append(op)
    lines = [f"{len(ops)} {name} ({REASONS[code]})" for (name, code), ops in sorted(kinds.items())]
    hidden = len(lines) - _SHOWN_TYPES
    shown = [*lines[:_SHOWN_TYPES], *([f"{hidden} more types"] if hidden > 0 else [])]
    return f"{len(untyped.refused)} ops are not supported: {'; '.join(shown)}"


def _shares(typed: Graph, untyped: Untyped) -> str:
    refused = sum(_known_bytes(typed.tensors, op) for op, _ in untyped.refused)
    total = refused + sum(_known_bytes(typed.tensors, op) for op in (*typed.ops, *untyped.behind))
    subject = "it touches" if len(untyped.refused) == 1 else "they touch"
    return (
        f"{subject} {refused / max(1, total):.1%} of the bytes that are known; "
        f"{len(untyped.behind)} ops behind could not be looked at; "
        f"{total_macs(analyse(typed))} MACs are in the other {len(typed.ops)} ops"
    )


def _known_bytes(tensors: Mapping[str, Tensor], op: Op) -> int:
    names = dict.fromkeys((*op.inputs, *op.outputs))
    found = [tensors[name] for name in names if name in tensors]
    return sum(tensor.elements * element_bytes(tensor.dtype, OPAQUE_FORMAT) for tensor in found)
