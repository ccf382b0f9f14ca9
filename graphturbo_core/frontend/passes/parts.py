"""Builder of the ops that replace one op, and the tensors between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.rewrite import fresh_name
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, Tensor, TensorKind


@dataclass
class Parts:
    """The ops of the new graph in order, and its new tensors."""

    graph: Graph
    has_origins: bool = False
    """Whether parts record the op that they come from: for passes of some strategies only."""
    ops: list[Op] = field(default_factory=list)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    _weights: dict[str, str] = field(default_factory=dict)
    _taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        """Reserve the names of the graph's own ops."""
        self._taken = {op.name for op in self.graph.ops}

    def tensor(self, name: str) -> Tensor:
        """A new tensor, or one of the graph."""
        return self.tensors.get(name) or self.graph.tensors[name]

    def add(
        self,
        of: Op,
        what: tuple[str, str, int],
        inputs: Sequence[str],
        output: Tensor,
        attributes: dict[str, AttributeValue] | None = None,
    ) -> str:
        """Add one part of the op `of`; `what`: its name, op type and operator set.

        Returns the name of its result.
        """
        part, op_type, opset = what
        name = fresh_name(f"{of.name}/{part}", self._taken)
        self._taken.add(name)
        if output.name not in self.graph.tensors:
            self.tensors[output.name] = output
        names = tuple(inputs), (output.name,)
        origin = of.origin_name if self.has_origins else ""
        self.ops.append(Op(name, op_type, "", *names, attributes or {}, opset, origin))
        return output.name

    def between(self, of: Op, part: str, shape: Sequence[int], dtype: str) -> Tensor:
        """A new tensor of this shape and type, named after the op that it is a part of."""
        name = fresh_name(f"{of.name}/{part}:0", self.graph.tensors, self.tensors)
        return Tensor(name, tuple(shape), dtype, TensorKind.ACTIVATION)

    def constant(self, of: Op, part: str, number: float, dtype: str) -> str:
        """A new weight with one number."""
        value = read_only(np.array(number, dtype))
        tensor = self.between(of, part, (), dtype)
        self.tensors[tensor.name] = replace(tensor, kind=TensorKind.WEIGHT, value=value)
        return tensor.name

    def weight(self, tensor: Tensor) -> str:
        """Name of a new weight; equal requested names share one weight."""
        if tensor.name not in self._weights:
            name = fresh_name(tensor.name, self.graph.tensors, self.tensors)
            self._weights[tensor.name] = name
            self.tensors[name] = replace(tensor, name=name)
        return self._weights[tensor.name]
