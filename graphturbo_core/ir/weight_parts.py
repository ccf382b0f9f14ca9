"""Weights made of other weights, also without numbers yet: parts of one, or several joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.graph import Tensor, WeightStep

CUT, SHAPED, TURNED, WIDENED = "cut", "shaped", "turned", "widened"
"""Steps: slice along an axis; reshape; permute axes; zeros before and after the last axes."""


def part_of(weight: Tensor, name: str, shape: Sequence[int], step: WeightStep) -> Tensor:
    """The weight after one more step, with its source weight of the file."""
    value = None
    if weight.value is not None:
        value = after(weight.value, (step,))
        value.setflags(write=False)
    source = "" if weight.joins else weight.source or weight.name
    steps = (*weight.steps, step)
    return replace(weight, name=name, shape=tuple(shape), value=value, source=source, steps=steps)


def after(value: NDArray[Any], steps: Sequence[WeightStep]) -> NDArray[Any]:
    """Numbers of a weight after these steps, as a copy."""
    for kind, numbers in steps:
        if kind == CUT:
            axis, begin, end = numbers
            value = value[(*(slice(None),) * axis, slice(begin, end))]
        elif kind == SHAPED:
            value = value.reshape(numbers)
        elif kind == WIDENED:
            value = _widened(value, numbers)
        else:
            value = value.transpose(numbers)
    return np.array(value)


def _widened(value: NDArray[Any], zeros: Sequence[int]) -> NDArray[Any]:
    """The numbers with zeros around them along the last `len(zeros) / 2` axes."""
    axes = len(zeros) // 2
    both = list(zip(zeros[:axes], zeros[axes:], strict=True))
    return np.pad(value, [(0, 0)] * (value.ndim - axes) + both)


def joined(weights: Sequence[Tensor], name: str) -> Tensor:
    """The weights concatenated along their leading axis; without numbers, with its parts."""
    first = weights[0]
    shape = (sum(weight.shape[0] for weight in weights), *first.shape[1:])
    values = [weight.value for weight in weights if weight.value is not None]
    if len(values) < len(weights):
        return Tensor(name, shape, first.dtype, first.kind, joins=tuple(weights))
    value = np.concatenate(values)
    value.setflags(write=False)
    return Tensor(name, shape, first.dtype, first.kind, value)


def sources_of(weight: Tensor) -> tuple[str, ...]:
    """Weights of the file without numbers that a weight is made of."""
    if weight.value is not None:
        return ()
    if weight.joins:
        return tuple(name for part in weight.joins for name in sources_of(part))
    return (weight.source or weight.name,)


def numbers_of(weight: Tensor, known: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Numbers of a weight; `known`: those of its `sources_of`."""
    if weight.value is not None:
        return weight.value
    if weight.joins:
        whole = np.concatenate([numbers_of(part, known) for part in weight.joins])
        return after(whole, weight.steps)
    return after(known[weight.source or weight.name], weight.steps)
