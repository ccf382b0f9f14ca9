"""ModelProto -> Draft: names, order, weights and bound inputs; the next step infers shapes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.attributes import (
    read_attributes,
    read_custom_attributes,
    unread_attributes,
)
from graphturbo_core.frontend.parse.dimensions import DimBinding, symbol_of
from graphturbo_core.frontend.parse.draft import Draft
from graphturbo_core.frontend.parse.element_types import dtype_name
from graphturbo_core.frontend.parse.recorded import recorded_types
from graphturbo_core.frontend.parse.schemas import DEFAULT_DOMAINS, is_custom_node, opset_versions
from graphturbo_core.frontend.parse.structure import topological_order, unique_names
from graphturbo_core.frontend.parse.tensors import checked_shape, read_only, read_weight
from graphturbo_core.frontend.parse.unsupported import REASONS
from graphturbo_core.ir.graph import AttributeValue, Op, Tensor, TensorKind
from graphturbo_core.limits import Limits


def read_draft(model: onnx.ModelProto, binding: DimBinding, limits: Limits) -> Draft:
    """Returns the model's ops in order, with typed inputs and weights.

    A Constant node is read as a weight.

    Raises:
        ModelError: see the helpers; every refusal names node or value.
    """
    graph = model.graph
    versions = opset_versions(model)
    weights = _weights(graph, limits)
    inputs = _inputs(graph, binding, limits)
    names = unique_names(graph.node, limits.max_name_length)
    labels = tuple(f"{node.op_type} {name!r}" for node, name in zip(graph.node, names, strict=True))
    _check_count(graph, weights, limits)
    order = topological_order(graph.node, labels, {**weights, **inputs}.keys())
    read = {name for node in graph.node for name in node.input if name}
    read.update(value.name for value in graph.output)
    ops = []
    refused: dict[str, ModelError] = {}
    for index in order:
        node = graph.node[index]
        _check_named(node, labels[index])
        if node.op_type == "Constant" and node.domain in DEFAULT_DOMAINS:
            weights[node.output[0]] = _constant(node, labels[index], limits)
            continue
        op = _op(node, names[index], versions)
        try:
            op = replace(op, attributes=_attributes(node, labels[index], versions))
        except ModelError as error:
            if error.code not in REASONS:
                raise
            refused[op.name] = error
        op = _without_unread(op, read)
        ops += [op] if any(op.outputs) else []
    outputs = _outputs(graph, ops, {**weights, **inputs})
    recorded = recorded_types(model, binding.sizes)
    notes = (
        *binding.notes, *_name_notes(graph.node, names), *_unread_notes(graph.node, names, versions)
    )  # fmt: skip
    sources = {**weights, **inputs}
    return Draft(tuple(ops), sources, tuple(inputs), outputs, recorded, refused, notes)


def graph_inputs(graph: onnx.GraphProto) -> tuple[onnx.ValueInfoProto, ...]:
    """Inputs without an initializer (older files list weights as inputs, too)."""
    filled = {proto.name for proto in graph.initializer}
    return tuple(value for value in graph.input if value.name not in filled)


def check_inputs(inputs: Iterable[onnx.ValueInfoProto]) -> None:
    """Check that every input is a tensor of known rank without negative sizes.

    Raises:
        ModelError: NOT_A_TENSOR, UNKNOWN_RANK, BAD_SHAPE.
    """
    for value in inputs:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            raise ModelError(
                "NOT_A_TENSOR",
                f"input {value.name!r} is a {(kind or 'value without a type').split('_')[0]}",
                change="only tensors are supported: export the model with tensor inputs",
            )
        if not value.type.tensor_type.HasField("shape"):
            raise ModelError(
                "UNKNOWN_RANK",
                f"input {value.name!r} has no shape in the file",
                change="export the model with input shapes (symbolic ones will do)",
            )
        dims = enumerate(value.type.tensor_type.shape.dim)
        fixed = ((axis, dim) for axis, dim in dims if symbol_of(dim, value.name, axis) is None)
        for axis, dim in fixed:
            _check_size(value.name, axis, dim.dim_value)


def _check_size(name: str, axis: int, size: int) -> None:
    """Refuse negative sizes; size 0 is legal, only an op without elements is refused."""
    if size < 0:
        raise ModelError(
            "BAD_SHAPE",
            f"input {name!r} has size {size}, which is negative",
            f"axis {axis}",
            "give it a size of 1 or more in the model, or a symbol and --dim where it is open",
        )


def _weights(graph: onnx.GraphProto, limits: Limits) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for proto in graph.initializer:
        if proto.name in weights:
            raise ModelError(
                "DUPLICATE_VALUE",
                f"weight {proto.name!r} is given twice",
                change="give every value its own name",
            )
        weights[proto.name] = read_weight(proto, proto.name, limits)
    return weights


def _inputs(graph: onnx.GraphProto, binding: DimBinding, limits: Limits) -> dict[str, Tensor]:
    inputs: dict[str, Tensor] = {}
    for value in graph_inputs(graph):
        where = f"input {value.name!r}"
        if value.name in inputs:
            raise ModelError(
                "DUPLICATE_VALUE", f"{where} is given twice", change="remove one of the two"
            )
        dims = []
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            symbol = symbol_of(dim, value.name, axis)
            dims.append(dim.dim_value if symbol is None else binding.sizes[symbol])
        dtype = dtype_name(value.type.tensor_type.elem_type, where)
        shape = checked_shape(dims, where, limits)
        inputs[value.name] = Tensor(value.name, shape, dtype, TensorKind.INPUT)
    return inputs


def _check_count(graph: onnx.GraphProto, weights: Mapping[str, Tensor], limits: Limits) -> None:
    count = len(weights) + len(graph.input) + sum(len(node.output) for node in graph.node)
    if count > limits.max_tensors:
        raise ModelError(
            "TOO_MANY_TENSORS",
            f"the model has {count} values",
            f"the limit is {limits.max_tensors}",
            "import a part of the model",
        )


def _constant(node: onnx.NodeProto, label: str, limits: Limits) -> Tensor:
    name = node.output[0]
    for attribute in node.attribute:
        if attribute.name == "value":
            return read_weight(attribute.t, name, limits)
        if attribute.name in _CONSTANT_FIELDS:
            field, dtype, is_list = _CONSTANT_FIELDS[attribute.name]
            numbers = getattr(attribute, field)
            value = np.array(list(numbers) if is_list else numbers, dtype=dtype)
            return Tensor(name, value.shape, dtype, TensorKind.WEIGHT, read_only(value))
    raise ModelError(
        "BAD_CONSTANT",
        f"{label} holds no dense numbers",
        change="give it a value, value_int(s) or value_float(s) attribute",
    )


_CONSTANT_FIELDS = {
    "value_int": ("i", "int64", False),
    "value_ints": ("ints", "int64", True),
    "value_float": ("f", "float32", False),
    "value_floats": ("floats", "float32", True),
}


def _check_named(node: onnx.NodeProto, label: str) -> None:
    if not any(node.output):
        raise ModelError(
            "NO_OUTPUT", f"{label} writes nothing", change="remove the node or name its output"
        )


def _op(node: onnx.NodeProto, name: str, versions: Mapping[str, int]) -> Op:
    """The node without its attributes."""
    domain = "" if node.domain in DEFAULT_DOMAINS else node.domain
    inputs = tuple(node.input)
    while inputs and not inputs[-1]:
        inputs = inputs[:-1]
    return Op(
        name=name,
        op_type=node.op_type,
        domain=domain,
        inputs=inputs,
        outputs=tuple(node.output),
        attributes=MappingProxyType({}),
        opset=versions.get(domain, 1),
    )


def _attributes(
    node: onnx.NodeProto, label: str, versions: Mapping[str, int]
) -> Mapping[str, AttributeValue]:
    read = read_custom_attributes if is_custom_node(node, versions) else read_attributes
    return read(node, label)


def _without_unread(op: Op, read: set[str]) -> Op:
    """The op without an unread Dropout mask: inference gives it no shape."""
    if op.op_type != "Dropout" or read.intersection(op.outputs[1:]):
        return op
    return replace(op, outputs=op.outputs[:1])


def _outputs(
    graph: onnx.GraphProto, ops: Iterable[Op], sources: Mapping[str, Tensor]
) -> tuple[str, ...]:
    known = {name for op in ops for name in op.outputs} | sources.keys()
    outputs = tuple(dict.fromkeys(value.name for value in graph.output))
    for name in outputs:
        if not name or name not in known:
            raise ModelError(
                "UNDEFINED_OUTPUT",
                f"output {name!r} is not written by any node",
                f"graph {graph.name!r}",
                "export the model again; the file may be cut off",
            )
    if not outputs:
        raise ModelError(
            "NO_OUTPUT",
            "the graph has no outputs",
            f"graph {graph.name!r}",
            "export the model again; the file may be cut off",
        )
    return outputs


def _name_notes(nodes: Sequence[onnx.NodeProto], names: Sequence[str]) -> tuple[str, ...]:
    renamed = sum(bool(n.name) and n.name != name for n, name in zip(nodes, names, strict=True))
    return (f"{renamed} repeated or long op names were changed",) if renamed else ()


def _unread_notes(
    nodes: Sequence[onnx.NodeProto], names: Sequence[str], versions: Mapping[str, int]
) -> tuple[str, ...]:
    return tuple(
        f"{name}: attribute {unread!r} is not read, and its bytes are not counted"
        for node, name in zip(nodes, names, strict=True)
        if is_custom_node(node, versions)
        for unread in unread_attributes(node)
    )
