"""Limits of value propagation for the constants that a gather picks by.

Whether a gather of merged samples mixes them depends on its indices. They are computed from the
batch and have elements in proportion to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphturbo_core.frontend.shapes.values import EVALUATORS, PRODUCTS, VIEWS
from graphturbo_core.ir.graph import Op, Tensor
from graphturbo_core.limits import Limits

GATHERS = frozenset({"Gather", "GatherElements", "GatherND"})


class IndexLimits:
    """Limits per op of one model: ops that compute indices may give larger constants."""

    def __init__(self, ops: Sequence[Op], limits: Limits) -> None:
        """Starts with all of `limits.max_index_elements`."""
        self._limits = limits
        self._names = index_ops(ops)
        self._left = limits.max_index_elements

    def of(self, op: Op) -> Limits:
        """The limits for an op."""
        usual = self._limits.max_elements_value_propagation
        if op.name not in self._names or self._left <= usual:
            return self._limits
        return replace(self._limits, max_elements_value_propagation=self._left)

    def count(self, op: Op, outputs: Iterable[Tensor]) -> None:
        """Subtract the results of an op that only wider limits allow; views need no memory."""
        if op.name not in self._names or op.op_type in VIEWS or op.op_type == "Expand":
            return
        usual = self._limits.max_elements_value_propagation
        large = (out.elements for out in outputs if out.value is not None and out.elements > usual)
        self._left -= sum(large)


def index_ops(ops: Sequence[Op]) -> frozenset[str]:
    """Names of the ops whose results become indices of a gather by arithmetic that import knows."""
    found: set[str] = set()
    needed: set[str] = set()
    for op in reversed(ops):
        if op.domain:
            continue
        is_known = op.op_type in EVALUATORS and op.op_type not in PRODUCTS
        if is_known and needed.intersection(op.outputs):
            found.add(op.name)
            needed.update(op.inputs)
        if op.op_type in GATHERS:
            needed.update(op.inputs[1:2])
    return frozenset(found)
