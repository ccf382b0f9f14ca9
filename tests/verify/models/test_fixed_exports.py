"""Models as exported for one sample, imported for more and replayed: ViT, ConvNeXt and BERT.

Their exporters make a constant for that sample: a class token, the elements that a pooling picks,
the mask that each sample reads. `tests.data.fixed` derives the files of ViT and ConvNeXt from
exports with a free number of samples; that of BERT was exported for one sample.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import onnx
import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.pipeline import RunRequest, run_report
from tests.data.cut import cut_after, ending_at, with_rows
from tests.data.exports import exported
from tests.data.fill_weights import fill_weights
from tests.data.fixed import fixed_to_one_sample
from tests.frontend.reference import random_inputs, run_graph, run_model
from tests.models import imported
from tests.soundness import check_right
from tests.verify.models.fixed_models import masked_attention

REPEATED = {
    "vit_b_16_ts": "/Concat_2: 'class_token'",
    "vit_b_16_dynamo": "node_cat: 'class_token'",
    "convnext_tiny_dynamo": "node_as_strided: 'val_282'",
    "bert_base_ts": "/m/Gather_1: '/m/Add_output_0'",
    "masked_attention": "kept_keys: 'picks'",
}
"""The op that reads a constant of one sample, and the constant."""
ONE_SAMPLE = {"bert_base_ts": exported, "masked_attention": lambda _: masked_attention()}
BATCHES = (2, 16)


@cache
def fixed(name: str) -> bytes:
    """The whole file, whose inputs have one sample."""
    make = ONE_SAMPLE.get(name)
    data = make(name) if make else fixed_to_one_sample(exported(name))
    for value in onnx.load_model_from_string(data).graph.input:
        sizes = value.type.tensor_type.shape.dim
        assert sizes[0].dim_value == 1
        assert all(size.dim_value for size in sizes)
    return data


def part(name: str, norms: int = 1) -> bytes:
    """The beginning up to a normalisation, or the end, with the constant; all of the attention."""
    data = fixed(name)
    if name == "masked_attention":
        return data
    if name == "convnext_tiny_dynamo":
        return ending_at(data, "Conv")
    return with_rows(cut_after(data, "LayerNormalization", norms), 30522, 100)


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("name", REPEATED)
def test_a_whole_export_for_one_sample_imports_for_more(name: str, batch: int) -> None:
    graph = imported(fixed(name), ImportOptions(name, batch))
    repeated = [note for note in graph.notes if note.endswith("is repeated per sample")]
    assert f"batch rescaled from 1 to {batch}" in graph.notes
    assert repeated == [f"{REPEATED[name]} is repeated per sample"]
    assert {graph.tensors[value].shape[0] for value in (*graph.inputs, *graph.outputs)} == {batch}


def replay(name: str, norms: int, strategy: str, batch: int) -> None:
    """Run and replay a part; every cluster has several samples."""
    report = run_report(
        part(name, norms), RunRequest(name, strategy, "stcp920", batch, verify=True)
    )
    check_right(report)
    clusters = report.tables["round"][0]["clusters"]
    assert report.contract["cluster_batch"] == batch // clusters > 1
    assert f"{REPEATED[name]} is repeated per sample" in report.contract["notes"]


@pytest.mark.parametrize("name", REPEATED)
def test_two_samples_per_cluster_replay(name: str) -> None:
    """Against ONNX Runtime, which runs the file once per sample.

    No export here has a mask that GatherND takes: `masked_attention` is BERT's in its real sizes.
    """
    replay(name, 2 if name == "bert_base_ts" else 1, "graphturbo@2", 8)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["tvm", "graphturbo"])
@pytest.mark.parametrize("name", REPEATED)
def test_sixteen_samples_replay(name: str, strategy: str) -> None:
    """Four per cluster, through the first attention."""
    replay(name, 2, strategy, 16)


@pytest.mark.parametrize("batch", BATCHES)
def test_every_sample_has_its_own_mask(batch: int) -> None:
    """About half of the positions are hidden, others in every sample."""
    data = fill_weights(onnx.load_model_from_string(masked_attention())).SerializeToString()
    graph = imported(data, ImportOptions("masked", batch))
    inputs = random_inputs(graph)
    mask = np.random.default_rng(0).integers(0, 2, inputs["attention_mask"].shape)
    inputs = {**inputs, "attention_mask": mask}
    assert len(np.unique(mask, axis=0)) == batch
    (found,) = run_graph(graph, inputs)
    alone = [
        run_model(data, {name: value[at : at + 1] for name, value in inputs.items()})[0]
        for at in range(batch)
    ]
    np.testing.assert_allclose(found, np.concatenate(alone), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["vit_b_16_ts", "vit_b_16_dynamo", "convnext_tiny_dynamo"])
def test_the_derived_file_computes_what_the_export_computes(name: str) -> None:
    """On one sample, from its first op to the first normalisation after a whole layer."""
    image = {"pixel": np.random.default_rng(0).standard_normal((1, 3, 224, 224), np.float32)}
    results = []
    for data in (exported(name), fixed(name)):
        model = onnx.load_model_from_string(cut_after(data, "LayerNormalization", 2))
        results += run_model(fill_weights(model).SerializeToString(), image)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-4, atol=1e-5)
