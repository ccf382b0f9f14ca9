"""Two chips -> one sentence on how they differ, and the ratio of two numbers as text."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.report.chips.derived import DerivedFigure
from graphturbo_core.units import NOT_A_NUMBER, format_si

COMPARED = {"peak": "peak", "on_chip": "on-chip memory", "dram": "DRAM bandwidth"}
"""Figures that the sentence compares, in words."""


def ratio_text(value: float, base: float) -> str:
    """How often `base` is in `value`: `2×`, `0.25×`, `equal`; empty where there is no ratio."""
    if value == base:
        return "equal"
    if not base or not value:
        return ""
    text = format_si(value / base)
    return f"{text}×" if text != NOT_A_NUMBER else ""


def compare_text(
    name: str, figures: Sequence[DerivedFigure], other: str, others: Sequence[DerivedFigure]
) -> str:
    """`ascend910 against stcp920: 2× the peak, equal on-chip memory, 11.1× the DRAM bandwidth`."""
    base = {figure.name: figure.value for figure in others}
    words = []
    for figure in figures:
        if figure.name in COMPARED and figure.name in base:
            ratio = ratio_text(figure.value, base[figure.name])
            amount = "equal" if ratio == "equal" else f"{ratio} the"
            words.append(f"{amount} {COMPARED[figure.name]}")
    if all(word.startswith("equal ") for word in words):
        same = " and ".join((", ".join(list(COMPARED.values())[:-1]), COMPARED["dram"]))
        return f"{name} and {other}: equal {same}"
    return f"{name} against {other}: {', '.join(words)}"


def one_text(name: str, figures: Sequence[DerivedFigure]) -> str:
    """`stcp920: 131 TFLOP/s on 108 GB/s of DRAM, 607 MAC per DRAM byte`."""
    found = {figure.name: figure.text for figure in figures}
    return (
        f"{name}: {found['peak']} on {found['dram']} of DRAM, "
        f"{found['per_dram_byte']} MAC per DRAM byte"
    )
