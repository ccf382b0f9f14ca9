"""The field of `Hardware` that holds a number of a profile."""

from __future__ import annotations

from graphturbo_core.hardware.hardware import Sourced


def field_name(number: Sourced) -> str:
    """For a rate, the name of the mapping."""
    path = number.key.split(".")
    name = path[-2] if path[-2].endswith("_rate") else path[-1]
    return name.removesuffix("_bytes_per_s").removesuffix("_elements")
