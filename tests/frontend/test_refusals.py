"""What is refused, by which code, and that the message names the place."""

from __future__ import annotations

import random

import onnx
import pytest
from onnx import TensorProto

from graphturbo_core.errors import GraphTurboError, ModelError, OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions, import_model, read_input_dims
from graphturbo_core.limits import Limits
from tests.models import graph_of, imported, model_bytes, model_of

RELU = "g (float[2,4] x) => (float[2,4] y) { y = Relu(x) }"


def refusal(data: bytes, **options: object) -> GraphTurboError:
    with pytest.raises(GraphTurboError) as caught:
        import_model(data, ImportOptions("test", **options))  # type: ignore[arg-type]
    assert caught.value.line().startswith(f"error: {caught.value.code}: ")
    assert "\n" not in caught.value.line()
    return caught.value


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "EMPTY_FILE"),
        (b"hello, this is a text file\n", "TEXT_FILE"),
        ("<ir_version: 8> agraph (float[N] größe) => () {}".encode(), "TEXT_FILE"),
        (onnx.printer.to_text(model_of(RELU)).encode(), "TEXT_FILE"),
        (bytes(range(256)), "NOT_ONNX"),
        (b"\x00\xff" * 300, "NOT_ONNX"),
        (b"PK\x03\x04" + b"\x00" * 60, "NOT_ONNX"),
        (onnx.ModelProto(ir_version=8, producer_name="nobody").SerializeToString(), "EMPTY_GRAPH"),
        (model_bytes("g (float[2] x) => (float[2] x) {}"), "EMPTY_GRAPH"),
    ],
)
def test_files_that_are_no_model(data: bytes, code: str) -> None:
    assert refusal(data).code == code


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("g (float[2] x) => (float[2] y) { y = Add(x, nowhere) }", "UNDEFINED_INPUT", "nowhere"),
        ("g (float[2] x) => (float[2] z) { y = Relu(x) }", "UNDEFINED_OUTPUT", "'z'"),
        ("g (float[2] x) => () { y = Relu(x) }", "NO_OUTPUT", "no outputs"),
        (
            "g (float[2] x) => (float[2] c) { a = Add(x, c) b = Relu(a) c = Neg(b) }",
            "CYCLE",
            "Add 'Add_0' -> Relu 'Relu_1' -> Neg 'Neg_2' -> Add 'Add_0',",
        ),
        ("g (float[2] x) => (float[2] y) { y = Add(y, x) }", "CYCLE", "cycle of 1"),
        ("g (float[2] x) => (float[2] y) { y = Relu(x) y = Neg(x) }", "DUPLICATE_VALUE", "'y'"),
        ("g (float[2] x) => (float[2] y) { x = Relu(x) y = Neg(x) }", "DUPLICATE_VALUE", "'x'"),
        ("g (float[2,M] x) => (float[2,M] y) { y = Relu(x) }", "UNBOUND_DIM", "--dim M=N"),
        ("g (float[M,2] x) => (float[M,2] y) { y = Relu(x) }", "UNBOUND_DIM", "or --batch N"),
        ("g (float[2,?] x) => (float[2,?] y) { y = Relu(x) }", "UNBOUND_DIM", "--dim x:1=N"),
        ("g (float[2,3] x) => (int64[2,N] y) { y = NonZero(x) }", "UNSUPPORTED_OPS", "NonZero_0"),
        ("g (float[3] x, float[4] b) => (float[4] y) { y = Add(x, b) }", "SHAPE_MISMATCH", "Add_0"),
        (
            "g (float[2,3] x) => (float[4] y) <int64[1] s = {4}> { y = Reshape(x, s) }",
            "SHAPE_MISMATCH",
            "[4] to [2, 3]",
        ),
        ("g (float[2] x) => (float[2] y) { y = Frobnicate(x) }", "UNSUPPORTED_OPS", "Frobnicate"),
        ("g (float[2] x) => (float[2] y) { y = Relu(x, x) }", "BAD_NODE", "2 inputs"),
        ("g (float[2] x) => (float[2] y) { y = Softmax <axis=1.5> (x) }", "BAD_ATTRIBUTE", "axis"),
        ("g (seq(float[2]) x) => (float[2] y) { y = SequenceAt(x) }", "NOT_A_TENSOR", "'x'"),
        (
            "g (float[2] x) => (seq(float[2]) y) { y = SequenceConstruct(x) }",
            "UNSUPPORTED_OPS",
            "seq",
        ),
        (
            "g (bool b, float[2] x) => (float[2] y) { y = If (b)"
            " <then_branch = t () => (float[2] a) { a = Relu(x) },"
            " else_branch = e () => (float[2] a) { a = Neg(x) }> }",
            "UNSUPPORTED_OPS",
            "then_branch",
        ),
        (
            "g (float[4000000000,4000000000] x) => (float[M,N] y) { y = Relu(x) }",
            "SHAPE_TOO_LARGE",
            "16000000000000000000",
        ),
        (
            "g (float[4000000000,1] x, float[1,4000000000] z) => (float[M,N] y) { y = Add(x, z) }",
            "SHAPE_TOO_LARGE",
            "Add_0",
        ),
        ("g (float[1,1,1,1,1,1,1,1,1] x) => (float[M] y) { y = Relu(x) }", "RANK_TOO_HIGH", "9"),
        (
            "g (float[2] x) => (float[2] y) <int64[1] a = {1}, int64[1] i = {7}>"
            " { n = Gather(a, i) y = Add(x, n) }",
            "BAD_CONSTANT",
            "Gather_0",
        ),
        ("g () => (float[2] y) <float[2] w = {1, 2}> { y = Relu(w) }", "NOTHING_TO_RUN", "1 nodes"),
    ],
)  # fmt: skip
def test_models_that_are_refused(text: str, code: str, named: str) -> None:
    error = refusal(model_bytes(text))
    assert isinstance(error, ModelError)
    assert (error.code, named in error.line()) == (code, True), error.line()


@pytest.mark.parametrize(
    ("options", "code", "named"),
    [
        ({"dims": {"sequence": 3}}, "UNKNOWN_DIM", "N"),
        ({"dims": {"N": 0}}, "BAD_DIM", "--dim N"),
        ({"batch": -4}, "BAD_DIM", "--batch"),
        ({"batch": 4, "dims": {"N": 5}}, "DIM_CONFLICT", "N=5"),
        ({"batch": 4, "skip_passes": ("remove-all",)}, "UNKNOWN_PASS", "remove-dead-ops"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, object], code: str, named: str) -> None:
    data = model_bytes("g (float[N,4] x) => (float[N,4] y) { y = Relu(x) }")
    error = refusal(data, **options)
    assert isinstance(error, OptionError)
    assert (error.code, named in error.line()) == (code, True), error.line()


def test_unbound_dim_carries_its_data() -> None:
    error = refusal(model_bytes("g (float[2,M] x) => (float[2,M] y) { y = Relu(x) }"))
    assert error.fields == {"dim": "M", "input": "x", "axis": 1}


def test_limits_are_named() -> None:
    data = model_bytes(RELU)
    assert refusal(data, limits=Limits(max_model_bytes=8)).code == "TOO_LARGE"
    assert refusal(data, limits=Limits(max_ops=0)).code == "TOO_MANY_OPS"
    assert refusal(data, limits=Limits(max_tensors=1)).code == "TOO_MANY_TENSORS"


def test_opsets_are_checked() -> None:
    model = model_of(RELU)
    model.opset_import[0].version = 999
    assert refusal(model.SerializeToString()).code == "OPSET_TOO_NEW"
    del model.opset_import[:]
    assert refusal(model.SerializeToString()).code == "NO_OPSET"


def test_weight_bytes_must_fit_the_shape() -> None:
    model = model_of("g (float[2] x) => (float[2] y) { y = Add(x, w) }")
    proto = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], raw_data=b"\0" * 7)
    model.graph.initializer.append(proto)
    assert refusal(model.SerializeToString()).code == "BAD_WEIGHT"


def test_names_must_be_text() -> None:
    data = model_bytes("g (float[2] xx) => (float[2] y) { y = Relu(xx) }")
    assert refusal(data.replace(b"xx", b"\xff\xfe")).code == "BAD_TEXT"


def test_input_dims_for_the_form() -> None:
    data = model_bytes("g (float[N,3,H,?] x, int64[N] k) => (float[N] y) { y = Relu(x) }")
    found = [(dim.input, dim.axis, dim.symbol) for dim in read_input_dims(data)]
    assert found == [("x", 0, "N"), ("x", 2, "H"), ("x", 3, "x:3"), ("k", 0, "N")]


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_or_sound(seed: int) -> None:
    """Random bytes changed in valid files: an error of ours or a graph that passes its check."""
    source = random.Random(seed)
    whole = load_sample(("teaching-resnet", "light-zfnet512")[seed % 2])
    for _ in range(250):
        data = bytearray(whole)
        for _ in range(source.randrange(1, 4)):
            data[source.randrange(len(data))] = source.randrange(256)
        try:
            imported(bytes(data))
        except GraphTurboError as error:
            assert error.line()


def test_deep_chains_do_not_recurse() -> None:
    count = 3000
    nodes = " ".join(f"v{i + 1} = Relu(v{i})" for i in range(count))
    graph = graph_of(f"g (float[2] v0) => (float[2] v{count}) {{ {nodes} }}")
    assert len(graph.ops) == count


@pytest.mark.parametrize("options", [{}, {"batch": 4}, {"dims": {"x:1": 4}}])
def test_a_negative_input_size(options: dict[str, object]) -> None:
    """It is no open size: no option binds it, and the form does not offer it."""
    model = model_of("g (float[2,5] x) => (float[2,5] y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = -3
    error = refusal(model.SerializeToString(), **options)
    wanted = ("BAD_SHAPE", "input 'x' has size -3, which is negative", "axis 1")
    assert (error.code, error.what, error.where) == wanted
    assert error.change.startswith("give it a size of 1 or more in the model")
    with pytest.raises(ModelError, match="axis 1"):
        read_input_dims(model.SerializeToString())


def test_an_input_without_elements_is_sound_where_nobody_computes_from_it() -> None:
    """CastLike looks at its type alone; Relu would have nothing to compute."""
    graph = graph_of("g (float[2] x, double[0] t) => (double[2] y) { y = CastLike(x, t) }")
    assert graph.tensors["y"].dtype == "float64"
    error = refusal(model_bytes("g (float[2,0] x) => (float[2,0] y) { y = Relu(x) }"))
    assert (error.code, error.where) == ("EMPTY_TENSOR", "computed by Relu 'Relu_0'")


def test_minus_one_is_an_open_size() -> None:
    """Paddle and others write -1 for unknown."""
    model = model_of("g (float[2,5] x) => (float[2,5] y) { y = Relu(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = -1
    data = model.SerializeToString()
    assert "give --dim x:1=N" in refusal(data).change
    graph = imported(data, ImportOptions("test", dims={"x:1": 7}))
    assert graph.tensors["y"].shape == (2, 7)
