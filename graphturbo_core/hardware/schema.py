"""Schema of a profile file: sections, keys, units and ranges.

Every number is an `Entry`: a value with its source. A source that starts with `assumption:` gives
the reason, and puts the number into the assumption register.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Annotated, Generic, Literal, TypeGuard, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from graphturbo_core.hardware.hardware import MatrixModel

ASSUMPTION = "assumption:"
"""Prefix of the source of an assumed number; the reason follows."""

T = TypeVar("T")

_EXPONENT_TEXT = re.compile(r"([-+]?[0-9]+(?:\.[0-9]*)?)[eE]([-+]?)([0-9]{1,3})")
_MAX_WRITTEN_OUT = 10**18


@dataclass(frozen=True, slots=True)
class _Whole:
    """Validator of a whole number in a range, written as an integer or an integral float."""

    low: int
    high: int

    def __call__(self, value: object) -> int:
        number = int(value) if _is_integral(value) else None
        if number is None or not self.low <= number <= self.high:
            message = "{hint}write a whole number from {low} to {high}"
            context = {"hint": _hint(value), "low": self.low, "high": self.high}
            raise PydanticCustomError("whole_number", message, context)
        return number


def _is_integral(value: object) -> TypeGuard[int | float]:
    if isinstance(value, float):
        return isfinite(value) and value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _hint(value: object) -> str:
    """Hint for a number that YAML 1.1 reads as text, such as `1e12` or `"4"`."""
    if isinstance(value, str) and value.isdecimal():
        return "take the quotes off; "
    match = _EXPONENT_TEXT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return ""
    digits, sign, exponent = match.groups()
    dotted = f"{digits if '.' in digits else digits + '.0'}e{sign or '+'}{exponent}"
    number = float(dotted)
    is_short = number.is_integer() and abs(number) < _MAX_WRITTEN_OUT
    plain = f" or {int(number)}" if is_short else ""
    return f"YAML 1.1 reads it as text: write {dotted}{plain}; "


def _source(text: str) -> str:
    is_bare = text.casefold().strip(" :.") in {"", "assumption", "assumed"}
    if is_bare or not text.isprintable():
        message = "name a document or page, or write `assumption: why`"
        raise PydanticCustomError("source", message)
    return text


def _label(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise PydanticCustomError("label", "write one line of printable text")
    return text


Clusters = Annotated[int, BeforeValidator(_Whole(1, 1024))]
Cores = Annotated[int, BeforeValidator(_Whole(1, 4096))]
Hertz = Annotated[int, BeforeValidator(_Whole(10**6, 10**10))]
Extent = Annotated[int, BeforeValidator(_Whole(1, 65536))]
Rate = Annotated[int, BeforeValidator(_Whole(1, 64))]
Engines = Annotated[int, BeforeValidator(_Whole(0, 16))]
Bytes = Annotated[int, BeforeValidator(_Whole(1, 2**44))]
OptionalLevelBytes = Annotated[int, BeforeValidator(_Whole(0, 2**44))]
Bandwidth = Annotated[int, BeforeValidator(_Whole(10**6, 10**16))]
Cycles = Annotated[int, BeforeValidator(_Whole(0, 10**6))]
Source = Annotated[str, Field(min_length=1, max_length=400), AfterValidator(_source)]
Label = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_label)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,63}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Entry(_Strict, Generic[T]):
    """A value with its source."""

    value: T
    source: Source


class Rates(_Strict):
    """Multiple of an engine's base rate (its slowest format's) per number format."""

    fp32: Entry[Rate]
    fp16: Entry[Rate]
    bf16: Entry[Rate]
    int8: Entry[Rate]


class ChipSection(_Strict):
    """Properties of the chip.

    `remote_dram_latency_cycles`: latency of a read of another cluster's DRAM share, which uses that
    share's bandwidth. A chip whose clusters cannot read each other's DRAM leaves it out.
    """

    clusters: Entry[Clusters]
    clock_hz: Entry[Hertz]
    remote_dram_latency_cycles: Entry[Cycles] | None = None


class ClusterSection(_Strict):
    """Properties of each cluster: GB, its own share of DRAM, system DMA.

    A chip without a GB has `gb_bytes: 0` and leaves out its bandwidth and latency. It may have no
    system DMA, which moves between DRAM and GB.
    `shared_engine: matrix`: one matrix engine for all cores, without an LB: it reads operands from
    GB and writes results there. `split_capacity_bytes`: the capacity that Algorithm 1 calls LB;
    default: the data parts of all LBs, for a pooled LB the pool without its weight part.
    `weight_placement: sharded`: weights are divided over the LBs; only without a GB.
    """

    cores: Entry[Cores]
    dma_engines: Entry[Engines]
    gb_bytes: Entry[OptionalLevelBytes]
    gb_bandwidth_bytes_per_s: Entry[Bandwidth] | None = None
    gb_latency_cycles: Entry[Cycles] | None = None
    dram_bytes: Entry[Bytes]
    dram_bandwidth_bytes_per_s: Entry[Bandwidth]
    dram_latency_cycles: Entry[Cycles]
    split_capacity_bytes: Entry[Bytes] | None = None
    shared_engine: Entry[Literal["none", "matrix", "vector", "move"]] | None = None
    weight_placement: Entry[Literal["replicated", "sharded"]] | None = None


class CoreSection(_Strict):
    """Properties of each core: engines, LB, staging buffer, its port to the other cores.

    `matrix_depth`: steps of K per cycle of the array at the base rate; default: 1. A cube of
    16 x 16 x 16 has 16 rows, 16 columns and a depth of 16.
    """

    matrix_rows: Entry[Extent]
    matrix_columns: Entry[Extent]
    matrix_depth: Entry[Extent] | None = None
    matrix_model: Entry[Annotated[MatrixModel, Field(strict=False)]]
    matrix_rate: Rates
    vector_lanes: Entry[Extent]
    vector_rate: Rates
    transcendental_ops: Entry[Extent]
    lb_data_bytes: Entry[Bytes]
    lb_weight_bytes: Entry[Bytes]
    is_pooled: Entry[bool] | None = None
    staging_bytes: Entry[Bytes]
    lb_bandwidth_bytes_per_s: Entry[Bandwidth]
    link_bandwidth_bytes_per_s: Entry[Bandwidth]
    link_latency_cycles: Entry[Cycles]
    channel_padding_elements: Entry[Extent]


class KernelSection(_Strict):
    """Cycles per kernel in addition to its work."""

    launch_cycles: Entry[Cycles]
    barrier_cycles: Entry[Cycles]


class Profile(_Strict):
    """A whole profile file, with `extends` already resolved."""

    name: Name
    title: Label
    notes: list[Label] = Field(default_factory=list, max_length=20)
    chip: ChipSection
    cluster: ClusterSection
    core: CoreSection
    kernel: KernelSection
