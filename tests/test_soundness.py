"""Every sample, two chips, every strategy and level: properties of every run.

Our own samples are built small, so that the matrix stays quick; kinds of layers and strategies are
those of the full ones. On the second chip every strategy runs with GRAPHTURBO_FULL=1 only, and so
does every file in full size; light models run on it in the sample (`tests/matrix.py`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.report import Report
from sample_models import build_samples
from sample_models.bert import BertSize, bert
from sample_models.conformer import ConformerSize, conformer
from sample_models.dlrm import CRITEO_KAGGLE, RM3, dlrm
from sample_models.llama import LlamaSize, llama
from sample_models.vit import VitSize, vit
from tests.full import IS_FULL, SLOW, often
from tests.soundness import (
    check_sound,
)

CHIPS = ("stcp920", "generic-4x4")
STRATEGIES = (
    "layerwise", "tvm@1", "astitch@1", "graphturbo:gb", "graphturbo:lb", "graphturbo:order@3",
    "graphturbo",
)  # fmt: skip
BATCH = 13
"""Shares of 4, 3, 3, 3: clusters that differ, and with a cluster batch of 3 a remainder."""
CLOCK = ("steps", "schedule_seconds")

SMALL = {
    "resnet50-v1": lambda: build_samples.resnet("v1", (1, 2, 1, 1), 32, 64),
    "resnet50-v15": lambda: build_samples.resnet("v15", (1, 2, 2, 1), 32, 64),
    "resnet50-slim": lambda: build_samples.resnet("slim", (2, 2, 2, 2), 32, 64),
    "mobilenet-v2": lambda: build_samples.mobilenet_v2(resolution=64),
    "densenet-121": lambda: build_samples.densenet((2, 3, 2, 2), 64),
    "teaching-resnet": build_samples.teaching_resnet,
    "bert-base": lambda: bert(BertSize(2, 128, 4, positions=64), {"sequence": 32}),
    "vit-b16": lambda: vit(VitSize(2, 128, 4, 16, 64, 10)),
    "dlrm": lambda: dlrm(replace(CRITEO_KAGGLE, rows=(10**6, 3, 5000, 27))),
    "dlrm-rm3": lambda: dlrm(replace(RM3, rows=(10**6, 3, 5000, 27))),
    "conformer": lambda: conformer(ConformerSize(2, 64, 4), {"frames": 131}),
    "llama": lambda: llama(LlamaSize(2, 128, 4, 256, 4000), {"sequence": 32}),
}
QUICKEST = ("teaching-resnet", "bert-base", "dlrm")
"""A network of each kind: the others are `slow`."""
LIGHT = tuple(name for name in sample_names() if name.startswith("light-"))
FULL = (
    ("resnet50-slim", "graphturbo@16"), pytest.param("densenet-121", "graphturbo@2", marks=SLOW),
)  # fmt: skip


def strategies_on(chip: str) -> tuple[str, ...]:
    return STRATEGIES if IS_FULL or chip == CHIPS[0] else ("tvm@1", "graphturbo")


def light_strategies(name: str) -> tuple[str, ...]:
    """One of two, in turn over the models; all with GRAPHTURBO_FULL=1."""
    if IS_FULL:
        return STRATEGIES
    return ("graphturbo",) if LIGHT.index(name) % 2 else ("tvm",)


def small_model(name: str) -> bytes:
    return bytes(SMALL[name]().SerializeToString(deterministic=True))


@cache
def reports_of(name: str, chip: str) -> tuple[Report, ...]:
    requests = [RunRequest(name, strategy, chip, BATCH) for strategy in strategies_on(chip)]
    return tuple(run_reports(small_model(name), requests))


def text_without_clock(report: Report) -> str:
    contract = {key: value for key, value in report.contract.items() if key not in CLOCK}
    return json.dumps([contract, report.tables], allow_nan=False)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", often(SMALL, QUICKEST))
def test_our_samples_under_every_strategy(name: str, chip: str) -> None:
    for report in reports_of(name, chip):
        check_sound(report)


@pytest.mark.parametrize("name", often(SMALL, QUICKEST))
def test_strategies_do_the_same_work(name: str) -> None:
    contracts = [report.contract for report in reports_of(name, CHIPS[0])]
    for key in ("macs", "lower_bound_s", "compulsory_dram_bytes", "sub_graphs_fine"):
        assert len({contract[key] for contract in contracts}) == 1, key


TWICE = (
    pytest.param("densenet-121", CHIPS[0], marks=SLOW), ("teaching-resnet", CHIPS[0]),
    ("resnet50-slim", CHIPS[1]),
)  # fmt: skip


@pytest.mark.parametrize(("name", "chip"), TWICE)
def test_the_same_bytes_twice(name: str, chip: str) -> None:
    """Every strategy on one model, and on the other chip what runs there, on another."""
    requests = [RunRequest(name, strategy, chip, BATCH) for strategy in strategies_on(chip)]
    again = run_reports(small_model(name), requests)
    for first, second in zip(reports_of(name, chip), again, strict=True):
        assert text_without_clock(first) == text_without_clock(second)
        for key, array in first.arrays.items():
            assert np.array_equal(array, second.arrays[key]), key


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS if IS_FULL else CHIPS[:1])
@pytest.mark.parametrize("name", LIGHT)
def test_the_onnx_packages_models(name: str, chip: str) -> None:
    requests = [RunRequest(name, strategy, chip) for strategy in light_strategies(name)]
    for report in run_reports(load_sample(name), requests):
        check_sound(report)
        assert report.contract["batch"] == 1


@pytest.mark.skipif(not IS_FULL, reason="GRAPHTURBO_FULL=1 runs whole files")
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", SMALL)
def test_whole_files_under_every_strategy(name: str, chip: str) -> None:
    requests = [RunRequest(name, strategy, chip, BATCH) for strategy in STRATEGIES]
    for report in run_reports(load_sample(name), requests):
        check_sound(report)


@pytest.mark.parametrize(("name", "strategy"), FULL)
def test_whole_files(name: str, strategy: str) -> None:
    (report,) = run_reports(load_sample(name), [RunRequest(name, strategy)])
    check_sound(report)


def test_the_contract_of_the_teaching_network(golden: Callable[[str, str], None]) -> None:
    requests = [RunRequest("teaching-resnet", name, batch=8) for name in ("tvm@2", "graphturbo@2")]
    reports = run_reports(load_sample("teaching-resnet"), requests)
    contracts = [
        {key: value for key, value in report.contract.items() if key not in CLOCK}
        for report in reports
    ]
    golden("contract-teaching-resnet", json.dumps(contracts, indent=1) + "\n")
