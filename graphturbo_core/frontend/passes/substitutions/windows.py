"""Kernel and padding of a convolution, and the smallest that two convolutions can both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from graphturbo_core.frontend.passes.horizontal import (
    RULE_DILATIONS,
    RULE_KERNEL,
    RULE_PADDING,
    ConvTraits,
    pads_of,
    sizes_text,
)
from graphturbo_core.ir.graph import Graph, Op

WEIGHT_AXES = 2
"""Axes of a convolution's weights before those of its kernel."""


class Window(NamedTuple):
    """Kernel shape and padding of a convolution; `pads`: before all axes, then after them."""

    kernel: tuple[int, ...]
    pads: tuple[int, ...]


def weights_shape(graph: Graph, op: Op) -> tuple[int, ...]:
    """Shape of a convolution's weights."""
    return graph.tensors[op.inputs[1]].shape


def window_of(graph: Graph, op: Op, traits: ConvTraits) -> Window | None:
    """Kernel and padding; None where a rule gives the padding, or a dilation is not 1."""
    kernel = weights_shape(graph, op)[WEIGHT_AXES:]
    pads = pads_of(op, len(kernel))
    has_dilation = traits.by_rule[RULE_DILATIONS] != sizes_text((1,) * len(kernel))
    return None if pads is None or has_dilation else Window(kernel, pads)


def common_window(own: Window | None, other: Window | None) -> Window | None:
    """The smallest window that both can have with equal results; None where there is none."""
    if own is None or other is None:
        return None
    pads = tuple(max(both) for both in zip(own.pads, other.pads, strict=True))
    kernels = {widened(window, pads) for window in (own, other)}
    return Window(kernels.pop(), pads) if len(kernels) == 1 else None


def widened(window: Window, pads: Sequence[int]) -> tuple[int, ...]:
    """Kernel shape with as many zeros around it as this padding exceeds the own one."""
    axes = len(window.kernel)
    more = [new - own for new, own in zip(pads, window.pads, strict=True)]
    return tuple(size + more[axis] + more[axis + axes] for axis, size in enumerate(window.kernel))


def differ_in_window_alone(traits: Mapping[str, ConvTraits], op: Op, other: Op) -> bool:
    """Whether two convolutions differ in kernel and padding at most."""
    own, its = traits[op.name].by_rule, traits[other.name].by_rule
    return all(own[rule] == its[rule] for rule in own.keys() - {RULE_KERNEL, RULE_PADDING})
