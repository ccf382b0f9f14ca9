"""The chip's memories during a replay: the owner of each byte, and the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.boxes import Box, extents
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.verify.local import poisoned
from graphturbo_core.verify.single_op import Array

NOBODY = -1
Space = tuple[int, int]
"""Address space: memory and core (-1: shared by the cores); addresses start at 0 in each."""


class Shadow:
    """Owner (buffer) of each byte: set when a buffer is opened, checked by every access.

    Bytes between two neighbouring ends of buffers always have the same owner, so one entry
    represents them. A buffer is opened only once, so its number identifies the content too.
    """

    def __init__(self, program: Program) -> None:
        """Starts without any owner."""
        buffers = program.buffers
        memory = buffers.memory.astype(np.int64)
        if program.plan.hardware.is_pooled:
            memory[memory == Memory.LB_WEIGHT] = Memory.LB_DATA
        spaces = np.column_stack((memory, buffers.core.astype(np.int64)))
        ends = buffers.offset + buffers.size_bytes
        self._range: list[tuple[Space, int, int]] = [((0, 0), 0, 0)] * len(memory)
        self._owner: dict[Space, NDArray[np.int32]] = {}
        for row in np.unique(spaces, axis=0):
            space = (int(row[0]), int(row[1]))
            members = np.flatnonzero((spaces == row).all(axis=1))
            edges = np.unique(np.concatenate((buffers.offset[members], ends[members])))
            self._owner[space] = np.full(len(edges), NOBODY, dtype=np.int32)
            first = np.searchsorted(edges, buffers.offset[members])
            last = np.searchsorted(edges, ends[members])
            for buffer, begin, end in zip(members, first, last, strict=True):
                self._range[int(buffer)] = (space, int(begin), int(end))

    def take(self, buffer: int) -> set[int]:
        """Makes the buffer the owner of its bytes; returns their previous owners."""
        space, begin, end = self._range[buffer]
        owner = self._owner[space]
        losers = {int(other) for other in np.unique(owner[begin:end])}
        owner[begin:end] = buffer
        return losers - {NOBODY, buffer}

    def owns(self, buffer: int) -> bool:
        """Whether the buffer owns all of its bytes."""
        space, begin, end = self._range[buffer]
        return bool((self._owner[space][begin:end] == buffer).all())


class Values:
    """The numbers of the open buffers: one array per buffer with the shape of its box."""

    def __init__(self, program: Program) -> None:
        """Starts without open buffers."""
        tensors = program.plan.semantics.graph.tensors
        names = [program.tensors[number] for number in program.buffers.tensor]
        self.boxes: list[Box] = boxes_of(
            [len(tensors[name].shape) for name in names], program.buffers.lo, program.buffers.hi
        )
        self._dtypes = [numpy_dtype(tensors[name].dtype) for name in names]
        self._numbers: dict[int, Array] = {}
        self._written: dict[int, NDArray[np.bool_]] = {}

    def open(self, buffer: int) -> None:
        """Opens a buffer: poisons it and marks every element as unwritten.

        NaN alone is not enough: the maximum of a pool or a Relu may drop it.
        """
        shape, dtype = extents(self.boxes[buffer]), self._dtypes[buffer]
        self._numbers[buffer] = poisoned(shape, dtype)
        self._written[buffer] = np.zeros(shape, dtype=np.bool_)

    def give(self, buffer: int, numbers: Array) -> None:
        """Opens a read-only buffer with these numbers."""
        self._numbers[buffer] = numbers

    def close(self, buffer: int) -> None:
        """Drops the buffer's numbers."""
        self._numbers.pop(buffer, None)
        self._written.pop(buffer, None)

    def is_open(self, buffer: int) -> bool:
        """Whether the buffer is open; its numbers may be poisoned."""
        return buffer in self._numbers

    def read(self, buffer: int, box: Box) -> Array | None:
        """The numbers of a box; None where some are unwritten."""
        inside = self._inside(buffer, box)
        written = self._written.get(buffer)
        if written is not None and not written[inside].all():
            return None
        return np.asarray(self._numbers[buffer][inside])

    def write(self, buffer: int, box: Box, numbers: Array) -> None:
        """Writes numbers, in row-major order, to a box.

        A slot may be reused for values of other types. A write of its whole box sets its type.
        """
        inside = self._inside(buffer, box)
        if numbers.dtype != self._numbers[buffer].dtype and box == self.boxes[buffer]:
            self._numbers[buffer] = np.empty(extents(box), numbers.dtype)
        part = self._numbers[buffer][inside]
        part[...] = numbers.reshape(part.shape)
        if buffer in self._written:
            self._written[buffer][inside] = True

    def whole(self, buffer: int) -> Array:
        """All numbers of an open buffer."""
        return self._numbers[buffer]

    def _inside(self, buffer: int, box: Box) -> tuple[Any, ...]:
        """The box as an index; the leading Ellipsis keeps a scalar an array."""
        base = self.boxes[buffer]
        return (
            ...,
            *(slice(lo - b, hi - b) for (lo, hi), (b, _) in zip(box, base, strict=True)),
        )


def boxes_of(ranks: list[int], lo: NDArray[np.int32], hi: NDArray[np.int32]) -> list[Box]:
    """Boxes with `ranks` axes each, from arrays with one column per possible axis."""
    return [
        tuple(zip(a[:rank], b[:rank], strict=True))
        for a, b, rank in zip(lo.tolist(), hi.tolist(), ranks, strict=True)
    ]
