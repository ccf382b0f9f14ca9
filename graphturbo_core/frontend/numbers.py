"""Model bytes -> model bytes with numbers for every weight, and seeded inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
import onnx
from onnx import helper, numpy_helper

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.frontend.parse.parsing import parse_model
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import Limits

Array = np.ndarray[Any, Any]

INTEGERS = (0, 2)
"""Half-open range of drawn integers: 0 and 1, indices that every table has."""
BYTES = (0, 256)
"""Half-open range of drawn integer inputs, if the model accepts it: text or pixels."""


@dataclass(frozen=True)
class Numbered:
    """A model whose weights all have numbers, and the count of drawn ones."""

    data: bytes
    drawn: int


def with_numbers(data: bytes, seed: int, limits: Limits) -> Numbered:
    """Returns the model with seeded random numbers for missing or constant-filled weights.

    1. A weight whose bytes are in another file is drawn: initializer or Constant node.
    2. So is a ConstantOfShape of floats with a constant shape and more than one element: it is a
       placeholder of a weight.
    Equal name, shape and seed give equal numbers, independent of the rest of the model.

    Raises:
        CapacityError: WEIGHTS_TOO_LARGE above `limits.max_drawn_bytes`.
    """
    model = parse_model(data, limits)
    graph = model.graph
    shapes = dict(_known_shapes(graph))
    absent = [
        (name, proto)
        for name, proto in _weights(graph)
        if proto.data_location == onnx.TensorProto.EXTERNAL
    ]
    fills = [node for node in graph.node if _is_weight(node, shapes)]
    sizes = [(prod(proto.dims), proto.data_type) for _, proto in absent]
    sizes += [(prod(shapes[node.input[0]]), _fill_type(node)) for node in fills]
    total = sum(count * helper.tensor_dtype_to_np_dtype(kind).itemsize for count, kind in sizes)
    if total > limits.max_drawn_bytes:
        raise CapacityError(
            "WEIGHTS_TOO_LARGE",
            f"{total} bytes of weights have no numbers, more than {limits.max_drawn_bytes}",
            "--verify",
            "verify a smaller model of the same kind",
        )
    for name, proto in absent:
        dtype = helper.tensor_dtype_to_np_dtype(proto.data_type)
        value = drawn(name, tuple(proto.dims), dtype, seed)
        proto.CopyFrom(numpy_helper.from_array(value, proto.name))
    for node in fills:
        dtype = helper.tensor_dtype_to_np_dtype(_fill_type(node))
        value = drawn(node.output[0], shapes[node.input[0]], dtype, seed)
        tensor = numpy_helper.from_array(value, node.output[0])
        node.CopyFrom(helper.make_node("Constant", [], list(node.output), node.name, value=tensor))
    count = len(absent) + len(fills)
    return Numbered(model.SerializeToString() if count else data, count)


def _weights(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Name and tensor of every initializer and Constant node."""
    yield from ((proto.name, proto) for proto in graph.initializer)
    for node in (node for node in graph.node if node.op_type == "Constant"):
        yield from ((node.output[0], a.t) for a in node.attribute if a.name == "value")


def _known_shapes(graph: onnx.GraphProto) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Small constant vectors of integers that could be shapes."""
    for name, proto in _weights(graph):
        if _is_shape(proto):
            yield name, tuple(numpy_helper.to_array(proto).tolist())


def _is_shape(proto: onnx.TensorProto) -> bool:
    is_here = proto.data_location != onnx.TensorProto.EXTERNAL
    return is_here and proto.data_type == onnx.TensorProto.INT64 and len(proto.dims) == 1


def _is_weight(node: onnx.NodeProto, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    if node.op_type != "ConstantOfShape" or node.domain or not node.input:
        return False
    shape = shapes.get(node.input[0])
    kind = helper.tensor_dtype_to_np_dtype(_fill_type(node)).kind
    return shape is not None and prod(shape) > 1 and kind == "f"


def _fill_type(node: onnx.NodeProto) -> int:
    tensors = [attribute.t for attribute in node.attribute if attribute.name == "value"]
    return int(tensors[0].data_type) if tensors else int(onnx.TensorProto.FLOAT)


def drawn(name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], seed: int) -> Array:
    """Returns seeded numbers of a weight; they depend only on the arguments.

    Matrices are scaled by the square root of their fan-in, so that activations neither grow nor
    vanish in a deep network. Vectors are between 0.5 and 1.5, since a variance must be positive.
    """
    random = np.random.default_rng([seed, crc32(name.encode())])
    if dtype.kind in "iub":
        return random.integers(*INTEGERS, shape).astype(dtype)
    if len(shape) < 2:  # noqa: PLR2004  # a vector has no fan-in
        return (random.random(shape, np.float32) + np.float32(0.5)).astype(dtype)
    fan_in = np.float32(np.sqrt(max(1, prod(shape[1:]))))
    return (random.standard_normal(shape, np.float32) / fan_in).astype(dtype)


def drawn_inputs(graph: Graph, seed: int, integers: tuple[int, int] = INTEGERS) -> dict[str, Array]:
    """Seeded numbers per graph input: normal floats, and integers from the interval."""
    found = {}
    for name in graph.inputs:
        tensor = graph.tensors[name]
        random = np.random.default_rng([seed, crc32(name.encode())])
        dtype = numpy_dtype(tensor.dtype)
        if dtype.kind in "iub":
            numbers = random.integers(*_within(dtype, integers), tensor.shape).astype(dtype)
        elif dtype.kind == "O":
            numbers = np.full(tensor.shape, "a", dtype=dtype)
        else:
            numbers = random.standard_normal(tensor.shape, np.float32).astype(dtype)
        found[name] = np.asarray(numbers)
    return found


def _within(dtype: np.dtype[Any], interval: tuple[int, int]) -> tuple[int, int]:
    """The part of an interval of integers that a type can represent."""
    if dtype.kind == "b":
        return INTEGERS
    return interval[0], min(interval[1], int(np.iinfo(dtype).max) + 1)
