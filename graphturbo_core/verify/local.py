"""A tile's operands -> its result: the op run on exactly the boxes that the tile names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.boxes import Box, Interval, extents, is_empty, with_interval
from graphturbo_core.ir.graph import AttributeValue, Graph, Op
from graphturbo_core.semantics.access import AxisKind, AxisMap, InputAccess, OpSemantics
from graphturbo_core.verify.single_op import Array, OpRunner

_PLACELESS = frozenset(
    {AxisKind.SAME, AxisKind.PERMUTED, AxisKind.NONE, AxisKind.WHOLE, AxisKind.REDUCE}
)
"""Axis kinds whose reads within a box do not depend on the box's place."""
FILLS = (-13.0, 29.0)
"""Two numbers outside the boxes: sums, extrema and products of them differ (our choice)."""


class LocalOperand(NamedTuple):
    """One read of an op: its box in the input's coordinates, and the numbers in it."""

    access: InputAccess
    box: Box
    numbers: Array


@dataclass(frozen=True)
class TileTask:
    """One compute instruction: output number `index` of `op`, its box, and its cut of K or None."""

    graph: Graph
    op: Op
    semantics: OpSemantics
    index: int
    box: Box
    cut: Interval | None

    def reads(self) -> tuple[tuple[InputAccess, Box], ...]:
        """The boxes that the tile reads, without empty ones, in the order of the accesses."""
        found = ((access, self._needed(access)) for access in self.semantics.accesses[self.index])
        return tuple((access, box) for access, box in found if not is_empty(box))

    def _needed(self, access: InputAccess) -> Box:
        box = access.box(self.box)
        contraction = self.semantics.contraction
        if self.cut is None or contraction is None:
            return box
        if access.tensor == contraction.weight:
            return with_interval(box, contraction.weight_reduce_axis, self.cut)
        if access.tensor == contraction.data:
            return with_interval(box, contraction.data_reduce_axis, self.cut)
        return box

    @property
    def is_partial(self) -> bool:
        """Whether it adds to the partial sum of an earlier cut of K."""
        return self.cut is not None and self.cut[0] > 0


def tile_result(task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner) -> Array:
    """Numbers of the tile's box; for a cut of K, its summand (with the bias in the first cut).

    1. Ops that only concatenate, reshape or repeat elements: a copy.
    2. Sliding windows: the op with the pads of this box.
    3. Windows that preserve the size: the op on the elements read, cropped to the box.
    4. Neither result nor reads depend on the box's place: the op with its own attributes.
    5. Otherwise the op on full-size tensors with NaN outside the named boxes, cropped to the box.

    Raises:
        ModelError: NO_KERNEL when no runtime supports the op, SHAPE_DISAGREES when its result has
            another shape than ONNX's shape inference.
    """
    semantics = task.semantics
    if semantics.is_joint:
        found: Array | None = _joined(task, operands)
    elif semantics.is_view:
        found = _reshaped(task, operands)
    elif semantics.is_repeated:
        found = np.broadcast_to(operands[0].numbers, extents(task.box)).copy()
    elif semantics.is_sliding and task.index == 0:
        found = _slid(task, operands, runner)
    elif _keeps_size(task, operands):
        found = _cropped(task, operands[0], runner)
    elif _is_placeless(task, operands):
        found = _plain(task, operands, runner, task.op.attributes)
    else:
        found = None
    if found is None or found.shape != extents(task.box):
        found = _embedded(task, operands, runner)
    if found.shape != extents(task.box):
        raise _other_shape(task)
    return found


def _is_placeless(task: TileTask, operands: Sequence[LocalOperand]) -> bool:
    """Rule 4; false if another output reads an input that this one does not: it has full size."""
    if task.semantics.is_placed:
        return False
    read = {operand.access.tensor for operand in operands}
    others = {access.tensor for reads in task.semantics.accesses for access in reads}
    return others <= read and all(axis.kind in _PLACELESS for axis in _axes(operands))


def _other_shape(task: TileTask) -> ModelError:
    op = task.op
    shape = task.graph.tensors[op.outputs[task.index]].shape
    return ModelError(
        "SHAPE_DISAGREES",
        f"{op.op_type} {op.name!r} does not compute the shape {list(shape)} that was inferred",
        f"output {op.outputs[task.index]!r}",
        "run without --verify, and do not rely on this op's numbers",
    )


def _axes(operands: Sequence[LocalOperand]) -> Iterator[AxisMap]:
    return (axis for operand in operands for axis in operand.access.axes)


def _joined(task: TileTask, operands: Sequence[LocalOperand]) -> Array | None:
    """The inputs concatenated in order along their OFFSET axis; None without one."""
    axis = next(
        (place for o in operands for place, axis in enumerate(o.access.axes)
         if axis.kind is AxisKind.OFFSET),
        None,
    )  # fmt: skip
    return None if axis is None else np.concatenate([o.numbers for o in operands], axis)


def _reshaped(task: TileTask, operands: Sequence[LocalOperand]) -> Array | None:
    """The same elements in the same order; None where the numbers of elements differ."""
    (operand,) = operands
    shape = extents(task.box)
    return operand.numbers.reshape(shape) if operand.numbers.size == prod(shape) else None


def _slid(task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner) -> Array | None:
    """The op with pads for reads beyond the input, and with the number of groups in the box.

    None where a window is entirely in the padding, where groups are cut, or where the padding of a
    partial window counts (`count_include_pad` with `ceil_mode`).
    """
    attributes = task.op.attributes
    data = operands[0].access
    if data.tensor != task.op.inputs[0]:
        return None
    if attributes.get("ceil_mode", 0) and attributes.get("count_include_pad", 0):
        return None
    before, after = [], []
    for axis in data.axes:
        if axis.kind is not AxisKind.WINDOW:
            continue
        lo, hi = task.box[axis.out_axis]
        begin = lo * axis.stride - axis.pad
        end = (hi - 1) * axis.stride - axis.pad + (axis.kernel - 1) * axis.dilation + 1
        if begin >= axis.size or end <= 0:
            return None
        before.append(max(0, -begin))
        after.append(max(0, end - axis.size))
    groups = _groups(task, data)
    if groups is None:
        return None
    local: dict[str, AttributeValue] = {**attributes, "pads": (*before, *after), **groups}
    local.pop("auto_pad", None)
    local.pop("ceil_mode", None)
    return _plain(task, operands, runner, local)


def _keeps_size(task: TileTask, operands: Sequence[LocalOperand]) -> bool:
    """Whether the only input is read through windows of stride 1 around each element."""
    if len(operands) != 1 or task.index != 0:
        return False
    shape = task.graph.tensors[task.op.outputs[0]].shape
    axes = operands[0].access.axes
    windows = [axis for axis in axes if axis.kind is AxisKind.WINDOW]
    is_even = all(axis.stride == 1 and axis.size == shape[axis.out_axis] for axis in windows)
    others = (axis.kind is AxisKind.SAME for axis in axes if axis.kind is not AxisKind.WINDOW)
    return bool(windows) and is_even and all(others)


def _cropped(task: TileTask, operand: LocalOperand, runner: OpRunner) -> Array:
    """The op's result on the elements read, cropped to the box; results at the rim lack inputs."""
    result = _plain(task, [operand], runner, task.op.attributes)
    inside = [(lo - b, hi - b) for (lo, hi), (b, _) in zip(task.box, operand.box, strict=True)]
    return result[slices(tuple(inside))]


def _groups(task: TileTask, data: InputAccess) -> dict[str, AttributeValue] | None:
    """Attribute `group` for the box, empty without groups; None where the box cuts a group."""
    for axis in data.axes:
        if axis.kind is AxisKind.GROUPED:
            lo, hi = task.box[axis.out_axis]
            first, last = lo // axis.out_block, -(-hi // axis.out_block)
            is_cut = lo % axis.out_block or hi % axis.out_block
            return None if is_cut and last - first > 1 else {"group": last - first}
    return {}


def _plain(
    task: TileTask,
    operands: Sequence[LocalOperand],
    runner: OpRunner,
    attributes: Mapping[str, AttributeValue],
) -> Array:
    op = task.op
    by_name: dict[str, list[Array]] = {}
    for operand in operands:
        by_name.setdefault(operand.access.tensor, []).append(operand.numbers)
    return runner.run(op, _inputs(task, by_name), attributes)[op.outputs[task.index]]


def _inputs(task: TileTask, by_name: Mapping[str, list[Array]]) -> list[Array | None]:
    """Per input: the numbers read, the value of a parameter, or None where it is missing.

    A tensor that the op names twice and reads twice is matched in order. Only the first cut of K
    has the summands.
    """
    found: list[Array | None] = []
    for name in task.op.inputs:
        known = by_name.get(name)
        if not name or (task.is_partial and _is_summand(task, name)):
            found.append(None)
        elif known is None:
            found.append(_parameter(task, name))
        else:
            found.append(known.pop(0) if len(known) > 1 else known[0])
    while found and found[-1] is None:
        found.pop()
    return found


def _is_summand(task: TileTask, name: str) -> bool:
    """Whether an input of a contraction is added to the product: neither factor, and a float."""
    contraction = task.semantics.contraction
    assert contraction is not None  # only contractions are cut along K
    is_factor = name in (contraction.data, contraction.weight)
    return not is_factor and task.graph.tensors[name].dtype.startswith(("float", "bfloat"))


def _parameter(task: TileTask, name: str) -> Array:
    """An input that is not read as data: its value from import, or zeros if only its type counts.

    If an access map lacks an input by mistake, the zeros give a wrong result, which verify reports.
    """
    tensor = task.graph.tensors[name]
    if tensor.value is not None:
        return np.asarray(tensor.value)
    return np.zeros(tensor.shape, numpy_dtype(tensor.dtype))


def _embedded(task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner) -> Array:
    """The op on whole tensors with numbers only in the named boxes, cropped to the task's box.

    A runtime may read a neighbour with weight zero, and zero times NaN is NaN (Resize along an axis
    that keeps its size). So a NaN stands only if the element follows what is outside the boxes.
    """
    found = _filled(task, operands, runner, np.nan)
    if task.cut is not None or found.dtype.kind not in "fc":
        return found
    unknown = np.isnan(found)
    if not unknown.any():
        return found
    low, high = (_filled(task, operands, runner, fill) for fill in FILLS)
    return np.where(unknown & (low == high), low, found)


def _filled(
    task: TileTask, operands: Sequence[LocalOperand], runner: OpRunner, fill: float
) -> Array:
    """The same with one number outside the boxes."""
    whole: dict[str, Array] = {}
    for access in task.semantics.accesses[task.index]:
        tensor = task.graph.tensors[access.tensor]
        dtype = numpy_dtype(tensor.dtype)
        whole[tensor.name] = poisoned(tensor.shape, dtype, task.cut is not None, fill)
    for access, box, numbers in operands:
        whole[access.tensor][slices(box)] = numbers
    with np.errstate(all="ignore"):
        inputs = _inputs(task, {name: [array] for name, array in whole.items()})
        results = runner.run(task.op, inputs, task.op.attributes)
    return results[task.op.outputs[task.index]][slices(task.box)]


def poisoned(
    shape: tuple[int, ...], dtype: np.dtype[Any], is_summed: bool = False, fill: float = np.nan
) -> Array:
    """An array of invalid numbers: `fill` where the type has NaN, else zeros.

    `is_summed`: always zeros, because elements outside a cut of K are added.
    """
    if dtype.kind == "O":
        return np.full(shape, "", dtype=dtype)
    if dtype.kind in "fc" and not is_summed:
        return np.full(shape, fill, dtype=dtype)
    return np.zeros(shape, dtype=dtype)


def slices(box: Box) -> tuple[slice, ...]:
    """The box as an index into its tensor."""
    return tuple(slice(lo, hi) for lo, hi in box)
