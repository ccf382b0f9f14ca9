"""NodeProto attributes <-> plain Python values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import onnx
from onnx import AttributeProto, helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.element_types import dtype_name
from graphturbo_core.ir.graph import AttributeValue, Op, TensorBytes

_PYTHON_TYPES = {
    "INT": (int,), "FLOAT": (float,), "STRING": (str, bytes), "TENSOR": (TensorBytes,),
}  # fmt: skip
_READABLE = (
    AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING,
    AttributeProto.INTS, AttributeProto.FLOATS, AttributeProto.STRINGS,
)  # fmt: skip
_SUB_GRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def read_attributes(node: onnx.NodeProto, label: str) -> Mapping[str, AttributeValue]:
    """Returns the node's attributes as numbers, strings and tuples; tensors are serialised.

    ConstantOfShape's tensor becomes `value` (its number) and `value_dtype`.

    Raises:
        ModelError: SUB_GRAPH for control flow, BAD_ATTRIBUTE for other kinds; `label` names the
            node.
    """
    if node.op_type == "ConstantOfShape" and not node.domain:
        return MappingProxyType(_fill_attributes(node, label))
    return MappingProxyType(
        {attribute.name: _plain(attribute, label) for attribute in node.attribute}
    )


def read_custom_attributes(node: onnx.NodeProto, label: str) -> Mapping[str, AttributeValue]:
    """As `read_attributes`, without the attributes of `unread_attributes`.

    A custom op's attributes are not used, so an unsupported kind is not refused.

    Raises:
        ModelError: SUB_GRAPH for control flow, which reads values that the node does not list.
    """
    unread = unread_attributes(node)
    return MappingProxyType(
        {a.name: _plain(a, label) for a in node.attribute if a.name not in unread}
    )


def unread_attributes(node: onnx.NodeProto) -> tuple[str, ...]:
    """Names of the attributes with tensors or types."""
    kept = (*_READABLE, *_SUB_GRAPHS)
    return tuple(attribute.name for attribute in node.attribute if attribute.type not in kept)


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
    if kind == AttributeProto.TENSOR:
        return TensorBytes(attribute.t.SerializeToString(deterministic=True))
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


def check_node(op: Op, schema: onnx.defs.OpSchema) -> None:
    """Check the number of inputs and the kinds of attributes.

    Raises:
        ModelError: BAD_NODE, BAD_ATTRIBUTE.
    """
    label = f"{op.op_type} {op.name!r}"
    required = [formal.option == formal.option.Single for formal in schema.inputs]
    is_given = [bool(name) for name in op.inputs] + [False] * len(required)
    if len(op.inputs) > schema.max_input or any(
        needed and not given for needed, given in zip(required, is_given, strict=False)
    ):
        raise ModelError(
            "BAD_NODE",
            f"{label} has {sum(is_given)} inputs",
            f"version {op.opset} takes {schema.min_input} to {schema.max_input}",
            "correct the node, or the model's operator set version",
        )
    for name, value in op.attributes.items():
        if name in schema.attributes and not isinstance(value, _python_type(schema, name)):
            raise ModelError(
                "BAD_ATTRIBUTE",
                f"attribute {name!r} of {label} is {value!r}",
                f"it must be of kind {_kind(schema, name)}",
                "correct the attribute",
            )


def _kind(schema: onnx.defs.OpSchema, name: str) -> str:
    return str(schema.attributes[name].type).rpartition(".")[2]


def _python_type(schema: onnx.defs.OpSchema, name: str) -> tuple[type, ...]:
    return _PYTHON_TYPES.get(_kind(schema, name), (tuple,))


def node_of(op: Op, schema: onnx.defs.OpSchema | None) -> onnx.NodeProto:
    """The op as an ONNX node, for shape inference or execution; a custom op has no schema."""
    node = onnx.NodeProto(
        op_type=op.op_type, domain=op.domain, name=op.name, input=op.inputs, output=op.outputs
    )
    for name, value in op.attributes.items():
        node.attribute.append(_attribute_of(name, value, schema))
    return node


def _attribute_of(
    name: str, value: AttributeValue, schema: onnx.defs.OpSchema | None
) -> onnx.AttributeProto:
    if isinstance(value, TensorBytes):
        return helper.make_attribute(name, onnx.TensorProto.FromString(value))
    if value != ():
        return helper.make_attribute(name, value)
    is_known = schema is not None and name in schema.attributes
    kind = _kind(schema, name) if schema is not None and is_known else "INTS"
    return AttributeProto(name=name, type=AttributeProto.AttributeType.Value(kind))
