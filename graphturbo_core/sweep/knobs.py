"""What of a chip and of a run can be varied by name: label, unit, and values around its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from graphturbo_core.plain_yaml import Plain
from graphturbo_core.sweep.axes import BATCH, CLUSTER_BATCH, Value, keys_of, value_at
from graphturbo_core.units import format_bytes, format_si

BYTES, RATE, HERTZ, COUNT, CYCLES = "B", "B/s", "Hz", "", "cycles"
LB_KEY = "core.lb_data_bytes+core.lb_weight_bytes"
GB_KEY = "cluster.gb_bytes"


@dataclass(frozen=True, slots=True)
class Knob:
    """A number that can be varied: the key of a sweep's axis, its name, and where it counts.

    `is_cost`: less of it is better. `is_run`: a choice of the run, not a number of the chip.
    """

    key: str
    label: str
    unit: str
    per: str = ""
    is_cost: bool = False
    is_run: bool = False

    @property
    def is_tied(self) -> bool:
        """Whether it is several numbers of the profile, varied by one factor."""
        return "+" in self.key


KNOBS = (
    Knob(LB_KEY, "LB size", BYTES, "per core"),
    Knob(GB_KEY, "GB size", BYTES, "per cluster"),
    Knob("cluster.dram_bandwidth_bytes_per_s", "DRAM bandwidth", RATE, "per cluster"),
    Knob("cluster.gb_bandwidth_bytes_per_s", "GB bandwidth", RATE, "per cluster"),
    Knob("core.lb_bandwidth_bytes_per_s", "LB bandwidth", RATE, "per core"),
    Knob("core.link_bandwidth_bytes_per_s", "Link bandwidth", RATE, "per core"),
    Knob("chip.clusters", "Clusters", COUNT, "each with its share of DRAM"),
    Knob("cluster.cores", "Cores", COUNT, "per cluster"),
    Knob("chip.clock_hz", "Clock", HERTZ),
    Knob("core.matrix_columns", "Matrix columns", COUNT, "per core"),
    Knob("core.vector_lanes", "Vector lanes", COUNT, "per core"),
    Knob("cluster.dma_engines", "DMA engines", COUNT, "per cluster"),
    Knob("core.lb_data_bytes", "LB data part", BYTES, "per core"),
    Knob("core.lb_weight_bytes", "LB weight part", BYTES, "per core"),
    Knob("kernel.launch_cycles", "Launch", CYCLES, "per kernel", is_cost=True),
    Knob("kernel.barrier_cycles", "Barrier", CYCLES, "per kernel", is_cost=True),
    Knob("cluster.dram_latency_cycles", "DRAM latency", CYCLES, is_cost=True),
    Knob("cluster.gb_latency_cycles", "GB latency", CYCLES, is_cost=True),
    Knob(BATCH, "Batch", COUNT, "samples for the whole chip", is_run=True),
    Knob(CLUSTER_BATCH, "Cluster batch", COUNT, "samples at once per cluster", is_run=True),
)
"""In the order of a list to choose from; our choice of what an architect asks for first."""
PARTS = ("core.lb_data_bytes", "core.lb_weight_bytes")
"""Numbers that another knob varies together."""


def knobs_of(tree: Mapping[str, Plain]) -> tuple[Knob, ...]:
    """The knobs that a chip has; one whose number is left out or 0 is none."""
    pooled = value_at(tree, "core.is_pooled") is True
    found = (knob for knob in KNOBS if not (pooled and knob.key in PARTS))
    return tuple(knob for knob in found if knob.is_run or own_value(knob, tree))


def own_value(knob: Knob, tree: Mapping[str, Plain]) -> int | None:
    """The chip's own number; the size of both parts where there are two; None without one.

    A pooled LB has one size, which both of its keys have.
    """
    numbers = [value_at(tree, key) for key in keys_of(knob.key)]
    whole = [number for number in numbers if type(number) is int]
    if len(whole) < len(numbers) or not whole:
        return None
    return whole[0] if value_at(tree, "core.is_pooled") is True else sum(whole)


def value_for(knob: Knob, own: int, factor: Fraction) -> Value:
    """What an axis of the knob has for a multiple of its own number, rounded up to be whole."""
    if knob.is_tied:
        return f"x{factor}"
    return max(1, ceil(own * factor))


def exact_value_for(knob: Knob, own: int, number: int) -> Value:
    """What an axis of the knob has for a number; for several keys, the multiple of its own."""
    return f"x{Fraction(number, own)}" if knob.is_tied else number


def number_for(knob: Knob, own: int, value: Value) -> int:
    """The number that a value of the knob's axis stands for."""
    if isinstance(value, str):
        return ceil(own * Fraction(value.removeprefix("x")))
    return int(value)


def text_of(knob: Knob, number: float) -> str:
    """A number of the knob with its unit."""
    if knob.unit == BYTES:
        return format_bytes(number)
    text = format_si(number, knob.unit) if knob.unit in (RATE, HERTZ) else f"{number:,.10g}"
    return f"{text} {CYCLES}" if knob.unit == CYCLES else text
