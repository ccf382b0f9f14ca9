"""Two runs of a comparison -> what differs, in sentences: choices first, then figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphturbo_core.comparison.compared_run import ComparedRun, RunChoices
from graphturbo_core.comparison.equal_batches import EqualRatio, are_like, equal_ratio
from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.comparison.settings import differing_setting, fastest, model_count, slowest_of
from graphturbo_core.report.verdict.verdict import is_same
from graphturbo_core.units import format_bytes, format_count, format_percent, format_seconds
from graphturbo_core.units import format_si as _si

DEFAULT, NO_PLAN, NONE = "its defaults", "no plan file", "none"
OTHER_FILE = "another file of that name"
CAUSE_WORDS: Mapping[str, str] = {
    "input": "the model's input",
    "output": "the model's output",
    "weight_first": "first fetches of weights",
    "weight_again": "weights fetched again",
    "activation": "activations between kernels",
    "halo": "halos",
    "spill": "spills",
}
"""Causes of the contract's `dram_ledger` in a sentence."""

OTHER_MODELS = "The runs are of two models, so their figures are not compared."


@dataclass(frozen=True, slots=True)
class ChoiceChange:
    """A choice in which two runs differ."""

    choice: str
    a: str
    b: str

    def sentence(self) -> str:
        """`Strategy: tvm@16 in A, graphturbo@16 in B.`."""
        return f"{self.choice}: {self.a} in A, {self.b} in B."


def choice_changes(a: ComparedRun, b: ComparedRun) -> tuple[ChoiceChange, ...]:
    """The choices in which two runs differ, in the order of the top bar."""
    pairs = zip(_choices(a), _choices(b), strict=True)
    rows = [(first, _said_beside(first, second)) for first, second in pairs]
    return tuple(
        ChoiceChange(first.name, first.said, second)
        for first, second in rows
        if first.said != second
    )


class _Choice(NamedTuple):
    """What was chosen, as a text.

    `file`: the digest or text of a file, where there is one; `other`: another one beside it.
    """

    name: str
    said: str
    file: str = ""
    other: str = OTHER_FILE


def _said_beside(a: _Choice, b: _Choice) -> str:
    """B's choice, beside A's: two files may be called one name."""
    is_other = a.said == b.said and a.file and b.file and a.file != b.file
    return b.other if is_other else b.said


def _choices(run: ComparedRun) -> list[_Choice]:
    figures, choices = run.figures, run.choices
    plan = choices.plan if choices else ""
    passes = choices.skip_passes if choices else ()
    return [
        _Choice("Model", figures.model, choices.model_sha256 if choices else ""),
        _Choice("Sizes", _sizes(choices)),
        _Choice("Chip", _chip(figures, choices), choices.profile_text if choices else ""),
        _Choice("Batch", format_count(figures.batch)),
        _Choice("Number format", figures.dtype),
        _Choice("Strategy", figures.strategy),
        _Choice("Samples per cluster at once", format_count(figures.cluster_batch)),
        _Choice("Options", _texts(choices.options if choices else {}) or DEFAULT),
        _Choice("Clean-up passes left out", ", ".join(passes) or NONE),
        _Choice("Plan", _plan(plan), plan, "another one of that length"),
        _Choice("Version of the library", figures.version),
    ]


def _plan(text: str) -> str:
    return f"a plan file of {len(text):,} characters" if text else NO_PLAN


def _sizes(choices: RunChoices | None) -> str:
    return _texts(choices.dims if choices else {}) or NONE


def _chip(figures: RunFigures, choices: RunChoices | None) -> str:
    own = choices.profile_text if choices else ""
    return f"{figures.profile} (a profile of {len(own):,} characters)" if own else figures.profile


def _texts(pairs: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value}" for name, value in pairs.items())


def figure_sentences(
    a: ComparedRun, b: ComparedRun, others: Sequence[ComparedRun] = (), why_not: str = ""
) -> tuple[str, ...]:
    """Time, DRAM bytes, memory peaks, kernels, pieces and busy shares of B against A.

    Of two models, or sizes of one, nothing is compared. `others`: runs one of which may give the
    ratio at equal cluster batches. `why_not`: why none does.
    """
    first, second = a.figures, b.figures
    if model_count((a, b)) > 1:
        return (OTHER_MODELS,)
    is_per_sample = first.batch != second.batch
    rows: tuple[tuple[str, Callable[[RunFigures], float], Callable[[float], str]], ...] = (
        ("Kernels launched per sample", lambda f: f.launches / _samples(f), _si)
        if is_per_sample
        else ("Kernels launched", lambda f: f.launches, _whole),
        ("Groups", lambda f: len(f.groups), _whole),
        ("Pieces of all groups", lambda f: f.pieces, _whole),
        ("LB peak of a core", lambda f: f.lb.peak_bytes, format_bytes),
        ("GB peak", lambda f: f.gb.peak_bytes, format_bytes),
        ("Matrix engines busy", lambda f: f.utilization.get("matrix", 0.0), format_percent),
        ("Share of the lower bound's speed", lambda f: f.bound_share, format_percent),
    )
    shown = [
        _sentence(words, value(first), value(second), text)
        for words, value, text in rows
        if not is_same(value(first), value(second))
    ]
    fair = () if are_like(a, b) else (_fair_speed(a, b, equal_ratio(a, b, others), why_not),)
    return (_speed(first, second), *fair, _traffic(first, second), *shown)


def _samples(figures: RunFigures) -> int:
    return max(1, figures.batch)


def _whole(value: float) -> str:
    return format_count(int(value))


def _speed(a: RunFigures, b: RunFigures) -> str:
    times = f"{format_seconds(a.latency_s)} in A, {format_seconds(b.latency_s)} in B"
    per_sample = "" if a.batch == b.batch else f", for {a.batch:,} and {b.batch:,} samples"
    ratio = b.throughput_per_s / a.throughput_per_s if a.throughput_per_s else 0.0
    if is_same(a.throughput_per_s, b.throughput_per_s):
        return f"B is as fast as A ({times}{per_sample})."
    if ratio > 1:
        return f"B is {_si(ratio)}× as fast as A ({times}{per_sample})."
    return f"B is slower: it reaches {format_percent(ratio)} of A's speed ({times}{per_sample})."


def _fair_speed(a: ComparedRun, b: ComparedRun, found: EqualRatio | None, why_not: str) -> str:
    """The speed at equal cluster batches, or both of them and why it is not known."""
    if found is None:
        rest = f"; {why_not}" if why_not else ""
        return f"The cluster batches of A and B are {_cluster_batches(a, b)}{rest}."
    both = f"At a cluster batch of {found.samples:,} for both, B"
    if found.ratio >= 1 or is_same(found.ratio, 1.0):
        return f"{both} is {_si(found.ratio)}× as fast as A."
    return f"{both} reaches {format_percent(found.ratio)} of A's speed."


def _traffic(a: RunFigures, b: RunFigures) -> str:
    """Bytes over DRAM; of one sample where batches differ, as speed is."""
    first, second = (_samples(each) if a.batch != b.batch else 1 for each in (a, b))
    before, after = a.dram_bytes / first, b.dram_bytes / second
    each = " per sample" if a.batch != b.batch else ""
    sizes = f"{format_bytes(before)} in A, {format_bytes(after)} in B"
    if is_same(before, after):
        return f"DRAM traffic{each} is the same ({format_bytes(after)})."
    causes = {
        cause: b.dram_ledger.get(cause, 0) / second - a.dram_ledger.get(cause, 0) / first
        for cause in sorted({*a.dram_ledger, *b.dram_ledger})
    }
    cause, change = _largest_change(causes, after > before)
    word = "more" if change > 0 else "less"
    most = f"; the largest part is {format_bytes(abs(change))} {word} for {cause}" if cause else ""
    if after < before:
        ratio = f"{_si(before / after)}× less" if after else "nothing"
    else:
        ratio = f"{_si(after / before)}× as much" if before else "more"
    return f"B moves {ratio} over DRAM{each} ({sizes}{most})."


def _largest_change(changes: Mapping[str, float], is_more: bool) -> tuple[str, float]:
    """The cause whose bytes changed most in the direction of the whole; none where none did."""
    sign = 1 if is_more else -1
    cause = max(changes, key=lambda name: sign * changes[name], default="")
    if not cause or sign * changes[cause] <= 0:
        return "", 0
    return CAUSE_WORDS.get(cause, cause), changes[cause]


def _sentence(words: str, a: float, b: float, text: Callable[[float], str]) -> str:
    return f"{words}: {text(a)} in A, {text(b)} in B{_ratio(a, b)}."


def _ratio(a: float, b: float) -> str:
    """` (2x as much)`, ` (13x less)`; nothing where one of them is zero."""
    if not (a and b):
        return ""
    return f" ({_si(b / a)}× as much)" if b > a else f" ({_si(a / b)}× less)"


def headline(
    runs: Sequence[ComparedRun], others: Sequence[ComparedRun] = (), why_not: str = ""
) -> str:
    """The sentence above the picture: the fastest run, and against which other by how much.

    Runs of several models have no common speed. `others`, `why_not`: as in `figure_sentences`.
    """
    models = model_count(runs)
    if models > 1:
        return f"{len(runs)} runs of {models} models"
    best = fastest(runs)
    slowest = slowest_of(runs)
    apart = dict(zip((run.key for run in runs), differing_setting(runs), strict=True))
    names = [
        f"{run.name} ({apart[run.key]})" if apart[run.key] else run.name for run in (best, slowest)
    ]
    if is_same(best.figures.throughput_per_s, slowest.figures.throughput_per_s):
        reached = format_percent(best.figures.bound_share)
        return f"{names[0]} reaches {reached} of the lower bound's speed"
    ratio = _si(best.figures.throughput_per_s / slowest.figures.throughput_per_s)
    among = "" if len(runs) == 2 else f" of {len(runs)} runs"  # noqa: PLR2004
    found = equal_ratio(slowest, best, (*runs, *others))
    fair = _at_equal_batches(best, slowest, found, why_not)
    return f"{names[0]} is the fastest{among}: {ratio}× {names[1]}{fair}"


def _at_equal_batches(
    best: ComparedRun, slowest: ComparedRun, found: EqualRatio | None, why_not: str
) -> str:
    """The ratio at equal cluster batches in brackets; nothing for like runs.

    Without it, both cluster batches and why there is none.
    """
    if are_like(best, slowest):
        return ""
    if found is not None:
        return f" ({_si(found.ratio)}× at a cluster batch of {found.samples:,} for both)"
    both = f"cluster batches of {_cluster_batches(best, slowest)}"
    return f" ({both}; {why_not})" if why_not else f" ({both})"


def _cluster_batches(*runs: ComparedRun) -> str:
    return " and ".join(format_count(run.figures.cluster_batch) for run in runs)
