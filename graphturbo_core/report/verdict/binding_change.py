"""Report -> the resource that binds a run, and numbers of the chip that may make it faster.

The binding resource is the one that the critical path spends most time on. A change that is tried
is a quarter more of the number behind it (our choice: small enough to be a chip of the same kind,
large enough to be seen).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from graphturbo_core.report.report import Report
from graphturbo_core.units import format_percent, format_si

MORE, LESS = Fraction(5, 4), Fraction(4, 5)
NUMBERS: dict[str, tuple[str, Fraction, str]] = {
    "matrix": ("core.matrix_columns", MORE, "25 % more matrix columns"),
    "vector": ("core.vector_lanes", MORE, "25 % more vector lanes"),
    "dram": ("cluster.dram_bandwidth_bytes_per_s", MORE, "25 % more DRAM bandwidth"),
    "gb": ("cluster.gb_bandwidth_bytes_per_s", MORE, "25 % more GB bandwidth"),
    "lb": ("core.lb_bandwidth_bytes_per_s", MORE, "25 % more LB bandwidth"),
    "launch": ("kernel.launch_cycles", LESS, "20 % fewer launch cycles"),
    "barrier": ("kernel.barrier_cycles", LESS, "20 % fewer barrier cycles"),
    "latency": ("cluster.dram_latency_cycles", LESS, "20 % less DRAM latency"),
    "link": ("core.link_bandwidth_bytes_per_s", MORE, "25 % more core link bandwidth"),
}
"""The number that a resource of the critical path depends on, its change, and that in words.

Move engines have none: their speed is that of the ports and links at their ends.
"""
BOUND: Mapping[str, tuple[str, str]] = {
    "matrix": ("matrix-bound", "the matrix engines"),
    "vector": ("vector-bound", "the vector engines"),
    "move": ("bound by move engines", "the move engines"),
    "dram": ("DRAM-bound", "DRAM"),
    "gb": ("GB-bound", "the GB ports"),
    "lb": ("LB-bound", "the LB ports"),
    "link": ("bound by core links", "the core links"),
    "latency": ("latency-bound", "bytes in transit"),
    "launch": ("launch-bound", "kernel launches"),
    "barrier": ("bound by barriers", "barriers between kernels"),
}
"""How a run is called that each resource binds, and the resource in a sentence."""
LEAST_GAIN = 1.02
"""A smaller ratio is called no gain (our choice)."""
LEAST_SHARE = 0.1
"""A smaller share of the critical path is not tried: a fifth less of it gains about 2 %."""
MOST_TRIES = 3
"""Changes of the chip that are tried for a run (our choice: each is a run of its own)."""


@dataclass(frozen=True, slots=True)
class BindingChange:
    """A change of the chip that may make a run faster."""

    key: str
    factor: Fraction
    words: str


@dataclass(frozen=True, slots=True)
class Tried:
    """A change, and the throughput with it as a multiple of the throughput without."""

    change: BindingChange
    ratio: float

    @property
    def helps(self) -> bool:
        """Whether the run is faster by as much as counts as a gain."""
        return self.ratio >= LEAST_GAIN


def tried(change: BindingChange, before: Report, after: Report) -> Tried:
    """The change with its effect on the throughput."""
    rates = [each.contract["throughput_per_s"] for each in (before, after)]
    return Tried(change, rates[1] / rates[0] if rates[0] else 1.0)


def binding_resource(report: Report) -> str:
    """The resource on which the critical path spends most time (ties: by name)."""
    return _resources(report)[0]


def _resources(report: Report) -> list[str]:
    """The resources of the critical path, the longest time first."""
    path = report.contract["critical_path"]
    return sorted(path, key=lambda name: (-path[name], name))


def path_text(report: Report) -> str:
    """`DRAM-bound (45 % of its critical path goes to DRAM)`."""
    resource = binding_resource(report)
    bound, words = BOUND[resource]
    share = format_percent(_share(report, resource))
    return f"{bound} ({share} of its critical path goes to {words})"


def _share(report: Report, resource: str) -> float:
    """Share of the critical path that a resource takes."""
    path = report.contract["critical_path"]
    return path[resource] / (sum(path.values()) or 1)


def binding_changes(report: Report) -> tuple[BindingChange, ...]:
    """The changes worth trying, in this order: those of the critical path's longest resources.

    A resource without a number of this chip is left out.
    """
    path = report.contract["critical_path"]
    least = LEAST_SHARE * sum(path.values())
    known = {row["key"] for row in report.tables["chip"]}
    found = [
        BindingChange(*NUMBERS[resource])
        for resource in _resources(report)
        if resource in NUMBERS and NUMBERS[resource][0] in known and path[resource] >= least
    ]
    return tuple(found[:MOST_TRIES])


def helps_text(name: str, report: Report, found: Sequence[Tried] = (), why_not: str = "") -> str:
    """What binds a run, and the effect of the changes that were tried.

    `why_not`: said where none was tried; else it is said of a resource without a number. The
    part after `: ` or `, but ` must read as a sentence: the page shows it alone in less room.

    `B is DRAM-bound: 25 % more DRAM bandwidth makes B 1.18× as fast`; without a change only what
    binds it. Where more of that does not help: `DRAM takes 45 % of B's critical path, but …`.
    """
    resource = binding_resource(report)
    own = NUMBERS[resource][0] if resource in NUMBERS else ""
    is_in_vain = any(each.change.key == own and not each.helps for each in found)
    useless = _useless([each.change.words for each in found if not each.helps])
    gains = [_gain(each, name) for each in found if each.helps]
    effects = "; ".join(part for part in (useless, *gains) if part) or why_not
    if is_in_vain:
        words, share = BOUND[resource][1], format_percent(_share(report, resource))
        subject = f"{words[:1].upper()}{words[1:]} {_verb('take', words)} {share}"
        return f"{subject} of {name}'s critical path, but {effects}"
    bound = f"{name} is {BOUND[resource][0]}"
    if not effects and own not in {row["key"] for row in report.tables["chip"]}:
        effects = f"no number of this chip speeds up {BOUND[resource][1]} alone"
    return f"{bound}: {effects}" if effects else bound


def _gain(found: Tried, name: str) -> str:
    words = found.change.words
    return f"{words} {_verb('make', words)} {name} {format_si(found.ratio)}× as fast"


def _useless(changes: Sequence[str]) -> str:
    """`25 % more matrix columns do not help`; `neither … nor … helps` of several."""
    if len(changes) > 1:
        return f"neither {' nor '.join(changes)} helps"
    return "".join(f"{words} {_verb('do', words)} not help" for words in changes)


def _verb(stem: str, subject: str) -> str:
    """`make` or `makes`, `do` or `does`: a plural ends with an s."""
    if subject.endswith("s"):
        return stem
    return {"do": "does"}.get(stem, f"{stem}s")
