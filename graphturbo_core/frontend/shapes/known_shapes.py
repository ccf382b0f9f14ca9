"""Output shapes that onnx's inference leaves open but the inputs determine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from graphturbo_core.ir.graph import Op, Tensor

Shape = tuple[int, ...]
Sources = Mapping[str, Tensor]


def known_shape(op: Op, sources: Sources) -> Shape | None:
    """The shape of the op's first output; None if it depends on data or is unknown."""
    rule = None if op.domain else _RULES.get(op.op_type)
    return None if rule is None else rule(op, sources)


def _of_the_input(op: Op, sources: Sources) -> Shape | None:
    return sources[op.inputs[0]].shape


def _from_the_third(op: Op, sources: Sources) -> Shape | None:
    """A shape given by the values of an input."""
    value = sources[op.inputs[2]].value if len(op.inputs) > 2 else None  # noqa: PLR2004 - a place
    return None if value is None else tuple(int(size) for size in value.reshape(-1))


def _of_the_chosen(op: Op, sources: Sources) -> Shape | None:
    """Compress: the count of true conditions, along an axis or over all elements."""
    data, condition = (sources[name] for name in op.inputs)
    if condition.value is None:
        return None
    chosen = int(np.count_nonzero(condition.value))
    axis = op.attributes.get("axis")
    if not isinstance(axis, int):
        return (chosen,)
    axis %= len(data.shape)
    return (*data.shape[:axis], chosen, *data.shape[axis + 1 :])


_RULES: Mapping[str, Callable[[Op, Sources], Shape | None]] = MappingProxyType(
    {
        "Compress": _of_the_chosen,
        "GroupNormalization": _of_the_input,
        "MaxUnpool": _from_the_third,
        "MeanVarianceNormalization": _of_the_input,
    }
)
"""Ops of ONNX's own domain."""
