"""Op -> class: which ops are post-ops, biases, batch norms, depthwise convolutions.

An op is classed by its type, its operands and their shapes. `value` is the operand that a chain
hands to the op.
"""

from __future__ import annotations

from graphturbo_core.frontend.passes.batch_norm import OWN_DOMAIN, SCALE_SHIFT
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

PRODUCTS = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm"})
BATCH_NORMS = frozenset({"BatchNormalization", f"{OWN_DOMAIN}.{SCALE_SHIFT}"})
NORMS = frozenset(
    {
        "LayerNormalization", "InstanceNormalization", "GroupNormalization", "RMSNormalization",
        "SimplifiedLayerNormalization", "MeanVarianceNormalization", "LpNormalization",
    }
)  # fmt: skip
SOFTMAXES = frozenset({"Softmax", "LogSoftmax"})
POOLS = frozenset(
    {
        "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool",
    }
)  # fmt: skip
REDUCTIONS = frozenset(
    {
        "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
    }
)  # fmt: skip
SLICE = "Slice"
RESIZES = frozenset({"Resize", "Upsample"})
RESHAPES = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
BINARY = frozenset({"Add", "Sub", "Max", "Min", "Mul", "Div"})
UNARY = frozenset(
    {
        "Abs", "Clip", "Elu", "Exp", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Log", "Mish",
        "Sigmoid", "Softplus", "Relu", "Round", "Sqrt", "Swish", "Tanh",
    }
)  # fmt: skip
"""One operand; a square is a `Mul` or a `Pow` (`is_square`)."""
_ORDERED = frozenset({"Sub", "Div"})
_BIASED = 3
"""Operands of a product with a bias."""
_PAIR = 2


def type_of(op: Op) -> str:
    """The op's type; ops of other domains than ONNX's have their domain before it."""
    return op.op_type if op.domain in ("", "ai.onnx") else f"{op.domain}.{op.op_type}"


def operand_beside(op: Op, value: str) -> str:
    """The other one of two distinct operands; "": the op has not exactly two."""
    operands = [name for name in op.inputs if name]
    if len(operands) != _PAIR or value not in operands or operands[0] == operands[1]:
        return ""
    return operands[1] if operands[0] == value else operands[0]


def is_binary(op: Op, value: str) -> bool:
    """A binary op of two values; a difference or quotient has the value first."""
    if type_of(op) not in BINARY or not operand_beside(op, value):
        return False
    return type_of(op) not in _ORDERED or op.inputs[0] == value


def is_square(graph: Graph, op: Op) -> bool:
    """A product of a value with itself, or a power of two."""
    if type_of(op) == "Mul":
        return op.inputs[0] == op.inputs[1]
    if type_of(op) != "Pow":
        return False
    exponent = graph.tensors[op.inputs[1]].value
    return exponent is not None and exponent.size == 1 and exponent.item() == _PAIR


def is_unary(graph: Graph, op: Op, value: str) -> bool:
    """A unary op of the value, or its square."""
    if type_of(op) in UNARY:
        return op.inputs[0] == value and value not in op.inputs[1:]
    return is_square(graph, op) and op.inputs[0] == value


def is_scalar_beside(graph: Graph, op: Op, value: str) -> bool:
    """Whether the other one of two operands has one element."""
    other = operand_beside(op, value)
    return bool(other) and graph.tensors[other].elements == 1


def is_per_channel(graph: Graph, op: Op, value: str, axis: int) -> bool:
    """Whether the other one of two operands is a weight with one element per channel.

    `axis`: the value's axis of channels.
    """
    other = operand_beside(op, value)
    if not other or graph.tensors[other].kind is not TensorKind.WEIGHT:
        return False
    shape, weight = graph.tensors[value].shape, graph.tensors[other].shape
    if not shape or len(weight) > len(shape):
        return False
    expected = [1] * len(shape)
    expected[axis] = shape[axis]
    return [1] * (len(shape) - len(weight)) + list(weight) == expected


def channel_axis(product: Op) -> int:
    """Axis of channels in a product's result: 1 for convolutions, else the last."""
    return 1 if type_of(product) in ("Conv", "ConvTranspose") else -1


def has_bias(product: Op) -> bool:
    """Whether a convolution or Gemm adds a bias itself."""
    return len(product.inputs) == _BIASED and bool(product.inputs[-1])


def keeps_shape(graph: Graph, op: Op, value: str) -> bool:
    """Whether the op's result has the value's shape: the value is not broadcast."""
    return graph.tensors[op.outputs[0]].shape == graph.tensors[value].shape


def _weight(graph: Graph, convolution: Op) -> Tensor:
    return graph.tensors[convolution.inputs[1]]


def is_one_by_one(graph: Graph, op: Op) -> bool:
    """A convolution in one group whose windows have one element."""
    is_dense = type_of(op) == "Conv" and op.attributes.get("group", 1) == 1
    return is_dense and set(_weight(graph, op).shape[2:]) == {1}


def is_depthwise(graph: Graph, op: Op, value: str) -> bool:
    """A convolution of the value with one group per channel, in and out."""
    if type_of(op) != "Conv" or op.inputs[0] != value or value in op.inputs[1:]:
        return False
    outputs, inputs_per_group = _weight(graph, op).shape[:2]
    return inputs_per_group == 1 and op.attributes.get("group", 1) == outputs > 1
