"""Eleven models as PyTorch exports them: imported, run on stcp920 and replayed.

Every day all of them import at full size and their beginnings replay at small ones, under one
strategy each. With GRAPHTURBO_FULL=1 (`make test-full`) the whole models run too, and more
beginnings replay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import total_macs
from tests.data.cut import cut_after, with_rows
from tests.data.exports import export_names, exported
from tests.full import IS_FULL
from tests.models import imported
from tests.soundness import check_right

MEGA = 10**6
BATCH = 4
"""A sample for each of the chip's clusters."""
STRATEGIES = ("tvm", "graphturbo")


@dataclass(frozen=True)
class Part:
    """The beginning of an export: how far, at which sizes, with how many rows of its table."""

    name: str
    op_type: str
    count: int
    dims: Mapping[str, int] = field(default_factory=dict)
    rows: tuple[int, int] | None = None

    def data(self) -> bytes:
        """The model file."""
        data = cut_after(exported(self.name), self.op_type, self.count)
        return data if self.rows is None else with_rows(data, *self.rows)


SMALL = {"height": 32, "width": 32}
WORDS = {"sequence": 8}
PARTS = (
    Part("resnet50_ts", "Conv", 8),
    Part("mobilenet_v2_ts", "Conv", 52, SMALL),
    Part("efficientnet_b0", "Conv", 11),
    Part("densenet121_ts", "Conv", 30, SMALL),
    Part("bert_base_ts", "LayerNormalization", 2, rows=(30522, 100)),
    Part("bert_base_dynamo", "LayerNormalization", 3, WORDS, (30522, 100)),
    Part("vit_b_16_ts", "LayerNormalization", 2),
    Part("swin_t_ts", "LayerNormalization", 7, {"height": 64, "width": 64}),
    Part("gpt2_ts", "LayerNormalization", 3, WORDS, (50257, 100)),
    Part("llama32_ts", "Softmax", 2, WORDS, (1000, 100)),
    Part("inception_v3_ts", "Conv", 9),
    Part("convnext_tiny_ts", "LayerNormalization", 3),
)
"""Exports of the eleven models, of BERT with a free and with a fixed number of samples ..."""
OTHERS = (
    Part("vgg16", "Conv", 5),
    Part("mobilenet_v2_dynamo", "Gemm", 1, SMALL),
    Part("densenet121_dynamo", "Gemm", 1, SMALL),
    Part("vit_b_16_dynamo", "LayerNormalization", 3),
    Part("swin_t_fixed_dynamo", "LayerNormalization", 7),
    Part("gpt2", "LayerNormalization", 3, rows=(50257, 100)),
    Part("gpt2_dynamo", "LayerNormalization", 3, WORDS, (50257, 100)),
    Part("llama32_dynamo", "Softmax", 3, WORDS, (1000, 100)),
    Part("convnext_tiny_dynamo", "LayerNormalization", 4),
)
"""... and what the other exporter, or another way of binding sizes, makes of them."""


def _id(part: Part) -> str:
    return part.name


@pytest.mark.slow
@pytest.mark.parametrize("part", [*PARTS, *(OTHERS if IS_FULL else ())], ids=_id)
def test_the_beginning_replays(part: Part) -> None:
    requests = [
        RunRequest(part.name, strategy, "stcp920", BATCH, part.dims, verify=True)
        for strategy in (STRATEGIES if IS_FULL else STRATEGIES[-1:])
    ]
    for report in run_reports(part.data(), requests):
        check_right(report)


IMAGE = {"height": 224, "width": 224}
SENTENCE = {"sequence": 128}


def transformer_macs(width: int, key_width: int, inner: int, layers: int) -> int:
    """MACs of a sentence: four projections, scores and their use, and the products of the MLP."""
    words = SENTENCE["sequence"]
    return layers * words * (2 * width * (width + key_width) + 2 * words * width + inner)


BERT_MACS = transformer_macs(768, 768, 2 * 768 * 3072, 12)
GPT2_MACS = BERT_MACS + 128 * 768 * 50257
LLAMA_MACS = transformer_macs(256, 128, 3 * 256 * 688, 32) + 128 * 256 * 1000
WHOLES: dict[str, tuple[Mapping[str, int], float]] = {
    "resnet50_ts": ({}, 4089 * MEGA),
    "vgg16": ({}, 15470 * MEGA),
    "mobilenet_v2_ts": (IMAGE, 301 * MEGA),
    "mobilenet_v2_dynamo": (IMAGE, 301 * MEGA),
    "efficientnet_b0": ({}, 386 * MEGA),
    "densenet121_ts": (IMAGE, 2834 * MEGA),
    "densenet121_dynamo": (IMAGE, 2834 * MEGA),
    "vit_b_16_ts": ({}, 17564 * MEGA),
    "vit_b_16_dynamo": ({}, 17564 * MEGA),
    "swin_t_ts": (IMAGE, 4491 * MEGA),
    "swin_t_fixed_dynamo": ({}, 4491 * MEGA),
    "inception_v3_ts": ({}, 5713 * MEGA),
    "convnext_tiny_ts": ({}, 4456 * MEGA),
    "convnext_tiny_dynamo": ({}, 4456 * MEGA),
    "bert_base_ts": ({}, BERT_MACS),
    "bert_base_dynamo": (SENTENCE, BERT_MACS),
    "gpt2": ({}, BERT_MACS),
    "gpt2_ts": (SENTENCE, GPT2_MACS),
    "gpt2_dynamo": (SENTENCE, GPT2_MACS),
    "llama32_ts": (SENTENCE, LLAMA_MACS),
    "llama32_dynamo": (SENTENCE, LLAMA_MACS),
}
"""Sizes to bind, and MACs of a sample: of vision models as torchvision publishes them; `gpt2` ends
before the product with its table."""


def test_every_export_is_looked_at() -> None:
    assert sorted(WHOLES) == list(export_names())


@pytest.mark.parametrize("name", WHOLES)
def test_whole_models_import_with_the_published_macs(name: str) -> None:
    dims, macs = WHOLES[name]
    semantics = analyse(imported(exported(name), ImportOptions(name, 1, dims)))
    assert total_macs(semantics) == pytest.approx(macs, rel=0.01)
    assert not semantics.opaque_ops


@pytest.mark.skipif(not IS_FULL, reason="set GRAPHTURBO_FULL=1 for whole models")
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", WHOLES)
def test_whole_models_run(name: str, strategy: str) -> None:
    dims, macs = WHOLES[name]
    (report,) = run_reports(exported(name), [RunRequest(name, strategy, "stcp920", BATCH, dims)])
    assert report.contract["cycles"] > 0  # type: ignore[operator]
    assert report.contract["macs"] <= 1.01 * macs * BATCH  # type: ignore[operator]
