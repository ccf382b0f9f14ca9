"""Ops that import cannot type -> one refusal with all of them and their share of the bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.ir.graph import Graph, Op, Tensor
from graphturbo_core.semantics.ops.maps import OPAQUE_FORMAT
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import total_macs
from graphturbo_core.units import counted, format_count, format_percent

REASONS: Mapping[str, str] = {
    "SUB_GRAPH": "control flow",
    "UNKNOWN_OP": "no ONNX operator and no recorded type",
    "NOT_A_TENSOR": "no tensor",
    "DYNAMIC_SHAPE": "a shape that depends on data",
}
"""Codes of refusals of one op after which import continues, with a short reason each."""

_CHANGE = "export the model without them, with fixed sizes, or import a part of it"
_SHOWN_TYPES = 20
"""Most op types that a refusal names; its `ops` field has all (our choice)."""


@dataclass(frozen=True)
class Untyped:
    """Refused ops with their refusals, and ops that read their outputs."""

    refused: Sequence[tuple[Op, ModelError]]
    behind: Sequence[Op]


def unsupported(typed: Graph, untyped: Untyped) -> ModelError:
    """Returns the refusal of a model; `typed`: the typed part of it.

    The known bytes of refused ops (inputs with a shape) are reported as a share of all ops' bytes,
    since their outputs are unknown. Their MACs are unknown too, so the MACs of the other ops are
    reported. A single refused op is reported with its own reason and change.
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
    """Counts by op type and reason."""
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
        f"{subject} {format_percent(refused / max(1, total))} of the bytes that are known; "
        f"{counted(len(untyped.behind), 'op')} after that not checked; "
        f"{format_count(total_macs(analyse(typed)))} MACs in the "
        f"{counted(len(typed.ops), 'other op')}"
    )


def _known_bytes(tensors: Mapping[str, Tensor], op: Op) -> int:
    names = dict.fromkeys((*op.inputs, *op.outputs))
    found = [tensors[name] for name in names if name in tensors]
    return sum(tensor.elements * element_bytes(tensor.dtype, OPAQUE_FORMAT) for tensor in found)
