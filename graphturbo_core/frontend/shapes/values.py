"""Value propagation: numbers of small constants and of shape arithmetic, with numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType

import numpy as np

from graphturbo_core.ir.graph import Op

Arrays = Sequence[np.ndarray]
Evaluator = Callable[[Op, Arrays], np.ndarray]

FIRST_ONLY = frozenset({"CastLike"})
"""Ops whose other inputs only give a type."""

PRODUCTS = frozenset({"MatMul"})
"""Ops with more work than output elements, so that their inputs must be small, too."""

VIEWS = frozenset({"Reshape", "Transpose", "Unsqueeze", "Squeeze", "Flatten", "Identity"})
"""Ops whose result shares its input's memory, so that its size is not limited."""


def _integer(op: Op, name: str, default: int) -> int:
    value = op.attributes.get(name, default)
    return value if isinstance(value, int) else default


def _integers(op: Op, arrays: Arrays, name: str, position: int) -> tuple[int, ...] | None:
    """A list that is an attribute in older opsets and an input in newer ones."""
    if len(arrays) > position:
        return tuple(int(number) for number in arrays[position].reshape(-1))
    value = op.attributes.get(name)
    return tuple(int(number) for number in value) if isinstance(value, tuple) else None


def reshape_target(
    sizes: Sequence[int], shape: Sequence[int], allow_zero: bool
) -> tuple[int, ...] | None:
    """Returns a Reshape's output shape; None if the element counts cannot agree.

    A 0 copies the input's dimension unless `allow_zero`; one -1 is inferred.
    """
    if any(size == 0 and axis >= len(shape) for axis, size in enumerate(sizes)) and not allow_zero:
        return None
    target = [
        shape[axis] if size == 0 and not allow_zero else size for axis, size in enumerate(sizes)
    ]
    total, known = prod(shape), prod(size for size in target if size != -1)
    if target.count(-1) == 1 and known > 0 and total % known == 0:
        target[target.index(-1)] = total // known
    return tuple(target) if prod(target) == total and min(target, default=0) >= 0 else None


def _reshape(op: Op, arrays: Arrays) -> np.ndarray:
    sizes = _integers(op, arrays, "shape", 1) or ()
    target = reshape_target(sizes, arrays[0].shape, bool(_integer(op, "allowzero", 0)))
    return arrays[0].reshape(sizes if target is None else target)


def _transpose(op: Op, arrays: Arrays) -> np.ndarray:
    return arrays[0].transpose(_integers(op, (), "perm", 0))


def _unsqueeze(op: Op, arrays: Arrays) -> np.ndarray:
    axes = _integers(op, arrays, "axes", 1) or ()
    return np.expand_dims(arrays[0], axes)


def _squeeze(op: Op, arrays: Arrays) -> np.ndarray:
    return arrays[0].squeeze(_integers(op, arrays, "axes", 1))


def _flatten(op: Op, arrays: Arrays) -> np.ndarray:
    axis = _integer(op, "axis", 1)
    shape = arrays[0].shape
    axis = axis + len(shape) if axis < 0 else axis
    return arrays[0].reshape(prod(shape[:axis]), prod(shape[axis:]))


def _gather(op: Op, arrays: Arrays) -> np.ndarray:
    return np.take(arrays[0], arrays[1], axis=_integer(op, "axis", 0))


def _gather_elements(op: Op, arrays: Arrays) -> np.ndarray:
    return np.take_along_axis(arrays[0], arrays[1], axis=_integer(op, "axis", 0))


def _concat(op: Op, arrays: Arrays) -> np.ndarray:
    return np.concatenate(list(arrays), axis=_integer(op, "axis", 1))


def _slice(op: Op, arrays: Arrays) -> np.ndarray:
    starts = _integers(op, arrays, "starts", 1) or ()
    ends = _integers(op, arrays, "ends", 2) or ()
    axes = _integers(op, arrays, "axes", 3) or tuple(range(len(starts)))
    steps = _integers(op, arrays, "steps", 4) or (1,) * len(starts)
    cut = [slice(None)] * arrays[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        past_begin = step < 0 and end < -arrays[0].shape[axis]
        cut[axis] = slice(start, None if past_begin else end, step)
    return arrays[0][tuple(cut)]


def _expand(_op: Op, arrays: Arrays) -> np.ndarray:
    target = tuple(int(size) for size in arrays[1])
    return np.broadcast_to(arrays[0], np.broadcast_shapes(arrays[0].shape, target))


def _range(_op: Op, arrays: Arrays) -> np.ndarray:
    return np.arange(*(array.reshape(()).item() for array in arrays))


def _fill(op: Op, arrays: Arrays) -> np.ndarray:
    return np.full(tuple(int(size) for size in arrays[0]), op.attributes["value"])


def _div(_op: Op, arrays: Arrays) -> np.ndarray:
    """Integer division truncates towards zero, as in C."""
    first, second = arrays
    if not np.issubdtype(first.dtype, np.integer):
        return np.asarray(first / second)
    quotient = np.abs(first) // np.abs(second)
    return np.asarray(np.where((first < 0) != (second < 0), -quotient, quotient))


def split_values(
    op: Op, array: np.ndarray, shapes: Sequence[tuple[int, ...]]
) -> tuple[np.ndarray, ...]:
    """The consecutive parts of a Split along its axis, with sizes by their shapes."""
    axis = _integer(op, "axis", 0)
    ends = np.cumsum([shape[axis] for shape in shapes])
    return tuple(np.split(array, ends[:-1], axis))


def _mod(op: Op, arrays: Arrays) -> np.ndarray:
    """The remainder has the divisor's sign, with `fmod` the dividend's."""
    function = np.fmod if _integer(op, "fmod", 0) else np.mod
    return np.asarray(function(*arrays))


def _reduced(function: Callable[..., np.ndarray]) -> Evaluator:
    def evaluate(op: Op, arrays: Arrays) -> np.ndarray:
        axes = _integers(op, arrays, "axes", 1)
        if axes is None and _integer(op, "noop_with_empty_axes", 0):
            return arrays[0]
        return np.asarray(function(arrays[0], axes, keepdims=bool(_integer(op, "keepdims", 1))))

    return evaluate


def _cumulative(op: Op, arrays: Arrays) -> np.ndarray:
    axis = int(arrays[1].reshape(()))
    back = slice(None, None, -1) if _integer(op, "reverse", 0) else slice(None)
    along = (slice(None),) * (axis % arrays[0].ndim)
    sums = np.cumsum(arrays[0][(*along, back)], axis=axis)
    if _integer(op, "exclusive", 0):
        sums = sums - arrays[0][(*along, back)]
    return np.asarray(sums[(*along, back)])


def _triangle(op: Op, arrays: Arrays) -> np.ndarray:
    diagonal = int(arrays[1].reshape(())) if len(arrays) > 1 else 0
    function = np.triu if _integer(op, "upper", 1) else np.tril
    return function(arrays[0], diagonal)


def _places(op: Op, indices: np.ndarray) -> tuple[np.ndarray, ...]:
    """Numpy indices for the last axis of `indices`, shared leading axes first."""
    shared = np.indices(indices.shape[:-1])[: _integer(op, "batch_dims", 0)]
    return (*shared, *np.moveaxis(indices, -1, 0))


def _gather_nd(op: Op, arrays: Arrays) -> np.ndarray:
    return np.asarray(arrays[0][_places(op, arrays[1])])


_COMBINED = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def _scatter_nd(op: Op, arrays: Arrays) -> np.ndarray:
    result, places = arrays[0].copy(), _places(op, arrays[1])
    combine = _COMBINED.get(str(op.attributes.get("reduction", "none")))
    if combine is None:
        result[places] = arrays[2]
    else:
        combine.at(result, places, arrays[2])
    return result


def _pointwise(function: Callable[..., np.ndarray]) -> Evaluator:
    return lambda _op, arrays: np.asarray(function(*arrays))


def _folded(function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Evaluator:
    def evaluate(_op: Op, arrays: Arrays) -> np.ndarray:
        result = arrays[0]
        for array in arrays[1:]:
            result = function(result, array)
        return np.asarray(result)

    return evaluate


EVALUATORS: Mapping[str, Evaluator] = MappingProxyType(
    {
        "Abs": _pointwise(np.abs),
        "Add": _pointwise(np.add),
        "And": _pointwise(np.logical_and),
        "Cast": lambda _op, arrays: arrays[0],
        "CastLike": lambda _op, arrays: arrays[0],
        "Ceil": _pointwise(np.ceil),
        "Concat": _concat,
        "ConstantOfShape": _fill,
        "Cos": _pointwise(np.cos),
        "CumSum": _cumulative,
        "Div": _div,
        "Equal": _pointwise(np.equal),
        "Exp": _pointwise(np.exp),
        "Expand": _expand,
        "Flatten": _flatten,
        "Floor": _pointwise(np.floor),
        "Gather": _gather,
        "GatherElements": _gather_elements,
        "GatherND": _gather_nd,
        "Greater": _pointwise(np.greater),
        "GreaterOrEqual": _pointwise(np.greater_equal),
        "Identity": lambda _op, arrays: arrays[0],
        "IsNaN": _pointwise(np.isnan),
        "Less": _pointwise(np.less),
        "LessOrEqual": _pointwise(np.less_equal),
        "MatMul": _pointwise(np.matmul),
        "Max": _folded(np.maximum),
        "Min": _folded(np.minimum),
        "Mod": _mod,
        "Mul": _pointwise(np.multiply),
        "Neg": _pointwise(np.negative),
        "Not": _pointwise(np.logical_not),
        "Or": _pointwise(np.logical_or),
        "Pow": _pointwise(np.power),
        "Range": _range,
        "Reciprocal": _pointwise(np.reciprocal),
        "ReduceMax": _reduced(np.max),
        "ReduceMin": _reduced(np.min),
        "ReduceProd": _reduced(np.prod),
        "ReduceSum": _reduced(np.sum),
        "Reshape": _reshape,
        "ScatterND": _scatter_nd,
        "Sin": _pointwise(np.sin),
        "Slice": _slice,
        "Sqrt": _pointwise(np.sqrt),
        "Squeeze": _squeeze,
        "Sub": _pointwise(np.subtract),
        "Sum": _folded(np.add),
        "Tanh": _pointwise(np.tanh),
        "Tile": lambda _op, arrays: np.tile(arrays[0], [int(n) for n in arrays[1]]),
        "Transpose": _transpose,
        "Trilu": _triangle,
        "Unsqueeze": _unsqueeze,
        "Where": _pointwise(np.where),
    }
)
"""Ops of the default domain whose single output import can compute."""
