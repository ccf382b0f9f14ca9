"""Hardware -> the parts of a chip from DRAM to engines, each number with text, unit and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.hardware.hardware import Hardware, Sourced
from graphturbo_core.units import format_bytes, format_count, format_si

PARTS: Mapping[str, str] = {
    "dram": "DRAM",
    "chip": "Chip",
    "cluster": "Cluster",
    "dma": "System DMA",
    "gb": "GB, global buffer",
    "core": "Core",
    "lb": "LB, local buffer",
    "matrix": "Matrix engine",
    "vector": "Vector engine",
    "link": "Link between cores",
    "kernel": "Kernel",
}
"""Parts of a chip by name, in the order of the picture."""

LABELS: Mapping[str, tuple[str, str]] = {
    "chip.clusters": ("chip", "Clusters"),
    "chip.clock_hz": ("chip", "Clock"),
    "chip.remote_dram_latency_cycles": ("dram", "Latency of another cluster's DRAM"),
    "cluster.cores": ("cluster", "Cores per cluster"),
    "cluster.dma_engines": ("dma", "DMA engines per cluster"),
    "cluster.gb_bytes": ("gb", "GB per cluster"),
    "cluster.gb_bandwidth_bytes_per_s": ("gb", "GB bandwidth per cluster"),
    "cluster.gb_latency_cycles": ("gb", "GB latency"),
    "cluster.dram_bytes": ("dram", "DRAM per cluster"),
    "cluster.dram_bandwidth_bytes_per_s": ("dram", "DRAM bandwidth per cluster"),
    "cluster.dram_latency_cycles": ("dram", "DRAM latency"),
    "cluster.split_capacity_bytes": ("cluster", "Split capacity (Algorithm 1)"),
    "cluster.shared_engine": ("matrix", "Engine shared by the cores"),
    "cluster.weight_placement": ("cluster", "Weight placement"),
    "core.matrix_rows": ("matrix", "Rows (M)"),
    "core.matrix_columns": ("matrix", "Columns (N)"),
    "core.matrix_depth": ("matrix", "Steps of K per cycle"),
    "core.matrix_model": ("matrix", "Model of its cycles"),
    "core.matrix_rate.fp32": ("matrix", "Matrix rate, fp32"),
    "core.matrix_rate.fp16": ("matrix", "Matrix rate, fp16"),
    "core.matrix_rate.bf16": ("matrix", "Matrix rate, bf16"),
    "core.matrix_rate.int8": ("matrix", "Matrix rate, int8"),
    "core.vector_lanes": ("vector", "Lanes"),
    "core.vector_rate.fp32": ("vector", "Vector rate, fp32"),
    "core.vector_rate.fp16": ("vector", "Vector rate, fp16"),
    "core.vector_rate.bf16": ("vector", "Vector rate, bf16"),
    "core.vector_rate.int8": ("vector", "Vector rate, int8"),
    "core.transcendental_ops": ("vector", "Ops per exp, div or sqrt"),
    "core.lb_data_bytes": ("lb", "LB data part"),
    "core.lb_weight_bytes": ("lb", "LB weight part"),
    "core.is_pooled": ("lb", "Both parts are one pool"),
    "core.staging_bytes": ("lb", "Staging buffer"),
    "core.lb_bandwidth_bytes_per_s": ("lb", "LB bandwidth per core"),
    "core.link_bandwidth_bytes_per_s": ("link", "Link bandwidth, each way"),
    "core.link_latency_cycles": ("link", "Link latency"),
    "core.channel_padding_elements": ("lb", "Channel padding"),
    "kernel.launch_cycles": ("kernel", "Launch"),
    "kernel.barrier_cycles": ("kernel", "Barrier"),
}
"""Part and label of every key of the profile's schema, in the schema's order."""

RATIO_SIGN = "×"


@dataclass(frozen=True, slots=True)
class ChipNumber:
    """One number of a profile.

    `text`: with unit and prefix, for people; `exact`: the whole number with its unit.
    """

    key: str
    label: str
    value: float | int | str
    text: str
    exact: str
    source: str
    is_assumption: bool


@dataclass(frozen=True, slots=True)
class ChipPart:
    """A part of a chip: how often it occurs in the whole chip, and its numbers."""

    name: str
    title: str
    count: int
    numbers: tuple[ChipNumber, ...]


def chip_parts(hardware: Hardware) -> tuple[ChipPart, ...]:
    """The parts in the order of the picture; one without numbers is left out, the core aside."""
    counts = _counts(hardware)
    found = []
    for name, title in PARTS.items():
        numbers = tuple(
            _number(entry) for entry in hardware.numbers if LABELS[entry.key][0] == name
        )
        if numbers or name == "core":
            found.append(ChipPart(name, title, counts[name], numbers))
    return tuple(found)


def numbers_of(parts: tuple[ChipPart, ...]) -> dict[str, ChipNumber]:
    """All numbers of a chip by key."""
    return {number.key: number for part in parts for number in part.numbers}


def _counts(hardware: Hardware) -> dict[str, int]:
    """How often each part occurs in the chip."""
    clusters, cores = hardware.clusters, hardware.clusters * hardware.cores
    counts = dict.fromkeys(PARTS, cores)
    counts |= dict.fromkeys(("dram", "cluster", "gb"), clusters)
    counts |= {"chip": 1, "kernel": 1, "dma": clusters * hardware.dma_engines}
    counts["matrix"] = clusters * hardware.matrix_engines
    return counts


def _number(entry: Sourced) -> ChipNumber:
    text, exact = number_texts(entry.key, entry.value)
    label = LABELS[entry.key][1]
    return ChipNumber(entry.key, label, entry.value, text, exact, entry.source, entry.is_assumption)


def number_texts(key: str, value: float | int | str) -> tuple[str, str]:
    """A profile's value for people, and as the whole number: `1.25 MiB`, `1,310,720 bytes`."""
    if isinstance(value, (bool, str)):
        text = {"True": "yes", "False": "no"}.get(str(value), str(value))
        return text, text
    count = format_count(int(value))
    if key.endswith("_bytes_per_s"):
        return format_si(value, "B/s"), f"{count} bytes/s"
    if key.endswith("_bytes"):
        return format_bytes(value), f"{count} bytes"
    if key.endswith("_hz"):
        return format_si(value, "Hz"), f"{count} Hz"
    unit = next((unit for unit in ("cycles", "elements") if key.endswith(unit)), "")
    if "_rate." in key:
        return f"{count}{RATIO_SIGN}", f"{count}{RATIO_SIGN}"
    text = f"{count} {unit}".rstrip()
    return text, text
