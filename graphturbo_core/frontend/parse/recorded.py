"""Outputs of ops without a schema: their shapes are those recorded in the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.dimensions import symbol_of
from graphturbo_core.frontend.parse.element_types import dtype_name
from graphturbo_core.frontend.parse.schemas import is_custom_node, opset_versions
from graphturbo_core.frontend.parse.tensors import checked_shape
from graphturbo_core.ir.graph import Op, Tensor, TensorKind
from graphturbo_core.limits import Limits


@dataclass(frozen=True, slots=True)
class RecordedType:
    """A value's type in the file: a size per axis, or its unbound symbol."""

    dims: tuple[int | str, ...]
    dtype: str


def recorded_values(model: onnx.ModelProto) -> tuple[onnx.ValueInfoProto, ...]:
    """Returns the types that the file records for outputs of custom ops.

    Only for custom ops: onnx infers all other shapes, and recorded ones are outdated when a
    dimension is bound to another size.

    Raises:
        ModelError: NO_OPSET, OPSET_TOO_NEW.
    """
    graph, versions = model.graph, opset_versions(model)
    custom = {name for node in graph.node if is_custom_node(node, versions) for name in node.output}
    return tuple(
        value
        for value in (*graph.value_info, *graph.output)
        if value.name in custom
        and value.type.tensor_type.elem_type
        and value.type.tensor_type.HasField("shape")
    )


def recorded_types(model: onnx.ModelProto, sizes: Mapping[str, int]) -> dict[str, RecordedType]:
    """The recorded types by value, with sizes for bound symbols."""
    return {value.name: _type_of(value, sizes) for value in recorded_values(model)}


def _type_of(value: onnx.ValueInfoProto, sizes: Mapping[str, int]) -> RecordedType:
    kind = value.type.tensor_type
    dims: list[int | str] = []
    for axis, dim in enumerate(kind.shape.dim):
        symbol = symbol_of(dim, value.name, axis)
        dims.append(dim.dim_value if symbol is None else sizes.get(symbol, symbol))
    return RecordedType(tuple(dims), dtype_name(kind.elem_type, f"value {value.name!r}"))


def recorded_outputs(
    op: Op, recorded: Mapping[str, RecordedType], limits: Limits
) -> tuple[Tensor, ...]:
    """Returns the custom op's outputs as recorded in the file.

    Raises:
        ModelError: UNKNOWN_OP if nothing is recorded, UNBOUND_DIM for a symbol without a size,
            BAD_SHAPE, RANK_TOO_HIGH, SHAPE_TOO_LARGE.
    """
    return tuple(_output(op, name, recorded.get(name), limits) for name in op.outputs if name)


def _output(op: Op, name: str, kind: RecordedType | None, limits: Limits) -> Tensor:
    label = f"{op.op_type} {op.name!r}"
    if kind is None:
        raise ModelError(
            "UNKNOWN_OP",
            f"{label} is no ONNX operator, and the file records no type of its output {name!r}",
            f"domain {op.domain!r}",
            "export the model with its type and shape recorded (value_info), "
            "or with standard operators",
        )
    sizes = []
    for axis, size in enumerate(kind.dims):
        if isinstance(size, str):
            raise _unbound(size, axis, name, label)
        sizes.append(size)
    shape = checked_shape(sizes, f"output {name!r} of {label}", limits)
    return Tensor(name, shape, kind.dtype, TensorKind.ACTIVATION)


def _unbound(symbol: str, axis: int, output: str, label: str) -> ModelError:
    return ModelError(
        "UNBOUND_DIM",
        f"dimension {symbol!r} has no size",
        f"axis {axis} of output {output!r} of {label}, which is no ONNX operator",
        f"give --dim {symbol}=N; where it counts samples, record the inputs' batch there instead",
        dim=symbol,
        output=output,
        axis=axis,
    )
