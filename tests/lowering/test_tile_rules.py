"""Every option `lowering.*` changes the program that it is about."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.program import Program
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.strategies.options import LOWERING, strategy_options
from graphturbo_core.strategies.registry import make_plan, parse_strategy
from tests.strategies.samples import hardware, sample_semantics, weighted

MOBILENET = ("graphturbo", "generic-4x4", sample_semantics("mobilenet-v2", 4))
POOLED = ("graphturbo", "stcp920-10mib", sample_semantics("mobilenet-v2", 8))
RELU = weighted("g (float[4,1,64,96] x) => (float[4,1,64,96] y) { y = Relu(x) }")
LONG_K = weighted("g (float[256,650] x, float[650,64] w) => (float[256,64] y) { y = MatMul(x, w) }")
COARSER = Limits(max_instructions=40)

CASES = (
    ("tile_share", 32, MOBILENET, DEFAULT_LIMITS),
    ("tiles", 2, MOBILENET, DEFAULT_LIMITS),
    ("padding_percent", 0, POOLED, DEFAULT_LIMITS),
    ("vector_tile_elements", 1024, ("layerwise", "generic-4x4", RELU), DEFAULT_LIMITS),
    ("load_chunk_bytes", 4096, MOBILENET, DEFAULT_LIMITS),
    ("small_weight_share", 1024, MOBILENET, DEFAULT_LIMITS),
    # Of 32 KiB a slot, a column of 650 fp16 weights takes 1,300 bytes: 25 of 32 columns, 78 %.
    ("narrow_percent", 80, ("layerwise", "generic-4x4", LONG_K), COARSER),
    ("pool_share", 10, POOLED, DEFAULT_LIMITS),
)


def program(
    setting: tuple[str, str, GraphSemantics], options: dict[str, str], to: Limits
) -> Program:
    strategy, profile, semantics = setting
    spec = parse_strategy(strategy)
    return lower(make_plan(spec, semantics, hardware(profile), "fp16", options), to)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value", "setting", "limits"), CASES, ids=[c[0] for c in CASES])
def test_every_option_changes_a_program(
    name: str, value: int, setting: tuple[str, str, GraphSemantics], limits: Limits
) -> None:
    plain = program(setting, {}, limits)
    changed = program(setting, {f"{LOWERING}.{name}": str(value)}, limits)
    assert not np.array_equal(plain.hold_cycles, changed.hold_cycles)


def test_every_option_is_tried_and_every_rule_is_an_option() -> None:
    names = [each.name for each in fields(TileRules)]
    assert sorted(case[0] for case in CASES) == sorted(names)
    options = {f"{LOWERING}.{name}": str(getattr(DEFAULT_RULES, name)) for name in names}
    listed = {
        name: o.default for name, o in strategy_options().items() if name.startswith(LOWERING)
    }
    assert listed == options
