"""An identity for every element of every tensor; an op that only copies hands identities on."""

from __future__ import annotations

import numpy as np

from graphturbo_core.ir.boxes import Box
from graphturbo_core.ir.graph import Graph, Op

RESHAPES = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
COPIES = RESHAPES | {"Concat", "Slice", "Split", "Transpose"}


def slices(box: Box) -> tuple[slice, ...]:
    return tuple(slice(lo, hi) for lo, hi in box)


def is_same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two boxes, which may have other axes, have the same elements in row-major order."""
    if one.shape != other.shape:
        one, other = one.ravel(), other.ravel()
    return np.array_equal(one, other)


class Identities:
    """`of[tensor]` has the tensor's shape; identities are positive."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.of: dict[str, np.ndarray] = {}
        self._next = 1
        copied = {name for op in graph.ops if op.op_type in COPIES for name in op.outputs}
        for name in graph.tensors:
            if name not in copied:
                self._enter(name)
        for op in graph.ops:
            if op.op_type in COPIES:
                self._copy(op)

    def box(self, tensor: str, box: Box) -> np.ndarray:
        """Identities of a box: no copy."""
        return self.of[tensor][slices(box)]

    def _enter(self, name: str) -> None:
        tensor = self.graph.tensors[name]
        last = self._next + tensor.elements
        self.of[name] = np.arange(self._next, last, dtype=np.int64).reshape(tensor.shape)
        self._next = last

    def _copy(self, op: Op) -> None:
        shape = self.graph.tensors[op.outputs[0]].shape
        first = self.of[op.inputs[0]]
        axis = op.attributes.get("axis", 0)
        assert isinstance(axis, int)
        if op.op_type in RESHAPES:
            self.of[op.outputs[0]] = first.reshape(shape)
        elif op.op_type == "Concat":
            self.of[op.outputs[0]] = np.concatenate([self.of[n] for n in op.inputs], axis)
        elif op.op_type == "Split":
            sizes = [self.graph.tensors[name].shape[axis] for name in op.outputs]
            parts = np.split(first, np.cumsum(sizes)[:-1], axis)
            self.of.update(zip(op.outputs, parts, strict=True))
        elif op.op_type == "Slice":
            self.of[op.outputs[0]] = first[self._cuts(op)]
        else:
            self.of[op.outputs[0]] = np.transpose(first, op.attributes.get("perm"))

    def _cuts(self, op: Op) -> tuple[slice, ...]:
        """Starts, ends, axes and steps of a slice that names them all, or all but the steps."""
        values = [self.graph.tensors[name].value for name in op.inputs[1:]]
        starts, ends, axes, *steps = [value.tolist() for value in values if value is not None]
        cuts = [slice(None)] * len(self.graph.tensors[op.inputs[0]].shape)
        for place, axis in enumerate(axes):
            cuts[axis] = slice(starts[place], ends[place], steps[0][place] if steps else 1)
        return tuple(cuts)
