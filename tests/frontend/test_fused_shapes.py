"""Shapes of ONNX Runtime's fused ops: those of the result, and none where nothing is known."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from tests.semantics.cases import Case
from tests.semantics.cases_fused import CASES

HEAD = '<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>\n'
UNRULED = {"GroupQueryAttention"}
"""Ops without a rule: what the file records counts."""


def without_types(case: Case) -> onnx.ModelProto:
    """The case, its outputs read by an op each, so that the file says nothing of them."""
    model = onnx.parser.parse_model(HEAD + case.text)
    node, outputs = model.graph.node[0], list(model.graph.output)
    del model.graph.output[:]
    for value in outputs:
        flat = f"_{value.name}"
        made = model.graph.node.add(op_type="Flatten", input=[value.name], output=[flat])
        made.attribute.append(onnx.helper.make_attribute("axis", 0))
        kept = model.graph.output.add(name=flat)
        kept.type.tensor_type.elem_type = value.type.tensor_type.elem_type
    assert node.domain == "com.microsoft"
    return model


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_shape_is_that_of_the_result(case: Case) -> None:
    declared = onnx.parser.parse_model(HEAD + case.text).graph
    data = without_types(case).SerializeToString()
    if declared.node[0].op_type in UNRULED:
        with pytest.raises(ModelError, match="is no ONNX operator, and the file records no type"):
            import_model(data, ImportOptions("fused"))
        return
    graph = import_model(data, ImportOptions("fused"))
    for value in declared.output:
        kind = value.type.tensor_type
        shape = tuple(dim.dim_value for dim in kind.shape.dim)
        assert graph.tensors[value.name].shape == shape
        wanted = str(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)))
        assert graph.tensors[value.name].dtype == wanted


@pytest.mark.parametrize(("zero", "dtype"), [("", "float32"), (", ys, z", "uint8")])
@pytest.mark.parametrize("is_turned", [False, True])
def test_a_quantised_product_of_two_matrices(zero: str, dtype: str, is_turned: bool) -> None:
    weight, turned = ("[5, 4]", 1) if is_turned else ("[4, 5]", 0)
    text = (
        f"g (uint8[3, 4] a, uint8{weight} b, float s, uint8 z, float ys, int32[5] c) => (o) "
        f"{{ y = com.microsoft.QGemm <transB = {turned}> (a, s, z, b, s, z, c{zero}) "
        "o = Flatten <axis = 0> (y) }"
    )
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    found = import_model(data, ImportOptions("product")).tensors["y"]
    assert (found.shape, found.dtype) == ((3, 5), dtype)
