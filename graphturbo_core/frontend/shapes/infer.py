"""Shape and value of every output, op by op, by onnx's inference and our value propagation.

Inference runs per op, in topological order, with the values known so far. So a Reshape whose target
is computed from shapes is static, and every refusal names its op.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper, shape_inference

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.attributes import check_node, node_of
from graphturbo_core.frontend.parse.draft import Draft
from graphturbo_core.frontend.parse.element_types import dtype_name, element_type, numpy_dtype
from graphturbo_core.frontend.parse.recorded import recorded_outputs
from graphturbo_core.frontend.parse.schemas import is_custom, schema_of
from graphturbo_core.frontend.parse.tensors import checked_shape, read_only
from graphturbo_core.frontend.parse.unsupported import REASONS, Untyped, unsupported
from graphturbo_core.frontend.shapes.fused_shapes import fused_outputs
from graphturbo_core.frontend.shapes.guards import check_inferable
from graphturbo_core.frontend.shapes.indices import IndexLimits
from graphturbo_core.frontend.shapes.known_shapes import known_shape
from graphturbo_core.frontend.shapes.values import (
    EVALUATORS,
    FIRST_ONLY,
    PRODUCTS,
    VIEWS,
    reshape_target,
    split_values,
)
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind
from graphturbo_core.limits import Limits

Inferred = dict[tuple[object, ...], tuple[tuple[tuple[int, ...], str], ...]]
"""Cache: shapes and element types of outputs, by all inputs of inference."""
_SMALL_FLOAT_ELEMENTS = 16
"""Largest floating constants passed to inference (Resize's scales, Range's ends)."""

MOST_REPEATED = 2**24
"""Most elements of a constant that repeats few numbers (our choice: classes or positions of a
transformer for some thousand samples)."""


@dataclass(frozen=True)
class _Typed:
    """Typed tensors, their ops and notes, and the untyped ops."""

    tensors: Mapping[str, Tensor]
    ops: tuple[Op, ...]
    notes: tuple[str, ...]
    untyped: Untyped


def infer_graph(draft: Draft, name: str, limits: Limits) -> Graph:
    """Returns the draft's graph with every activation typed.

    Raises:
        ModelError: naming all ops whose outputs have no static shape.
    """
    typed = _typed(draft, limits)
    if typed.untyped.refused:
        known = Graph(name, typed.ops, typed.tensors, draft.inputs, ())
        raise unsupported(known, typed.untyped)
    notes = (*draft.notes, *typed.notes)
    return Graph(name, draft.ops, typed.tensors, draft.inputs, draft.outputs, notes)


def typed_tensors(draft: Draft, limits: Limits) -> Mapping[str, Tensor]:
    """Returns the tensors of the draft that can be typed.

    Raises:
        ModelError: an op is invalid, not just unsupported.
    """
    return _typed(draft, limits).tensors


def _typed(draft: Draft, limits: Limits) -> _Typed:
    tensors = dict(draft.sources)
    inferred: Inferred = {}
    notes: list[str] = []
    typed: list[Op] = []
    refused: list[tuple[Op, ModelError]] = []
    behind: list[Op] = []
    wider = IndexLimits(draft.ops, limits)
    for op in draft.ops:
        if refused and any(name not in tensors for name in op.inputs if name):
            behind.append(op)
            continue
        try:
            outputs, is_recorded = _outputs(op, draft, tensors, wider.of(op), inferred)
        except ModelError as error:
            if error.code not in REASONS:
                raise
            refused.append((op, error))
            continue
        typed.append(op)
        wider.count(op, outputs)
        tensors.update((tensor.name, tensor) for tensor in outputs)
        notes += [_recorded_note(op, outputs)] if is_recorded else []
    return _Typed(tensors, tuple(typed), tuple(notes), Untyped(refused, behind))


def _outputs(
    op: Op, draft: Draft, tensors: Mapping[str, Tensor], limits: Limits, inferred: Inferred
) -> tuple[tuple[Tensor, ...], bool]:
    """Outputs of an op, and whether only the file's record gives their shapes."""
    if op.name in draft.refused:
        raise draft.refused[op.name]
    if not is_custom(op):
        return infer_outputs(op, tensors, limits, inferred), False
    known = fused_outputs(op, tensors, limits)
    return (known, False) if known else (recorded_outputs(op, draft.recorded, limits), True)


def _recorded_note(op: Op, outputs: Iterable[Tensor]) -> str:
    shapes = ", ".join(f"{tensor.name!r} {list(tensor.shape)}" for tensor in outputs)
    return f"{op.name}: shapes of {op.domain}.{op.op_type} taken from the file: {shapes}"


def infer_outputs(
    op: Op,
    tensors: Mapping[str, Tensor],
    limits: Limits,
    inferred: Inferred | None = None,
) -> tuple[Tensor, ...]:
    """Returns the outputs of an op with a schema; a value is set if its inputs are known.

    `inferred`: cache of the outputs of equal ops; it is extended.

    Raises:
        ModelError: SHAPE_MISMATCH, DYNAMIC_SHAPE, NOT_A_TENSOR, BAD_CONSTANT.
    """
    is_fill = op.op_type == "ConstantOfShape" and not op.domain
    if is_fill:
        outputs = _fill_output(op, tensors, limits)
    else:
        outputs = _memoised(op, tensors, limits, {} if inferred is None else inferred)
    _check_reshape(op, tensors)
    values = _values(op, tensors, outputs, limits)
    if values is None:
        return outputs
    return tuple(
        Tensor(output.name, output.shape, output.dtype, output.kind, read_only(value))
        for output, value in zip(outputs, values, strict=True)
    )


def _label(op: Op) -> str:
    return f"{op.op_type} {op.name!r}"


def _fill_output(op: Op, tensors: Mapping[str, Tensor], limits: Limits) -> tuple[Tensor, ...]:
    """ConstantOfShape: inference would need the tensor attribute, which `Op` does not have."""
    sizes = tensors[op.inputs[0]].value if op.inputs else None
    if sizes is None:
        raise _dynamic(op, "its input is computed while the model runs")
    shape = checked_shape(sizes.reshape(-1).tolist(), _label(op), limits)
    dtype = str(op.attributes["value_dtype"])
    return (Tensor(op.outputs[0], shape, dtype, TensorKind.ACTIVATION),)


def _memoised(
    op: Op, tensors: Mapping[str, Tensor], limits: Limits, inferred: Inferred
) -> tuple[Tensor, ...]:
    """The outputs of an op; equal ops without known input values are inferred once."""
    sources = [tensors[name] if name else None for name in op.inputs]
    if any(tensor is not None and tensor.value is not None for tensor in sources):
        return _inferred(op, tensors, limits)
    first: dict[str, int] = {}
    key = (
        op.op_type, op.domain, op.opset, tuple(sorted(op.attributes.items())),
        tuple(None if each is None else (each.shape, each.dtype) for each in sources),
        tuple(first.setdefault(name, place) for place, name in enumerate(op.inputs)),
        tuple(map(bool, op.outputs)),
    )  # fmt: skip
    names = [name for name in op.outputs if name]
    known = inferred.get(key)
    if known is None:
        found = _inferred(op, tensors, limits)
        inferred[key] = tuple((tensor.shape, tensor.dtype) for tensor in found)
        return found
    return tuple(
        Tensor(name, shape, dtype, TensorKind.ACTIVATION)
        for name, (shape, dtype) in zip(names, known, strict=True)
    )


def _inferred(op: Op, tensors: Mapping[str, Tensor], limits: Limits) -> tuple[Tensor, ...]:
    schema = schema_of(op.op_type, op.opset, op.domain)
    assert schema is not None  # the caller checks is_custom first
    check_node(op, schema)
    sources = {name: tensors[name] for name in op.inputs if name}
    check_inferable(op, sources)
    try:
        types = shape_inference.infer_node_outputs(
            schema,
            node_of(op, schema),
            {name: _type_of(tensor) for name, tensor in sources.items()},
            {name: proto for name, t in sources.items() if (proto := _shown_value(t, limits))},
            opset_imports=[onnx.helper.make_opsetid(op.domain, op.opset)],
        )
    except (
        shape_inference.InferenceError,
        onnx.checker.ValidationError,
        RuntimeError,
        ValueError,
    ) as error:
        raise ModelError(
            "SHAPE_MISMATCH",
            f"{_label(op)} does not fit its inputs: {_reason(error)}",
            _shapes_of(sources.values()),
            "check the model, --batch and --dim",
        ) from error
    _complete(op, types, sources)
    return tuple(_output(op, name, types.get(name), limits) for name in op.outputs if name)


def _complete(op: Op, types: Mapping[str, onnx.TypeProto], sources: Mapping[str, Tensor]) -> None:
    """Set the first output's shape if we know it and inference does not."""
    kind = types.get(op.outputs[0])
    shape = known_shape(op, sources)
    if kind is not None and shape is not None and kind.tensor_type.elem_type:
        kind.CopyFrom(onnx.helper.make_tensor_type_proto(kind.tensor_type.elem_type, shape))


def _type_of(tensor: Tensor) -> onnx.TypeProto:
    return onnx.helper.make_tensor_type_proto(element_type(tensor.dtype), tensor.shape)


def _shown_value(tensor: Tensor, limits: Limits) -> onnx.TensorProto | None:
    if tensor.value is None or tensor.elements > limits.max_elements_value_propagation:
        return None
    if tensor.dtype not in ("int64", "int32") and tensor.elements > _SMALL_FLOAT_ELEMENTS:
        return None
    return numpy_helper.from_array(np.ascontiguousarray(tensor.value).reshape(tensor.shape))


def _output(op: Op, name: str, kind: onnx.TypeProto | None, limits: Limits) -> Tensor:
    if kind is None or not kind.WhichOneof("value"):
        raise _dynamic(op, f"nothing is known of output {name!r}")
    if kind.WhichOneof("value") != "tensor_type":
        raise ModelError(
            "NOT_A_TENSOR",
            f"{_label(op)} gives a {str(kind.WhichOneof('value')).split('_')[0]}",
            change="only tensors are supported: export without sequences, maps and optionals",
        )
    dims = kind.tensor_type.shape.dim
    if not kind.tensor_type.HasField("shape") or any(
        dim.WhichOneof("value") != "dim_value" for dim in dims
    ):
        raise _dynamic(op, f"output {name!r} depends on data")
    shape = checked_shape([dim.dim_value for dim in dims], _label(op), limits)
    dtype = dtype_name(kind.tensor_type.elem_type, _label(op))
    return Tensor(name, shape, dtype, TensorKind.ACTIVATION)


def _dynamic(op: Op, reason: str) -> ModelError:
    return ModelError(
        "DYNAMIC_SHAPE",
        f"{_label(op)} has no static output shape",
        reason,
        f"export the model without {op.op_type}, or with a result of fixed size (a mask, a top k)",
        op=op.name,
    )


def _reason(error: Exception) -> str:
    """The last line of onnx's message, without its error tags."""
    return " ".join(str(error).split("]")[-1].split()) or type(error).__name__


def _shapes_of(sources: Iterable[Tensor]) -> str:
    return f"inputs {', '.join(f'{t.name!r} {list(t.shape)}' for t in sources)}"


def _check_reshape(op: Op, tensors: Mapping[str, Tensor]) -> None:
    """Check element counts, which onnx's inference does not compare without a -1."""
    if op.op_type != "Reshape" or not op.inputs[1:]:
        return
    data, sizes = tensors[op.inputs[0]], tensors[op.inputs[1]].value
    if sizes is None:
        return
    target = [int(size) for size in sizes.reshape(-1)]
    if reshape_target(target, data.shape, bool(op.attributes.get("allowzero", 0))) is None:
        raise ModelError(
            "SHAPE_MISMATCH",
            f"{_label(op)} cannot give shape {target} to {list(data.shape)}",
            f"{prod(data.shape)} elements come in",
            "check the model, --batch and --dim",
        )


def _values(
    op: Op, tensors: Mapping[str, Tensor], outputs: tuple[Tensor, ...], limits: Limits
) -> tuple[np.ndarray, ...] | None:
    """The numbers of all outputs, if import can compute them."""
    if op.op_type == "Split" and not op.domain and all(op.outputs):
        data = tensors[op.inputs[0]]
        is_small = data.elements <= limits.max_elements_value_propagation
        if data.value is None or not is_small:
            return None
        return split_values(op, data.value, [output.shape for output in outputs])
    value = _value(op, tensors, outputs, limits)
    return None if value is None else (value,)


def _value(
    op: Op, tensors: Mapping[str, Tensor], outputs: tuple[Tensor, ...], limits: Limits
) -> np.ndarray | None:
    """The numbers of the only output, if known and small (or a view of known numbers)."""
    if len(outputs) != 1 or op.domain:
        return None
    sources = [tensors[name] for name in op.inputs if name]
    output = outputs[0]
    if op.op_type == "Shape":
        return _shape_value(op, sources[0])
    if op.op_type == "Size":
        return read_only(np.array(sources[0].elements, dtype=np.int64))
    sized = (output, *sources) if op.op_type in PRODUCTS else (output,)
    is_small = all(tensor.elements <= limits.max_elements_value_propagation for tensor in sized)
    is_view = op.op_type in VIEWS or _is_small_view(op, sources, output, limits)
    if op.op_type not in EVALUATORS or not (is_small or is_view):
        return None
    needed = sources[:1] if op.op_type in FIRST_ONLY else sources
    arrays = [tensor.value for tensor in needed if tensor.value is not None]
    wanted = 1 if op.op_type in FIRST_ONLY else len(op.inputs)
    if len(arrays) < wanted or not arrays or "string" in {t.dtype for t in sources}:
        return None
    if not is_small and op.op_type in VIEWS and 0 in arrays[0].strides:
        return None  # a reshape of repeated numbers is no view
    return _evaluated(op, arrays, output)


def _is_small_view(op: Op, sources: Sequence[Tensor], output: Tensor, limits: Limits) -> bool:
    """Whether an Expand repeats few numbers: its result needs no memory of its own."""
    if op.op_type != "Expand" or output.elements > MOST_REPEATED:
        return False
    return sources[0].elements <= limits.max_elements_value_propagation


def _shape_value(op: Op, source: Tensor) -> np.ndarray:
    start, end = op.attributes.get("start", 0), op.attributes.get("end", len(source.shape))
    assert isinstance(start, int)  # the schema's types
    assert isinstance(end, int)
    return read_only(np.array(source.shape[start:end], dtype=np.int64))


def _evaluated(op: Op, arrays: list[np.ndarray], output: Tensor) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            value = np.asarray(EVALUATORS[op.op_type](op, arrays))
            value = value.astype(numpy_dtype(output.dtype), copy=False)
    except (ValueError, IndexError, TypeError, OverflowError, ArithmeticError) as error:
        raise ModelError(
            "BAD_CONSTANT",
            f"{_label(op)} cannot be computed from its constants: {error}",
            change="correct the constants in the model",
        ) from error
    if value.shape != output.shape:
        raise ModelError(
            "BAD_CONSTANT",
            f"{_label(op)} gives shape {list(value.shape)}, its types say {list(output.shape)}",
            change="correct the constants in the model",
        )
    return read_only(value)
