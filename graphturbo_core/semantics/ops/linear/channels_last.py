"""Semantics of ONNX Runtime's 8-bit convolutions and pools: channels first or last.

With `channels_last` data and result are [N, ..., C]; weights are [M, C / groups, ...] in both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from graphturbo_core.semantics.access import AxisMap, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.linear.quantised import quantised_convolution
from graphturbo_core.semantics.ops.maps import Entry, Shape, whole_tensor
from graphturbo_core.semantics.ops.pooling import global_pool, sliding_pool
from graphturbo_core.semantics.ops.view import OpView

DOMAIN = "com.microsoft"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Turned(OpView):
    """View of the op with the channels of data and result second."""

    def shape(self, index: int = 0) -> Shape:
        """Shape of input `index`; for the data, channels second."""
        found = OpView.shape(self, index)
        return found if index else (found[0], found[-1], *found[1:-1])

    def shape_out(self, index: int = 0) -> Shape:
        """Shape of output `index`, channels second."""
        found = OpView.shape_out(self, index)
        return (found[0], found[-1], *found[1:-1])


def _last(row: tuple[_T, ...]) -> tuple[_T, ...]:
    """Values per axis, with the second axis moved to the end."""
    return (row[0], *row[2:], row[1])


def _turned_back(found: OpSemantics, data: str) -> OpSemantics:
    """Semantics for channels last, from semantics with channels second."""
    rank = len(found.output_shapes[0])
    places = {-1: -1, **{axis: at for at, axis in enumerate(_last(tuple(range(rank))))}}

    def turned(axis: AxisMap) -> AxisMap:
        return axis._replace(out_axis=places[axis.out_axis])

    def read(access: InputAccess) -> InputAccess:
        axes = tuple(map(turned, access.axes))
        return InputAccess(access.tensor, _last(axes) if access.tensor == data else axes)

    contraction = found.contraction
    if contraction is not None:
        contraction = replace(
            contraction,
            m_axes=tuple(sorted(places[axis] for axis in contraction.m_axes)),
            n_axis=places[contraction.n_axis],
            map_axes=tuple(places[axis] for axis in contraction.map_axes),
            data_reduce_axis=places[contraction.data_reduce_axis],
        )
    return replace(
        found,
        accesses=tuple(tuple(map(read, reads)) for reads in found.accesses),
        output_shapes=tuple(map(_last, found.output_shapes)),
        contraction=contraction,
        uncut_axes=frozenset(places[axis] for axis in found.uncut_axes),
    )


Laid = Callable[[OpView], OpSemantics | None]
"""An entry for data whose channels are second."""


def _either_way(view: OpView, entry: Laid, is_last: bool) -> OpSemantics | None:
    if not is_last:
        return entry(view)
    found = entry(_Turned(view.op, view.graph))
    return None if found is None else _turned_back(found, view.op.inputs[0])


def _has_channels_last(view: OpView) -> bool:
    return bool(view.integer("channels_last", 0))


def convolution(view: OpView) -> OpSemantics | None:
    """QLinearConv of ONNX Runtime's own domain."""
    return _either_way(view, quantised_convolution, _has_channels_last(view))


def largest(view: OpView) -> OpSemantics | None:
    """NhwcMaxPool: always with channels last."""
    return _either_way(view, sliding_pool, True)


def average(view: OpView) -> OpSemantics | None:
    """QLinearAveragePool: sums of windows, scaled and shifted to 8 bits."""
    return _rescaled(view, sliding_pool)


def global_average(view: OpView) -> OpSemantics | None:
    """QLinearGlobalAveragePool."""
    return _rescaled(view, global_pool)


def _rescaled(view: OpView, entry: Laid) -> OpSemantics | None:
    """A pool of 8-bit numbers, which also reads scales and zero points."""
    found = _either_way(view, entry, _has_channels_last(view))
    if found is None:
        return None
    beside = (
        whole_tensor(name, view.shape(place))
        for place, name in enumerate(view.op.inputs)
        if place and name
    )
    return replace(found, accesses=((*found.accesses[0], *beside),), ops_per_element=3)


ENTRIES: dict[tuple[str, str], Entry] = {
    (DOMAIN, "QLinearConv"): convolution,
    (DOMAIN, "NhwcMaxPool"): largest,
    (DOMAIN, "QLinearAveragePool"): average,
    (DOMAIN, "QLinearGlobalAveragePool"): global_average,
}
"""(domain, op type) -> entry."""
