"""Output types of the fused ops of ONNX Runtime's optimiser, which onnx does not know.

An optimised file rarely records their shapes. A rule returns None for an unknown layout of inputs;
then the file's recorded shape is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from graphturbo_core.frontend.parse.tensors import checked_shape
from graphturbo_core.ir.graph import Op, Tensor, TensorKind
from graphturbo_core.limits import Limits

DOMAIN = "com.microsoft"
Shape = tuple[int, ...]
Kind = tuple[Shape, str]
"""Shape and element type of an output."""
Inputs = tuple[Tensor | None, ...]


def fused_outputs(
    op: Op, tensors: Mapping[str, Tensor], limits: Limits
) -> tuple[Tensor, ...] | None:
    """Returns the op's named outputs; None if no rule applies.

    Raises:
        ModelError: BAD_SHAPE, RANK_TOO_HIGH, SHAPE_TOO_LARGE.
    """
    rule = _RULES.get((op.domain, op.op_type))
    if rule is None:
        return None
    inputs = tuple(tensors[name] if name else None for name in op.inputs)
    try:
        kinds = rule(op, inputs)
    except (LookupError, ValueError, ArithmeticError):  # an input is missing or has another rank
        return None
    if kinds is None or len(kinds) < len(op.outputs):
        return None
    found = []
    for name, (shape, dtype) in zip(op.outputs, kinds, strict=False):
        if name:
            sizes = checked_shape(
                list(shape), f"output {name!r} of {op.op_type} {op.name!r}", limits
            )
            found.append(Tensor(name, sizes, dtype, TensorKind.ACTIVATION))
    return tuple(found)


Rule = Callable[[Op, Inputs], tuple[Kind, ...] | None]


def _kind(tensor: Tensor | None) -> Kind:
    if tensor is None:
        raise LookupError("an input is missing")
    return tensor.shape, tensor.dtype


def _of_the_first(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    return (_kind(inputs[0]),)


def _broadcast(first: Shape, second: Shape) -> Shape:
    return tuple(np.broadcast_shapes(first, second))


def _of_both(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """8-bit arithmetic: operands are inputs 0 and 3, each before its scale and zero point."""
    (first, dtype), (second, _) = _kind(inputs[0]), _kind(inputs[3])
    return ((_broadcast(first, second), dtype),)


def _quantised(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    zero = inputs[2] if len(inputs) > 2 else None  # noqa: PLR2004 - scale, zero point
    return ((_kind(inputs[0])[0], "uint8" if zero is None else zero.dtype),)


def _dequantised(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    return ((_kind(inputs[0])[0], _kind(inputs[1])[1]),)


def _normalised(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """Result, mean and deviation of each row, and the sum."""
    shape, dtype = _kind(inputs[0])
    row: Kind = ((*shape[:-1], 1), "float32")
    return ((shape, dtype), row, row, (shape, dtype))


def _by_row(op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """LayerNormalization and the simplified one: result, and statistics of each row."""
    shape, dtype = _kind(inputs[0])
    axis = op.attributes.get("axis", -1)
    if not isinstance(axis, int) or not -len(shape) <= axis < len(shape):
        raise LookupError("there is no such axis")
    axis %= len(shape)
    row: Kind = ((*shape[:axis], *(1 for _ in shape[axis:])), "float32")
    return ((shape, dtype), row, row)


def _embedded(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """Result, count of each sample's mask, and the sum."""
    (samples, length), (table, dtype) = _kind(inputs[0])[0], _kind(inputs[2])
    kind: Kind = ((samples, length, table[1]), dtype)
    return (kind, ((samples,), "int32"), kind)


def _multiplied(first: Shape, second: Shape) -> Shape | None:
    if min(len(first), len(second)) < 2 or first[-1] != second[-2]:  # noqa: PLR2004 - matrices
        return None
    return (*_broadcast(first[:-2], second[:-2]), first[-2], second[-1])


def _product(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """FusedMatMul, and FusedGemm with the same attributes; swapped batch axes give None."""
    (first, dtype), (second, _) = _kind(inputs[0]), _kind(inputs[1])
    if op.attributes.get("transBatchA") or op.attributes.get("transBatchB"):
        return None
    if op.attributes.get("transA"):
        first = (*first[:-2], first[-1], first[-2])
    if op.attributes.get("transB"):
        second = (*second[:-2], second[-1], second[-2])
    shape = _multiplied(first, second)
    return None if shape is None else ((shape, dtype),)


def _scaled_product(_op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """MatMulIntegerToFloat: the result has the type of the scales."""
    shape = _multiplied(_kind(inputs[0])[0], _kind(inputs[1])[0])
    return None if shape is None else ((shape, _kind(inputs[2])[1]),)


def _floating_product(_op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """DynamicQuantizeMatMul: the data are floats."""
    (first, dtype), (second, _) = _kind(inputs[0]), _kind(inputs[1])
    shape = _multiplied(first, second)
    return None if shape is None else ((shape, dtype),)


def _narrow_product(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    columns = op.attributes.get("N")
    shape, dtype = _kind(inputs[0])
    return (((*shape[:-1], columns), dtype),) if isinstance(columns, int) else None


def _convolved(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """FusedConv."""
    (shape, dtype), (weight, _) = _kind(inputs[0]), _kind(inputs[1])
    return (((shape[0], weight[0], *_windows(op, shape[2:], weight[2:])), dtype),)


def _quantised_convolution(op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """QLinearConv: type of the result's zero point, channels first or last."""
    (shape, _), (weight, _), (_, dtype) = _kind(inputs[0]), _kind(inputs[3]), _kind(inputs[7])
    if not op.attributes.get("channels_last", 0):
        return (((shape[0], weight[0], *_windows(op, shape[2:], weight[2:])), dtype),)
    return (((shape[0], *_windows(op, shape[1:-1], weight[2:]), weight[0]), dtype),)


def _pooled(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """QLinearAveragePool, and NhwcMaxPool with channels last."""
    shape, dtype = _kind(inputs[0])
    kernel = op.attributes["kernel_shape"]
    if not isinstance(kernel, tuple):
        return None
    taps = tuple(int(size) for size in kernel)
    if op.op_type == "NhwcMaxPool" or op.attributes.get("channels_last", 0):
        return (((shape[0], *_windows(op, shape[1:-1], taps), shape[-1]), dtype),)
    return (((*shape[:2], *_windows(op, shape[2:], taps)), dtype),)


def _windows(op: Op, sizes: Shape, kernel: Shape) -> Shape:
    """Returns windows per axis: (size + pads - reach) // stride + 1, or by auto_pad.

    With `ceil_mode` one more, if it begins before the padding at the end.

    Raises:
        ValueError: attributes of another rank.
    """
    ones, auto = (1,) * len(sizes), op.attributes.get("auto_pad", "NOTSET")
    strides, dilations = _each(op, "strides", ones), _each(op, "dilations", ones)
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        return tuple(-(-size // stride) for size, stride in zip(sizes, strides, strict=True))
    pads = _each(op, "pads", (0,) * (2 * len(sizes))) if auto == "NOTSET" else (0, 0) * len(sizes)
    found = []
    before, after = pads[: len(sizes)], pads[len(sizes) :]
    for size, taps, stride, dilation, begin, end in zip(
        sizes, kernel, strides, dilations, before, after, strict=True
    ):
        count, rest = divmod(size + begin + end - (taps - 1) * dilation - 1, stride)
        has_more = rest and op.attributes.get("ceil_mode", 0)
        found.append(count + 1 + bool(has_more and (count + 1) * stride < size + begin))
    return tuple(found)


def _each(op: Op, name: str, default: Shape) -> Shape:
    given = op.attributes.get(name)
    return tuple(int(item) for item in given) if isinstance(given, tuple) else default


def _attended(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """Attention with its projections: the values' width, and keys and values with the past."""
    sizes = op.attributes.get("qkv_hidden_sizes")
    width = sizes[2] if isinstance(sizes, tuple) else _kind(inputs[1])[0][1] // 3
    return _with_present(op, inputs, (int(width), 4), _kind(inputs[0])[1])


def _with_present(
    op: Op, inputs: Inputs, known: tuple[int, int], dtype: str
) -> tuple[Kind, ...] | None:
    """The result of this width, and keys and values [2, samples, heads, past + new, size].

    `known`: the width, and the input number of the past. A cache shared by present and past is not
    supported.
    """
    width, place = known
    (samples, length, _), heads = _kind(inputs[0])[0], op.attributes.get("num_heads")
    if not isinstance(heads, int) or op.attributes.get("past_present_share_buffer", 0):
        return None
    past = inputs[place] if len(inputs) > place else None
    room = 0 if past is None else past.shape[3]
    present = (2, samples, heads, room + length, width // heads)
    return (((samples, length, width), dtype), (present, dtype))


def _many_heads(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """MultiHeadAttention of packed inputs: queries' length, values' width; keys with the past."""
    ((samples, length, width), dtype), (_, keys, values) = _kind(inputs[0]), _kind(inputs[2])[0]
    heads, past = op.attributes.get("num_heads"), inputs[6] if len(inputs) > 6 else None  # noqa: PLR2004 - a place
    if not isinstance(heads, int) or any(inputs[8:9]):
        return None
    total = keys + (0 if past is None else past.shape[2])
    return (
        ((samples, length, values), dtype),
        ((samples, heads, total, width // heads), dtype),
        ((samples, heads, total, values // heads), dtype),
    )


def _quantised_attention(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """QAttention: a third of the projections' width, type of the scales."""
    return _with_present(op, inputs, (_kind(inputs[1])[0][1] // 3, 8), _kind(inputs[3])[1])


def _recurrent(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """DynamicQuantizeLSTM: all states, the last ones, and the last cells."""
    (steps, samples, _), dtype = _kind(inputs[0])
    directions, hidden, _ = _kind(inputs[2])[0]
    last = ((directions, samples, hidden), dtype)
    return (((steps, directions, samples, hidden), dtype), last, last)


def _grouped_queries(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """GroupQueryAttention: the result, keys and values with the past, scores.

    The number of keys is the cache's capacity, or the total length if that is larger. Unless the
    cache is a window, that length must be known at import, or the past be empty.
    """
    (samples, length, width), dtype = _kind(inputs[0])
    heads, groups = op.attributes["num_heads"], op.attributes["kv_num_heads"]
    if not isinstance(heads, int) or not isinstance(groups, int):
        return None
    is_packed = inputs[1] is None
    size = width // (heads + 2 * groups if is_packed else heads)
    past, total = inputs[3], inputs[6]
    room = 0 if past is None else past.shape[2]
    keys = None if total is None or total.value is None else max(room, int(total.value.item()))
    if past is None and keys is None:
        keys = length if inputs[1] is None else inputs[1].shape[1]
    if past is not None and op.attributes.get("sliding_window_cache", 0):
        keys = room
    if keys is None:
        return None
    cache = ((samples, groups, keys, size), dtype)
    if past is not None:
        cache = ((samples, groups, keys, past.shape[3]), past.dtype)
    scores = ((samples, heads, length, keys), dtype)
    return (((samples, length, heads * size), dtype), cache, cache, scores)


def _chosen(_op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """QLinearWhere: condition, and operands 1 and 4."""
    (first, dtype), (second, _) = _kind(inputs[1]), _kind(inputs[4])
    return ((_broadcast(_kind(inputs[0])[0], _broadcast(first, second)), dtype),)


def _quantised_product(op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """QGemm: type of the result's zero point; float if there is none."""
    (rows, depth), (second, columns) = _kind(inputs[0])[0], _kind(inputs[3])[0]
    zero = inputs[8] if len(inputs) > 8 else None  # noqa: PLR2004 - its last input
    height = depth if op.attributes.get("transA") else rows
    width = second if op.attributes.get("transB") else columns
    return (((height, width), "float32" if zero is None else zero.dtype),)


def _averaged(op: Op, inputs: Inputs) -> tuple[Kind, ...]:
    """QLinearGlobalAveragePool: one element per channel, channels first or last."""
    shape, dtype = _kind(inputs[0])
    places = (1,) * (len(shape) - 2)
    is_last = bool(op.attributes.get("channels_last", 0))
    return (((shape[0], *places, shape[-1]) if is_last else (*shape[:2], *places), dtype),)


def _joined(op: Op, inputs: Inputs) -> tuple[Kind, ...] | None:
    """QLinearConcat: scale and zero point of the result, then each part with its own."""
    axis, parts = op.attributes.get("axis"), [_kind(part) for part in inputs[2::3]]
    (shape, dtype), size = parts[0], len(parts[0][0])
    if not isinstance(axis, int) or not -size <= axis < size:
        return None
    axis %= size
    rests = {(*part[:axis], *part[axis + 1 :]) for part, _ in parts}
    if len(rests) > 1:
        return None
    return (((*shape[:axis], sum(part[axis] for part, _ in parts), *shape[axis + 1 :]), dtype),)


_OWN: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(
            ("Gelu", "FastGelu", "QuickGelu", "BiasGelu", "QLinearSigmoid", "QLinearLeakyRelu",
             "QLinearSoftmax", "RotaryEmbedding"), _of_the_first
        ),
        "QLinearAdd": _of_both,
        "QLinearMul": _of_both,
        "QLinearWhere": _chosen,
        "QLinearConv": _quantised_convolution,
        "QLinearAveragePool": _pooled,
        "NhwcMaxPool": _pooled,
        "QLinearGlobalAveragePool": _averaged,
        "QLinearConcat": _joined,
        "QGemm": _quantised_product,
        "QuantizeLinear": _quantised,
        "DequantizeLinear": _dequantised,
        "SkipLayerNormalization": _normalised,
        "SkipSimplifiedLayerNormalization": _normalised,
        "EmbedLayerNormalization": _embedded,
        "FusedMatMul": _product,
        "FusedGemm": _product,
        "MatMulIntegerToFloat": _scaled_product,
        "DynamicQuantizeMatMul": _floating_product,
        "FusedConv": _convolved,
        "MatMulNBits": _narrow_product,
        "DynamicQuantizeLSTM": _recurrent,
        "Attention": _attended,
        "QAttention": _quantised_attention,
        "GroupQueryAttention": _grouped_queries,
        "MultiHeadAttention": _many_heads,
    }
)  # fmt: skip
"""Ops of ONNX Runtime's own domain."""

_RULES: Mapping[tuple[str, str], Rule] = MappingProxyType(
    {
        **{(DOMAIN, name): rule for name, rule in _OWN.items()},
        ("", "LayerNormalization"): _by_row,
        ("", "SimplifiedLayerNormalization"): _by_row,
    }
)
"""(domain, op type) -> rule; in ONNX's own domain for ops without a schema."""
