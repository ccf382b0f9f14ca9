"""A product with dynamic quantisation becomes two ops: quantisation and product."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.frontend.passes.rewrite import fresh_name, with_ops
from graphturbo_core.frontend.shapes.fused_shapes import DOMAIN
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind

_FIRST_OPSET = 11
"""First opset with ONNX's DynamicQuantizeLinear."""
_PLACES = 5
"""Number of inputs: data, weight, its scale and zero point, bias."""


def split_dynamic_product(graph: Graph) -> Graph:
    """DynamicQuantizeMatMul becomes DynamicQuantizeLinear and MatMulIntegerToFloat.

    ONNX Runtime's optimiser fused it from these two, with equal results. After the split only the
    first needs all of the data, for its minimum and maximum; rows of the product may be cut.
    """
    ops: list[Op] = []
    changed: dict[str, Tensor] = {}
    for op in graph.ops:
        if op.domain == DOMAIN and op.op_type == "DynamicQuantizeMatMul":
            ops += _apart(graph, op, changed)
        else:
            ops.append(op)
    return with_ops(graph, ops, changed) if changed else graph


def _apart(graph: Graph, op: Op, changed: dict[str, Tensor]) -> tuple[Op, Op]:
    data, weight, scale, zero, bias = (*op.inputs, "", "", "")[:_PLACES]
    shapes = (("bytes", graph.tensors[data].shape, "uint8"), ("scale", (), "float32"),
              ("zero", (), "uint8"))  # fmt: skip
    names = []
    for part, shape, dtype in shapes:
        name = fresh_name(f"{op.name}/{part}", graph.tensors, changed)
        changed[name] = Tensor(name, shape, dtype, TensorKind.ACTIVATION)
        names.append(name)
    quantise = Op(
        fresh_name(f"{op.name}/quantise", graph.op_by_name),
        "DynamicQuantizeLinear", "", (data,), tuple(names), {}, _FIRST_OPSET,
    )  # fmt: skip
    inputs = (names[0], weight, names[1], scale, names[2], zero, bias)
    product = replace(op, op_type="MatMulIntegerToFloat", inputs=inputs)
    return quantise, product
