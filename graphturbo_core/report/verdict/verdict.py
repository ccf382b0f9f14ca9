"""Reports -> verdict: the deciding figures, B's change against A, and one sentence on why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from graphturbo_core.report.report import Report
from graphturbo_core.report.sample_noun import sample_noun
from graphturbo_core.report.verdict.alone import alone, alone_text
from graphturbo_core.report.verdict.at_work import at_work_text, idle_text, of_all_clusters
from graphturbo_core.report.verdict.binding_change import path_text
from graphturbo_core.report.verdict.equal_batches import equal_text
from graphturbo_core.report.verdict.measures import (
    MATRIX,
    MEASURES,
    THROUGHPUT,
    Measure,
    dram_bytes,
    in_flight,
    launches,
    times_text,
)
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.units import (
    format_bytes,
    format_count,
    format_percent,
)

NONE_IN_A = "none in A"
"""The change of a figure that is zero in A."""
SAME_RATIO = 0.005
"""Two figures within 0.5 % are called the same (our choice: no view shows such a difference)."""
UNNAMED: Mapping[str, str] = MappingProxyType({})
"""Sub-graphs without names in words: a text has their numbers."""
MOSTLY_BUSY = 0.6
"""Below this share of the time at work, the verdict names why engines wait (our choice)."""
LEAST_OVERLAP = 0.01
"""Smallest difference in overlap, as share of the time, that counts as a reason (our choice)."""
RESOURCE: Mapping[str, str] = {
    "matrix": "the matrix engines",
    "vector": "the vector engines",
    "move": "the move engines between LB and GB",
    "dma": "the system DMAs",
}
WAITS: Mapping[str, str] = {
    "data": "for data",
    "address": "for buffer space to be free",
    "channel": "for a shared channel",
    "barrier": "at launches and barriers between kernels",
    "idle": "with nothing left to do",
}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One figure for A and B.

    `arrow`: `up`, `down` or `off`, B against A. `is_better` is None where nothing changed or there
    is no B. `note`: a sentence to show below the figure, or nothing.
    """

    key: str
    label: str
    term: str
    direction: str
    a: str
    b: str
    change: str
    arrow: str
    is_better: bool | None
    note: str = ""


def verdict_rows(a: Report, b: Report | None) -> tuple[VerdictRow, ...]:
    """Every figure of the verdict row, in reading order."""
    reports = (a,) if b is None else (a, b)
    rows = (_row(measure, a, b) for measure in MEASURES)
    return tuple(_of_clusters(row, *reports) if row.key == MATRIX else row for row in rows)


def _of_clusters(row: VerdictRow, *reports: Report) -> VerdictRow:
    """The figure of the matrix engines; it says of which clusters, where some are idle."""
    clusters = of_all_clusters(*reports)
    if not clusters:
        return row
    return replace(row, label=f"{row.label}, {clusters}", note=at_work_text(MATRIX, *reports))


def _row(measure: Measure, a: Report, b: Report | None) -> VerdictRow:
    first = measure.value(a.contract)
    second = None if b is None else measure.value(b.contract)
    is_better = None if second is None else _is_better(first, second, measure.is_higher_better)
    return VerdictRow(
        key=measure.key,
        label=_label(measure, a),
        term=measure.term,
        direction="higher is better" if measure.is_higher_better else "lower is better",
        a=measure.text(first),
        b="" if second is None else measure.text(second),
        change="" if second is None else change_text(first, second),
        arrow="off" if second is None else _arrow(first, second),
        is_better=is_better,
    )


def _label(measure: Measure, report: Report) -> str:
    """`Throughput (images/s)`; the other labels need no unit."""
    return (
        f"{THROUGHPUT} ({sample_noun(report)}s/s)" if measure.label == THROUGHPUT else measure.label
    )


def _is_better(first: float, second: float, is_higher_better: bool) -> bool | None:
    if is_same(first, second):
        return None
    return (second > first) == is_higher_better


def _arrow(first: float, second: float) -> str:
    if is_same(first, second):
        return "off"
    return "up" if second > first else "down"


def is_same(first: float, second: float) -> bool:
    """Whether two figures differ by at most `SAME_RATIO` of the larger."""
    return abs(second - first) <= SAME_RATIO * max(abs(first), abs(second))


def change_text(first: float, second: float) -> str:
    """B against A: `7.95×` from a doubling on, else `+12 %`; `none in A` where A is zero."""
    if is_same(first, second):
        return "the same"
    if not first:
        return NONE_IN_A
    ratio = second / first
    if ratio >= 2:  # noqa: PLR2004  # a doubling reads better as a multiple
        return times_text(ratio)
    sign = "+" if ratio > 1 else "-"
    return f"{sign}{format_percent(abs(ratio - 1))}"


SINCE = ("kernels", "latency", "dram")
"""Keys of the measures that `since_text` compares after an edit of a plan."""


def figures_of(report: Report) -> dict[str, float]:
    """The figures that `since_text` compares, by key."""
    return {row.key: row.value(report.contract) for row in MEASURES if row.key in SINCE}


def since_text(before: Mapping[str, float], report: Report) -> str:
    """Change of those figures: `Latency 138 us in the run before, 120 us now (-13 %)`."""
    now = figures_of(report)
    return "; ".join(
        f"{each.label} {each.text(before[each.key])} in the run before, "
        f"{each.text(now[each.key])} now ({change_text(before[each.key], now[each.key])})"
        for each in MEASURES
        if each.key in SINCE
    )


def busiest_kind(report: Report) -> str:
    """The engine kind that is busy for the largest share of the time (ties: by name)."""
    stalls = _stalls(report)
    return max(sorted(stalls), key=lambda kind: stalls[kind]["busy"])


def binding_text(report: Report, words: Mapping[str, str] = UNNAMED) -> str:
    """What the critical path names as binding a run, and how busy the busiest engines are.

    `words`: what its sub-graphs are called, by name (`words_of`). Of engines that are
    `MOSTLY_BUSY`: the time in which no other kind works; else why they wait.
    """
    kind = busiest_kind(report)
    shares = _stalls(report)[kind]
    engines = " ".join(part for part in (RESOURCE[kind], of_all_clusters(report)) if part)
    busiest = f"Its busiest engines, {engines}, work {format_percent(shares['busy'])}"
    bound = f"is {path_text(report)}. {busiest} of the time"
    if shares["busy"] >= MOSTLY_BUSY:
        return f"{bound}{alone_text(alone(report, kind), words)}"
    wait = max(WAITS, key=lambda name: shares[name])
    reason = f"{WAITS[wait]}{idle_text(report) if wait == 'idle' else ''}"
    return f"{bound} and wait {format_percent(shares[wait])} of it {reason}"


def sentence(
    a: Report,
    b: Report,
    equal: Report | str | None = None,
    words: Sequence[Mapping[str, str]] = (UNNAMED, UNNAMED),
) -> tuple[str, str]:
    """Two sentences: B's speed against A with reasons, and the resource that binds each run.

    `equal`: A's strategy at B's cluster batch, where the two differ (`equal_text`). `words`: as
    `binding_text` takes them, of A and of B.
    """
    of_a, of_b = words
    outcome = f"{_outcome(a, b)}{equal_text(a, b, equal)}"
    return f"{outcome}{_reason(a, b)}.", f"B {binding_text(b, of_b)}. A {binding_text(a, of_a)}."


def pair_text(a: Report, b: Report, equal: Report | str | None) -> str:
    """Comparison of two runs by their strategies: `graphturbo@16 is 6.35x as fast as tvm@16`.

    For a terminal, which may have ASCII alone.
    """
    names = tuple(each.contract["strategy"] for each in (a, b))
    return f"{_outcome(a, b, names)}{equal_text(a, b, equal)}".replace("×", "x")


def _outcome(a: Report, b: Report, names: Sequence[str] = "AB") -> str:
    first, second = _throughputs(a, b)
    if is_same(first, second):
        return f"{names[1]} is as fast as {names[0]}"
    if second > first:
        return f"{names[1]} is {times_text(second / first)} as fast as {names[0]}"
    return f"{names[1]} reaches {times_text(second / first)} of {names[0]}'s throughput"


def _throughputs(a: Report, b: Report) -> tuple[float, float]:
    return a.contract["throughput_per_s"], b.contract["throughput_per_s"]


def _reason(a: Report, b: Report) -> str:
    """The differences in traffic, kernels and overlap: first those that support the outcome.

    The others follow `although`. Where A and B are equally fast, all of them do.
    """
    first, second = _throughputs(a, b)
    parts = [part for part in (_traffic(a, b), _fewer_kernels(a, b), _overlap(a, b)) if part.text]
    is_won = second > first
    support = [] if is_same(first, second) else [p.text for p in parts if p.is_better == is_won]
    against = [part.text for part in parts if part.text not in support]
    reason = f": it {', '.join(support)}" if support else ""
    return f"{reason}, although it {', '.join(against)}" if against else reason


@dataclass(frozen=True, slots=True)
class Reason:
    """A difference as text (empty: there is none), and whether it favours B."""

    text: str = ""
    is_better: bool = False


def _traffic(a: Report, b: Report) -> Reason:
    first, second = dram_bytes(a.contract), dram_bytes(b.contract)
    if is_same(first, second):
        return Reason()
    cause, saved = _largest_saving(a, b)
    moved = f"moves {format_bytes(second)} over DRAM instead of {format_bytes(first)}"
    if second > first or not cause:
        return Reason(moved, second < first)
    return Reason(f"{moved} ({format_bytes(saved)} less for {cause})", True)


def _largest_saving(a: Report, b: Report) -> tuple[str, float]:
    """The cause of DRAM traffic that shrank most from A to B, with its bytes."""
    first = a.contract["dram_ledger"]
    second = b.contract["dram_ledger"]
    saved = {cause: first[cause] - second.get(cause, 0) for cause in first}
    cause = max(sorted(saved), key=lambda name: saved[name], default="")
    return (CAUSES.get(cause, cause), saved[cause]) if cause and saved[cause] > 0 else ("", 0.0)


CAUSES: Mapping[str, str] = {
    "activation": "activations passed from kernel to kernel",
    "weight again": "refetched weights",
    "weight first": "weights",
    "weight_again": "refetched weights",
    "weight_first": "weights",
    "halo": "refetched overlapping rows",
    "spill": "tensors that did not fit",
    "input": "model inputs",
    "output": "model outputs",
}


def _fewer_kernels(a: Report, b: Report) -> Reason:
    first, second = launches(a.contract), launches(b.contract)
    if first == second:
        return Reason()
    kernels = "kernel" if second == 1 else "kernels"
    text = f"launches {format_count(int(second))} {kernels} instead of {format_count(int(first))}"
    return Reason(text, second < first)


def _overlap(a: Report, b: Report) -> Reason:
    first, second = in_flight(a.contract), in_flight(b.contract)
    if abs(second - first) < LEAST_OVERLAP:
        return Reason()
    text = (
        f"has two or more layers in flight {format_percent(second)} of the time "
        f"instead of {format_percent(first)}"
    )
    return Reason(text, second > first)


def differences(a: Report, b: Report) -> tuple[str, ...]:
    """Differences of A and B other than the strategy: choices, cluster batch, options, edits.

    An option that only one of them has counts where its value is not the default.
    """
    texts = [
        f"{label} ({a.contract[key]} against {b.contract[key]})"
        for key, label in COMPARED.items()
        if a.contract[key] != b.contract[key]
    ]
    known = strategy_options()
    first, second = (each.contract["options"] for each in (a, b))
    for name in dict.fromkeys((*first, *second)):
        default = known[name].default if name in known else NOT_GIVEN
        one, other = first.get(name, default), second.get(name, default)
        if one != other:
            label = UNLISTED.get(name, f"option {name}")
            values = "" if name == "plan" else f" ({one} against {other})"  # a plan's is a digest
            texts.append(f"{label}{values}")
    return tuple(texts)


EDITED = "edits of the plan"
"""The difference of two runs that are not from the same plan file."""
NOT_GIVEN = "none"
"""Value of an option without default that only the other run has."""
UNLISTED: Mapping[str, str] = {
    "plan": EDITED,
    "max_instructions": "instructions allowed",
}
"""Options of a report that `--set` does not accept."""
COMPARED: Mapping[Literal["model", "profile", "batch", "dtype", "cluster_batch"], str] = {
    "model": "model",
    "profile": "chip",
    "batch": "batch",
    "dtype": "number format",
    "cluster_batch": "samples per cluster at once",
}


def _stalls(report: Report) -> Mapping[str, Mapping[str, float]]:
    return report.contract["stalls"]
