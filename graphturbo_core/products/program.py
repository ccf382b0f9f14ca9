"""Program: for every engine, its instructions, as arrays in sequence order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.errors import InvariantError
from graphturbo_core.hardware.hardware import CLUSTER_CORE, EngineKind
from graphturbo_core.products.instruction_table import (
    CSR_TABLES,
    AccessTable,
    AddressConflicts,
    CodeColumns,
    Column,
    IssueColumns,
    ResultBoxes,
    columns,
    dtypes,
)
from graphturbo_core.products.plan import Plan

IntArray = NDArray[np.int64]
MAX_RANK = 8
"""Axes stored per box; a tensor with more axes is refused at import (Limits.max_rank)."""


class InstructionKind(IntEnum):
    """Kind of an instruction; source and target of a COPY are in the same LB."""

    COMPUTE = 0
    LOAD = 1
    STORE = 2
    EXCHANGE = 3
    BROADCAST = 4
    PREFETCH = 5
    COPY = 6


class Memory(IntEnum):
    """The memory of a buffer."""

    LB_DATA = 0
    LB_WEIGHT = 1
    STAGING = 2
    GB = 3
    DRAM = 4


class Cause(IntEnum):
    """Cause of bytes over DRAM or GB (design, section 5); NONE: computes and LB-to-LB moves."""

    NONE = 0
    INPUT = 1
    OUTPUT = 2
    WEIGHT_FIRST = 3
    WEIGHT_AGAIN = 4
    ACTIVATION = 5
    HALO = 6
    SPILL = 7


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine of the cluster.

    `core` is -1 for system DMA and for an engine that the cores share; `index` numbers the DMAs.
    `cores`: number of equivalent cores, this one included, that are simulated as one.
    """

    kind: EngineKind
    core: int
    index: int
    cores: int = 1

    @property
    def label(self) -> str:
        """Short name: `core 3 matrix`, `core 0 x608 matrix`, `dma 0`, `cluster matrix`."""
        if self.kind is EngineKind.DMA:
            return f"dma {self.index}"
        owner = f"core {self.core}" if self.core >= 0 else "cluster"
        times = f" x{self.cores}" if self.cores > 1 else ""
        return f"{owner}{times} {self.kind.value}"


class ChannelKind(StrEnum):
    """Kind of a channel; its name starts with the value."""

    LB_PORT = "lb"
    LINK_IN = "link in"
    LINK_OUT = "link out"
    GB_PORT = "gb"
    DRAM_SHARE = "dram"


@dataclass(frozen=True, slots=True)
class Channel:
    """A path that one transfer at a time occupies; bandwidth in bytes/s.

    `core` is -1 for a channel that the cores of a cluster share. `cluster` is None if one cluster
    runs the program alone. `away`: distance in clusters to a DRAM share of another cluster, as
    `Machine` numbers it; 0 in a Program.
    """

    kind: ChannelKind
    bandwidth: int
    core: int = CLUSTER_CORE
    cluster: int | None = None
    away: int = 0

    @property
    def name(self) -> str:
        """Short name: `lb 3`, `link in 3`, `link out 3`, `gb`, `dram`, `dram 1`, `dram +1`."""
        if self.away:
            return f"{self.kind} +{self.away}"
        owner = self.core if self.core >= 0 else self.cluster
        return str(self.kind) if owner is None else f"{self.kind} {owner}"


@dataclass(frozen=True)
class BufferColumns:
    """Buffers, one row each. A buffer holds box [lo, hi) of a tensor, dense, row-major.

    `core`: -1 - c for GB and DRAM of cluster c. `offset`: bytes. `tensor`: the tensor's number.
    `is_spill`: there was no room in the memory that the plan names. `cores`: number of cores with
    an equivalent buffer (1 in GB and DRAM).
    """

    memory: NDArray[np.int8]
    core: NDArray[np.int16]
    offset: IntArray
    size_bytes: IntArray
    tensor: NDArray[np.int32]
    lo: NDArray[np.int32]
    hi: NDArray[np.int32]
    is_spill: NDArray[np.bool_]
    cores: NDArray[np.int32]

    def spaces(self, *, is_pooled: bool) -> IntArray:
        """Per buffer, the number of its address space, from 0.

        `is_pooled`: data and weight part of an LB have one address space.
        """
        memory = self.memory.astype(np.int64)
        if is_pooled:
            memory[memory == Memory.LB_WEIGHT] = Memory.LB_DATA
        core = self.core.astype(np.int64)
        return np.asarray((core - core.min(initial=0)) * len(Memory) + memory)


@dataclass(frozen=True)
class Buffers(BufferColumns):
    """All buffers of a Program; `tensor` indexes `Program.tensors`.

    `first` and `last`: sequence numbers of the first writer and of the last access.
    """

    first: IntArray
    last: IntArray


@dataclass(frozen=True)
class Program(CodeColumns, IssueColumns, AddressConflicts, AccessTable, ResultBoxes):
    """Instructions of one round, of one cluster or of cooperating clusters.

    Row i of every column per instruction is sequence number i. `engine` indexes `engines`,
    `channel` `channels`, `op` the graph's ops, `layer` the plan's `layers`. Core numbers count on
    from cluster to cluster.

    A segment opens `segment_open_cycles` (launch) after the segment before it has closed. It closes
    `segment_close_cycles` (barrier) after its last instruction has ended.
    """

    kernel: Annotated[NDArray[np.int32], Column("kernel", "its kernel in the plan")]
    plan: Plan
    engines: tuple[Engine, ...]
    channels: tuple[Channel, ...]
    tensors: tuple[str, ...]
    buffers: Buffers
    segment_open_cycles: IntArray
    segment_close_cycles: IntArray
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of instructions."""
        return len(self.engine)

    def check_columns(self) -> None:
        """Check dtypes and lengths: one row per instruction, or per row of the CSR table.

        Raises:
            InvariantError: naming the column and the numbers.
        """
        rows = dict.fromkeys(columns(Program), self.size)
        for at, *values in map(columns, CSR_TABLES):
            bounds = getattr(self, at)
            rows[at] += 1
            if len(bounds) != rows[at] or bounds[0] != 0 or (np.diff(bounds) < 0).any():
                what = f"{at} does not divide the rows of {self.size} instructions"
                raise InvariantError("PROGRAM_CSR", what)
            rows |= dict.fromkeys(values, int(bounds[-1]))
        for name, dtype in dtypes(Program).items():
            column = getattr(self, name)
            if len(column) != rows[name] or column.dtype != dtype:
                size = f"{len(column)} rows of {column.dtype}"
                what = f"{name} has {size}, not {rows[name]} of {dtype}"
                raise InvariantError("PROGRAM_ROWS", what)
