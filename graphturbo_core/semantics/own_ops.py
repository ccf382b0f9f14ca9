"""What the ops of our own domain compute, for whoever runs them on numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def _scale_shift(data: Array, scale: Array, shift: Array) -> Array:
    """Multiply and add per channel: x * scale + shift along axis 1."""
    along = (1, -1) + (1,) * (data.ndim - 2)
    return np.asarray(data * scale.reshape(along) + shift.reshape(along), dtype=data.dtype)


OWN_OPS: Mapping[tuple[str, str], Callable[..., Array]] = {
    ("graphturbo", "ScaleShift"): _scale_shift,
}
"""(domain, op type) -> the op on numpy arrays; ONNX describes all others."""
