"""Semantics of recurrent ops: cut along samples and directions, not time or hidden state."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisMap,
    FusionKind,
    InnerProduct,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, same, whole, whole_tensor
from graphturbo_core.semantics.ops.view import OpView

CELLS = {"RNN": (1, 1), "GRU": (6, 3), "LSTM": (4, 5)}
"""Vector operations and transcendentals per hidden element and step, without two sums per gate.

GRU: reset product, (1 - z) h + z c and a difference; LSTM: f c + i g and o tanh(c)."""
_WEIGHTS, _LENGTHS = (1, 2, 3, 7), 4
"""Input numbers with a row per direction (W, R, B, P), and of the samples' lengths."""


@dataclass(frozen=True, slots=True)
class _Axes:
    """Axes of directions and samples in an output."""

    direction: int
    batch: int


def _axes_of(index: int, is_batch_first: bool) -> _Axes:
    """Y is [T, D, N, H] or [N, T, D, H]; the last states are [D, N, H] or [N, D, H]."""
    if is_batch_first:
        return _Axes(2 if index == 0 else 1, 0)
    return _Axes(1, 2) if index == 0 else _Axes(0, 1)


def recurrent(view: OpView) -> OpSemantics:
    """RNN, GRU and LSTM: X [T, N, I], or [N, T, I] with layout 1.

    All products belong to the first used output; the others copy its rows, one operation per
    element. With lengths, directions are not cut.
    """
    is_batch_first = bool(view.integer("layout", 0))
    directions, gates, width = view.shape(1)
    hidden = view.shape(2)[-1]
    steps = view.shape()[1 if is_batch_first else 0]
    main = view.main_output
    axes = _axes_of(main, is_batch_first)
    is_divided = directions > 1 and not view.has_input(_LENGTHS)
    free = {axes.batch, axes.direction} if is_divided else {axes.batch}
    plain, functions = CELLS[view.op.op_type]
    seen = InnerProduct(
        gates, width, (axes.batch,), ((axes.direction, 1),), count=steps, output=main
    )
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=tuple(
            _reads(view, _axes_of(index, is_batch_first), is_divided) if name else ()
            for index, name in enumerate(view.op.outputs)
        ),
        output_shapes=view.shapes_out,
        products=(
            seen,
            replace(
                seen,
                k=hidden,
                row_ops=plain * hidden + 2 * gates,
                row_transcendentals=functions * hidden,
            ),
        ),
        is_placed=is_divided,
        uncut_axes=frozenset(range(len(view.shape_out(main)))) - free,
    )


def _reads(view: OpView, axes: _Axes, is_divided: bool) -> tuple[InputAccess, ...]:
    is_batch_first = bool(view.integer("layout", 0))
    return tuple(
        InputAccess(name, _maps(view, place, axes, (is_batch_first, is_divided)))
        for place, name in enumerate(view.op.inputs)
        if name
    )


def _maps(view: OpView, place: int, axes: _Axes, known: tuple[bool, bool]) -> tuple[AxisMap, ...]:
    """X and states have samples; weights and states have directions; the rest is whole."""
    is_batch_first, is_divided = known
    shape = view.shape(place)
    if place == _LENGTHS:
        return (same(shape[0], axes.batch),)
    samples, direction = (0, 1) if is_batch_first else (1, 0)
    maps = [whole(size) for size in shape]
    if place in _WEIGHTS:
        samples, direction = -1, 0
    elif place == 0:
        direction = -1
    if samples >= 0:
        maps[samples] = same(shape[samples], axes.batch)
    if direction >= 0 and is_divided:
        maps[direction] = same(shape[direction], axes.direction)
    return tuple(maps)


def quantised_lstm(view: OpView) -> OpSemantics:
    """DynamicQuantizeLSTM: weights of bytes [D, I, 4 H] and [D, H, 4 H].

    Input and state are quantised over all samples together, so no axis may be cut.
    """
    directions, width, gates = view.shape(1)
    hidden, steps, samples = view.shape(2)[1], *view.shape()[:2]
    main = view.main_output
    plain, functions = CELLS["LSTM"]
    seen = InnerProduct(
        gates, width, m=samples, count=steps * directions, output=main, is_of_bytes=True
    )
    state = replace(
        seen,
        k=hidden,
        row_ops=plain * hidden + 2 * gates,
        row_transcendentals=functions * hidden,
    )
    reads = tuple(
        whole_tensor(name, view.shape(place)) for place, name in enumerate(view.op.inputs) if name
    )
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=tuple(reads if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        products=(seen, state),
        uncut_axes=frozenset(range(len(view.shape_out(main)))),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    **{("", name): recurrent for name in CELLS},
    ("com.microsoft", "DynamicQuantizeLSTM"): quantised_lstm,
}
