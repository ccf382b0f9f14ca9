"""Generated models of any number of ops: a residual network and a decoder with small layers.

Inner tensors have no shape in the file, so that import must infer each. Weights have bytes. Only
the number of blocks grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
CHANNELS = 8
RESOLUTION = 16
SEQUENCE = 16
HIDDEN = 32
HEADS = 2
INNER = 64


@dataclass
class _Net:
    """Nodes and weights of a model; every layer method returns the name of its output."""

    nodes: list[NodeProto] = field(default_factory=list)
    weights: list[TensorProto] = field(default_factory=list)

    def op(self, op_type: str, *inputs: str, **attributes: int | float | Sequence[int]) -> str:
        """A node named by its number."""
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=name, **attributes))
        return name

    def weight(self, *shape: int) -> str:
        """A new float weight."""
        numbers = np.linspace(0.5, 1.5, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        return self._keep(numbers)

    def constant(self, numbers: float | Sequence[int]) -> str:
        """A float scalar, or a list of integers."""
        dtype = np.float32 if isinstance(numbers, float) else np.int64
        return self._keep(np.asarray(numbers, dtype))

    def _keep(self, numbers: np.ndarray) -> str:
        name = f"w_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numbers, name))
        return name

    def model(self, shape: Sequence[int], output: str) -> bytes:
        """Bytes of the file: input `x` of this shape, one output of unknown shape."""
        floats = TensorProto.FLOAT
        given = helper.make_tensor_value_info("x", floats, shape)
        result = helper.make_tensor_value_info(output, floats, [None] * len(shape))
        graph = helper.make_graph(self.nodes, "generated", [given], [result], self.weights)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        return bytes(model.SerializeToString(deterministic=True))


def residual(nodes: int) -> bytes:
    """Blocks of conv, bn, relu, conv, bn, add, relu: 7 nodes each, at least `nodes` in all."""
    net, x = _Net(), "x"
    while len(net.nodes) < nodes:
        inner = net.op("Relu", _conv_bn(net, x))
        x = net.op("Relu", net.op("Add", x, _conv_bn(net, inner)))
    return net.model((1, CHANNELS, RESOLUTION, RESOLUTION), x)


def _conv_bn(net: _Net, x: str) -> str:
    window = {"kernel_shape": (3, 3), "pads": (1, 1, 1, 1)}
    x = net.op("Conv", x, net.weight(CHANNELS, CHANNELS, 3, 3), **window)
    return net.op("BatchNormalization", x, *(net.weight(CHANNELS) for _ in range(4)))


def decoder(nodes: int) -> bytes:
    """Model of Llama layers as exporters write them (52 nodes each), at least `nodes` nodes."""
    net, x = _Net(), "x"
    mask = net.weight(SEQUENCE, SEQUENCE)
    while len(net.nodes) < nodes:
        x = net.op("Add", x, _attention(net, _rms_norm(net, x), mask))
        x = net.op("Add", x, _gated(net, _rms_norm(net, x)))
    return net.model((1, SEQUENCE, HIDDEN), x)


def _rms_norm(net: _Net, x: str) -> str:
    mean = net.op("ReduceMean", net.op("Pow", x, net.constant(2.0)), axes=[-1], keepdims=1)
    root = net.op("Sqrt", net.op("Add", mean, net.constant(1e-5)))
    return net.op("Mul", net.op("Div", x, root), net.weight(HIDDEN))


def _attention(net: _Net, x: str, mask: str) -> str:
    query, key, value = (_heads(net, x) for _ in range(3))
    keys = net.op("Transpose", _rotated(net, key), perm=[0, 1, 3, 2])
    scores = net.op("MatMul", _rotated(net, query), keys)
    scaled = net.op("Mul", scores, net.constant((HIDDEN // HEADS) ** -0.5))
    weights = net.op("Softmax", net.op("Add", scaled, mask), axis=-1)
    mixed = net.op("Transpose", net.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    joined = net.op("Reshape", mixed, net.constant([1, SEQUENCE, HIDDEN]))
    return net.op("MatMul", joined, net.weight(HIDDEN, HIDDEN))


def _heads(net: _Net, x: str) -> str:
    projected = net.op("MatMul", x, net.weight(HIDDEN, HIDDEN))
    shape = net.constant([1, SEQUENCE, HEADS, HIDDEN // HEADS])
    return net.op("Transpose", net.op("Reshape", projected, shape), perm=[0, 2, 1, 3])


def _rotated(net: _Net, x: str) -> str:
    """Rotary position: x * cos + (second half negated, first half) * sin."""
    width = HIDDEN // HEADS
    first, second = (
        net.op("Slice", x, *(net.constant([n]) for n in (begin, begin + width // 2, 3)))
        for begin in (0, width // 2)
    )
    turned = net.op("Concat", net.op("Neg", second), first, axis=-1)
    cos, sin = (net.weight(SEQUENCE, width) for _ in range(2))
    return net.op("Add", net.op("Mul", x, cos), net.op("Mul", turned, sin))


def _gated(net: _Net, x: str) -> str:
    gate, up = (net.op("MatMul", x, net.weight(HIDDEN, INNER)) for _ in range(2))
    silu = net.op("Mul", gate, net.op("Sigmoid", gate))
    return net.op("MatMul", net.op("Mul", silu, up), net.weight(INNER, HIDDEN))


MODELS: Mapping[str, Callable[[int], bytes]] = {"residual": residual, "decoder": decoder}
