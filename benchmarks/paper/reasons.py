"""A result that differs from the paper's -> its reason: bytes, engines and waits of its Trace."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import Findings
from benchmarks.paper.gains import published_gains
from benchmarks.paper.requirements import FACTOR, GAIN_FACTOR, is_in_order
from benchmarks.paper.results import Result
from benchmarks.paper.rows import LEVELS, ROWS

CAUSES = {
    "input": "input", "output": "output", "weight_first": "weights",
    "weight_again": "refetched weights", "activation": "activations between kernels",
    "halo": "halo", "spill": "spills",
}  # fmt: skip
UNAVOIDABLE = ("input", "output", "weight_first")
"""Causes of bytes that no schedule avoids: each cluster has its own batch and weights."""
WAITS = {
    "data": "data", "address": "buffer space", "channel": "a channel", "barrier": "a barrier",
}  # fmt: skip
FULL_SHARE = 0.8
"""Busy share from which an engine or DRAM is called the limit (our choice)."""


def megabytes_a_sample(result: Result, causes: tuple[str, ...] = tuple(CAUSES)) -> float:
    """MB over DRAM per sample for these causes."""
    return sum(result.dram_bytes.get(cause, 0) for cause in causes) / result.batch / 1e6


def _three_digits(value: float) -> str:
    """Three digits, more where the whole part has more."""
    return f"{float(f'{value:.3g}'):,.10g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def limit(result: Result) -> str:
    """Text on the busiest resource; below `FULL_SHARE` also on the waits of matrix engines."""
    shares = {"DRAM": result.dram_share, **{f"{k} engines": v for k, v in result.busy.items()}}
    shares.pop("dma engines", None)  # they move what DRAM's share counts
    name, share = max(shares.items(), key=lambda item: item[1])
    busiest = f"{name} busy {_percent(share)}"
    if share >= FULL_SHARE:
        return busiest
    wait, lost = max(((w, result.waits.get(w, 0.0)) for w in WAITS), key=lambda item: item[1])
    return f"{busiest}; matrix engines wait for {WAITS[wait]} {_percent(lost)}"


def is_explained(result: Result) -> bool:
    """Whether the result differs from the paper's by so much that it needs a reason."""
    ratio = result.over_published
    return ratio is not None and not 1 / FACTOR <= ratio <= FACTOR


def reason(result: Result) -> str:
    """Reason for a throughput that differs from the paper's, from the Trace's figures."""
    paper = result.published_per_s or 0.0
    ratio = result.over_published or 1.0
    parts = [f"{ratio:.2f} of the paper's rate: {limit(result)}."]
    moved, unavoidable = megabytes_a_sample(result), megabytes_a_sample(result, UNAVOIDABLE)
    most = sorted(result.dram_bytes, key=lambda cause: -result.dram_bytes[cause])[:2]
    told = ", ".join(f"{CAUSES[c]} {_three_digits(megabytes_a_sample(result, (c,)))}" for c in most)
    parts.append(f"DRAM moves {_three_digits(moved)} MB per sample ({told}).")
    full_rate = moved * result.throughput_per_s / result.dram_share if result.dram_share else 0.0
    if paper > result.bound_per_s:
        parts.append(
            f"The paper's {paper:,.0f} per second is above the bound of chip and model, "
            f"{result.bound_per_s:,.0f}."
        )
    elif full_rate and ratio < 1:
        parts.append(
            f"At the paper's rate DRAM leaves {_three_digits(full_rate / paper)} MB per sample; "
            f"{_three_digits(unavoidable)} are inputs, outputs and weights once per cluster."
        )
        if paper > result.plan_bound_per_s:
            parts.append(
                f"These kernels and pieces allow {result.plan_bound_per_s:,.0f} per second."
            )
    elif full_rate:
        parts.append(
            f"At the paper's rate these bytes need {_percent(result.dram_share / ratio)} of DRAM's "
            f"time and the multiply-accumulates {_percent(result.mac_share / ratio)} of the matrix "
            "engines': neither is the limit there."
        )
    return " ".join(parts)


def order_reason(findings: Findings, row: str, chip: str) -> str:
    """Reason why strategies have another order than in the paper; "" where they have the same."""
    tvm, stitched = (findings.find(row, level, chip) for level in ("tvm", "astitch"))
    paper = ROWS[row].over_tvm["astitch"]
    if not tvm or not stitched or paper is None or tvm.refused or stitched.refused:
        return ""
    ratio = stitched.throughput_per_s / tvm.throughput_per_s
    if is_in_order(findings, row, chip):
        return ""
    between = ("activation", "spill", "halo")
    moved = [_three_digits(megabytes_a_sample(each, between)) for each in (stitched, tvm)]
    return (
        f"`astitch` has {ratio:.2f} of `tvm`'s rate, in the paper {paper:.2f}: it moves {moved[0]} "
        f"MB of activations per sample over DRAM, `tvm` {moved[1]}; DRAM is busy "
        f"{_percent(stitched.dram_share)} and {_percent(tvm.dram_share)} of the time."
    )


def scheduling_reason(findings: Findings, row: str, chip: str) -> str:
    """Reason why instruction scheduling gains less than published for the row; "" where not."""
    order, full = (findings.find(row, level, chip) for level in ("order", "full"))
    if not order or not full or order.refused or full.refused:
        return ""
    gain = full.throughput_per_s / order.throughput_per_s
    published = published_gains("full")[row]
    if gain * GAIN_FACTOR >= published:
        return ""
    most = findings.most_by_order(chip).get(row)
    bound = (
        " Instructions move inside their kernels: no order of them, wherever their bytes lie, "
        f"gains more than {most:.3f}."
        if most is not None
        else ""
    )
    return (
        f"Instruction scheduling gains {gain:.3f} (paper {published:.2f}).{bound} Matrix engines "
        f"are busy {_percent(order.busy['matrix'])} of the time without it, with it "
        f"{_percent(full.busy['matrix'])}; DRAM {_percent(order.dram_share)} and "
        f"{_percent(full.dram_share)}. Two or more layers are in flight for "
        f"{_percent(full.in_flight)} of the time."
    )


def reasons(findings: Findings, chip: str) -> Iterator[tuple[str, str]]:
    """Row and reason of every difference that needs one."""
    for row in ROWS:
        for level in ("tvm", "astitch", *LEVELS):
            result = findings.find(row, level, chip)
            if result is not None and is_explained(result):
                yield row, f"`{result.strategy}`: {reason(result)}"
        for told in (order_reason(findings, row, chip), scheduling_reason(findings, row, chip)):
            if told:
                yield row, told


def limit_sheet(findings: Findings, chip: str, level: str) -> Sheet:
    """Limits of a strategy on every row: shares of the time, bytes per sample, bounds."""
    rows = [
        (
            row,
            f"{result.throughput_per_s:,.0f}",
            f"{result.chain_per_s:,.0f}",
            f"{result.kernels_bound_per_s:,.0f}",
            f"{result.plan_bound_per_s:,.0f}",
            f"{result.bound_per_s:,.0f}",
            _percent(result.dram_share),
            _percent(result.busy["matrix"]),
            _percent(result.busy["vector"]),
            _percent(result.in_flight),
            _percent(result.memory_under_compute),
            *(_three_digits(megabytes_a_sample(result, (cause,))) for cause in CAUSES),
        )
        for row in ROWS
        if (result := findings.find(row, level, chip)) and not result.refused
    ]
    headings = (
        "row", "per second", "longest chain", "bound of its kernels", "bound of the plan",
        "bound of the model", "DRAM busy", "matrix busy", "vector busy",
        "two or more layers in flight", "memory under compute", *CAUSES.values(),
    )  # fmt: skip
    remark = (
        "From *input* on: MB over DRAM per sample. Bounds are upper limits in samples per second: "
        "of the longest dependency chain, of these kernels in sequence, of these kernels and "
        "pieces, and of this model on this chip. From batch 2 on the last one assumes whole "
        "samples per cluster, each with all weights."
    )
    return Sheet(f"Limits of `{level}`", headings, rows, remark)
