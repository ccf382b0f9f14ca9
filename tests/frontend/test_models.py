"""Every model the importer must take: op counts, shapes, numbers equal to ONNX Runtime's."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.graph import Graph, TensorKind
from tests.data.exports import exported
from tests.data.fill_weights import fill_weights
from tests.frontend.reference import random_inputs, run_graph, run_model
from tests.full import often
from tests.models import imported

EXPORTED = ("resnet50_ts", "vgg16", "efficientnet_b0")
LIGHT = tuple(name for name in sample_names() if name.startswith("light-"))


def assert_same_numbers(first: list[np.ndarray], second: list[np.ndarray]) -> None:
    for one, other in zip(first, second, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-4 * np.abs(one).max())


def test_there_are_nine_light_models() -> None:
    assert len(LIGHT) == 9


@pytest.mark.parametrize("name", LIGHT)
def test_light_models_import_as_shipped_and_with_batch_4(name: str) -> None:
    data = load_sample(name)
    for batch, options in ((1, ImportOptions("m")), (4, ImportOptions("m", batch=4))):
        graph = imported(data, options)
        assert [graph.tensors[n].shape[0] for n in (*graph.inputs, *graph.outputs)] == [batch] * 2
        assert graph.tensors[graph.outputs[0]].shape[1] == 1000
        types = {op.op_type for op in graph.ops}
        assert not types & {"ConstantOfShape", "Unsqueeze", "BatchNormalization", "Dropout"}


@pytest.mark.parametrize("name", ["light-squeezenet", "light-shufflenet"])
def test_rescaled_batch_repeats_the_sample(name: str) -> None:
    """Equal images: every row of the batch equals the file's own answer for one of them."""
    data = load_sample(name)
    skip = ("fold-batch-norm", "scale-shift")
    graph = imported(data, ImportOptions("m", batch=3, skip_passes=skip))
    image = random_inputs(imported(data))
    expected = np.repeat(run_model(data, image)[0], 3, axis=0)
    batch = {key: np.repeat(value, 3, axis=0) for key, value in image.items()}
    assert_same_numbers([expected], run_graph(with_filled_weights(graph, data), batch))


def with_filled_weights(graph: Graph, data: bytes) -> Graph:
    """Light models fill each weight with one number, which the importer keeps when small."""
    model = onnx.load_model_from_string(data)
    fills = {
        node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t)
        for node in model.graph.node
        if node.op_type == "ConstantOfShape"
    }
    tensors = {
        name: replace(tensor, value=np.full(tensor.shape, fills[name]))
        if tensor.kind is TensorKind.WEIGHT and tensor.value is None
        else tensor
        for name, tensor in graph.tensors.items()
    }
    return replace(graph, tensors=tensors)


@pytest.mark.parametrize("name", often(["resnet50_ts", "efficientnet_b0"], ("efficientnet_b0",)))
def test_exported_models_with_weights_give_the_same_numbers(name: str) -> None:
    model = fill_weights(onnx.load_model_from_string(exported(name)))
    data = model.SerializeToString()
    graph = imported(data)
    inputs = random_inputs(graph)
    assert_same_numbers(run_model(data, inputs), run_graph(graph, inputs))


@pytest.mark.parametrize("name", often(EXPORTED, ("efficientnet_b0",)))
def test_exported_models_import_without_weights_alike(name: str) -> None:
    stripped = imported(exported(name))
    filled = imported(fill_weights(onnx.load_model_from_string(exported(name))).SerializeToString())
    assert stripped.ops == filled.ops
    assert stripped.tensors == filled.tensors


def test_resnet50_has_the_published_layers() -> None:
    """53 convolutions (1 + 16 blocks of 3 + 4 shortcuts), 49 ReLUs, 16 additions."""
    counts = Counter(op.op_type for op in imported(exported("resnet50_ts")).ops)
    assert counts == {
        "Conv": 53, "Relu": 49, "Add": 16, "MaxPool": 1, "GlobalAveragePool": 1, "Flatten": 1,
        "Gemm": 1,
    }  # fmt: skip


def test_densenet_from_paddle_style_constants() -> None:
    """121 norms: 59 come right after a convolution that only they read, 62 are pre-activation."""
    counts = Counter(op.op_type for op in imported(load_sample("light-densenet121")).ops)
    assert (counts["Conv"], counts["ScaleShift"], counts["Concat"]) == (121, 62, 58)


def test_import_is_the_same_twice() -> None:
    data = load_sample("light-inception_v2")
    first, second = imported(data), imported(data)
    assert (first.ops, list(first.tensors), first.notes) == (
        second.ops, list(second.tensors), second.notes,
    )  # fmt: skip


def test_a_cut_file_is_refused_at_every_length() -> None:
    data = exported("resnet50_ts")
    for length in range(0, len(data), 997):
        with pytest.raises(ModelError):
            imported(data[:length])
