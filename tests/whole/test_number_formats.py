"""Number formats: the bytes of every type, and the rates that each format has for itself."""

from __future__ import annotations

import pytest

from graphturbo_core.hardware.profile import parse_profile
from graphturbo_core.ir.dtypes import element_bytes

FORMAT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2, "int8": 1}
OWN_BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "int32": 4, "uint32": 4, "int64": 4}
RATES = {"fp32": 1, "fp16": 2, "bf16": 3, "int8": 5}


@pytest.mark.parametrize("number_format", FORMAT_BYTES)
def test_every_float_has_the_width_of_the_runs_format(number_format: str) -> None:
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        assert element_bytes(dtype, number_format) == FORMAT_BYTES[number_format], dtype
    for dtype, size in OWN_BYTES.items():
        assert element_bytes(dtype, number_format) == size, dtype


def test_each_format_has_its_own_rate() -> None:
    """All four differ, so that none is read from another's row; an engine kind from its own."""
    rows = [
        "extends: stcp920",
        "name: own",
        "title: own",
        "core:",
        "  matrix_depth: {value: 7, source: test}",
    ]
    for engine, factor in (("matrix", 1), ("vector", 10)):
        rows.append(f"  {engine}_rate:")
        rows += [
            f"    {name}: {{value: {factor * rate}, source: test}}" for name, rate in RATES.items()
        ]
    hardware = parse_profile("\n".join(rows).encode(), "own.yaml")
    lanes = hardware.vector_lanes
    array = hardware.matrix_rows * hardware.matrix_columns
    for name, rate in RATES.items():
        assert hardware.k_steps_per_cycle(name) == 7 * rate
        assert hardware.peak_macs_per_cycle(name) == 7 * rate * array
        assert hardware.peak_vector_per_cycle(name) == 10 * rate * lanes
