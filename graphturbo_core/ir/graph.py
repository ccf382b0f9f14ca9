"""Graph: ops in topological order, tensors with static shapes, weights and activations."""

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
    """Origin of a tensor's numbers."""

    INPUT = "input"
    WEIGHT = "weight"
    ACTIVATION = "activation"

    __hash__ = object.__hash__
    """Enum's own hash runs Python code."""


WeightStep = tuple[str, tuple[int, ...]]
"""Steps that take a part of a weight (`ir.weight_parts`)."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A value with a static shape; `value`: read-only numbers of small or needed constants.

    `source` and `steps`: the weight of the file that a weight is a part of, and how to take the
    part; empty for a weight of the file. `joins`: the weights that one without numbers concatenates
    along the leading axis. `is_folded`: import made it of an op. `repeats`: the weight of the file
    that is each of its rows.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    kind: TensorKind
    value: np.ndarray | None = field(default=None, compare=False)
    source: str = ""
    steps: tuple[WeightStep, ...] = ()
    joins: tuple[Tensor, ...] = ()
    is_folded: bool = False
    repeats: str = ""

    @property
    def elements(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class Op:
    """One node; a missing optional input is the empty string. Attribute defaults are not filled.

    `origin`: the op of `Graph.undecomposed` that this one is a part of; empty for an op that no
    pass decomposed or merged: its name is unchanged. A merged op is a part of its first one.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, AttributeValue]
    opset: int
    origin: str = ""

    @property
    def origin_name(self) -> str:
        """The op of the undecomposed graph that this one is, or is a part of."""
        return self.origin or self.name


@dataclass(frozen=True)
class Graph:
    """A model ready for scheduling. Op names are unique; `inputs` excludes weights.

    `undecomposed`: the graph before passes that decompose or merge ops; None if none did.
    """

    name: str
    ops: tuple[Op, ...]
    tensors: Mapping[str, Tensor]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()
    undecomposed: Graph | None = field(default=None, repr=False)

    @property
    def whole(self) -> Graph:
        """The graph before passes that decompose or merge ops: all strategies share it."""
        return self if self.undecomposed is None else self.undecomposed

    @cached_property
    def op_by_name(self) -> Mapping[str, Op]:
        """Ops by their name."""
        return {op.name: op for op in self.ops}

    @cached_property
    def output_names(self) -> frozenset[str]:
        """Names of `outputs`, as a set."""
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
            for name in dict.fromkeys(filter(None, op.inputs)):
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
        """Check that every input is produced before it is read, and names are unique.

        Raises:
            InvariantError: naming the op and the tensor.
        """
        known = {n for n, t in self.tensors.items() if t.kind is not TensorKind.ACTIVATION}
        names: set[str] = set()
        for op in self.ops:
            if op.name in names:
                raise InvariantError("GRAPH_NAME", f"two ops are named {op.name!r}")
            names.add(op.name)
            early = [name for name in op.inputs if name and name not in known]
            if early:
                what = f"{op.name!r} reads {early[0]!r} before it is written"
                raise InvariantError("GRAPH_ORDER", what)
            known.update(name for name in op.outputs if name)
        self._check_origins()
        missing = [name for name in self.outputs if name not in known]
        if missing:
            raise InvariantError("GRAPH_OUTPUT", f"output {missing[0]!r} is never written")

    def _check_origins(self) -> None:
        """Check that every op is a part of an op of the undecomposed graph, and none is lost.

        Raises:
            InvariantError: GRAPH_ORIGIN.
        """
        whole = self.whole.op_by_name
        for op in self.ops:
            if op.origin_name not in whole:
                what = f"{op.name!r} comes from {op.origin_name!r}, which is not an op"
                raise InvariantError("GRAPH_ORIGIN", what)
        lost = whole.keys() - {op.origin_name for op in self.ops}
        if lost:
            raise InvariantError("GRAPH_ORIGIN", f"nothing is left of {min(lost)!r}")
