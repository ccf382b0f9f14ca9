"""KernelCodes -> Program: sequence numbers, global buffers, one set of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.conflicts import Conflicts
from graphturbo_core.lowering.instructions.local_buffers import COLUMNS as BUFFER_COLUMNS
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffers, SharedKey, numbered
from graphturbo_core.lowering.instructions.weight_causes import WeightMoves, weight_causes
from graphturbo_core.lowering.stages.stage import bytes_per_element
from graphturbo_core.products.instruction_table import (
    AccessTable,
    AddressConflicts,
    Arrays,
    ChannelTable,
    CodeColumns,
    ResultBoxes,
    columns,
)
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Buffers, IntArray, Memory, Program
from graphturbo_core.timing.csr import joined, ranks


@dataclass(frozen=True)
class NumberedKernel:
    """A kernel's code, its conflicts, and its rows in sequence order."""

    code: KernelCode
    conflicts: Conflicts
    order: IntArray


SUMS = tuple(name for name, column in columns(CodeColumns).items() if column.is_sum)
"""Columns in which Program has the sum over the cores that an instruction stands for."""


@dataclass(frozen=True)
class IssueOrder:
    """The kernel of each lowered kernel, and the order of all rows; None: one after the other."""

    kernel_of: Sequence[int]
    rows: IntArray | None


def assemble(
    plan: Plan,
    numbering: ChipNumbering,
    kernels: Sequence[NumberedKernel],
    issue: IssueOrder,
    found: tuple[Mapping[SharedKey, int], tuple[str, ...]],
) -> Program:
    """Lay the kernels one after the other; `found`: addresses of shared buffers, and notes."""
    offsets, notes = found
    if plan.cooperation is not None:
        kernels = [
            replace(kernel, code=numbering.code(kernel.code, plan.cluster_of(place)))
            for place, kernel in enumerate(kernels)
        ]
    names = tuple(plan.semantics.graph.tensors)
    own, buffer_of = numbered([kernel.code.buffers for kernel in kernels], offsets)
    sizes = [len(kernel.order) for kernel in kernels]
    order = _order(kernels) if issue.rows is None else _order(kernels)[issue.rows]
    rows = _columns(kernels, order)
    kernel_of = np.repeat(np.array(issue.kernel_of), sizes).astype(np.int32)
    segment, opens, closes = _segments(plan, kernel_of, rows["layer"])
    rows["layer"] = _layers(plan, rows["op"])
    tables = _issued(_tables(kernels, buffer_of, names), issue)
    tables["conflict"] = ranks(order)[tables["conflict"]].astype(np.int32)
    numbers = _tensor_numbers(own, names)
    of_buffer = numbers[tables["access_buffer"]]
    tables["access_tensor"] = np.where(
        tables["access_tensor"] < 0, of_buffer, tables["access_tensor"]
    )
    fetched = tables["access_at"][:-1]
    rows["cause"] = weight_causes(
        WeightMoves(
            cause=rows["cause"],
            size_bytes=rows["size_bytes"],
            cores=rows["cores"],
            source=rows["source"] + len(Memory) * plan.clusters_of(kernel_of),
            tensor=of_buffer[fetched],
            boxes=(tables["access_lo"][fetched], tables["access_hi"][fetched]),
            element_bytes=np.array([bytes_per_element(plan, name) for name in names]),
        )
    )
    for name in SUMS:
        rows[name] *= rows["cores"]
    return Program(
        plan=plan,
        engines=numbering.engines(),
        channels=numbering.channels(),
        tensors=names,
        buffers=_buffer_table(own, numbers, _lifetimes(len(numbers), tables)),
        kernel=kernel_of,
        segment=segment,
        segment_open_cycles=opens,
        segment_close_cycles=closes,
        notes=notes,
        **rows,
        **tables,
    )


def _order(kernels: Sequence[NumberedKernel]) -> IntArray:
    """Rows of all kernels' codes, laid one after the other, in sequence order."""
    return np.concatenate([
        kernel.order + start for kernel, start in zip(kernels, _starts(kernels), strict=True)
    ])  # fmt: skip


def _starts(kernels: Sequence[NumberedKernel]) -> list[int]:
    """The first sequence number of each kernel."""
    return list(accumulate((len(kernel.order) for kernel in kernels[:-1]), initial=0))


def _columns(kernels: Sequence[NumberedKernel], order: IntArray) -> Arrays:
    """The columns with one row per instruction, in sequence order."""
    return {
        name: np.concatenate([getattr(kernel.code, name) for kernel in kernels]).take(order, axis=0)
        for name in (*columns(CodeColumns), *columns(ResultBoxes))
    }


def _tables(
    kernels: Sequence[NumberedKernel], buffer_of: list[NDArray[np.int32]], names: tuple[str, ...]
) -> Arrays:
    """The CSR tables: channels, conflicts, accesses; an access without a tensor has -1.

    A conflict has the row among all kernels' codes.
    """
    number = {name: place for place, name in enumerate(names)}
    accesses: list[Arrays] = []
    conflicts: list[Arrays] = []
    for kernel, start, found in zip(kernels, _starts(kernels), buffer_of, strict=True):
        code, own = kernel.code, kernel.conflicts
        tensors = np.array([number.get(name, -1) for name in code.tensors], np.int32)
        tensor, buffer = tensors[code.access_tensor], found[code.access_buffer]
        accesses.append({"access_tensor": tensor, "access_buffer": buffer})
        conflicts.append({"conflict": own.conflict + start})
    tables = _joined(ChannelTable, [(kernel.code, {}) for kernel in kernels], kernels)
    codes = zip((kernel.code for kernel in kernels), accesses, strict=True)
    tables |= _joined(AccessTable, list(codes), kernels)
    own_conflicts = zip((kernel.conflicts for kernel in kernels), conflicts, strict=True)
    return tables | _joined(AddressConflicts, list(own_conflicts), kernels)


def _issued(tables: Arrays, issue: IssueOrder) -> Arrays:
    """The CSR tables with their rows in the order of issue."""
    if issue.rows is None:
        return tables
    found = dict(tables)
    for table in (ChannelTable, AccessTable, AddressConflicts):
        at, *values = columns(table)
        entries = joined([(tables[at], issue.rows, tuple(tables[name] for name in values))])
        found |= dict(zip(columns(table), entries, strict=True))
    return found


def _joined(
    table: type, parts: Sequence[tuple[object, Arrays]], kernels: Sequence[NumberedKernel]
) -> Arrays:
    """A CSR table of all kernels, in sequence order; each part with columns in place of its own."""
    names = tuple(columns(table))
    values = [
        [own[name] if name in own else getattr(part, name) for name in names] for part, own in parts
    ]
    csr = [(at, each.order, tuple(own)) for (at, *own), each in zip(values, kernels, strict=True)]
    return dict(zip(names, joined(csr), strict=True))


def _layers(plan: Plan, op: NDArray[np.int32]) -> NDArray[np.int32]:
    """The layer of the model that each instruction's op belongs to; code has the plan's units."""
    layer_of = [plan.layer_of_op[each.name] for each in plan.semantics.graph.ops]
    return np.array(layer_of, np.int32)[op]


def _segments(
    plan: Plan, kernel: NDArray[np.int32], unit: IntArray
) -> tuple[NDArray[np.int32], IntArray, IntArray]:
    """A segment per step, or per unit of a kernel where layers may not overlap."""
    step = plan.steps_of(kernel)
    is_new_kernel = np.ones(len(kernel), dtype=np.bool_)
    is_new_kernel[1:] = step[1:] != step[:-1]
    is_new = is_new_kernel.copy()
    if plan.scheduling.has_fence:
        is_new[1:] |= unit[1:] != unit[:-1]
    segment = (np.cumsum(is_new) - 1).astype(np.int32)
    heads = np.flatnonzero(is_new)
    opens = np.where(is_new_kernel[heads], plan.hardware.launch_cycles, 0).astype(np.int64)
    ends_kernel = np.ones(len(heads), dtype=np.bool_)
    ends_kernel[:-1] = is_new_kernel[heads[1:]]
    closes = np.where(ends_kernel, plan.hardware.barrier_cycles, 0).astype(np.int64)
    return segment, opens, closes


def _tensor_numbers(own: Sequence[LocalBuffers], names: tuple[str, ...]) -> NDArray[np.int32]:
    number = {name: place for place, name in enumerate(names)}
    return np.concatenate([
        np.array([number[name] for name in buffers.tensors], dtype=np.int32)[buffers.tensor]
        for buffers in own
    ])  # fmt: skip


def _buffer_table(
    own: Sequence[LocalBuffers],
    tensors: NDArray[np.int32],
    lifetimes: tuple[IntArray, IntArray],
) -> Buffers:
    columns = {
        name: np.concatenate([getattr(buffers, name) for buffers in own]) for name in BUFFER_COLUMNS
    }
    return Buffers(**{**columns, "tensor": tensors}, first=lifetimes[0], last=lifetimes[1])


def _lifetimes(count: int, tables: Arrays) -> tuple[IntArray, IntArray]:
    """First writer (first access where nothing writes) and last access of every buffer."""
    access_at, access_buffer = tables["access_at"], tables["access_buffer"]
    access_write = tables["access_write"]
    sequence = np.repeat(np.arange(len(access_at) - 1), np.diff(access_at)).astype(np.int64)
    never = len(access_at)
    first = np.full(count, never, dtype=np.int64)
    np.minimum.at(first, access_buffer[access_write], sequence[access_write])
    touched = np.full(count, never, dtype=np.int64)
    np.minimum.at(touched, access_buffer, sequence)
    last = np.zeros(count, dtype=np.int64)
    np.maximum.at(last, access_buffer, sequence)
    return np.where(first == never, touched, first), last
