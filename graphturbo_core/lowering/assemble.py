"""KernelCodes -> Program: sequence numbers, global buffers, one set of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.instructions.code import COLUMNS, KernelCode
from graphturbo_core.lowering.instructions.conflicts import Conflicts
from graphturbo_core.lowering.instructions.local_buffers import COLUMNS as BUFFER_COLUMNS
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffers, SharedKey, numbered
from graphturbo_core.lowering.instructions.weight_causes import WeightMoves, weight_causes
from graphturbo_core.lowering.stages.stage import bytes_per_element
from graphturbo_core.lowering.team import Team
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Buffers, IntArray, Memory, Program
from graphturbo_core.timing.csr import CsrPart, joined, ranks


@dataclass(frozen=True)
class NumberedKernel:
    """A kernel's code, its conflicts, and its rows in sequence order."""

    code: KernelCode
    conflicts: Conflicts
    order: IntArray


def assemble(
    plan: Plan,
    team: Team,
    kernels: Sequence[NumberedKernel],
    found: tuple[Mapping[SharedKey, int], tuple[str, ...]],
) -> Program:
    """Lay the kernels one after the other; `found`: addresses of shared buffers, and notes."""
    offsets, notes = found
    if plan.cooperation is not None:
        kernels = [
            replace(kernel, code=team.code(kernel.code, plan.cluster_of(place)))
            for place, kernel in enumerate(kernels)
        ]
    names = tuple(plan.semantics.graph.tensors)
    own, buffer_of = numbered([kernel.code.buffers for kernel in kernels], offsets)
    sizes = [len(kernel.order) for kernel in kernels]
    columns = _columns(kernels)
    kernel_of = np.repeat(np.arange(len(kernels)), sizes).astype(np.int32)
    segment, opens, closes = _segments(plan, kernel_of, columns["layer"])
    columns["layer"] = _layers(plan, columns["op"])
    tables = _tables(kernels, buffer_of, names)
    numbers = _tensor_numbers(own, names)
    of_buffer = numbers[tables["access_buffer"]]
    tables["access_tensor"] = np.where(
        tables["access_tensor"] < 0, of_buffer, tables["access_tensor"]
    )
    fetched = tables["access_at"][:-1]
    columns["cause"] = weight_causes(
        WeightMoves(
            cause=columns["cause"],
            size_bytes=columns["size_bytes"],
            cores=columns["cores"],
            source=columns["source"] + len(Memory) * plan.clusters_of(kernel_of),
            tensor=of_buffer[fetched],
            boxes=(tables["access_lo"][fetched], tables["access_hi"][fetched]),
            element_bytes=np.array([bytes_per_element(plan, name) for name in names]),
        )
    )
    for name in SUMMED:
        columns[name] *= columns["cores"]
    return Program(
        plan=plan,
        engines=team.engines(),
        channels=team.channels(),
        tensors=names,
        buffers=_buffer_table(own, numbers, _lifetimes(len(numbers), tables)),
        kernel=kernel_of,
        segment=segment,
        segment_open_cycles=opens,
        segment_close_cycles=closes,
        notes=notes,
        **columns,
        **tables,
    )


Arrays = dict[str, NDArray[Any]]
"""Columns of Program by their name."""

_DTYPES = {
    "engine": np.int16, "cores": np.int32, "kind": np.int8, "op": np.int32, "layer": np.int32,
    "tile": np.int32, "source": np.int8, "target": np.int8, "cause": np.int8,
    "reduce_lo": np.int32, "reduce_hi": np.int32,
}  # fmt: skip
"""Columns that are not int64."""

SUMMED = ("size_bytes", "halo_bytes", "macs", "vector_ops")
"""Columns that Program gives as sums over the cores that an instruction stands for."""


def _columns(kernels: Sequence[NumberedKernel]) -> Arrays:
    """One entry an instruction, in sequence order."""
    rows = np.concatenate([kernel.code.rows[kernel.order] for kernel in kernels])
    return {
        "result_lo": np.concatenate([k.code.result_lo[k.order] for k in kernels]),
        "result_hi": np.concatenate([k.code.result_hi[k.order] for k in kernels]),
        **{
            name: rows[:, place].astype(_DTYPES.get(name, np.int64))
            for place, name in enumerate(COLUMNS)
        },
    }


def _tables(
    kernels: Sequence[NumberedKernel], buffer_of: list[NDArray[np.int32]], names: tuple[str, ...]
) -> Arrays:
    """The CSR tables: channels, conflicts, accesses; an access without a tensor has -1."""
    number = {name: place for place, name in enumerate(names)}
    starts = np.cumsum([0, *(len(kernel.order) for kernel in kernels)])
    channels: list[CsrPart] = []
    conflicts: list[CsrPart] = []
    accesses: list[CsrPart] = []
    for kernel, start, found in zip(kernels, starts, buffer_of, strict=False):
        code, order = kernel.code, kernel.order
        channels.append((code.channel_at, order, (code.channel, code.channel_cycles)))
        earlier = (kernel.conflicts.earlier + start, kernel.conflicts.is_address)
        conflicts.append((kernel.conflicts.at, order, earlier))
        touched = (
            found[code.access_buffer], code.access_write, code.access_lo, code.access_hi,
            np.array([number.get(name, -1) for name in code.tensors], np.int32)[code.access_tensor],
        )  # fmt: skip
        accesses.append((code.access_at, order, touched))
    columns = (
        "access_at", "access_buffer", "access_write", "access_lo", "access_hi", "access_tensor",
    )  # fmt: skip
    conflict_at, earlier_row, is_address = joined(conflicts)
    order = np.concatenate([
        kernel.order + start for kernel, start in zip(kernels, starts, strict=False)
    ])  # fmt: skip
    return {
        **dict(zip(("channel_at", "channel", "channel_cycles"), joined(channels), strict=True)),
        "conflict_at": conflict_at,
        "conflict": ranks(order)[earlier_row].astype(np.int32),
        "is_address_conflict": is_address,
        **dict(zip(columns, joined(accesses), strict=True)),
    }


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
