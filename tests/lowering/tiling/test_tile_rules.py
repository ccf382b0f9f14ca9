"""Every option `lowering.*` changes the program that it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.options import LOWERING, strategy_options
from graphturbo_core.strategies.registry import parse_strategy
from tests.strategies.plans import make_plan
from tests.strategies.samples import hardware, sample_semantics, weighted

RELU = "g (float[4,1,64,96] x) => (float[4,1,64,96] y) { y = Relu(x) }"
LONG_K = "g (float[256,650] x, float[650,64] w) => (float[256,64] y) { y = MatMul(x, w) }"
COARSER = Limits(max_instructions=40)
SETTINGS: dict[str, tuple[str, str, Callable[[], GraphSemantics]]] = {
    "mobilenet": ("graphturbo", "generic-4x4", lambda: sample_semantics("mobilenet-v2", 4)),
    "pooled": ("graphturbo", "stcp920-10mib", lambda: sample_semantics("mobilenet-v2", 8)),
    "relu": ("layerwise", "generic-4x4", lambda: weighted(RELU)),
    "long K": ("layerwise", "generic-4x4", lambda: weighted(LONG_K)),
}
"""Strategy, chip and model by name."""

CASES = (
    ("tile_share", 32, "mobilenet", DEFAULT_LIMITS),
    ("tiles", 2, "mobilenet", DEFAULT_LIMITS),
    ("padding_percent", 0, "pooled", DEFAULT_LIMITS),
    ("vector_tile_elements", 1024, "relu", DEFAULT_LIMITS),
    ("load_chunk_bytes", 4096, "mobilenet", DEFAULT_LIMITS),
    ("small_weight_share", 1024, "mobilenet", DEFAULT_LIMITS),
    # Of 32 KiB a slot, a column of 650 fp16 weights takes 1,300 bytes: 25 of 32 columns, 78 %.
    ("narrow_percent", 80, "long K", COARSER),
    ("pool_share", 10, "pooled", DEFAULT_LIMITS),
)


def program(setting: str, options: dict[str, str], to: Limits) -> Program:
    strategy, profile, semantics = SETTINGS[setting]
    spec = parse_strategy(strategy)
    return lower(make_plan(spec, semantics(), hardware(profile), "fp16", options), to)


@cache
def plain(setting: str, to: Limits) -> Program:
    return program(setting, {}, to)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value", "setting", "limits"), CASES, ids=[c[0] for c in CASES])
def test_every_option_changes_a_program(
    name: str, value: int, setting: str, limits: Limits
) -> None:
    changed = program(setting, {f"{LOWERING}.{name}": str(value)}, limits)
    assert not np.array_equal(plain(setting, limits).hold_cycles, changed.hold_cycles)


def test_every_option_is_tried_and_every_rule_is_an_option() -> None:
    names = [each.name for each in fields(TileRules)]
    assert sorted(case[0] for case in CASES) == sorted(names)
    options = {f"{LOWERING}.{name}": str(getattr(DEFAULT_RULES, name)) for name in names}
    listed = {
        name: o.default for name, o in strategy_options().items() if name.startswith(LOWERING)
    }
    assert listed == options
