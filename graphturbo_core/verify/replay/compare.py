"""Actual and expected numbers -> their distance and the allowed distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.graph import Tensor
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.verify.replay.tolerance import (
    in_steps,
    is_coarse,
    least_magnitudes,
    relative_tolerances,
)
from graphturbo_core.verify.single_op import Array

STEPS_ALLOWED = 1.0
"""Allowed distance of types that are compared in steps: two correct numbers near the middle between
two steps may be rounded in opposite directions."""


@dataclass(frozen=True, slots=True)
class OutputCheck:
    """Comparison of one graph output; `tolerance` is absolute, as `max_abs_error`.

    Both count steps for the types of `tolerance.in_steps`. `rel_tolerance`: the tolerance relative
    to the output's largest magnitude, as `max_rel_error`; infinite where that magnitude is 0.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    max_abs_error: float
    max_rel_error: float
    tolerance: float
    rel_tolerance: float
    is_right: bool


def compare(
    whole: GraphSemantics, found: Mapping[str, Array], expected: Mapping[str, Array]
) -> tuple[OutputCheck, ...]:
    """One check per output of the model."""
    tolerances, least = relative_tolerances(whole), least_magnitudes(whole)
    graph = whole.graph
    return tuple(
        compared(
            graph.tensors[name],
            found[name],
            expected[name],
            (tolerances.get(name, 0.0), least.get(name, 0.0)),
        )
        for name in graph.outputs
    )


def compared(
    tensor: Tensor, found: Array, expected: Array, allowed: tuple[float, float]
) -> OutputCheck:
    """Check of one output against its expected numbers.

    `allowed`: tolerance relative to the largest magnitude, and the least value of that magnitude.
    """
    scale = magnitude(expected)
    if found.shape != expected.shape:
        error, limit = np.inf, 0.0
    else:
        apart = distances(found, expected, tensor.dtype)
        limit = limit_of(tensor.dtype, expected, allowed)
        error = float(apart.max()) if apart.size else 0.0
    return OutputCheck(
        tensor.name,
        tensor.dtype,
        tensor.shape,
        float(error),
        _share(float(error), scale),
        limit,
        _share(limit, scale),
        error <= limit,
    )


def _share(distance: float, scale: float) -> float:
    """A distance relative to a magnitude; of a magnitude of 0, 0 or infinite."""
    if scale:
        return distance / scale
    return np.inf if distance else 0.0


def limit_of(dtype: str, expected: Array, allowed: tuple[float, float]) -> float:
    """The largest distance of two correct tensors, in the unit of `distances`."""
    tolerance, least = allowed
    if in_steps(dtype):
        return STEPS_ALLOWED if tolerance else 0.0
    return tolerance * max(magnitude(expected), least)


def distances(found: Array, expected: Array, dtype: str) -> np.ndarray[Any, Any]:
    """Distance of each pair; 0 where both are the same infinity, or both not a number."""
    if found.dtype.kind in "OUS" or expected.dtype.kind in "OUS":
        return np.where(found.astype(str) == expected.astype(str), 0.0, np.inf)
    wide = np.complex128 if "c" in (found.dtype.kind, expected.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        a, b = found.astype(wide), expected.astype(wide)
        apart = np.abs(_places(a, dtype) - _places(b, dtype))
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    is_odd = ~np.isfinite(a) | ~np.isfinite(b)
    return np.where(is_same, 0.0, np.where(is_odd, np.inf, apart))


def _places(numbers: Array, dtype: str) -> Array:
    """Numbers of a small float type as indices into its sorted values; others unchanged."""
    if not is_coarse(dtype):
        return numbers
    return np.searchsorted(_all_of(dtype), numbers).astype(np.float64)


@cache
def _all_of(dtype: str) -> Array:
    """Every finite number of a floating type of one byte, rising."""
    numbers = np.arange(256, dtype=np.uint8).view(numpy_dtype(dtype)).astype(np.float64)
    return np.unique(numbers[np.isfinite(numbers)])


def magnitude(numbers: Array) -> float:
    """The largest finite magnitude."""
    if numbers.dtype.kind in "OUS" or not numbers.size:
        return 0.0
    with np.errstate(all="ignore"):
        sizes = np.abs(numbers.astype(np.complex128 if numbers.dtype.kind == "c" else np.float64))
    finite = sizes[np.isfinite(sizes)]
    return float(finite.max()) if finite.size else 0.0


def number_at(numbers: Array, place: int) -> float:
    """One number of an array, by its place in row-major order."""
    value = numbers.reshape(-1)[place]
    return float(np.real(value)) if numbers.dtype.kind in "fciub" else 0.0
