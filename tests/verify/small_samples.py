"""Small forms of the samples, and chips with few cores for a replay."""

from __future__ import annotations

from collections.abc import Callable

import onnx

from graphturbo_core.hardware.profile import load_profile, profile_names
from sample_models import build_samples
from sample_models.bert import BertSize, bert
from sample_models.conformer import ConformerSize, conformer
from sample_models.dlrm import DlrmSize, dlrm
from sample_models.llama import LlamaSize, llama
from sample_models.vit import VitSize, vit

MAX_CORES = 64

BATCH = 5
"""Shares of 2, 1, 1, 1: two round sizes."""


def _bags(bottom: tuple[int, ...], columns: int, lookups: int, dense: int = 20) -> DlrmSize:
    """A small recommender that adds rows up and has no products of pairs."""
    rows = (2000, 700, 40)
    return DlrmSize(bottom, (48, 24, 1), rows, columns, dense, lookups, has_products=False)


SMALL: dict[str, Callable[[], onnx.ModelProto]] = {
    "resnet50-v1": lambda: build_samples.resnet("v1", (1, 2, 1, 1), 16, 32),
    "resnet50-v15": lambda: build_samples.resnet("v15", (1, 1, 2, 1), 16, 32),
    "resnet50-slim": lambda: build_samples.resnet("slim", (2, 1, 1, 1), 16, 32),
    "mobilenet-v2": lambda: build_samples.mobilenet_v2(
        ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 2, 2)), 32
    ),
    "densenet-121": lambda: build_samples.densenet((2, 3, 2, 2), 32),
    "densenet-169": lambda: build_samples.densenet((2, 2, 4, 3), 32),
    "densenet-201": lambda: build_samples.densenet((1, 2, 5, 3), 32),
    "teaching-resnet": build_samples.teaching_resnet,
    "learn-net": build_samples.learn_net,
    "learn-net-wide": build_samples.learn_net_wide,
    "bert-base": lambda: bert(BertSize(2, 64, 4, 5000, 16), {"batch": 2, "sequence": 8}),
    "bert-large": lambda: bert(BertSize(3, 48, 6, 5000, 16), {"batch": 2, "sequence": 7}),
    "vit-b16": lambda: vit(VitSize(2, 64, 4, 8, 32, 10)),
    "vit-l16": lambda: vit(VitSize(3, 48, 6, 8, 40, 10)),
    "dlrm": lambda: dlrm(DlrmSize((32, 16), (64, 1), (20_000, 3, 50, 4000), 16)),
    "dlrm-random": lambda: dlrm(
        DlrmSize((48, 16), (64, 48, 1), (3000,) * 4, 16, dense=40, lookups=9)
    ),
    "dlrm-rm1": lambda: dlrm(_bags((16, 8), 8, 12)),
    "dlrm-rm2": lambda: dlrm(_bags((24, 16), 16, 15)),
    "dlrm-rm3": lambda: dlrm(_bags((64, 24, 8), 8, 5, dense=160)),
    "conformer": lambda: conformer(ConformerSize(2, 32, 4, 8), {"batch": 2, "frames": 43}),
    "conformer-s": lambda: conformer(ConformerSize(2, 36, 4, 8), {"batch": 2, "frames": 39}),
    "conformer-l": lambda: conformer(ConformerSize(3, 64, 8, 8), {"batch": 2, "frames": 43}),
    "llama": lambda: llama(LlamaSize(2, 64, 4, 128, 5000), {"batch": 2, "sequence": 9}),
}


LECTURE_CHIP, LECTURE_MODELS = "learn-1x4", ("learn-net", "learn-net-wide")
"""The lecture's chip has 1 MiB of DRAM and LBs of 4 KiB: others are refused, or take minutes."""


def chips_with_room() -> tuple[str, ...]:
    """The shipped chips but the lecture's."""
    return tuple(name for name in profile_names() if name != LECTURE_CHIP)


def models_of(chip: str) -> tuple[str, ...]:
    """The small samples that run on a chip."""
    return LECTURE_MODELS if chip == LECTURE_CHIP else tuple(SMALL)


def with_fewer_cores(chip: str) -> bytes | None:
    """The profile of a chip with too many cores for a replay; None: the shipped one will do."""
    if load_profile(chip).cores <= MAX_CORES:
        return None
    cores = "  cores: {value: 19, source: few enough for a replay}"
    return f"extends: {chip}\nname: {chip}-cut\ncluster:\n{cores}\n".encode()
