"""Shapes of ONNX Runtime's fused ops: those of the result, and none where nothing is known."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.ir.graph import Graph
from graphturbo_core.semantics.table import analyse
from tests.models import graph_of
from tests.semantics.op_cases.cases import Case
from tests.semantics.op_cases.cases_fused import CASES

HEAD = '<ir_version: 10, opset_import: ["" : 18, "com.microsoft" : 1]>\n'


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


CACHE = "float[2,1,32] q, float[2,1,16] k, float[2,1,16] v, float[2,2,4,8] a, int32[2] n"
GROUPED = "com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2{more}>"


def keys_of(total: str, more: str = "") -> int:
    """How many keys GroupQueryAttention has after a past of room for 4."""
    given = "" if "=" in total else f", {total}"
    fixed = f"<{total}>" if "=" in total else ""
    text = (
        f"g ({CACHE}{given}) => (p) {fixed} {{ y, d, e = {GROUPED.format(more=more)}"
        " (q, k, v, a, a, n, t) p = Flatten <axis = 0> (d) }"
    )
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    return import_model(data, ImportOptions("keys")).tensors["d"].shape[2]


@pytest.mark.parametrize(
    ("total", "more", "keys"),
    [("int32 t = {3}", "", 4), ("int32 t = {5}", "", 5),
     ("int32 t", ", sliding_window_cache = 1", 4)],
)  # fmt: skip
def test_keys_are_those_that_the_cache_or_the_total_has_room_for(
    total: str, more: str, keys: int
) -> None:
    assert keys_of(total, more) == keys


def test_a_total_that_is_not_known_leaves_the_shape_to_the_file() -> None:
    with pytest.raises(ModelError, match=r"GroupQueryAttention .* the file records no type"):
        keys_of("int32 t")


PAST = "float[2,3,8] x, float[8,24] w, float[24] b, float[2,2,4,5,2] p"


@pytest.mark.parametrize(
    ("inputs", "call", "keys"),
    [(PAST, "Attention <num_heads = 4{more}> (x, w, b, , p)", 8),
     (PAST, "Attention <num_heads = 4{more}> (x, w, b)", 3),
     ("uint8[2,3,8] x, uint8[8,24] w, float[24] b, float s, float[2,2,4,5,2] p",
      "QAttention <num_heads = 4{more}> (x, w, b, s, s, , , , p)", 8)],
)  # fmt: skip
def test_attention_hands_on_keys_and_values_with_the_past(
    inputs: str, call: str, keys: int
) -> None:
    tensors = handed_on(inputs, call.format(more="")).tensors
    assert (tensors["y"].shape, tensors["d"].shape) == ((2, 3, 8), (2, 2, 4, keys, 2))
    assert tensors["d"].dtype == "float32"
    with pytest.raises(ModelError, match="the file records no type"):
        handed_on(inputs, call.format(more=", past_present_share_buffer = 1"))


def handed_on(inputs: str, call: str) -> Graph:
    """The imported graph of an attention with a result y, and d that it hands on."""
    text = f"g ({inputs}) => (o) {{ y, d = com.microsoft.{call} o = Flatten <axis = 0> (d) }}"
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    return import_model(data, ImportOptions("fused"))


@pytest.mark.parametrize(
    "node",
    ["NhwcMaxPool <kernel_shape = 3> (x)", 'NhwcMaxPool <kernel_shape = ["a", "b"]> (x)',
     "NhwcMaxPool (x)", "NhwcMaxPool <kernel_shape = [3]> (x)",
     "NhwcMaxPool <kernel_shape = [3,3], strides = [0,1]> (x)",
     "QLinearConv <channels_last = 1> (x, x, x, x)",
     "GroupQueryAttention <num_heads = 4, kv_num_heads = [1]> (x, , , , , x, x)"],
)  # fmt: skip
def test_what_does_not_fit_a_rule_is_left_to_the_file(node: str) -> None:
    text = f"g (uint8[1,6,6,3] x) => (o) {{ y = com.microsoft.{node} o = Flatten <axis = 0> (y) }}"
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    with pytest.raises(ModelError, match="the file records no type"):
        import_model(data, ImportOptions("wrong"))


def test_a_batch_that_a_weight_has_too_is_not_rescaled() -> None:
    """The rule of the op says that its parts no longer fit; the file's shape says nothing then."""
    text = (
        "g (uint8[2,3] x) => (uint8[2,6] y) <uint8[2,3] w = {1,2,3,4,5,6}, float s = {0.5}, "
        "uint8 z = {0}> { a = Identity (x) y = com.microsoft.QLinearConcat <axis = 1> "
        "(s, z, x, s, z, w, s, z) }"
    )
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    assert import_model(data, ImportOptions("same", batch=2)).tensors["y"].shape == (2, 6)
    with pytest.raises(ModelError, match=r"QLinearConcat .* does not fit its inputs") as caught:
        import_model(data, ImportOptions("other", batch=1))
    assert caught.value.code == "BATCH_MISMATCH"


def test_a_batch_that_only_the_inputs_have_is_rescaled_without_a_note() -> None:
    text = (
        "g (uint8[2,6,6,3] x) => (uint8[2,3,3,3] y) "
        "{ y = com.microsoft.NhwcMaxPool <kernel_shape = [2,2], strides = [2,2]> (x) }"
    )
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    graph = import_model(data, ImportOptions("other", batch=5))
    assert graph.tensors["y"].shape == (5, 3, 3, 3)
    assert not [note for note in graph.notes if "assumption" in note]


@pytest.mark.parametrize("opset", [9, 13, 17, 23])
@pytest.mark.parametrize("domain", ["", "ai.onnx."])
@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("y, m, d = {}LayerNormalization (x, s)", [(2, 3, 4), (2, 3, 1), (2, 3, 1)]),
        ("y, m = {}SimplifiedLayerNormalization <axis = 1> (x, t)", [(2, 3, 4), (2, 1, 1)]),
    ],
)
def test_norms_in_the_domain_of_onnx_whatever_the_operator_set(
    call: str, shapes: list[tuple[int, ...]], domain: str, opset: int
) -> None:
    names = [name.strip() for name in call.split("=", maxsplit=1)[0].split(",")]
    text = (
        f"g (float[2,3,4] x, float[4] s, float[3,4] t) => ({', '.join(f'o{n}' for n in names)}) "
        f"{{ {call.format(domain)} {' '.join(f'o{n} = Neg ({n})' for n in names)} }}"
    )
    graph = graph_of(text, opset)
    assert [graph.tensors[name].shape for name in names] == shapes
    assert not analyse(graph).opaque_ops


def test_other_names_in_the_domain_of_onnx_are_still_refused() -> None:
    with pytest.raises(ModelError, match="ScaledTanh 'ScaledTanh_0' is not an operator"):
        graph_of("g (float[2] x) => (float[2] y) { y = ScaledTanh (x) }")


@pytest.mark.parametrize("axis", ["5", "[1]"])
def test_a_norm_of_an_axis_that_is_not_there_is_refused(axis: str) -> None:
    with pytest.raises(ModelError, match="the file records no type of its output 'y'"):
        graph_of(
            "g (float[2,3] x, float[3] s) => (float[a,b] z) "
            f"{{ y = SimplifiedLayerNormalization <axis = {axis}> (x, s) z = Neg (y) }}"
        )
