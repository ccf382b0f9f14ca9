"""KernelCodes -> Program: sequence numbers, global buffers, one set of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.code import (
    COLUMNS,
    KernelCode,
    LocalBuffer,
    Machine,
    SharedKey,
    pack_boxes,
)
from graphturbo_core.lowering.conflicts import Conflicts
from graphturbo_core.lowering.program import Buffers, Cause, IntArray, Program
from graphturbo_core.strategies.plan import Plan


@dataclass(frozen=True)
class NumberedKernel:
    """A kernel's code, its conflicts, and its rows in sequence order."""

    code: KernelCode
    conflicts: Conflicts
    order: IntArray


def assemble(
    plan: Plan,
    kernels: Sequence[NumberedKernel],
    offsets: Mapping[SharedKey, int],
    notes: tuple[str, ...],
) -> Program:
    """Lay the kernels one after the other."""
    names, buffers, buffer_of = _number_buffers(plan, kernels, offsets)
    sizes = [len(kernel.order) for kernel in kernels]
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rows = np.concatenate([k.code.rows[k.order] for k in kernels])
    column = {name: rows[:, place] for place, name in enumerate(COLUMNS)}
    kernel_of = np.repeat(np.arange(len(kernels)), sizes).astype(np.int32)
    segment, opens, closes = _segments(plan, kernel_of, column["layer"])
    channel_at, channel, channel_cycles = _joined(
        [(k.code.channel_at, k.order, (k.code.channel, k.code.channel_cycles)) for k in kernels]
    )
    conflict_at, conflict, is_address = _joined(
        [
            (k.conflicts.at, k.order, (_renumbered(k, start), k.conflicts.is_address))
            for k, start in zip(kernels, starts, strict=False)
        ]
    )
    access_at, access_buffer, access_write, access_lo, access_hi = _joined(
        [
            (
                k.code.access_at,
                k.order,
                (found[k.code.access_buffer], k.code.access_write, k.code.access_lo,
                 k.code.access_hi),
            )
            for k, found in zip(kernels, buffer_of, strict=True)
        ]
    )  # fmt: skip
    machine = Machine(plan.hardware)
    first, last = _lifetimes(len(buffers), access_at, access_buffer, access_write)
    return Program(
        plan=plan,
        engines=machine.engines(),
        channels=machine.channels(),
        tensors=names,
        buffers=_buffer_table(buffers, names, first, last),
        engine=column["engine"].astype(np.int16),
        kind=column["kind"].astype(np.int8),
        kernel=kernel_of,
        segment=segment,
        op=column["op"].astype(np.int32),
        layer=column["layer"].astype(np.int32),
        tile=column["tile"].astype(np.int32),
        hold_cycles=column["hold_cycles"].copy(),
        latency_cycles=column["latency_cycles"].copy(),
        size_bytes=column["size_bytes"].copy(),
        halo_bytes=column["halo_bytes"].copy(),
        macs=column["macs"].copy(),
        vector_ops=column["vector_ops"].copy(),
        source=column["source"].astype(np.int8),
        target=column["target"].astype(np.int8),
        cause=_weight_causes(
            column["cause"], column["kind"], access_at, (access_buffer, access_lo, access_hi),
            _tensor_numbers(buffers, names),
        ),
        reduce_lo=column["reduce_lo"].astype(np.int32),
        reduce_hi=column["reduce_hi"].astype(np.int32),
        channel_at=channel_at,
        channel=channel,
        channel_cycles=channel_cycles,
        conflict_at=conflict_at,
        conflict=conflict,
        is_address_conflict=is_address,
        access_at=access_at,
        access_buffer=access_buffer,
        access_write=access_write,
        access_lo=access_lo,
        access_hi=access_hi,
        segment_open_cycles=opens,
        segment_close_cycles=closes,
        notes=notes,
    )  # fmt: skip


def _segments(
    plan: Plan, kernel: NDArray[np.int32], layer: IntArray
) -> tuple[NDArray[np.int32], IntArray, IntArray]:
    """A segment per kernel, or per layer of a kernel where layers may not overlap."""
    is_new_kernel = np.ones(len(kernel), dtype=np.bool_)
    is_new_kernel[1:] = kernel[1:] != kernel[:-1]
    is_new = is_new_kernel.copy()
    if not plan.is_scheduled_across_layers:
        is_new[1:] |= layer[1:] != layer[:-1]
    segment = (np.cumsum(is_new) - 1).astype(np.int32)
    heads = np.flatnonzero(is_new)
    opens = np.where(is_new_kernel[heads], plan.hardware.launch_cycles, 0).astype(np.int64)
    ends_kernel = np.ones(len(heads), dtype=np.bool_)
    ends_kernel[:-1] = is_new_kernel[heads[1:]]
    closes = np.where(ends_kernel, plan.hardware.barrier_cycles, 0).astype(np.int64)
    return segment, opens, closes


def _renumbered(kernel: NumberedKernel, start: int) -> NDArray[np.int32]:
    """Conflicts as sequence numbers of the whole program."""
    rank = np.empty(len(kernel.order), dtype=np.int64)
    rank[kernel.order] = np.arange(len(kernel.order))
    return (rank[kernel.conflicts.earlier] + start).astype(np.int32)


def _joined(parts: list[tuple[IntArray, IntArray, tuple[NDArray[np.generic], ...]]]):  # type: ignore[no-untyped-def]
    """Concatenate CSR tables with their rows put in order."""
    counts: list[IntArray] = []
    columns: list[tuple[NDArray[np.generic], ...]] = []
    for at, order, values in parts:
        lengths = np.diff(at)[order]
        begin = np.repeat(at[:-1][order] - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
        picked = begin + np.arange(lengths.sum())
        counts.append(lengths)
        columns.append(tuple(value[picked] for value in values))
    at = np.concatenate(([0], np.cumsum(np.concatenate(counts)))).astype(np.int64)
    return at, *(np.concatenate(column) for column in zip(*columns, strict=True))


def _number_buffers(
    plan: Plan, kernels: Sequence[NumberedKernel], offsets: Mapping[SharedKey, int]
) -> tuple[tuple[str, ...], list[tuple[LocalBuffer, int]], list[NDArray[np.int32]]]:
    """Tensor names, (buffer, offset) rows, and per kernel the row of each of its buffers."""
    names = tuple(plan.semantics.graph.tensors)
    rows: list[tuple[LocalBuffer, int]] = []
    shared: dict[SharedKey, int] = {}
    found: list[NDArray[np.int32]] = []
    for kernel in kernels:
        numbers = np.empty(len(kernel.code.buffers), dtype=np.int32)
        for place, buffer in enumerate(kernel.code.buffers):
            key = buffer.shared
            if key is not None and key in shared:
                numbers[place] = shared[key]
                continue
            if key is not None:
                shared[key] = len(rows)
            numbers[place] = len(rows)
            rows.append((buffer, offsets.get(key, buffer.offset) if key else buffer.offset))
        found.append(numbers)
    return names, rows, found


def _tensor_numbers(
    buffers: list[tuple[LocalBuffer, int]], names: tuple[str, ...]
) -> NDArray[np.int32]:
    number = {name: place for place, name in enumerate(names)}
    return np.array([number[buffer.tensor] for buffer, _ in buffers], dtype=np.int32)


def _buffer_table(
    buffers: list[tuple[LocalBuffer, int]],
    names: tuple[str, ...],
    first: IntArray,
    last: IntArray,
) -> Buffers:
    lo, hi = pack_boxes([buffer.box for buffer, _ in buffers])
    return Buffers(
        memory=np.array([buffer.memory for buffer, _ in buffers], dtype=np.int8),
        core=np.array([buffer.core for buffer, _ in buffers], dtype=np.int16),
        offset=np.array([offset for _, offset in buffers], dtype=np.int64),
        size_bytes=np.array([buffer.size_bytes for buffer, _ in buffers], dtype=np.int64),
        tensor=_tensor_numbers(buffers, names),
        lo=lo,
        hi=hi,
        first=first,
        last=last,
        is_spill=np.array([buffer.is_spill for buffer, _ in buffers], dtype=np.bool_),
    )


def _lifetimes(
    count: int,
    access_at: IntArray,
    access_buffer: NDArray[np.int32],
    access_write: NDArray[np.bool_],
) -> tuple[IntArray, IntArray]:
    """First writer (first access where nothing writes) and last access of every buffer."""
    sequence = np.repeat(np.arange(len(access_at) - 1), np.diff(access_at)).astype(np.int64)
    never = len(access_at)
    first = np.full(count, never, dtype=np.int64)
    np.minimum.at(first, access_buffer[access_write], sequence[access_write])
    touched = np.full(count, never, dtype=np.int64)
    np.minimum.at(touched, access_buffer, sequence)
    last = np.zeros(count, dtype=np.int64)
    np.maximum.at(last, access_buffer, sequence)
    return np.where(first == never, touched, first), last


def _weight_causes(
    cause: IntArray,
    kind: IntArray,
    access_at: IntArray,
    access: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    tensor: NDArray[np.int32],
) -> NDArray[np.int8]:
    """A weight's box fetched before (by the same kind of move) is fetched again."""
    result = cause.astype(np.int8)
    moves = np.flatnonzero(cause == Cause.WEIGHT_FIRST)
    if not len(moves):
        return result
    buffer, lo, hi = access
    at = access_at[moves]
    keys = np.column_stack((kind[moves], tensor[buffer[at]], lo[at], hi[at]))
    _, first = np.unique(keys, axis=0, return_index=True)
    is_again = np.ones(len(moves), dtype=np.bool_)
    is_again[first] = False
    result[moves[is_again]] = Cause.WEIGHT_AGAIN
    return result
