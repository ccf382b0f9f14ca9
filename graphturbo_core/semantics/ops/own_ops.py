"""Computation of the ops of our own domain, for the replay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphturbo_core.ir.graph import AttributeValue

Array = np.ndarray[Any, Any]
Attributes = Mapping[str, AttributeValue]


def _scale_shift(_attributes: Attributes, data: Array, scale: Array, shift: Array) -> Array:
    """Multiply and add per channel: x * scale + shift along axis 1."""
    along = (1, -1) + (1,) * (data.ndim - 2)
    return np.asarray(data * scale.reshape(along) + shift.reshape(along), dtype=data.dtype)


def _quantised_product_and_sum(attributes: Attributes, *inputs: Array) -> Array:
    """As QLinearMatMul, transposed as Gemm, with a bias: int32 of the sums, or floating.

    Sums of products of 8-bit numbers are exact in a double. They are converted to floats, scaled
    once and rounded to even, as in ONNX Runtime's QGemm; a floating bias is added before the second
    scale.
    """
    data, data_scale, data_zero, weight, weight_scale, weight_zero, scale, zero, bias = inputs
    left = _swapped(data.astype(np.float64), bool(attributes.get("transA", 0))) - data_zero
    right = _swapped(weight.astype(np.float64), bool(attributes.get("transB", 0))) - weight_zero
    sums = left @ right
    unit = data_scale * weight_scale
    if bias.dtype.kind == "i":
        scaled = (sums + bias).astype(np.float32) * (unit / scale)
    else:
        scaled = (sums.astype(np.float32) * unit + bias) / scale
    bounds = np.iinfo(data.dtype)
    rounded: Array = np.clip(np.rint(scaled) + zero, bounds.min, bounds.max)
    return rounded.astype(data.dtype)


def _swapped(matrix: Array, is_swapped: bool) -> Array:
    return matrix.swapaxes(-1, -2) if is_swapped else matrix


OWN_OPS: Mapping[tuple[str, str], Callable[..., Array]] = {
    ("graphturbo", "ScaleShift"): _scale_shift,
    ("graphturbo", "QLinearMatMulAdd"): _quantised_product_and_sum,
}
"""(domain, op type) -> function of attributes and numpy arrays; ONNX describes all other ops."""
