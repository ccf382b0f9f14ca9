"""The samples: small, reproducible, and the architectures they claim to be."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import prod
from pathlib import Path

import onnx
import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.semantics.table import analyse
from sample_models import build_samples
from sample_models.conformer import CONFORMER_L, CONFORMER_S, ConformerSize
from sample_models.dlrm import CRITEO_TERABYTE, dlrm
from tests.models import imported

FOLDER = Path(build_samples.__file__).parent
Widths = tuple[int, ...]


@pytest.mark.parametrize("name", build_samples.SAMPLES)
def test_files_are_what_the_script_builds(name: str) -> None:
    data = (FOLDER / f"{name}.onnx").read_bytes()
    assert data == build_samples.sample_bytes(name)
    assert len(data) < 300_000
    onnx.checker.check_model(onnx.load_model_from_string(_with_weights_as_inputs(data)))


def _with_weights_as_inputs(data: bytes) -> bytes:
    """The checker looks for external files; an input takes the place of each."""
    model = onnx.load_model_from_string(data)
    external = onnx.TensorProto.EXTERNAL
    absent = [p for p in model.graph.initializer if p.data_location == external]
    for proto in absent:
        model.graph.initializer.remove(proto)
        shape = tuple(proto.dims)
        model.graph.input.append(
            onnx.helper.make_tensor_value_info(proto.name, proto.data_type, shape)
        )
    return bytes(model.SerializeToString())


def sample(name: str) -> Graph:
    return imported(load_sample(name), ImportOptions(name, batch=1))


def parameters(graph: Graph) -> int:
    return sum(t.elements for t in graph.tensors.values() if t.kind is TensorKind.WEIGHT)


@pytest.mark.parametrize(
    ("name", "published"),
    [
        # torchvision counts 25,557,032 with two numbers per normalised channel (26,560 channels);
        # folded there is one bias each: 25,557,032 - 26,560.
        ("resnet50-v1", 25_557_032 - 26_560),
        ("resnet50-v15", 25_557_032 - 26_560),
        ("resnet50-slim", 25_557_032 - 26_560),
        # 3,504,872 with 17,056 normalised channels, and ReLU6's two bounds.
        ("mobilenet-v2", 3_504_872 - 17_056 + 2),
    ],
)
def test_parameters_are_the_published_ones(name: str, published: int) -> None:
    assert parameters(sample(name)) == published


@pytest.mark.parametrize(
    ("name", "published"),
    [("densenet-121", 7_978_856), ("densenet-169", 14_149_480), ("densenet-201", 20_013_928)],
)
def test_densenet_has_the_published_parameters(name: str, published: int) -> None:
    """torchvision's, with two learned numbers for each normalised channel; the file has four."""
    model = onnx.load_model_from_string(load_sample(name))
    assert model.graph.name == name
    every = {proto.name: prod(proto.dims) for proto in model.graph.initializer}
    statistics = sum(n for name, n in every.items() if name.endswith(("/mean", "/variance")))
    assert sum(every.values()) - statistics == published


def strided(graph: Graph) -> list[str]:
    return [op.name for op in graph.ops if 2 in _strides(op)]


def _strides(op: Op) -> tuple[int, ...]:
    value = op.attributes.get("strides", ())
    return tuple(int(stride) for stride in value) if isinstance(value, tuple) else ()


def test_where_the_three_variants_halve_the_image() -> None:
    stem = ["stem/conv", "stem/pool"]
    assert strided(sample("resnet50-v1")) == stem + [
        f"stage{stage}/block1/{layer}" for stage in (2, 3, 4) for layer in ("shortcut", "conv1")
    ]
    assert strided(sample("resnet50-v15")) == stem + [
        f"stage{stage}/block1/{layer}" for stage in (2, 3, 4) for layer in ("shortcut", "conv2")
    ]
    assert strided(sample("resnet50-slim")) == stem + [
        f"{block}/{layer}"
        for block in ("stage1/block3", "stage2/block4", "stage3/block6")
        for layer in ("subsample", "conv2")
    ]


@pytest.mark.parametrize(
    ("name", "pixels"),
    [
        ("resnet50-v1", 7), ("resnet50-v15", 7), ("resnet50-slim", 7), ("mobilenet-v2", 7),
        ("densenet-121", 7), ("teaching-resnet", 16),
    ],
)  # fmt: skip
def test_images_shrink_to_a_thirty_second(name: str, pixels: int) -> None:
    graph = sample(name)
    pool = next(op for op in graph.ops if op.op_type == "GlobalAveragePool")
    assert graph.tensors[pool.inputs[0]].shape[2:] == (pixels, pixels)


def file_parameters(name: str) -> int:
    """Numbers of all weights without bytes in the file, before import cuts or folds any."""
    model = onnx.load_model_from_string(load_sample(name))
    absent = (p for p in model.graph.initializer if p.data_location == onnx.TensorProto.EXTERNAL)
    return sum(prod(proto.dims) for proto in absent)


def macs(name: str, **dims: int) -> int:
    semantics = analyse(imported(load_sample(name), ImportOptions(name, dims=dims)))
    works = (semantics.by_op[op.name] for op in semantics.graph.ops)
    return sum(
        prod(work.output_shapes[0]) * work.contraction.k for work in works if work.contraction
    )


def transformer_macs(rows: int, hidden: int, layers: int) -> int:
    """Projections of 4 h^2 and a feed-forward of 8 h^2 a row; scores and context of h a pair."""
    return layers * (rows * 12 * hidden**2 + 2 * rows**2 * hidden)


@pytest.mark.parametrize(
    ("name", "published", "layers", "hidden"),
    [
        # The paper says 110 and 340 million; these are the checkpoints' counts, with the pooler.
        ("bert-base", 109_482_240, 12, 768),
        ("bert-large", 335_141_888, 24, 1024),
    ],
)
def test_bert_has_the_published_size(name: str, published: int, layers: int, hidden: int) -> None:
    """At 128 tokens BERT-base takes 11.2 G MACs, 22.5 G operations in MobileBERT's table."""
    assert file_parameters(name) == published
    pooler = hidden**2
    expected = transformer_macs(128, hidden, layers) + pooler
    assert macs(name, batch=1, sequence=128) == expected
    assert macs(name, batch=3, sequence=128) == 3 * expected
    if name == "bert-base":
        assert round(2 * expected / 1e9, 1) == 22.3


@pytest.mark.parametrize(
    ("name", "parameters", "layers", "hidden", "giga_macs"),
    [
        # Counts and multiply-accumulates as torchvision publishes them.
        ("vit-b16", 86_567_656, 12, 768, 17.56),
        ("vit-l16", 304_326_632, 24, 1024, 61.55),
    ],
)
def test_vit_has_the_published_size(
    name: str, parameters: int, layers: int, hidden: int, giga_macs: float
) -> None:
    assert file_parameters(name) == parameters
    patches, head = 14**2 * hidden * 3 * 16**2, hidden * 1000
    expected = transformer_macs(1 + 14**2, hidden, layers) + patches + head
    assert macs(name, batch=1) == expected
    assert round(expected / 1e9, 2) == giga_macs


def test_dlrm_is_the_papers_model_of_540_million() -> None:
    """26 tables of together 33,762,577 rows; 27 vectors make 351 pairs, 367 inputs of the top."""
    bottom = 13 * 512 + 512 * 256 + 256 * 64 + 64 * 16
    top = (16 + 351) * 512 + 512 * 256 + 256
    vectors = 512 + 256 + 64 + 16 + 512 + 256 + 1
    assert file_parameters("dlrm") == 33_762_577 * 16 + bottom + top + vectors
    assert file_parameters("dlrm") // 10**6 == 540
    assert macs("dlrm", batch=1) == bottom + top + 27 * 27 * 16
    model = onnx.load_model_from_string(load_sample("dlrm"))
    assert sum(node.op_type == "Gather" for node in model.graph.node) == 26 + 1


@pytest.mark.parametrize(
    ("name", "table_numbers", "bottom", "top", "products"),
    [
        # 8 tables and the dense numbers: 9 vectors of 64, 36 pairs, 100 inputs of the top.
        ("dlrm-random", 8 * 10**6 * 64, (512, 512, 64), (100, 1024, 1024, 1024, 1), 9 * 9 * 64),
        # Vectors end to end: 9 of 32, 33 of 64, 11 of 32.
        ("dlrm-rm1", 32 * 10**6 * 32, (128, 64, 32), (9 * 32, 256, 64, 1), 0),
        ("dlrm-rm2", 16 * 10**6 * 64, (256, 128, 64), (33 * 64, 128, 64, 1), 0),
        ("dlrm-rm3", 20 * 10**6 * 32, (2560, 1024, 256, 32), (11 * 32, 512, 256, 1), 0),
    ],
)
def test_recommenders_have_the_published_sizes(
    name: str, table_numbers: int, bottom: Widths, top: Widths, products: int
) -> None:
    layers = [*pairwise(bottom), *pairwise(top)]
    weights = sum(inputs * outputs for inputs, outputs in layers)
    biases = sum(outputs for _, outputs in layers)
    assert file_parameters(name) == table_numbers + weights + biases
    assert macs(name, batch=1) == weights + products


@pytest.mark.parametrize(
    ("name", "tables", "lookups"),
    [("dlrm-random", 8, 100), ("dlrm-rm1", 8, 80), ("dlrm-rm2", 32, 120), ("dlrm-rm3", 10, 20)],
)
def test_recommenders_add_up_as_many_rows_as_published(
    name: str, tables: int, lookups: int
) -> None:
    graph = sample(name)
    found = [op for op in graph.ops if op.op_type == "ReduceSum"]
    shapes = {graph.tensors[op.inputs[0]].shape[:3] for op in found}
    assert (len(found), shapes) == (tables, {(1, 1, lookups)})


def test_the_tables_of_mlperf_fit_no_chip() -> None:
    """187,767,399 rows of 128 at two bytes: 48 GB, where a cluster of STCP920 has 4 GiB."""
    assert sum(CRITEO_TERABYTE.rows) == 187_767_399
    data = dlrm(CRITEO_TERABYTE).SerializeToString()
    with pytest.raises(CapacityError, match="does not fit") as caught:
        next(run_reports(data, [RunRequest("mlperf", "tvm", "stcp920")]))
    assert caught.value.code == "DRAM_FULL"


@pytest.mark.parametrize(
    ("name", "size", "decoder", "millions", "apart"),
    [
        ("conformer-s", CONFORMER_S, 320, 10.3, 0.08),
        ("conformer", ConformerSize(), 640, 30.7, 0.01),
        ("conformer-l", CONFORMER_L, 640, 118.8, 0.01),
    ],
)
def test_conformer_has_the_published_size(
    name: str, size: ConformerSize, decoder: int, millions: float, apart: float
) -> None:
    """Table 1 counts the decoder too: encoder and LSTM come within a hundredth of M's and L's.

    What the rest of a decoder has, such as its embedding, is not published; of S it is more.
    """
    d = size.hidden
    feed_forward, attention = 8 * d**2 + 7 * d, 5 * d**2 + 8 * d
    convolution, statistics = 3 * d**2 + 40 * d, 2 * d
    block = 2 * feed_forward + attention + convolution + 2 * d
    first = (9 * d + d) + (9 * d**2 + d) + (19 * d * d + d)
    learned = first + size.layers * block
    assert file_parameters(name) == learned + size.layers * statistics + 9_999 * d
    lstm = 4 * decoder * (decoder + decoder) + 2 * 4 * decoder
    assert (learned + lstm) / 1e6 == pytest.approx(millions, rel=apart)


def test_conformer_work() -> None:
    """1,027 frames of 80 bands become 513 x 39, then 256 x 19; distances are 511.

    Projections of distances are constants. A row takes two feed-forwards of 8 d^2, 4 d^2 of
    attention, 3 d^2 and 32 d of convolution, and d for each row and distance that it meets.
    """
    d, rows = 256, 256
    row = 23 * d**2 + 32 * d + (2 * rows + 511) * d
    first = 513 * 39 * d * 9 + rows * 19 * d * 9 * d + rows * 19 * d * d
    assert macs("conformer", batch=1, frames=1027) == 16 * rows * row + first


def test_llama_is_as_deep_as_the_7b() -> None:
    """32 layers of 4 h^2 + 3 h i and two norms; embedding and head of 32,000 each, one norm."""
    h, inner, words, rows = 256, 768, 32_000, 128
    layer = 4 * h**2 + 3 * h * inner
    assert file_parameters("llama") == 2 * words * h + 32 * (layer + 2 * h) + h
    expected = 32 * (rows * layer + 2 * rows**2 * h) + rows * h * words
    assert macs("llama", batch=1, sequence=rows) == expected
    softmaxes = [op for op in sample("llama").ops if op.op_type == "Softmax"]
    assert len(softmaxes) == 32


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("bert-base", (32, 128)), ("bert-large", (32, 128)), ("vit-b16", (32, 3)),
        ("dlrm", (1024, 13)), ("dlrm-rm3", (1024, 2560)), ("conformer", (12, 1027)),
        ("conformer-s", (12, 1027)), ("llama", (8, 128)), ("resnet50-v1", (64, 3)),
    ],
)  # fmt: skip
def test_samples_propose_their_sizes(name: str, sizes: tuple[int, ...]) -> None:
    graph = imported(load_sample(name))
    shape = graph.tensors[graph.inputs[0]].shape
    assert shape[: len(sizes)] == sizes
    assert f"symbolic dimension 'batch' was not given: {sizes[0]}" in graph.notes


def test_blocks_are_counted() -> None:
    counts = Counter(op.op_type for op in sample("resnet50-slim").ops)
    assert (counts["Conv"], counts["Add"], counts["MaxPool"]) == (53, 16, 4)
    assert Counter(op.op_type for op in sample("mobilenet-v2").ops)["Conv"] == 52
    assert Counter(op.op_type for op in sample("densenet-121").ops)["Concat"] == 58


def test_small_versions_for_other_tests() -> None:
    model = build_samples.resnet("slim", blocks=(1, 1), width=8, resolution=32, classes=10)
    graph = imported(model.SerializeToString(), ImportOptions("small", batch=2))
    assert graph.tensors[graph.outputs[0]].shape == (2, 10)


def test_check_mode(capsys: pytest.CaptureFixture[str]) -> None:
    assert build_samples.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
