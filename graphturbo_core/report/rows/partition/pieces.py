"""Outcome -> which part of its sub-graph each kernel computes, for pictures of kernels as boxes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict

from graphturbo_core.ir.boxes import Box, hull
from graphturbo_core.products.plan import Group, KernelPlan
from graphturbo_core.report.outcome import Outcome

SHOWN_AXES = 2
"""Axes of a split that a picture of boxes has room for."""


class PieceRow(TypedDict):
    """The part of one kernel: elements `first` to `end` (excluded) of `extent` on `axis`.

    `axis` is one of the last result of the sub-graph; -1 where it is not split along a first, or a
    second, axis: the part is then the whole, 0 to 1 of 1.
    """

    kernel: int
    cluster: int
    axis: int
    first: int
    end: int
    extent: int
    second_axis: int
    second_first: int
    second_end: int
    second_extent: int


def piece_rows(outcome: Outcome) -> Iterator[PieceRow]:
    """One row per kernel, in the order in which they run."""
    plan = outcome.plan
    parts = [_last_box(kernel) for kernel in plan.kernels]
    wholes: dict[int, Box] = {}
    for kernel, part in zip(plan.kernels, parts, strict=True):
        whole = wholes.get(kernel.group, part)
        wholes[kernel.group] = hull(whole, part) if len(whole) == len(part) else part
    for index, (kernel, part) in enumerate(zip(plan.kernels, parts, strict=True)):
        axes = _shown_axes(plan.groups[kernel.group], len(part))
        axis, first, end, extent = _span(part, wholes[kernel.group], axes[0])
        second, second_first, second_end, second_extent = _span(part, wholes[kernel.group], axes[1])
        yield {
            "kernel": index,
            "cluster": plan.cluster_of(index),
            "axis": axis,
            "first": first,
            "end": end,
            "extent": extent,
            "second_axis": second,
            "second_first": second_first,
            "second_end": second_end,
            "second_extent": second_extent,
        }


def _shown_axes(group: Group, rank: int) -> tuple[int, int]:
    """The first and the second axis along which a sub-graph is split; -1 for none."""
    axes = [group.split_axis, *(axis for axis, _ in group.further_splits)]
    found = [axis for axis in axes if 0 <= axis < rank]
    first, second, *_ = [*found, *[-1] * SHOWN_AXES]
    return first, second


def _last_box(kernel: KernelPlan) -> Box:
    """The box of the last result that the kernel hands out."""
    return next(iter([*kernel.outputs.values()][-1:]), ())


def _span(part: Box, whole: Box, axis: int) -> tuple[int, int, int, int]:
    """Axis, begin and end counted from the whole's begin, and the whole's length."""
    if axis < 0:
        return -1, 0, 1, 1
    begin, end = whole[axis]
    return axis, part[axis][0] - begin, part[axis][1] - begin, max(1, end - begin)
