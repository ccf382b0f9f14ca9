"""Ops that no ONNX schema describes: shapes from the file, for every batch, or a true refusal."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from graphturbo_core.errors import GraphTurboError, ModelError, OptionError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.ir.graph import Graph
from graphturbo_core.semantics.table import analyse
from tests.models import imported, model_bytes, model_of

EXPORT = "export the model with a symbolic batch"


def chain(batch: str, recorded: str) -> str:
    """Conv -> Bar -> Relu on 4x4 images; `recorded` is what the file says of Bar's output b."""
    return f"""
g (float[{batch},3,4,4] x, float[6,3,1,1] w) => (float[r,c,h,v] y) <{recorded}> {{
  a = Conv(x, w)
  b = com.foo.Bar(a)
  y = Relu(b)
}}"""


def graph_with(text: str, **options: object) -> Graph:
    return imported(model_bytes(text), ImportOptions("test", **options))  # type: ignore[arg-type]


def refusal(text: str, **options: object) -> GraphTurboError:
    with pytest.raises(GraphTurboError) as caught:
        import_model(model_bytes(text), ImportOptions("test", **options))  # type: ignore[arg-type]
    return caught.value


def test_a_symbol_that_the_batch_binds_is_resolved() -> None:
    graph = graph_with(chain("n", "float[n,6,4,4] b"), batch=5)
    assert graph.tensors["b"].shape == graph.tensors["y"].shape == (5, 6, 4, 4)
    assert graph.notes == ("Bar_1: shapes of com.foo.Bar taken from the file: 'b' [5, 6, 4, 4]",)


def test_the_default_batch_is_resolved_too() -> None:
    graph = graph_with(chain("batch", "float[batch,6,4,4] b"))
    assert graph.tensors["b"].shape == (64, 6, 4, 4)


def test_symbols_that_dim_binds_are_resolved() -> None:
    text = """
g (float[n,t] x) => (float[n,t] y) <float[n,t] b> { b = com.foo.Bar(x) y = Relu(b) }"""
    graph = graph_with(text, batch=2, dims={"t": 7})
    assert graph.tensors["b"].shape == (2, 7)
    assert graph_with(text, dims={"n": 3, "t": 7}).tensors["b"].shape == (3, 7)


def test_a_symbol_that_only_the_record_has_is_refused_by_name_and_bound_by_dim() -> None:
    text = chain("n", "float[n,k,4,4] b")
    error = refusal(text, batch=5)
    assert isinstance(error, ModelError)
    assert error.line().startswith(
        "error: UNBOUND_DIM: dimension 'k' has no size, axis 1 of output 'b' of Bar 'Bar_1'"
    )
    assert "give --dim k=N" in error.change
    assert error.fields == {"dim": "k", "output": "b", "axis": 1}
    graph = graph_with(text, batch=5, dims={"k": 9})
    assert graph.tensors["y"].shape == (5, 9, 4, 4)
    assert "dimension 'k', which no input has, is taken as 9 and follows no bound batch" in (
        graph.notes
    )


def test_an_unnamed_size_is_bound_by_its_place() -> None:
    text = chain("n", "float[n,?,4,4] b")
    assert "give --dim b:1=N" in refusal(text, batch=5).change
    assert graph_with(text, batch=5, dims={"b:1": 6}).tensors["b"].shape == (5, 6, 4, 4)


def test_records_of_standard_ops_give_no_symbols() -> None:
    """Their shapes are inferred, so a --dim of such a symbol would change nothing."""
    error = refusal(chain("n", "float[q,6,4,4] a, float[n,6,4,4] b"), batch=5, dims={"q": 5})
    assert isinstance(error, OptionError)
    assert (error.code, error.change) == ("UNKNOWN_DIM", "choose from: n")


def test_a_fixed_leading_size_follows_the_batch_with_a_note() -> None:
    graph = graph_with(chain("1", "float[1,6,4,4] b"), batch=16)
    shapes = {name: graph.tensors[name].shape for name in "aby"}
    assert shapes == dict.fromkeys("aby", (16, 6, 4, 4))
    assert graph.notes == (
        "Bar_1: shapes of com.foo.Bar taken from the file: 'b' [1, 6, 4, 4]",
        "batch rescaled from 1 to 16",
        "Bar_1: leading 1 of 'b' rescaled to 16 as that of an input, an assumption on com.foo.Bar",
    )


def test_a_record_with_a_stale_symbol_is_bound_to_the_fixed_batch_and_follows() -> None:
    """Tools that fix the inputs' batch leave the symbol in the records."""
    graph = graph_with(chain("1", "float[n,6,4,4] b"), batch=16, dims={"n": 1})
    assert graph.tensors["y"].shape == (16, 6, 4, 4)


def test_a_batch_merged_with_other_axes_follows() -> None:
    """2 images of 3 channels are 6 leading rows; at batch 5 they are 15."""
    graph = graph_with(
        """
g (float[2,3,4] x) => (float[r,c] y) <int64[2] s = {-1, 4}, float[6,8] b> {
  a = Reshape(x, s)
  b = com.foo.Bar(a)
  y = Relu(b)
}""",
        batch=5,
    )
    assert graph.tensors["y"].shape == (15, 8)


def test_a_scalar_and_what_no_batch_reaches_stay() -> None:
    """c is computed from k alone, whose one axis is not the batch."""
    graph = graph_with(
        """
g (float[1,3] x, float[1] k) => (float[1,3] y, float[1,2] c) <float b, float[1,2] c> {
  b = com.foo.Bar(x)
  y = Add(x, b)
  c = com.foo.Bar(k)
}""",
        batch=5,
    )
    assert (graph.tensors["b"].shape, graph.tensors["c"].shape) == ((), (1, 2))
    assert graph.tensors["y"].shape == (5, 3)
    assert not [note for note in graph.notes if "assumption" in note]


@pytest.mark.parametrize("recorded", ["7,6,4,4", "6,2,4,4"])
def test_a_leading_size_of_another_kind_is_refused_without_a_circle(recorded: str) -> None:
    """7 rows of 2 images, or axes swapped: nobody knows them for 16; no --batch would help."""
    error = refusal(chain("2", f"float[{recorded}] b"), batch=16)
    assert (error.code, "Bar 'Bar_1'" in error.what, "'b'" in error.what) == (
        "BATCH_FIXED", True, True,
    )  # fmt: skip
    assert error.change == f"{EXPORT}, recorded in that shape too"


def test_an_input_that_grew_elsewhere_does_not_count() -> None:
    """The batch is axis 1 of a; 3 leads a and b alike, and did not grow."""
    text = """
g (float[2,3,4] x) => (float[r,c,d] y) <float[3,2,4] b> {
  a = Transpose <perm = [1, 0, 2]> (x)
  b = com.foo.Bar(a)
  y = Relu(b)
}"""
    assert refusal(text, batch=5).code == "BATCH_FIXED"


def test_other_batch_refusals_name_no_batch_either() -> None:
    text = "g (float[1,3,4] x) => (float[m,n] y) <int64[2] s = {{{}}}> {{ y = Reshape(x, s) }}"
    assert refusal(text.format("4, 3"), batch=5).change == EXPORT
    assert refusal(text.format("1, 12"), batch=5, skip_passes=("rescale-batch",)).change == EXPORT


@pytest.mark.parametrize("missing", ["all", "shape", "elem_type"])
def test_an_output_that_nothing_is_recorded_of_is_refused_by_name(missing: str) -> None:
    model = model_of(chain("n", "float[n,6,4,4] z" if missing == "all" else "float[n,6,4,4] b"))
    if missing != "all":
        model.graph.value_info[0].type.tensor_type.ClearField(missing)
    with pytest.raises(ModelError) as caught:
        imported(model.SerializeToString(), ImportOptions("test", batch=5))
    assert caught.value.line() == (
        "error: UNSUPPORTED_OPS: 1 op is not supported (no ONNX operator and no recorded type): "
        "Bar 'Bar_1' is no ONNX operator, and the file records no type of its output 'b', "
        f"domain 'com.foo', it touches {960 / (480 + 36 + 960 + 960) * 100:.1f} % of the bytes "
        "that are known; 1 op after that not checked; 1,440 MACs in the 1 other op, "
        "export the model with its type and shape recorded "
        "(value_info), or with standard operators"
    )


def test_one_output_of_two_without_a_record_is_refused() -> None:
    text = "g (float[n,4] x) => (float[n,4] y) <float[n,4] b> { b, d = com.foo.Two(x) y = Relu(b) }"
    error = refusal(text, batch=2)
    assert (error.code, "'d'" in error.what) == ("UNSUPPORTED_OPS", True)


@pytest.mark.parametrize(
    ("size", "code", "named"),
    [(0, "EMPTY_TENSOR", "computed by Bar"), (-3, "BAD_SHAPE", "output 'b' of Bar 'Bar_1'")],
)
def test_recorded_sizes_below_one_are_refused(size: int, code: str, named: str) -> None:
    model = model_of(chain("n", "float[n,6,4,4] b"))
    (b,) = (value for value in model.graph.value_info if value.name == "b")
    b.type.tensor_type.shape.dim[1].dim_value = size
    with pytest.raises(ModelError) as caught:
        imported(model.SerializeToString(), ImportOptions("test", batch=5))
    assert (caught.value.code, named in caught.value.where) == (code, True)


def test_it_is_opaque_and_a_note_gives_its_share() -> None:
    """Of 5 samples: x 240, w 18, a, b and y 480 elements each; Bar touches 960 of those touched:
    Conv 738, Bar 960, Relu 960, so 960 / 2658 = 36.1%."""
    semantics = analyse(graph_with(chain("n", "float[n,6,4,4] b"), batch=5))
    assert semantics.opaque_ops == ("Bar_1",)
    assert semantics.notes() == (
        "1 op(s) of type Bar have no semantics and run whole: 36.1 % of the bytes, "
        "none of the counted MACs",
    )


def test_its_attributes_do_not_matter() -> None:
    """A table in one of them is left out, with a note; a number stays."""
    model = model_of(chain("1", "float[1,6,4,4] b"))
    bar = model.graph.node[1]
    table = numpy_helper.from_array(np.ones(3, dtype=np.float32))
    bar.attribute.extend([helper.make_attribute("table", table), helper.make_attribute("k", 2)])
    graph = imported(model.SerializeToString())
    assert dict(graph.op_by_name["Bar_1"].attributes) == {"k": 2}
    assert "Bar_1: attribute 'table' is not read, and its bytes are not counted" in graph.notes


def test_a_sub_graph_in_its_attributes_is_refused() -> None:
    model = model_of(chain("n", "float[n,6,4,4] b"))
    body = onnx.parser.parse_graph("t () => (float[2] q) { q = Relu(x) }")
    model.graph.node[1].attribute.append(helper.make_attribute("body", body))
    with pytest.raises(ModelError) as caught:
        imported(model.SerializeToString(), ImportOptions("test", batch=5))
    assert caught.value.fields["ops"] == (("Bar_1", "Bar", "SUB_GRAPH"),)


def test_a_namesake_of_reshape_keeps_its_constant() -> None:
    text = """
g (float[1,12] x) => (float[1,12] y) <int64[2] s = {1, 12}, float[1,12] b> {
  b = com.foo.Reshape(x, s)
  y = Relu(b)
}"""
    graph = graph_with(text, batch=5)
    assert graph.op_by_name["Reshape_0"].inputs == ("x", "s")
    assert graph.tensors["y"].shape == (5, 12)
