"""Semantics of ops that carry a state along a sequence: causal convolution, linear attention."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisKind,
    AxisMap,
    FusionKind,
    InnerProduct,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, per_channel, same, whole
from graphturbo_core.semantics.ops.view import OpView


def causal_convolution(view: OpView) -> OpSemantics:
    """CausalConvWithState: an element needs itself and the k - 1 before it, at first the state's.

    The new state is the last k - 1 elements of state and data. Two operations per tap, on the
    vector engine.
    """
    batch, channels, length = view.shape()
    taps = view.shape(1)[-1]
    apart = (same(batch, 0), same(channels, 1))
    window = AxisMap(AxisKind.WINDOW, length, 2, kernel=taps, pad=taps - 1)
    data = view.op.inputs[0]
    reads = [
        InputAccess(data, (*apart, window)),
        InputAccess(view.op.inputs[1], (same(channels, 1), whole(1), whole(taps))),
    ]
    if view.has_input(2):
        reads.append(per_channel(view.op.inputs[2], view.shape(2)))
    state = [InputAccess(data, (*apart, whole(length)))]
    if view.has_input(3):
        past = InputAccess(view.op.inputs[3], (*apart, whole(view.shape(3)[2])))
        reads.append(past)
        state.append(past)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.VECTOR,
        accesses=tuple(
            () if not name else tuple(state) if index else tuple(reads)
            for index, name in enumerate(view.op.outputs)
        ),
        output_shapes=view.shapes_out,
        ops_per_element=2 * taps,
        transcendentals=0 if view.text("activation", "none") in ("none", "") else 1,
        is_placed=True,
    )


_UPDATES = {"linear": 2, "gated": 2, "delta": 3, "gated_delta": 3}
"""Products of a head's state per step: outer product, result, and those of a delta rule."""


def linear_attention(view: OpView) -> OpSemantics | None:
    """LinearAttention: cut along samples only; packed heads and time are not cut.

    Per step, a query head reads its state and a key head updates it: each d_k x d_v.
    """
    query, kv = view.integer("q_num_heads", 0), view.integer("kv_num_heads", 0)
    updates = _UPDATES.get(view.text("update_rule", "gated_delta"))
    if query < 1 or kv < 1 or updates is None:
        return None
    steps, size = view.shape()[1], view.shape()[2] // query
    value_size = view.shape(2)[2] // kv
    reads = tuple(
        InputAccess(name, (_sample(shape[0]), *(whole(n) for n in shape[1:])))
        for place, name in enumerate(view.op.inputs)
        if name and (shape := view.shape(place))
    )
    heads = query + kv * (updates - 1)
    return OpSemantics(
        fusion=FusionKind.OPAQUE,
        engine=EngineKind.MATRIX,
        accesses=tuple(reads if name else () for name in view.op.outputs),
        output_shapes=view.shapes_out,
        ops_per_element=1,
        products=(InnerProduct(value_size, size, (), ((0, 1),), count=steps * heads),),
        uncut_axes=frozenset({1, 2, 3}),
    )


def _sample(size: int) -> AxisMap:
    return same(size, 0)


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "CausalConvWithState"): causal_convolution,
    ("", "LinearAttention"): linear_attention,
}
