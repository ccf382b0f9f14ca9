"""Weights that are parts of other weights, also without numbers yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.graph import Tensor, WeightStep

CUT, SHAPED, TURNED = "cut", "shaped", "turned"
"""Steps: slice along an axis; reshape; permute axes."""


def part_of(weight: Tensor, name: str, shape: Sequence[int], step: WeightStep) -> Tensor:
    """The weight after one more step, with its source weight of the file."""
    value = None
    if weight.value is not None:
        value = after(weight.value, (step,))
        value.setflags(write=False)
    source, steps = weight.source or weight.name, (*weight.steps, step)
    return replace(weight, name=name, shape=tuple(shape), value=value, source=source, steps=steps)


def after(value: NDArray[Any], steps: Sequence[WeightStep]) -> NDArray[Any]:
    """Numbers of a weight after these steps, as a copy."""
    for kind, numbers in steps:
        if kind == CUT:
            axis, begin, end = numbers
            value = value[(*(slice(None),) * axis, slice(begin, end))]
        elif kind == SHAPED:
            value = value.reshape(numbers)
        else:
            value = value.transpose(numbers)
    return np.array(value)
