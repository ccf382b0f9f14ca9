"""NodeProto attributes <-> plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import onnx
from onnx import AttributeProto, helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.element_types import dtype_name
from graphturbo_core.ir.graph import AttributeValue, Op

_SUB_GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def read_attributes(node: onnx.NodeProto, label: str) -> Mapping[str, AttributeValue]:
    """The node's attributes as numbers, strings and tuples.

    The one tensor attribute kept is ConstantOfShape's: as `value` (its number) and `value_dtype`.

    Raises:
        ModelError: SUB_GRAPH for control flow, BAD_ATTRIBUTE for other kinds; `label` names the
            node.
    """
    if node.op_type == "ConstantOfShape" and not node.domain:
        return MappingProxyType(_fill_attributes(node, label))
    return MappingProxyType(
        {attribute.name: _plain(attribute, label) for attribute in node.attribute}
    )


def _plain(attribute: AttributeProto, label: str) -> AttributeValue:
    kind = attribute.type
    if kind in _SUB_GRAPHS:
        raise ModelError(
            "SUB_GRAPH",
            f"{label} has a sub-graph in attribute {attribute.name!r}; "
            "control flow is not supported",
            change="export the model without If, Loop and Scan",
        )
    if kind == AttributeProto.INT:
        return int(attribute.i)
    if kind == AttributeProto.FLOAT:
        return float(attribute.f)
    if kind == AttributeProto.STRING:
        return _text(attribute.s)
    if kind == AttributeProto.INTS:
        return tuple(int(number) for number in attribute.ints)
    if kind == AttributeProto.FLOATS:
        return tuple(float(number) for number in attribute.floats)
    if kind == AttributeProto.STRINGS:
        return tuple(item.decode("utf-8", "replace") for item in attribute.strings)
    raise ModelError(
        "BAD_ATTRIBUTE",
        f"{label} has attribute {attribute.name!r} of a kind that is not supported",
        change="give the values as an input instead",
    )


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def _fill_attributes(node: onnx.NodeProto, label: str) -> dict[str, AttributeValue]:
    for attribute in node.attribute:
        if attribute.name == "value":
            return _fill_of(attribute.t, label)
    return {"value": 0.0, "value_dtype": "float32"}


def _fill_of(proto: onnx.TensorProto, label: str) -> dict[str, AttributeValue]:
    dtype = dtype_name(proto.data_type, label)
    try:
        number = onnx.numpy_helper.to_array(proto).reshape(-1)[0].item()
    except (ValueError, TypeError, IndexError, AttributeError) as error:
        raise ModelError(
            "BAD_ATTRIBUTE",
            f"{label} must have a one-element tensor in attribute 'value'",
            change="correct the attribute",
        ) from error
    return {"value": number if isinstance(number, float) else int(number), "value_dtype": dtype}


def node_of(op: Op, schema: onnx.defs.OpSchema) -> onnx.NodeProto:
    """The op as an ONNX node again, for shape inference."""
    node = onnx.NodeProto(
        op_type=op.op_type, domain=op.domain, name=op.name, input=op.inputs, output=op.outputs
    )
    for name, value in op.attributes.items():
        node.attribute.append(_attribute_of(name, value, schema))
    return node


def _attribute_of(
    name: str, value: AttributeValue, schema: onnx.defs.OpSchema
) -> onnx.AttributeProto:
    if value != ():
        return helper.make_attribute(name, value)
    declared = str(schema.attributes[name].type) if name in schema.attributes else "INTS"
    kind = declared.rpartition(".")[2]
    return AttributeProto(name=name, type=AttributeProto.AttributeType.Value(kind))
