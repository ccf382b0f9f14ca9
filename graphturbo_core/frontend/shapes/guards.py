"""Refusal of attributes that crash onnx's shape inference.

Found by changing attributes of every op at random (tests/semantics/test_odd_ops.py): reads beyond
a vector's end, seen with onnx 1.23.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.graph import Op, Tensor

Sources = Mapping[str, Tensor]


def check_inferable(op: Op, sources: Sources) -> None:
    """Refuse attributes that crash inference.

    Raises:
        ModelError: BAD_ATTRIBUTE.
    """
    reason = None if op.domain else _RULES.get(op.op_type, _nothing)(op, sources)
    if reason is not None:
        raise ModelError(
            "BAD_ATTRIBUTE",
            f"{op.op_type} {op.name!r} {reason}",
            change="correct the attribute",
        )


def _nothing(_op: Op, _sources: Sources) -> str | None:
    return None


def _batch_axes(op: Op, sources: Sources) -> str | None:
    """GatherND: leading axes shared by data and indices."""
    shared = op.attributes.get("batch_dims", 0)
    ranks = [len(sources[name].shape) for name in op.inputs[:2]]
    if isinstance(shared, int) and 0 <= shared < min(ranks):
        return None
    return f"has {shared!r} batch axes, of tensors with {ranks[0]} and {ranks[1]}"


def _output_count(op: Op, _sources: Sources) -> str | None:
    """Split: number of outputs."""
    count = op.attributes.get("num_outputs", len(op.outputs))
    return None if count == len(op.outputs) else f"says {count!r} outputs and has {len(op.outputs)}"


_RULES: Mapping[str, Callable[[Op, Sources], str | None]] = MappingProxyType(
    {"GatherND": _batch_axes, "Split": _output_count}
)
