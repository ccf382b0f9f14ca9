"""MACs of public models against their architectures, worked out from the papers' tables alone.

The numbers beside the functions are those that torchvision publishes for its models (operation
counts of one image of 224 x 224), to the digits that it gives. Both of PyTorch's exporters write
attention in their own way, and either must count the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.report.bounds.need import model_need
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.semantics.work import total_macs
from tests.data.exports import exported
from tests.models import imported


def conv(size: int, inputs: int, outputs: int, kernel: int, groups: int = 1) -> int:
    """Of a map of size x size results."""
    return size**2 * outputs * (inputs // groups) * kernel**2


def resnet50() -> int:
    """4.09 G. Bottlenecks of 3, 4, 6 and 3; the 3 x 3 convolution has the stride."""
    total, before, inputs = conv(112, 3, 64, 7) + 2048 * 1000, 56, 64
    for width, blocks, size in ((64, 3, 56), (128, 4, 28), (256, 6, 14), (512, 3, 7)):
        total += conv(size, inputs, 4 * width, 1)
        for block in range(blocks):
            first = before if block == 0 else size
            total += conv(first, inputs, width, 1) + conv(size, width, width, 3)
            total += conv(size, width, 4 * width, 1)
            inputs = 4 * width
        before = size
    return total


def vgg(deep: int) -> int:
    """15.47 G of VGG-16 (`deep` = 3 convolutions in the last three stages), 19.63 G of VGG-19."""
    total, inputs = 512 * 7 * 7 * 4096 + 4096**2 + 4096 * 1000, 3
    stages = ((64, 2, 224), (128, 2, 112), (256, deep, 56), (512, deep, 28), (512, deep, 14))
    for width, layers, size in stages:
        for _ in range(layers):
            total += conv(size, inputs, width, 3)
            inputs = width
    return total


def mobilenet_v2() -> int:
    """0.30 G. Rows of the paper's Table 2: expansion, channels, repeats, size of results."""
    total, inputs, before = conv(112, 3, 32, 3) + conv(7, 320, 1280, 1) + 1280 * 1000, 32, 112
    rows = (
        (1, 16, 1, 112), (6, 24, 2, 56), (6, 32, 3, 28), (6, 64, 4, 14), (6, 96, 3, 14),
        (6, 160, 3, 7), (6, 320, 1, 7),
    )  # fmt: skip
    for expansion, outputs, repeats, size in rows:
        for _ in range(repeats):
            wide = expansion * inputs
            total += conv(before, inputs, wide, 1) if expansion > 1 else 0
            total += conv(size, wide, wide, 3, wide) + conv(size, wide, outputs, 1)
            inputs, before = outputs, size
    return total


def efficientnet_b0() -> int:
    """0.39 G. As MobileNet-v2, with a kernel size per row and squeeze-and-excitation."""
    total, inputs, before = conv(112, 3, 32, 3) + conv(7, 320, 1280, 1) + 1280 * 1000, 32, 112
    rows = (
        (1, 3, 16, 1, 112), (6, 3, 24, 2, 56), (6, 5, 40, 2, 28), (6, 3, 80, 3, 14),
        (6, 5, 112, 3, 14), (6, 5, 192, 4, 7), (6, 3, 320, 1, 7),
    )  # fmt: skip
    for expansion, kernel, outputs, repeats, size in rows:
        for _ in range(repeats):
            wide = expansion * inputs
            total += conv(before, inputs, wide, 1) if expansion > 1 else 0
            total += conv(size, wide, wide, kernel, wide) + conv(size, wide, outputs, 1)
            total += 2 * wide * (inputs // 4)
            inputs, before = outputs, size
    return total


def densenet121() -> int:
    """2.83 G. Blocks of 6, 12, 24 and 16 layers that add 32 channels; transitions halve them."""
    total, channels = conv(112, 3, 64, 7) + 1024 * 1000, 64
    for layers, size in ((6, 56), (12, 28), (24, 14), (16, 7)):
        for _ in range(layers):
            total += conv(size, channels, 128, 1) + conv(size, 128, 32, 3)
            channels += 32
        if size > 7:
            total += conv(size, channels, channels // 2, 1)
            channels //= 2
    return total


def squeezenet() -> int:
    """0.35 G. Version 1.1 of the authors' repository."""
    total = conv(111, 3, 64, 3) + conv(13, 512, 1000, 1)
    fires = (
        (55, 64, 16, 64), (55, 128, 16, 64), (27, 128, 32, 128), (27, 256, 32, 128),
        (13, 256, 48, 192), (13, 384, 48, 192), (13, 384, 64, 256), (13, 512, 64, 256),
    )  # fmt: skip
    for size, inputs, squeezed, expanded in fires:
        total += conv(size, inputs, squeezed, 1)
        total += conv(size, squeezed, expanded, 1) + conv(size, squeezed, expanded, 3)
    return total


def encoder(rows: int, hidden: int, layers: int) -> int:
    """Projections of 4 h^2 and a feed-forward of 8 h^2 a row; scores and context of h a pair."""
    return layers * (rows * 12 * hidden**2 + 2 * rows**2 * hidden)


def vit_b_16() -> int:
    """17.56 G. 196 patches of 3 x 16 x 16 numbers and a class token."""
    return encoder(197, 768, 12) + 196 * 768 * 3 * 16**2 + 768 * 1000


def vit_needed() -> int:
    """The last layer's queries, output projection and feed-forward serve the class token alone."""
    return vit_b_16() - 196 * (10 * 768**2 + 2 * 197 * 768)


def swin_t() -> int:
    """4.49 G. Windows of 49 patches; between stages four of C channels become one of 2 C."""
    total = 56**2 * 96 * 3 * 4**2 + 768 * 1000
    for channels, layers, size in ((96, 2, 56), (192, 2, 28), (384, 6, 14), (768, 2, 7)):
        rows = size**2
        total += layers * (rows * 12 * channels**2 + 2 * rows * 49 * channels)
        total += 0 if size == 7 else (rows // 4) * 4 * channels * 2 * channels
    return total


def bert_base() -> int:
    """128 tokens, no pooler."""
    return encoder(128, 768, 12)


def gpt2() -> int:
    """128 tokens, and the product with the table of 50,257 words."""
    return encoder(128, 768, 12) + 128 * 768 * 50257


IMAGE, WORDS = {"height": 224, "width": 224}, {"sequence": 128}
EXPORTS: Mapping[str, tuple[Mapping[str, int], Callable[[], int]]] = {
    "resnet50_ts": ({}, resnet50),
    "vgg16": ({}, lambda: vgg(3)),
    "mobilenet_v2_ts": (IMAGE, mobilenet_v2),
    "mobilenet_v2_dynamo": (IMAGE, mobilenet_v2),
    "efficientnet_b0": ({}, efficientnet_b0),
    "densenet121_ts": (IMAGE, densenet121),
    "densenet121_dynamo": (IMAGE, densenet121),
    "vit_b_16_ts": ({}, vit_b_16),
    "vit_b_16_dynamo": ({}, vit_b_16),
    "swin_t_ts": (IMAGE, swin_t),
    "swin_t_fixed_dynamo": ({}, swin_t),
    "bert_base_ts": ({}, bert_base),
    "bert_base_dynamo": (WORDS, bert_base),
    "gpt2_ts": (WORDS, gpt2),
    "gpt2_dynamo": (WORDS, gpt2),
}
SAMPLES = {"light-vgg19": lambda: vgg(4), "light-squeezenet": squeezenet, "vit-b16": vit_b_16}
PUBLISHED = {
    resnet50: 4.09, mobilenet_v2: 0.30, efficientnet_b0: 0.39, densenet121: 2.83, vit_b_16: 17.56,
    swin_t: 4.49, squeezenet: 0.35,
}  # fmt: skip


def exported_semantics(name: str) -> GraphSemantics:
    """An export at a batch of one."""
    dims, _ = EXPORTS[name]
    return analyse(imported(exported(name), ImportOptions(name, 1, dims)))


def test_the_arithmetic_agrees_with_what_is_published() -> None:
    for count, giga in PUBLISHED.items():
        assert round(count() / 1e9, 2) == giga
    assert (resnet50(), vit_b_16(), bert_base()) == (4_089_184_256, 17_563_828_224, 11_173_625_856)
    assert [round(vgg(deep) / 1e9, 2) for deep in (3, 4)] == [15.47, 19.63]


@pytest.mark.parametrize("name", EXPORTS)
def test_macs_of_exports(name: str) -> None:
    _, count = EXPORTS[name]
    semantics = exported_semantics(name)
    assert total_macs(semantics) == count()
    need = model_need(semantics)
    assert need.is_exact
    assert need.macs == (vit_needed() if count is vit_b_16 else count())


@pytest.mark.parametrize("name", SAMPLES)
def test_macs_of_samples(name: str) -> None:
    batch = 1 if name.startswith("light") else 3
    semantics = analyse(imported(load_sample(name), ImportOptions(name, batch)))
    assert total_macs(semantics) == batch * SAMPLES[name]()
    need = model_need(semantics)
    assert need.is_exact
    if name == "vit-b16":
        assert need.macs == batch * vit_needed()
