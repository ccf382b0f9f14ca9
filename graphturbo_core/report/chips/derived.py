"""Hardware -> figures that follow from a profile, with the arithmetic and the keys it reads."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.units import counted, format_bytes, format_count, format_si

OPS_PER_MAC = 2
"""A multiply and an add."""
INTEGER = "int8"
THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class DerivedFigure:
    """A figure of the whole chip.

    `text`: with its unit. `arithmetic`: how it is computed. `keys`: the profile's numbers in it.
    `is_assumption`: whether one of them is assumed.
    """

    name: str
    label: str
    value: float
    text: str
    arithmetic: str
    keys: tuple[str, ...]
    is_assumption: bool


FIGURES = ("cores", "peak", "on_chip", "dram", "per_dram_byte", "per_gb_byte", "per_lb_byte")
"""Names of all figures, in their order; a chip without a GB or without LBs of its matrix engine
lacks one."""
PEAK_KEYS = ("core.matrix_rows", "core.matrix_columns", "core.matrix_depth")
ON_CHIP_KEYS = (
    "chip.clusters",
    "cluster.cores",
    "core.lb_data_bytes",
    "core.lb_weight_bytes",
    "cluster.gb_bytes",
)


def derived_figures(hardware: Hardware, number_format: str) -> tuple[DerivedFigure, ...]:
    """Cores, peak, bytes on the chip, DRAM bandwidth, and MAC per byte of DRAM, GB and LB."""
    figures = [_cores(hardware), _peak(hardware, number_format), _on_chip(hardware)]
    figures += [_dram(hardware), _per_dram_byte(hardware, number_format)]
    if hardware.has_gb:
        figures.append(_per_gb_byte(hardware, number_format))
    if not hardware.has_shared_matrix:
        figures.append(_per_lb_byte(hardware, number_format))
    return tuple(figures)


def chip_macs_per_cycle(hardware: Hardware, number_format: str) -> int:
    """Multiply-accumulates per cycle of all matrix engines."""
    engines = hardware.clusters * hardware.matrix_engines
    return engines * hardware.peak_macs_per_cycle(number_format)


def _figure(
    hardware: Hardware,
    name: str,
    figure: tuple[str, float, str],
    working: str,
    keys: tuple[str, ...],
) -> DerivedFigure:
    label, value, text = figure
    assumed = {number.key for number in hardware.numbers if number.is_assumption}
    given = {number.key for number in hardware.numbers}
    used = tuple(key for key in keys if key in given)
    return DerivedFigure(name, label, value, text, working, used, not assumed.isdisjoint(used))


def _cores(hardware: Hardware) -> DerivedFigure:
    count = hardware.clusters * hardware.cores
    working = f"{counted(hardware.clusters, 'cluster')} × {counted(hardware.cores, 'core')}"
    figure = ("Cores", float(count), format_count(count))
    return _figure(hardware, "cores", figure, working, ("chip.clusters", "cluster.cores"))


def _peak_keys(hardware: Hardware, number_format: str) -> tuple[str, ...]:
    keys = ("chip.clusters", *PEAK_KEYS, f"core.matrix_rate.{number_format}", "chip.clock_hz")
    shared = ("cluster.shared_engine",) if hardware.has_shared_matrix else ("cluster.cores",)
    return (*shared, *keys)


def _peak(hardware: Hardware, number_format: str) -> DerivedFigure:
    macs = chip_macs_per_cycle(hardware, number_format)
    per_second = OPS_PER_MAC * macs * hardware.clock_hz
    unit = "OP/s" if number_format == INTEGER else "FLOP/s"
    engines = hardware.clusters * hardware.matrix_engines
    working = (
        f"{counted(engines, 'matrix engine')} × "
        f"{format_count(hardware.peak_macs_per_cycle(number_format))} MAC per cycle = "
        f"{format_count(macs)} MAC per cycle; × {OPS_PER_MAC} × "
        f"{format_si(hardware.clock_hz, 'Hz')} = {format_si(per_second, unit)}"
    )
    figure = (f"Peak, {number_format}", float(per_second), format_si(per_second, unit))
    return _figure(hardware, "peak", figure, working, _peak_keys(hardware, number_format))


def _on_chip(hardware: Hardware) -> DerivedFigure:
    size = hardware.clusters * (hardware.cores * hardware.lb_bytes + hardware.gb_bytes)
    gb = f"GB {format_bytes(hardware.gb_bytes)}" if hardware.has_gb else "no GB"
    working = (
        f"{counted(hardware.clusters, 'cluster')} × ({counted(hardware.cores, 'core')} × LB "
        f"{format_bytes(hardware.lb_bytes)} + {gb}), staging buffers left out"
    )
    figure = ("On-chip memory", float(size), format_bytes(size))
    return _figure(hardware, "on_chip", figure, working, ON_CHIP_KEYS)


def _dram(hardware: Hardware) -> DerivedFigure:
    total = hardware.clusters * hardware.dram_bandwidth
    share = format_si(hardware.dram_bandwidth, "B/s")
    working = f"{counted(hardware.clusters, 'cluster')} × {share}"
    figure = ("DRAM bandwidth", float(total), format_si(total, "B/s"))
    keys = ("chip.clusters", "cluster.dram_bandwidth_bytes_per_s")
    return _figure(hardware, "dram", figure, working, keys)


def _balance(
    hardware: Hardware, number_format: str, memory: str, engines: int, bandwidth: int
) -> tuple[tuple[str, float, str], str]:
    """MAC per byte of a memory's port that feeds so many matrix engines, with the arithmetic."""
    macs = engines * hardware.peak_macs_per_cycle(number_format) * hardware.clock_hz
    ratio = macs / bandwidth
    working = (
        f"{format_si(macs, 'MAC/s')} / {format_si(bandwidth, 'B/s')}: an op with fewer MAC per "
        f"byte of {memory} is {memory}-bound"
    )
    text = format_count(round(ratio)) if ratio >= THOUSAND else format_si(ratio)
    return (f"MAC per {memory} byte", ratio, text), working


def _per_dram_byte(hardware: Hardware, number_format: str) -> DerivedFigure:
    engines, bandwidth = hardware.matrix_engines, hardware.dram_bandwidth
    figure, working = _balance(hardware, number_format, "DRAM", engines, bandwidth)
    keys = tuple(key for key in _peak_keys(hardware, number_format) if key != "chip.clusters")
    keys = (*keys, "cluster.dram_bandwidth_bytes_per_s")
    return _figure(hardware, "per_dram_byte", figure, working, keys)


def _per_gb_byte(hardware: Hardware, number_format: str) -> DerivedFigure:
    engines, bandwidth = hardware.matrix_engines, hardware.gb_bandwidth
    figure, working = _balance(hardware, number_format, "GB", engines, bandwidth)
    keys = tuple(key for key in _peak_keys(hardware, number_format) if key != "chip.clusters")
    keys = (*keys, "cluster.gb_bandwidth_bytes_per_s")
    return _figure(hardware, "per_gb_byte", figure, working, keys)


def _per_lb_byte(hardware: Hardware, number_format: str) -> DerivedFigure:
    figure, working = _balance(hardware, number_format, "LB", 1, hardware.lb_bandwidth)
    rate = f"core.matrix_rate.{number_format}"
    keys = (*PEAK_KEYS, rate, "chip.clock_hz", "core.lb_bandwidth_bytes_per_s")
    return _figure(hardware, "per_lb_byte", figure, working, keys)
