"""Closed forms of a chip, by hand; what the shipped chips say."""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import Hardware, MatrixModel
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.hardware.profile import DEFAULT_PROFILE, load_profile, profile_names
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES
from graphturbo_core.ir.dtypes import NUMBER_FORMATS
from tests.hardware.profile_fields import field_name

KIB, MIB, GIB = 2**10, 2**20, 2**30


@pytest.fixture(params=profile_names())
def chip(request: pytest.FixtureRequest) -> Hardware:
    return load_profile(request.param)


def split_bytes(chip: Hardware) -> int:
    """The capacity that Algorithm 1 has by default."""
    return memory_budget(chip, DEFAULT_RULES).split_bytes


def test_default_profile_comes_first() -> None:
    assert profile_names() == (
        DEFAULT_PROFILE, "ascend910", "generic-4x4", "goya", "ipu-gc2", "learn-1x4",
        "stcp920-10mib",
    )  # fmt: skip


def test_transfer_cycles_by_hand() -> None:
    chip = load_profile("stcp920")
    # At 1 GHz the DRAM share moves 27 bytes a cycle: 54 take 2 cycles, one more byte a third.
    assert chip.transfer_cycles(54, chip.dram_bandwidth) == 2
    assert chip.transfer_cycles(55, chip.dram_bandwidth) == 3
    assert chip.transfer_cycles(0, chip.dram_bandwidth) == 0
    # 1 MiB through GB at 256 bytes a cycle.
    assert chip.transfer_cycles(MIB, chip.gb_bandwidth) == 4096


@given(st.integers(0, 2**44), st.integers(10**6, 10**16), st.integers(10**6, 10**10))
def test_transfer_cycles_are_rounded_up_exactly(
    size_bytes: int, bandwidth: int, clock_hz: int
) -> None:
    chip = dataclasses.replace(load_profile("stcp920"), clock_hz=clock_hz)
    exact = Fraction(size_bytes) * clock_hz / bandwidth
    assert chip.transfer_cycles(size_bytes, bandwidth) == math.ceil(exact)


def test_stcp920_is_the_published_chip() -> None:
    chip = load_profile("stcp920")
    assert (chip.clusters, chip.cores, chip.clock_hz) == (4, 8, 10**9)
    # 4 x 8 x 2048 MAC/cycle x 2 operations x 1 GHz = 131 TFLOPS fp16.
    per_chip = chip.clusters * chip.cores * chip.peak_macs_per_cycle("fp16")
    assert per_chip * 2 * chip.clock_hz == 131_072_000_000_000
    assert chip.peak_macs_per_cycle("int8") == 4096
    assert chip.peak_vector_per_cycle("fp16") == 64
    assert chip.clusters * chip.dram_bandwidth == 108 * 10**9
    assert chip.clusters * chip.dram_bytes == 16 * GIB
    assert (chip.lb_bytes, chip.staging_bytes) == (1280 * KIB, 256 * KIB)
    assert (chip.gb_bytes, split_bytes(chip)) == (8 * MIB, 8 * MIB)
    assert chip.matrix_model is MatrixModel.PASSES


def test_ascend910_is_the_published_chip() -> None:
    chip = load_profile("ascend910")
    assert (chip.clusters, chip.cores) == (1, 32)
    # A cube of 16 x 16 x 16; 32 x 4096 MAC/cycle x 2 operations x 1 GHz = 262 TFLOPS, 256 given.
    assert chip.peak_macs_per_cycle("fp16") == 16**3
    assert chip.cores * chip.peak_macs_per_cycle("fp16") * 2 * chip.clock_hz == 262_144 * 10**9
    assert chip.peak_macs_per_cycle("int8") == 2 * 16**3
    assert chip.peak_vector_per_cycle("fp16") == 128
    assert (chip.lb_bytes, chip.staging_bytes, chip.gb_bytes) == (1280 * KIB, 256 * KIB, 32 * MIB)
    assert chip.is_pooled


def test_goya_shares_one_engine() -> None:
    chip = load_profile("goya")
    assert (chip.clusters, chip.cores, chip.matrix_engines) == (1, 8, 1)
    assert (chip.gb_bytes, chip.lb_bytes) == (0x32A0000, 80 * KIB)
    # One engine, not eight: 49,152 int8 MAC a cycle at 1 GHz, 98 TOPS for the chip.
    assert chip.peak_macs_per_cycle("int8") == 49_152
    assert load_profile("stcp920").matrix_engines == 8


def test_ipu_gc2_has_tiles_and_no_gb() -> None:
    chip = load_profile("ipu-gc2")
    assert (chip.clusters, chip.cores, chip.gb_bytes, chip.dma_engines) == (2, 1216, 0, 0)
    assert chip.lb_bytes == 256 * KIB
    # 1,216 x 32 MAC/cycle x 2 operations x 1.6 GHz = 124.5 TFLOPS, and 31.1 in fp32.
    peak = {name: 1216 * chip.peak_macs_per_cycle(name) * 2 * chip.clock_hz for name in ("fp16",)}
    assert peak["fp16"] == 124_518_400 * 10**6
    assert chip.peak_macs_per_cycle("fp16") == 4 * chip.peak_macs_per_cycle("fp32")


def test_variant_differs_in_its_pool_only() -> None:
    base, variant = load_profile("stcp920"), load_profile("stcp920-10mib")
    changed = {
        field.name
        for field in dataclasses.fields(Hardware)
        if getattr(base, field.name) != getattr(variant, field.name)
    }
    pool = {"lb_data_bytes", "lb_weight_bytes", "is_pooled", "split_capacity_bytes"}
    assert changed == pool | {"name", "title", "numbers"}
    assert variant.is_pooled
    assert variant.lb_bytes == variant.lb_data_bytes == variant.lb_weight_bytes == 1280 * KIB
    assert variant.split_capacity_bytes == 10 * MIB


def test_generic_chip_is_assumed_throughout() -> None:
    chip = load_profile("generic-4x4")
    assert chip.lb_bytes == 256 * KIB
    assert split_bytes(chip) == 4 * 192 * KIB
    assert chip.clusters * chip.dram_bandwidth == 64 * 10**9
    given_numbers = [n for n in chip.numbers if field_name(n) != "split_capacity_bytes"]
    assert all(number.is_assumption for number in given_numbers)


def test_every_number_has_its_source_and_reaches_the_chip(chip: Hardware) -> None:
    for number in chip.numbers:
        held = getattr(chip, field_name(number))
        if held is None:
            assert number.key == "cluster.split_capacity_bytes"
            held = split_bytes(chip)
        if field_name(number).endswith("_rate"):
            held = held[number.key.rpartition(".")[2]]
        plain = held.value if isinstance(held, MatrixModel) else held
        assert plain == number.value, number.key
        assert len(number.source.split()) >= 3, number.key
        assert number.is_assumption == number.source.startswith("assumption: "), number.key


def test_no_field_of_the_chip_is_without_source(chip: Hardware) -> None:
    named = {field_name(number) for number in chip.numbers}
    fields = {field.name for field in dataclasses.fields(Hardware)}
    # Text has no source; no pool, deep array, shared engine, shards or way into another cluster's
    # DRAM unless the profile says so.
    unsaid = {"is_pooled", "matrix_depth", "shared_engine", "weight_placement"}
    unsaid |= {"remote_dram_latency_cycles"}
    if not chip.has_gb:
        unsaid |= {"gb_bandwidth", "gb_latency_cycles"}
    assert fields - named <= {"name", "title", "numbers", "notes"} | unsaid
    assert len({number.key for number in chip.numbers}) == len(chip.numbers)


def test_rates_cover_every_number_format(chip: Hardware) -> None:
    assert set(chip.matrix_rate) == set(chip.vector_rate) == set(NUMBER_FORMATS)


def test_a_chip_can_be_a_cache_key(chip: Hardware) -> None:
    assert hash(chip) == hash(load_profile(chip.name))
    assert chip == load_profile(chip.name)
