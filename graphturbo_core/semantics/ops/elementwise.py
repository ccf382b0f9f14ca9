"""Semantics of elementwise and broadcast ops."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import FusionKind, InputAccess, OpSemantics
from graphturbo_core.semantics.ops.maps import Entry, broadcast, per_channel
from graphturbo_core.semantics.ops.view import OpView

UNARY: dict[str, tuple[int, int]] = {
    "Abs": (1, 0), "Cast": (1, 0), "Ceil": (1, 0), "Clip": (2, 0),
    "Dropout": (1, 0), "Floor": (1, 0), "HardSigmoid": (4, 0), "HardSwish": (5, 0),
    "Identity": (1, 0), "LeakyRelu": (2, 0), "Neg": (1, 0), "Not": (1, 0), "Relu": (1, 0),
    "Round": (1, 0), "Sign": (1, 0), "ThresholdedRelu": (2, 0), "IsNaN": (1, 0), "IsInf": (1, 0),
    "BitCast": (1, 0), "BitwiseNot": (1, 0), "Shrink": (4, 0), "Acos": (0, 1), "Acosh": (0, 1),
    "Asinh": (0, 1), "Atanh": (0, 1), "Asin": (0, 1), "Atan": (0, 1), "Cos": (0, 1), "Cosh": (0, 1),
    "Erf": (0, 1), "Exp": (0, 1), "Log": (0, 1), "Reciprocal": (0, 1), "Sigmoid": (0, 1),
    "Sin": (0, 1), "Sinh": (0, 1), "Sqrt": (0, 1), "Tan": (0, 1), "Tanh": (0, 1),
    "Celu": (4, 1), "Elu": (3, 1), "Gelu": (4, 1), "Mish": (1, 3), "Selu": (4, 1),
    "Softplus": (1, 2), "Softsign": (2, 1), "Swish": (1, 1),
}  # fmt: skip
"""Per element: plain operations and transcendentals. Our count: a hardware function of the vector
engine (exp, division, square root, one table look-up) is one transcendental; composed activations
add the plain operations of their definition."""

BINARY: dict[str, tuple[int, int]] = {
    "Add": (1, 0), "And": (1, 0), "BitShift": (1, 0), "BitwiseAnd": (1, 0), "BitwiseOr": (1, 0),
    "BitwiseXor": (1, 0), "Div": (0, 1), "Equal": (1, 0),
    "Greater": (1, 0), "GreaterOrEqual": (1, 0), "Less": (1, 0), "LessOrEqual": (1, 0),
    "Mod": (2, 1), "Mul": (1, 0), "Or": (1, 0), "PRelu": (2, 0), "Pow": (0, 1), "Sub": (1, 0),
    "SwiGLU": (2, 1), "Where": (1, 0), "Xor": (1, 0),
}  # fmt: skip
"""The same for ops whose operands broadcast against each other."""

VARIADIC = {"Max": -1, "Min": -1, "Sum": -1, "Mean": 0}
"""Operations per element minus the operand count n: n - 1 combine, Mean also scales."""


def _operands(view: OpView) -> tuple[InputAccess, ...]:
    names = tuple(dict.fromkeys(name for name in view.op.inputs if name))
    tensors = view.graph.tensors
    return tuple(broadcast(name, tensors[name].shape, view.shape_out()) for name in names)


def _pointwise(
    view: OpView, fusion: FusionKind, ops: int, transcendentals: int
) -> OpSemantics | None:
    if view.extra_outputs:
        return None
    reads = _operands(view)
    return OpSemantics(
        fusion=fusion,
        engine=EngineKind.VECTOR,
        accesses=(reads, *(() for _ in view.op.outputs[1:])),
        output_shapes=view.shapes_out,
        ops_per_element=ops,
        transcendentals=transcendentals,
        is_view=view.op.op_type == "Identity",
        is_pointwise=True,
    )


def unary(view: OpView) -> OpSemantics | None:
    """Ops of one tensor; scalar bounds (Clip) are broadcast operands."""
    return _pointwise(view, FusionKind.ELEMENTWISE, *UNARY[view.op.op_type])


def _first_only(view: OpView, is_view: bool) -> OpSemantics:
    """An op whose first input is its data and whose others are parameters."""
    read = broadcast(view.op.inputs[0], view.shape(), view.shape_out())
    return OpSemantics(
        fusion=FusionKind.ELEMENTWISE,
        engine=EngineKind.VECTOR,
        accesses=((read,), *(() for _ in view.op.outputs[1:])),
        output_shapes=view.shapes_out,
        is_view=is_view,
        is_pointwise=True,
    )


def dropout(view: OpView) -> OpSemantics | None:
    """Inference dropout copies; ratio and mode are parameters, a mask is not supported."""
    return None if view.extra_outputs else _first_only(view, is_view=True)


def cast_like(view: OpView) -> OpSemantics:
    """CastLike: only the type of the second input matters."""
    return _first_only(view, is_view=False)


def binary(view: OpView) -> OpSemantics | None:
    """Ops whose operands broadcast against each other."""
    return _pointwise(view, FusionKind.BROADCAST, *BINARY[view.op.op_type])


def variadic(view: OpView) -> OpSemantics | None:
    """Max, Min, Sum and Mean of any number of operands."""
    ops = len(view.op.inputs) + VARIADIC[view.op.op_type]
    return _pointwise(view, FusionKind.BROADCAST, max(1, ops), 0)


def expand(view: OpView) -> OpSemantics:
    """Expand: a broadcast to a shape that is a parameter."""
    return OpSemantics(
        fusion=FusionKind.BROADCAST,
        engine=EngineKind.VECTOR,
        accesses=((broadcast(view.op.inputs[0], view.shape(), view.shape_out()),),),
        output_shapes=view.shapes_out,
        is_pointwise=True,
        is_repeated=True,
    )


def scale_shift(view: OpView) -> OpSemantics | None:
    """Multiply and add per channel: our ScaleShift, and inference batch normalisation.

    The four statistics of a BatchNormalization fold into one scale and one shift per channel.
    """
    if view.extra_outputs or view.integer("training_mode", 0):
        return None
    data, *vectors = (name for name in view.op.inputs if name)
    reads = (
        broadcast(data, view.shape(), view.shape_out()),
        *(per_channel(name, view.graph.tensors[name].shape) for name in dict.fromkeys(vectors)),
    )
    return OpSemantics(
        fusion=FusionKind.BROADCAST,
        engine=EngineKind.VECTOR,
        accesses=(reads, *(() for _ in view.op.outputs[1:])),
        output_shapes=view.shapes_out,
        ops_per_element=2,
        is_pointwise=True,
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    **{("", name): unary for name in UNARY},
    **{("", name): binary for name in BINARY},
    **{("", name): variadic for name in VARIADIC},
    ("", "Dropout"): dropout,
    ("", "CastLike"): cast_like,
    ("", "Expand"): expand,
    ("", "BatchNormalization"): scale_shift,
    ("graphturbo", "ScaleShift"): scale_shift,
}
