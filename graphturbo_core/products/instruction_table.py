"""Columns of instructions: name, dtype, unit and meaning, declared once for all stages.

| columns | kernel's code | queues | Program |
|---|---|---|---|
| `EngineColumns`, `ChannelTable` | yes | yes | yes |
| `CodeColumns`, `AccessTable`, `ResultBoxes` | yes | | yes |
| `ConflictTable` | beside it | yes | yes |
| `AddressConflicts` | beside it | | yes |
| `IssueColumns` (`segment`) | | yes | yes |

`KernelCode`, `Conflicts` and `Program` derive from these classes. Emission fills `CodeColumns` by
name. Slicing, assembling and checks loop over all columns. So a new column needs a line here, and
a change in emission if its value differs from the default.

Rows `at[i]:at[i + 1]` of a CSR table belong to instruction i; `at` is its first column. All other
columns have one row per instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
"""Columns by name."""
Flags = NDArray[np.bool_]
Int8 = NDArray[np.int8]
Int16 = NDArray[np.int16]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


class Column(NamedTuple):
    """Unit and meaning of a column.

    `default`: value if emission gives none. `is_sum`: a Program has the sum over `cores`, the code
    of a kernel the value of one core.
    """

    unit: str
    meaning: str
    default: int | None = None
    is_sum: bool = False


@dataclass(frozen=True)
class EngineColumns:
    """The engine that an instruction occupies, and its cycles."""

    engine: Annotated[Int16, Column("engine", "the engine it runs on")]
    hold_cycles: Annotated[Int64, Column("cycles", "compute time, or time of its slowest channel")]
    latency_cycles: Annotated[Int64, Column("cycles", "from there until its bytes are visible", 0)]


@dataclass(frozen=True)
class CodeColumns(EngineColumns):
    """One number per instruction, written by emission.

    `size_bytes` of a compute that accesses GB or DRAM: bytes that it reads from and writes to them.
    `layer` counts the plan's units in a kernel's code, the model's layers in a Program.
    """

    kind: Annotated[Int8, Column("InstructionKind", "what it does")]
    op: Annotated[Int32, Column("op", "its op in the graph; -1: none")]
    layer: Annotated[Int32, Column("layer", "the layer of its op")]
    tile: Annotated[Int32, Column("tile", "which tile of its stage")]
    cores: Annotated[Int32, Column("cores", "how many do the same and are simulated as one", 1)]
    size_bytes: Annotated[Int64, Column("bytes", "bytes moved", 0, is_sum=True)]
    halo_bytes: Annotated[Int64, Column("bytes", "of these, overlap read again", 0, is_sum=True)]
    macs: Annotated[Int64, Column("MAC", "multiply-accumulates", 0, is_sum=True)]
    vector_ops: Annotated[Int64, Column("operations", "vector operations", 0, is_sum=True)]
    source: Annotated[Int8, Column("Memory", "where a move reads; -1: compute", -1)]
    target: Annotated[Int8, Column("Memory", "where a move writes; -1: compute", -1)]
    cause: Annotated[Int8, Column("Cause", "why bytes cross GB or DRAM", 0)]
    reduce_lo: Annotated[Int32, Column("index", "cut of the contraction's reduced axis", 0)]
    reduce_hi: Annotated[Int32, Column("index", "end of that cut; -1: all of the axis", -1)]


@dataclass(frozen=True)
class ResultBoxes:
    """The box of a compute's result, in the coordinates of the result."""

    result_lo: Annotated[Int32, Column("index", "first index, a column per axis")]
    result_hi: Annotated[Int32, Column("index", "end index, a column per axis")]


@dataclass(frozen=True)
class ChannelTable:
    """CSR: channels that each instruction occupies."""

    channel_at: Annotated[Int64, Column("row", "bounds of each instruction's rows")]
    channel: Annotated[Int32, Column("channel", "the channel")]
    channel_cycles: Annotated[Int64, Column("cycles", "how long it is occupied")]


@dataclass(frozen=True)
class ConflictTable:
    """CSR: earlier instructions that must end first."""

    conflict_at: Annotated[Int64, Column("row", "bounds of each instruction's rows")]
    conflict: Annotated[Int32, Column("instruction", "the earlier instruction")]


@dataclass(frozen=True)
class AddressConflicts(ConflictTable):
    """CSR: conflicts with their class."""

    is_address_conflict: Annotated[
        Flags,
        Column("flag", "reused bytes, write after read or after write; else read after write"),
    ]


@dataclass(frozen=True)
class AccessTable:
    """CSR: boxes that each instruction reads and writes.

    `access_tensor` of a compute is the operand or result that the access holds. Its buffer may have
    another tensor's name: for a view, or a result that overwrites its operand.
    """

    access_at: Annotated[Int64, Column("row", "bounds of each instruction's rows")]
    access_buffer: Annotated[Int32, Column("buffer", "the buffer")]
    access_write: Annotated[Flags, Column("flag", "whether it is written")]
    access_lo: Annotated[Int32, Column("index", "first index in the buffer's tensor, per axis")]
    access_hi: Annotated[Int32, Column("index", "end index in the buffer's tensor, per axis")]
    access_tensor: Annotated[Int32, Column("tensor", "operand or result; of a move the buffer's")]


CSR_TABLES = (ChannelTable, AddressConflicts, AccessTable)


@dataclass(frozen=True)
class IssueColumns(EngineColumns, ChannelTable, ConflictTable):
    """Input of the queues of engines and channels: instructions in the order of issue."""

    segment: Annotated[Int32, Column("segment", "it starts after all of the segment before ended")]


@cache
def columns(table: type) -> Mapping[str, Column]:
    """The columns of a class of this file, or of one that derives from them."""
    hints = get_type_hints(table, include_extras=True).items()
    extras = {name: extra for name, hint in hints for extra in get_args(hint)[1:]}
    return {name: extra for name, extra in extras.items() if isinstance(extra, Column)}


@cache
def dtypes(table: type) -> Mapping[str, np.dtype[Any]]:
    """The element types of the same columns."""
    hints = get_type_hints(table)
    return {name: np.dtype(get_args(get_args(hints[name])[1])[0]) for name in columns(table)}
