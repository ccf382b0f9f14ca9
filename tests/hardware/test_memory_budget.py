"""What planning assumes of LB and GB is what lowering allots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.memory_budget import MemoryBudget, memory_budget
from graphturbo_core.hardware.profile import load_profile, profile_names
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES, TileRules
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Memory
from graphturbo_core.strategies.options import resolve_options
from graphturbo_core.strategies.planning import splitter_of
from graphturbo_core.strategies.registry import parse_strategy
from tests.full import paired
from tests.strategies.plans import make_plan
from tests.strategies.samples import sample_semantics, weighted

POOL_SHARE = "lowering.pool_share"
POOLED = tuple(name for name in profile_names() if load_profile(name).is_pooled)
CORES = 4
SMALL_GB_BYTES = 2 << 20
"""GB of chips with more: numbers for a weight of 50 MiB take seconds."""
TENTH: Mapping[str, str] = {POOL_SHARE: "10"}


def few_cores(profile: str) -> Hardware:
    """A chip with few cores, whose split capacity is that of its LBs."""
    chip = load_profile(profile)
    return replace(chip, cores=min(CORES, chip.cores), split_capacity_bytes=None)


def planned(profile: str, options: Mapping[str, str], model: str = "mobilenet-v2") -> Plan:
    spec = parse_strategy("graphturbo")
    return make_plan(spec, sample_semantics(model, 4), few_cores(profile), "fp16", options)


def test_a_pool_is_divided_and_two_parts_are_as_they_are() -> None:
    chip = load_profile("stcp920")
    assert memory_budget(chip, DEFAULT_RULES) == MemoryBudget(
        lb_data_bytes=1 << 20,
        lb_weight_bytes=256 << 10,
        shard_bytes=0,
        output_ring_bytes=2 * (1 << 20) // 16,
        gb_data_bytes=(8 << 20) - (256 << 10),
        gb_weight_ring_bytes=256 << 10,
        split_bytes=8 << 20,
    )
    pool = replace(chip, is_pooled=True, lb_data_bytes=1000, lb_weight_bytes=1000)
    assert memory_budget(pool, TileRules(pool_share=4, tile_share=10)) == MemoryBudget(
        lb_data_bytes=750,
        lb_weight_bytes=250,
        shard_bytes=0,
        output_ring_bytes=150,
        gb_data_bytes=(8 << 20) - 250,
        gb_weight_ring_bytes=250,
        split_bytes=8 * 750,
    )
    sharing = replace(pool, weight_placement="sharded", gb_bytes=0, split_capacity_bytes=77)
    found = memory_budget(sharing, DEFAULT_RULES)
    assert (found.shard_bytes, found.gb_data_bytes, found.gb_weight_ring_bytes) == (100, 0, 0)
    assert found.split_bytes == 77
    tiny = replace(pool, gb_bytes=100)
    assert memory_budget(tiny, DEFAULT_RULES).gb_data_bytes == 0


def test_every_pooled_chip_is_here() -> None:
    assert POOLED == ("ascend910", "goya", "ipu-gc2", "stcp920-10mib")


@pytest.mark.parametrize(
    ("profile", "options"),
    paired(POOLED, [{}, TENTH]),
    ids=lambda value: value if isinstance(value, str) else "a tenth" if value else "a fifth",
)
def test_planning_and_lowering_have_the_same_bytes(
    profile: str, options: Mapping[str, str]
) -> None:
    plan = planned(profile, options)
    chip, rules = plan.hardware, TileRules(pool_share=int(options.get(POOL_SHARE, 5)))
    weights = chip.lb_bytes // rules.pool_share
    data = chip.lb_bytes - weights

    splitter = splitter_of("graphturbo", chip, resolve_options(options))
    assert splitter is not None
    assert splitter.capacity_bytes == chip.cores * data
    limits = {d.numbers["lb_data_bytes"] for d in plan.decisions if d.step == "fit"}
    assert limits == {data}

    program = lower(plan)
    held = program.buffers
    ends = held.offset + held.size_bytes
    in_data, in_weights = held.memory == Memory.LB_DATA, held.memory == Memory.LB_WEIGHT
    assert in_data.any()
    assert int(ends[in_data].max()) <= data
    if in_weights.any():
        assert int(held.offset[in_weights].min()) >= data
        assert int(ends[in_weights].max()) <= data + weights


def residency_of_row(chip: Hardware, size_bytes: int, options: Mapping[str, str]) -> Residency:
    """Where the weight of an addition is held that has so many bytes."""
    elements = size_bytes // 2
    text = f"g (float[2,{elements}] x, float[{elements}] w) => (float[2,{elements}] y) "
    model = weighted(text + "{ y = Add(x, w) }")
    plan = make_plan(parse_strategy("layerwise"), model, chip, "fp16", options)
    return plan.kernels[0].residency["w"]


@pytest.mark.parametrize(("options", "share"), [({}, 5), (TENTH, 10)], ids=["a fifth", "a tenth"])
@pytest.mark.parametrize("profile", POOLED)
def test_weights_are_resident_up_to_the_parts_that_lowering_allots(
    profile: str, options: Mapping[str, str], share: int
) -> None:
    chip = few_cores(profile)
    chip = replace(chip, gb_bytes=min(SMALL_GB_BYTES, chip.gb_bytes))
    part = chip.lb_bytes // share // 2 * 2
    assert residency_of_row(chip, part, options) is Residency.LB
    assert residency_of_row(chip, part + 2, options) is not Residency.LB
    if chip.has_gb:
        room = (chip.gb_bytes - chip.lb_bytes // share) // 2 * 2
        assert residency_of_row(chip, room, options) is Residency.GB
        assert residency_of_row(chip, room + 2, options) is Residency.STREAM
