"""Buffers of one kernel: a list while it is emitted, then columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.arrays import pack_boxes
from graphturbo_core.products.program import BufferColumns, IntArray, Memory

SharedKey = tuple[str, str, int, int]
"""Key of a buffer that several kernels use: (memory or RESIDENT, tensor, core, kernel that writes
it). RESIDENT: an output in LB for the next kernel. SCRATCH: an output in GB whose bytes its kernel
reuses. Of a shard: (SHARD, tensor, core, number of its box). Of a retained weight: (RETAINED,
tensor, core, number of its box). The core of GB and DRAM is `far_core`."""
RESIDENT = "RESIDENT"
SCRATCH = "SCRATCH"
SHARD = "SHARD"
RETAINED = "RETAINED"
COLUMNS = tuple(each.name for each in fields(BufferColumns))
"""Columns that buffers of a kernel and of a Program have in common."""


class LocalBuffer(NamedTuple):
    """One buffer of the kernel; `shared`: key of a buffer that outlives the kernel.

    `cores`: number of cores with an equivalent buffer.
    """

    memory: Memory
    core: int
    offset: int
    size_bytes: int
    tensor: str
    box: Box
    shared: SharedKey | None = None
    is_spill: bool = False
    cores: int = 1


@dataclass(frozen=True)
class LocalBuffers(BufferColumns):
    """All buffers of a kernel; `tensor` indexes `tensors`, `shared` is by row."""

    tensors: tuple[str, ...]
    shared: Mapping[int, SharedKey]

    def __len__(self) -> int:
        """Number of buffers."""
        return len(self.memory)


def columns_of(buffers: Sequence[LocalBuffer]) -> LocalBuffers:
    """Buffers as columns, a row each."""
    number = {name: place for place, name in enumerate(dict.fromkeys(b.tensor for b in buffers))}
    lo, hi = pack_boxes([buffer.box for buffer in buffers])
    return LocalBuffers(
        memory=np.array([buffer.memory for buffer in buffers], dtype=np.int8),
        core=np.array([buffer.core for buffer in buffers], dtype=np.int16),
        offset=np.array([buffer.offset for buffer in buffers], dtype=np.int64),
        size_bytes=np.array([buffer.size_bytes for buffer in buffers], dtype=np.int64),
        tensor=np.array([number[buffer.tensor] for buffer in buffers], dtype=np.int32),
        lo=lo,
        hi=hi,
        is_spill=np.array([buffer.is_spill for buffer in buffers], dtype=np.bool_),
        cores=np.array([buffer.cores for buffer in buffers], dtype=np.int32),
        tensors=tuple(number),
        shared={row: each.shared for row, each in enumerate(buffers) if each.shared is not None},
    )


def numbered(
    kernels: Iterable[LocalBuffers], offsets: Mapping[SharedKey, int]
) -> tuple[list[LocalBuffers], list[NDArray[np.int32]]]:
    """Per kernel: its buffers that no earlier kernel has, and the numbers of all its buffers.

    Numbers count from 0 over all kernels. `offsets`: addresses of shared buffers, in bytes.
    """
    new: list[LocalBuffers] = []
    numbers: list[NDArray[np.int32]] = []
    known: dict[SharedKey, int] = {}
    count = 0
    for buffers in kernels:
        is_new = np.ones(len(buffers), dtype=np.bool_)
        is_new[[row for row, key in buffers.shared.items() if key in known]] = False
        number = (count - 1 + np.cumsum(is_new)).astype(np.int32)
        offset = buffers.offset.copy()
        for row, key in buffers.shared.items():
            number[row] = known.setdefault(key, int(number[row]))
            offset[row] = offsets.get(key, int(offset[row]))
        new.append(_chosen(buffers, offset, is_new))
        numbers.append(number)
        count += int(is_new.sum())
    return new, numbers


def _chosen(buffers: LocalBuffers, offset: IntArray, rows: NDArray[np.bool_]) -> LocalBuffers:
    """The buffers in `rows`, at other offsets and without shared keys."""
    if rows.all():
        return replace(buffers, offset=offset, shared={})
    columns = {name: getattr(buffers, name)[rows] for name in COLUMNS}
    return LocalBuffers(**{**columns, "offset": offset[rows]}, tensors=buffers.tensors, shared={})
