"""Findings -> the tables of docs/paper.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import OTHER_STARTS, OWN_SPACE, Findings, Options, models
from benchmarks.paper.gains import geometric_mean
from benchmarks.paper.results import Result
from benchmarks.paper.rows import LEVELS, ROWS

PUBLISHED = ("tvm", "astitch", *LEVELS)
"""Strategies that the paper has a bar for, in its order."""
SHOWN = (*PUBLISHED, "plus")
SEARCHES: Mapping[str, Sequence[tuple[str, str]]] = {
    "tuned": OTHER_STARTS,
    "tuned, from full too": (),
    "tuned, choices of plus": OWN_SPACE,
}
"""Searches by name in the tables, with their options. The first is compared with the vendor's
hand-written code, since it starts without the plan that it is compared with."""
BESIDE_VENDOR = ("tuned", "tuned, from full too")
"""Searches over the choices of `graphturbo`."""
VENDOR = "vendor"


def throughput_sheet(findings: Findings, chip: str) -> Sheet:
    """Table of samples per second: ours, the paper's, and their ratio."""
    asked: dict[str, tuple[str, Options]] = {name: (name, ()) for name in SHOWN}
    for name, options in SEARCHES.items():
        if any(findings.find(row, "tuned", chip, options) for row in ROWS):
            asked[name] = ("tuned", options)
    rows = [
        (
            f"{row}: {ROWS[row].title}",
            *(_rate(findings.find(row, level, chip, options)) for level, options in asked.values()),
        )
        for row in ROWS
    ]
    remark = f"Ours; in brackets the paper's, and ours over it.{_evaluations(findings, chip)}"
    return Sheet(f"Throughput, samples per second, on {chip}", ("row", *asked), rows, remark)


def _evaluations(findings: Findings, chip: str) -> str:
    """A sentence with the evaluated plans per row of each search; "" without a search."""
    counts = {}
    for name, options in SEARCHES.items():
        runs = [findings.find(row, "tuned", chip, options) for row in ROWS]
        if own := {run.evaluations for run in runs if run and not run.refused}:
            counts[name] = str(min(own)) if len(own) == 1 else f"{min(own)} to {max(own)}"
    text = ", ".join(f"`{name}` {count}" for name, count in counts.items())
    return f" Plans that a search evaluates per row: {text}." if text else ""


def _rate(result: Result | None) -> str:
    if result is None:
        return ""
    if result.refused:
        return result.refused
    ratio = result.over_published
    ours = f"{result.throughput_per_s:,.0f}"
    return ours if ratio is None else f"{ours} ({result.published_per_s:,.0f}; **{ratio:.2f}**)"


def over_tvm_sheet(findings: Findings, chip: str) -> Sheet:
    """Table of each strategy over `tvm`, ours and the paper's, with the searches."""
    columns: dict[str, tuple[str, Options, str]] = {
        "astitch": ("astitch", (), "astitch"),
        **{name: ("tuned", SEARCHES[name], VENDOR) for name in BESIDE_VENDOR},
        **{level: (level, (), level) for level in LEVELS},
    }
    ours = {
        name: {
            row: _times(findings.find(row, level, chip, options), findings.find(row, "tvm", chip))
            for row in ROWS
        }
        for name, (level, options, _) in columns.items()
    }
    rows = [
        (
            row,
            *(
                _pair(ours[name][row], ROWS[row].over_tvm[bar])
                for name, (_, _, bar) in columns.items()
            ),
        )
        for row in ROWS
    ]
    headings = ("row", *columns)
    remark = (
        "Ours / the paper's, which is read off bar charts to within 0.05. The paper's bar beside "
        "both columns of `tuned` is the vendor's hand-written code: the first search starts "
        "without the plans of `full` and `plus`, the second with them."
    )
    return Sheet(f"Throughput over TVM's, on {chip}", headings, rows, remark)


def _pair(ours: float | None, paper: float | None) -> str:
    return f"{_ratio(ours)} / {_ratio(paper)}"


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def variant_sheet(results: Sequence[Result]) -> Sheet:
    """Table of other models that a row may mean."""
    rows = [
        (f"{row}: {sample}", *(_variant_rate(row, found.get(level)) for level in PUBLISHED))
        for row, sample, found in models(results)
    ]
    remark = "Samples per second; in brackets over the paper's."
    return Sheet("Other models that a row may mean", ("row", *PUBLISHED), rows, remark)


def variant_over_tvm_sheet(results: Sequence[Result]) -> Sheet:
    """Table of each strategy over `tvm` of the same model, for the other models."""
    columns = PUBLISHED[1:]
    rows = [
        (
            f"{row}: {sample}",
            *(
                _pair(_times(found.get(level), found.get("tvm")), ROWS[row].over_tvm[level])
                for level in columns
            ),
        )
        for row, sample, found in models(results)
    ]
    title = "Throughput of these models over TVM's"
    return Sheet(title, ("row", *columns), rows, "Ours / the paper's.")


def _variant_rate(row: str, result: Result | None) -> str:
    if result is None or result.refused:
        return result.refused if result else ""
    paper = dict(ROWS[row].strategies()).get(result.strategy)
    ours = f"{result.throughput_per_s:,.0f}"
    return f"{ours} ({result.throughput_per_s / paper:.2f})" if paper else ours


def ingredient_sheet(findings: Findings, chip: str) -> Sheet:
    """Table of `graphturbo:plus` over `:full`, complete and without each ingredient."""
    options = dict.fromkeys(
        tuple(sorted(r.options.items())) for r in findings.results if r.level == "plus"
    )
    columns = sorted(options, key=len)
    rows = []
    for row in ROWS:
        full = findings.find(row, "full", chip)
        runs = [findings.find(row, "plus", chip, option) for option in columns]
        rows.append((row, *(_over(run, full) for run in runs)))
    whole = findings.ratios("plus", "full", chip).values()
    names = (", ".join(f"{k}={v}" for k, v in option) or "all" for option in columns)
    remark = f"Geometric mean of `plus` over `full`: {geometric_mean(whole):.3f}."
    return Sheet("`graphturbo:plus` over `graphturbo:full`", ("row", *names), rows, remark)


def _over(one: Result | None, other: Result | None) -> str:
    ratio = _times(one, other)
    return "" if ratio is None else f"{ratio:.3f}"


def _times(one: Result | None, other: Result | None) -> float | None:
    """Speed-up of one run over another; None where one was not run, or refused."""
    if not one or not other or one.refused or other.refused:
        return None
    return one.throughput_per_s / other.throughput_per_s


def tuned_sheet(findings: Findings, chip: str) -> Sheet:
    """Table of searches: throughput, `full` and `plus` over it, and differences of the plan."""
    rows = []
    for row in ROWS:
        for name, options in SEARCHES.items():
            tuned = findings.find(row, "tuned", chip, options)
            if tuned and not tuned.refused:
                over = (
                    _over(findings.find(row, level, chip), tuned) or NOT_RUN
                    for level in ("full", "plus")
                )
                rate = f"{tuned.throughput_per_s:,.0f}"
                rows.append((row, name, rate, str(tuned.evaluations), *over, tuned.otherwise))
            else:
                rows.append((row, name, tuned.refused if tuned else NOT_RUN, *[""] * 4))
    headings = (
        "row", "search", "per second", "evaluations", "full over it", "plus over it",
        "differences of its plan",
    )  # fmt: skip
    return Sheet("Results of searches", headings, rows, _SEARCH_REMARK)


NOT_RUN = "not run"
_SEARCH_REMARK = (
    "`tuned` searches the choices of `graphturbo` and starts without the plans of `full` and "
    "`plus`, so it may end below `full`; the second search starts with the plan of `full`. The "
    "last column compares both with `full`. The third searches the choices of `graphturbo:plus` "
    "and starts with all plans that `plus` evaluates, which do not count as evaluations. It is "
    "compared with `plus`."
)
