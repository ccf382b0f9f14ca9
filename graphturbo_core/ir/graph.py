"""Graph: ops in topological order, tensors with static shapes, weights apart from activations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import prod

import numpy as np

from graphturbo_core.errors import InvariantError


class TensorBytes(bytes):
    """An attribute that is a tensor, as ONNX serialises it."""


AttributeValue = int | float | str | bytes | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


class TensorKind(Enum):
    """Where a tensor's numbers come from."""

    INPUT = "input"
    WEIGHT = "weight"
    ACTIVATION = "activation"


@dataclass(frozen=True, slots=True)
class Tensor:
    """A value with a static shape; `value` is read-only, kept for small or needed constants."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    kind: TensorKind
    value: np.ndarray | None = field(default=None, compare=False)

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Op:
    """One node; a missing optional input is the empty string. Attribute defaults are not filled."""

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]
    opset: int


@dataclass(frozen=True)
class Graph:
    """A model ready for scheduling. Op names are unique; `inputs` excludes weights."""

    name: str
    ops: tuple[Op, ...]
    tensors: Mapping[str, Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def op_by_name(self) -> Mapping[str, Op]:
        """Ops by their name."""
        return {op.name: op for op in self.ops}

    @cached_property
    def output_names(self) -> frozenset[str]:
        """`outputs` to look names up in."""
        return frozenset(self.outputs)

    @cached_property
    def producer(self) -> Mapping[str, Op]:
        """The op that writes each activation."""
        return {name: op for op in self.ops for name in op.outputs if name}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Op, ...]]:
        """The ops that read each tensor, in topological order, each once."""
        readers: dict[str, list[Op]] = {name: [] for name in self.tensors}
        for op in self.ops:
            for name in dict.fromkeys(op.inputs):
                if name:
                    readers[name].append(op)
        return {name: tuple(ops) for name, ops in readers.items()}

    def activations_in(self, op: Op) -> tuple[str, ...]:
        """The op's distinct data inputs (not weights, not missing), in order."""
        return self._activations[op.name]

    @cached_property
    def _activations(self) -> Mapping[str, tuple[str, ...]]:
        return {
            op.name: tuple(
                name
                for name in dict.fromkeys(op.inputs)
                if name and self.tensors[name].kind is not TensorKind.WEIGHT
            )
            for op in self.ops
        }

    def weights_in(self, op: Op) -> tuple[str, ...]:
        """The op's distinct weight inputs, in order."""
        return tuple(
            name
            for name in dict.fromkeys(op.inputs)
            if name and self.tensors[name].kind is TensorKind.WEIGHT
        )

    def check(self) -> None:
        """Every input is produced before it is read; names are unique.

        Raises:
            InvariantError: naming the op and the tensor.
        """
        known = {n for n, t in self.tensors.items() if t.kind is not TensorKind.ACTIVATION}
        names: set[str] = set()
        for op in self.ops:
            if op.name in names:
                raise InvariantError("GRAPH_NAME", f"two ops are named {op.name!r}")
            names.add(op.name)
            for name in op.inputs:
                if name and name not in known:
                    raise InvariantError(
                        "GRAPH_ORDER", f"{op.name!r} reads {name!r} before it is written"
                    )
            known.update(name for name in op.outputs if name)
        missing = [name for name in self.outputs if name not in known]
        if missing:
            raise InvariantError("GRAPH_OUTPUT", f"output {missing[0]!r} is never written")
