"""Exports with a fixed batch of 1, rescaled: constants that their exporter made for one sample."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.pipeline import RunRequest, run_report
from tests.frontend.reference import random_inputs, run_graph, run_model
from tests.models import imported

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
RANDOM = np.random.default_rng(0)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, tuple[int, list[int]]],
    weights: dict[str, np.ndarray],
) -> bytes:
    """A file whose output is y."""
    values = [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()]
    numbers = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    output = helper.make_tensor_value_info("y", FLOAT, None)
    graph = helper.make_graph(nodes, "fixed", values, [output], numbers)
    opset = helper.make_opsetid("", 18)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def node(call: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
    return helper.make_node(call, inputs.split(), [output], output, **attributes)


def class_token(has_expand: bool) -> bytes:
    """ViT: a class token, expanded to the batch of 1, before the patches."""
    token = [node("Expand", "token batch", "cls")] if has_expand else []
    return model(
        [
            *token,
            node("Concat", "cls x" if has_expand else "token x", "cat", axis=1),
            node("Add", "cat places", "sum"),
            node("MatMul", "sum w", "y"),
        ],
        {"x": (FLOAT, [1, 4, 8])},
        {"token": normal(1, 1, 8), "batch": ints(1, 1, 8), "places": normal(1, 5, 8),
         "w": normal(8, 8)},
    )  # fmt: skip


def strided_pool() -> bytes:
    """ConvNeXt: the mean of each channel, taken by as_strided: flat, then picked by indices."""
    return model(
        [
            node("ReduceMean", "x sides", "mean", keepdims=1),
            node("Reshape", "mean flat", "all"),
            node("Gather", "all picks", "pooled", axis=0),
            node("Flatten", "pooled", "rows", axis=1),
            node("Gemm", "rows w", "y"),
        ],
        {"x": (FLOAT, [1, 6, 4, 4])},
        {"sides": ints(2, 3), "flat": ints(-1), "picks": np.arange(6).reshape(1, 6, 1, 1),
         "w": normal(6, 3)},
    )  # fmt: skip


def masked() -> bytes:
    """BERT: GatherND takes the mask by (sample, position), as indices that are broadcast."""
    sample, position = np.zeros((1, 1, 1, 4, 1), np.int64), np.arange(4).reshape(1, 1, 1, 4, 1)
    return model(
        [
            node("Cast", "mask", "bits", to=TensorProto.BOOL),
            node("Concat", "sample position", "picks", axis=-1),
            node("GatherND", "bits picks", "kept", batch_dims=0),
            node("Where", "kept zero low", "bias"),
            node("Reshape", "x heads", "split"),
            node("Transpose", "split", "q", perm=[0, 2, 1, 3]),
            node("Transpose", "split", "k", perm=[0, 2, 3, 1]),
            node("MatMul", "q k", "scores"),
            node("Add", "scores bias", "biased"),
            node("Softmax", "biased", "shares", axis=-1),
            node("MatMul", "shares q", "y"),
        ],
        {"x": (FLOAT, [1, 4, 8]), "mask": (INT64, [1, 4])},
        {"sample": sample, "position": position, "zero": np.float32(0).reshape(()),
         "low": np.float32(-1e4).reshape(()), "heads": ints(1, 4, 2, 4)},
    )  # fmt: skip


def positions_first() -> bytes:
    """torchvision's ViT: a class token, then attention on [position, sample, channel]."""

    def turned(name: str, shape: str) -> list[onnx.NodeProto]:
        return [
            node("Gather", f"qkv {name}", f"{name}_whole", axis=0),
            node("Reshape", f"{name}_whole merged", f"{name}_heads"),
            node("Transpose", f"{name}_heads", f"{name}_first", perm=[1, 0, 2]),
            node("Reshape", f"{name}_first {shape}", f"{name}_all"),
        ]

    nodes = [
        node("Concat", "token x", "cat", axis=1),
        node("Transpose", "cat", "t", perm=[1, 0, 2]),
        node("MatMul", "t packed", "linear"),
        node("Reshape", "linear three", "split"),
        node("Unsqueeze", "split zero", "more"),
        node("Transpose", "more", "moved", perm=[3, 1, 2, 0, 4]),
        node("Squeeze", "moved less", "qkv"),
        *turned("a", "shape"), *turned("b", "shape"), *turned("c", "shape"),
        node("Transpose", "b_all", "keys", perm=[0, 1, 3, 2]),
        node("MatMul", "a_all keys", "scores"),
        node("Softmax", "scores", "shares", axis=-1),
        node("MatMul", "shares c_all", "mixed"),
        node("Transpose", "mixed", "back", perm=[2, 0, 1, 3]),
        node("Reshape", "back rows", "flat"),
        node("Gemm", "flat out", "projected"),
        node("Reshape", "projected apart", "again"),
        node("Transpose", "again", "turned", perm=[1, 0, 2]),
        node("Add", "turned cat", "y"),
    ]  # fmt: skip
    weights = {
        "token": normal(1, 1, 8), "packed": normal(8, 24), "three": ints(5, 1, 3, 8),
        "zero": ints(0), "less": ints(-2), "merged": ints(5, 2, 4), "shape": ints(1, 2, 5, 4),
        "rows": ints(5, 8), "out": normal(8, 8), "apart": ints(5, 1, 8),
    }  # fmt: skip
    picks = {name: np.array(place) for place, name in enumerate("abc")}
    return model(nodes, {"x": (FLOAT, [1, 4, 8])}, {**weights, **picks})


def rows_of_pairs() -> bytes:
    """GatherElements: four rows of two columns per sample, each column picks one of them."""
    return model(
        [node("Reshape", "x pairs", "all"), node("GatherElements", "all picks", "y", axis=0)],
        {"x": (FLOAT, [1, 8])},
        {"pairs": ints(-1, 2), "picks": np.array([[3, 1]])},
    )


PATTERNS = {
    "positions first": positions_first,
    "class token": lambda: class_token(False),
    "class token, expanded": lambda: class_token(True),
    "strided pool": strided_pool,
    "mask": masked,
    "rows of pairs": rows_of_pairs,
}


def inputs_of(graph: object) -> dict[str, np.ndarray]:
    inputs = random_inputs(graph)  # type: ignore[arg-type]
    return {n: (v > 0).astype(v.dtype) if v.dtype == np.int64 else v for n, v in inputs.items()}


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("batch", [2, 16])
def test_every_sample_is_computed_as_the_file_computes_one(name: str, batch: int) -> None:
    data = PATTERNS[name]()
    graph = imported(data, ImportOptions("fixed", batch=batch))
    inputs = inputs_of(graph)
    (found,) = run_graph(graph, inputs)
    alone = [
        run_model(data, {key: value[index : index + 1] for key, value in inputs.items()})[0]
        for index in range(batch)
    ]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-5, atol=1e-5)
    assert any(note.endswith("is repeated per sample") for note in graph.notes)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("batch", [2, 16])
@pytest.mark.parametrize("strategy", ["tvm@2", "graphturbo@4"])
def test_the_schedule_replays(name: str, batch: int, strategy: str) -> None:
    """Against ONNX Runtime, which runs the file once per sample; clusters divide the batch."""
    request = RunRequest("fixed", strategy, "generic-4x4", batch, verify=True)
    contract = run_report(PATTERNS[name](), request).contract
    assert contract["verify"]["ok"], contract["verify"]  # type: ignore[index, call-overload]
    assert not any("is not divided" in note for note in contract["notes"])  # type: ignore[attr-defined]


PICKED = "batch 1 cannot be rescaled to 4"


@pytest.mark.parametrize(
    ("nodes", "weights"),
    [
        # flat is position after position, so the first elements are not the first sample's
        ([node("Transpose", "x", "t", perm=[1, 0, 2]), node("Reshape", "t flat", "all"),
          node("Gather", "all picks", "y", axis=0)], {"flat": ints(-1), "picks": ints(0)}),
        # softmax over samples: a repeated row changes what all others are
        ([node("Concat", "token x", "cat", axis=1), node("Softmax", "cat", "y", axis=0)],
         {"token": normal(1, 1, 8)}),
        # position after position: a sample's rows do not follow each other
        ([node("Concat", "token x", "cat", axis=1), node("Transpose", "cat", "y", perm=[1, 0, 2])],
         {"token": normal(1, 1, 8)}),
    ],
)  # fmt: skip
def test_what_mixes_samples_is_refused(
    nodes: list[onnx.NodeProto], weights: dict[str, np.ndarray]
) -> None:
    data = model(nodes, {"x": (FLOAT, [1, 4, 8])}, weights)
    assert imported(data).ops
    with pytest.raises(ModelError, match=PICKED) as caught:
        imported(data, ImportOptions("fixed", batch=4))
    assert caught.value.code == "BATCH_MISMATCH"


@pytest.mark.parametrize(
    ("rows", "is_right"),
    [([[0, 1], [4, 5]], True), ([[0, 1], [5, 4]], False), ([[0, 4]] * 2, False)],
)
def test_indices_of_two_samples_follow_only_where_both_pick_the_same(
    rows: list[list[int]], is_right: bool
) -> None:
    """A file for two samples: 4 elements each, rows that pick the same of their own sample's."""
    data = model(
        [node("Reshape", "x flat", "all"), node("Gather", "all picks", "y", axis=0)],
        {"x": (FLOAT, [2, 4])},
        {"flat": ints(-1), "picks": np.array(rows)},
    )
    if not is_right:
        with pytest.raises(ModelError, match="batch 2 cannot be rescaled"):
            imported(data, ImportOptions("two", batch=4))
        return
    graph = imported(data, ImportOptions("two", batch=4))
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    (found,) = run_graph(graph, {"x": x})
    np.testing.assert_array_equal(found, x[:, :2])


@pytest.mark.parametrize(
    ("call", "indices", "updates"),
    [("ScatterND", [[[0, 1]]], normal(1, 1, 8)), ("ScatterElements", [[[2]]], normal(1, 1, 1))],
)
def test_a_scatter_that_would_write_to_one_sample_alone_is_refused(
    call: str, indices: object, updates: np.ndarray
) -> None:
    weights = {"i": np.array(indices), "u": updates}
    data = model([node(call, "x i u", "y")], {"x": (FLOAT, [1, 4, 8])}, weights)
    assert imported(data).ops
    with pytest.raises(ModelError, match="would write to the first samples alone") as caught:
        imported(data, ImportOptions("fixed", batch=4))
    assert caught.value.code == "BATCH_MISMATCH"


def test_a_scatter_behind_the_samples_follows() -> None:
    """Rows 1 of [4, samples, 8] are written whole: the updates have grown, the indices need not."""
    nodes = [
        node("Transpose", "x", "t", perm=[1, 0, 2]),
        node("Slice", "t zero one zero", "u"),
        node("ScatterND", "t i u", "s"),
        node("Transpose", "s", "y", perm=[1, 0, 2]),
    ]
    weights = {"zero": ints(0), "one": ints(1), "i": np.array([[1]])}
    graph = imported(model(nodes, {"x": (FLOAT, [1, 4, 8])}, weights), ImportOptions("f", batch=3))
    x = normal(3, 4, 8)
    (found,) = run_graph(graph, {"x": x})
    np.testing.assert_array_equal(found, x[:, [0, 0, 2, 3]])


def test_an_embedding_is_no_pick_of_samples() -> None:
    """Token ids that grow pick rows of a table: the class token before them still follows."""
    nodes = [node("Gather", "table ids", "x", axis=0), node("Concat", "token x", "y", axis=1)]
    weights = {"table": normal(9, 8), "token": normal(1, 1, 8)}
    graph = imported(model(nodes, {"ids": (INT64, [1, 4])}, weights), ImportOptions("f", batch=3))
    assert graph.tensors["y"].shape == (3, 5, 8)


def test_a_shape_that_follows_already_is_left_as_it_is() -> None:
    """The target is made of the input's own sizes: its 3 parts are not those of 3 samples."""
    nodes = [
        node("Transpose", "x", "t", perm=[1, 0, 2]),
        node("Shape", "t", "sizes"),
        node("Slice", "sizes zero two", "first"),
        node("Concat", "first parts", "target", axis=0),
        node("Reshape", "t target", "split"),
        node("Transpose", "split", "y", perm=[1, 0, 2, 3]),
    ]
    weights = {"zero": ints(0), "two": ints(2), "parts": ints(2, 4)}
    graph = imported(model(nodes, {"x": (FLOAT, [1, 4, 8])}, weights), ImportOptions("f", batch=3))
    assert graph.tensors["y"].shape == (3, 4, 2, 4)


def test_rows_that_differ_are_no_repeated_constant() -> None:
    """A number for each sample, made of the batch: a sample alone would have the first one's."""
    nodes = [
        node("Concat", "token x", "cat", axis=1),
        node("Shape", "x", "sizes", end=1),
        node("Squeeze", "sizes", "size"),
        node("Range", "zero size one", "numbers"),
        node("Cast", "numbers", "floats", to=FLOAT),
        node("Reshape", "floats column", "rows"),
        node("Add", "cat rows", "y"),
    ]
    weights = {
        "token": normal(1, 1, 8), "zero": np.int64(0).reshape(()), "one": np.int64(1).reshape(()),
        "column": ints(-1, 1, 1),
    }  # fmt: skip
    with pytest.raises(ModelError, match="'rows' does not have the same row for every sample"):
        imported(model(nodes, {"x": (FLOAT, [1, 4, 8])}, weights), ImportOptions("f", batch=3))
