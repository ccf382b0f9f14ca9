"""Builder of the ops of one unrolled recurrent op, named by direction and step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.ir.graph import AttributeValue, Op, Tensor, TensorKind
from graphturbo_core.ir.weight_parts import CUT, SHAPED, TURNED, part_of

_OPSETS = {"Slice": 1, "Squeeze": 11, "Unsqueeze": 11, "Clip": 6}
"""Operator sets in which an op's parameters are attributes; other ops are of set 13."""
_OPSET = 13


@dataclass
class TimeSteps:
    """Builds the ops that replace `of`; None represents zeros and is propagated."""

    parts: Parts
    of: Op
    where: str = ""
    """Name prefix of new ops: direction and step."""

    def add(
        self,
        part: str,
        op_type: str,
        inputs: Sequence[str],
        shape: Sequence[int],
        attributes: Mapping[str, AttributeValue] | None = None,
    ) -> str:
        """Add an op with the type of its last input; returns its result's name."""
        name = f"{self.where}{part}"
        output = self.parts.between(self.of, name, shape, self.parts.tensor(inputs[-1]).dtype)
        what = (name, op_type, _OPSETS.get(op_type, _OPSET))
        return self.parts.add(self.of, what, inputs, output, dict(attributes or {}))

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a tensor of the graph or of a new one."""
        return self.parts.tensor(name).shape

    def unary(self, part: str, op_type: str, data: str, given: Mapping[str, float]) -> str:
        """An elementwise op with these numbers as attributes."""
        return self.add(part, op_type, (data,), self.shape(data), given)

    def number(self, number: float) -> str:
        """A constant with the type of the data, shared by all users."""
        dtype = self.parts.tensor(self.of.inputs[0]).dtype
        name = f"{self.of.name}/{number}:{dtype}"
        value = read_only(np.array(number, dtype))
        return self.parts.weight(Tensor(name, (), dtype, TensorKind.WEIGHT, value))

    def plus(self, part: str, one: str | None, other: str | None) -> str | None:
        """The sum, or the only operand that is not None."""
        if one is None or other is None:
            return one or other
        return self._pair(part, "Add", one, other)

    def times(self, part: str, one: str | None, other: str | None) -> str | None:
        """The elementwise product; None if an operand is None."""
        return None if one is None or other is None else self._pair(part, "Mul", one, other)

    def less_than_one(self, part: str, data: str | None) -> str:
        """1 minus the data."""
        return self.number(1.0) if data is None else self._pair(part, "Sub", self.number(1.0), data)

    def _pair(self, part: str, op_type: str, one: str, other: str) -> str:
        shape = np.broadcast_shapes(self.shape(one), self.shape(other))
        return self.add(part, op_type, (one, other), shape)

    def product(self, part: str, data: str | None, weight: str) -> str | None:
        """A product [..., K] with a weight [K, M]."""
        if data is None:
            return None
        shape = (*self.shape(data)[:-1], self.shape(weight)[-1])
        return self.add(part, "MatMul", (data, weight), shape)

    def cut(self, part: str, data: str, axis: int, span: tuple[int, int]) -> str:
        """A part along an axis: a weight for a weight, else a Slice; unchanged if it is all."""
        tensor = self.parts.tensor(data)
        axis %= len(tensor.shape)
        if span == (0, tensor.shape[axis]):
            return data
        shape = tuple(span[1] - span[0] if i == axis else n for i, n in enumerate(tensor.shape))
        if tensor.kind is not TensorKind.WEIGHT:
            given = {"starts": span[:1], "ends": span[1:], "axes": (axis,)}
            return self.add(part, "Slice", (data,), shape, given)
        name = f"{data}[{', '.join([*':' * axis, f'{span[0]}:{span[1]}'])}]"
        return self.parts.weight(part_of(tensor, name, shape, (CUT, (axis, *span))))

    def without_first(self, part: str, data: str) -> str:
        """Data without its leading axis, which has one element."""
        tensor = self.parts.tensor(data)
        shape = tensor.shape[1:]
        if tensor.kind is not TensorKind.WEIGHT:
            return self.add(part, "Squeeze", (data,), shape, {"axes": (0,)})
        return self.parts.weight(part_of(tensor, f"{data}[0]", shape, (SHAPED, shape)))

    def transposed(self, part: str, data: str, order: tuple[int, ...]) -> str:
        """Data with its axes in this order."""
        tensor = self.parts.tensor(data)
        shape = tuple(tensor.shape[axis] for axis in order)
        if tensor.kind is not TensorKind.WEIGHT:
            return self.add(part, "Transpose", (data,), shape, {"perm": order})
        name = f"{data} transposed"
        return self.parts.weight(part_of(tensor, name, shape, (TURNED, order)))
