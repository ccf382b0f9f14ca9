"""Step 1 on two reports: what each run moves over DRAM, by cause."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.lecture.yours.traffic import KernelPile, YourTraffic
from graphturbo_core.units import counted, format_bytes, format_percent
from graphturbo_ui.learn.yours.texts import YourKnob, YourQuestion, YourStep, YourValue, answers
from graphturbo_ui.text import safe_text

MOST_SQUARES = 220
"""Most squares of a run (our choice: what has room)."""
KIB = 1024
Names = Mapping[str, str]


def traffic_step(runs: Mapping[str, YourTraffic], names: Names) -> YourStep:
    """`runs` and `names` by `a` and `b`."""
    a, b = runs["a"], runs["b"]
    unit = square_bytes(max(a.dram_bytes, b.dram_bytes))
    texts, right = answers(
        format_bytes(a.needed_bytes),
        [(a.dram_bytes * share, format_bytes(a.dram_bytes * share)) for share in (1, 0.5, 0.25)],
        a.needed_bytes,
    )
    question = YourQuestion(
        f"A moves {format_bytes(a.dram_bytes)} over DRAM in one cluster for"
        f" {counted(a.samples, 'sample')}. How much of it are inputs, weights once, and results?",
        texts,
        right,
        f"{_parts(a)}. The other {format_bytes(a.dram_bytes - a.needed_bytes)} are redundant.",
    )
    return YourStep(
        claim=f"Over DRAM, A moves {format_bytes(a.dram_bytes)} per cluster,"
        f" B {format_bytes(b.dram_bytes)}",
        knob=YourKnob(
            "Run",
            [YourValue(key, names[key], _result(run)) for key, run in runs.items()],
            "a",
        ),
        question=question,
        takeaway=(
            f"Of what A moves, {_redundant(a)} is redundant; of what B moves, {_redundant(b)}."
        ),
        data={
            "unit": unit,
            "runs": {key: _picture(run, unit) for key, run in runs.items()},
        },
        notes=("A box has several kernels where there are more than a dozen.",),
    )


def square_bytes(most: int) -> int:
    """Bytes of a square: a power of two of KiB, so that `most` bytes are few enough squares."""
    unit = KIB
    while most > unit * MOST_SQUARES:
        unit *= 2
    return unit


def _result(run: YourTraffic) -> str:
    return (
        f"{format_bytes(run.dram_bytes)} cross DRAM in {counted(run.kernels, 'kernel')}."
        f" {format_bytes(run.between_bytes)} of them are results that another kernel reads."
    )


def _parts(run: YourTraffic) -> str:
    """The needed bytes by what they are."""
    inputs, weights, results = (
        format_bytes(run.causes.get(cause, 0)) for cause in ("input", "weight_first", "output")
    )
    return (
        f"Inputs of {inputs}, weights of {weights} and results of {results}:"
        f" {format_bytes(run.needed_bytes)}"
    )


def _redundant(run: YourTraffic) -> str:
    """The share of bytes that are not needed."""
    return format_percent((run.dram_bytes - run.needed_bytes) / max(1, run.dram_bytes))


def _picture(run: YourTraffic, unit: int) -> Mapping[str, object]:
    """Bytes in the picture's squares: so many KiB as they are squares."""
    scaled = KIB / unit
    return {
        "dram": run.dram_bytes * scaled,
        "has_several": any(pile.first != pile.last for pile in run.piles),
        "words": {"input": "inputs", "output": "results"},
        "causes": {cause: size * scaled for cause, size in run.causes.items()},
        "kernels": [
            {
                "names": _names(pile),
                "reads": [[cause, size * scaled] for cause, size in pile.reads.items()],
                "writes": [[cause, size * scaled] for cause, size in pile.writes.items()],
            }
            for pile in run.piles
        ],
    }


def _names(pile: KernelPile) -> list[str]:
    """What a pile's box shows, the longest first."""
    if pile.first != pile.last:
        numbers = f"{pile.first}–{pile.last}"
        return [f"kernels {numbers}", numbers]
    return [*([safe_text(pile.layer, max_length=40)] if pile.layer else []), str(pile.first)]
