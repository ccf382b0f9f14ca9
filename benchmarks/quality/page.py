"""Kept runs -> docs/quality.md and its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import geometric_mean
from types import MappingProxyType

from benchmarks.drawing.heat_figure import Panel, heat_svg
from benchmarks.drawing.sheet import Sheet
from benchmarks.quality import other_models
from benchmarks.quality.choices import choices
from benchmarks.quality.closed_forms import sheets
from benchmarks.quality.kept_runs import Key, Run
from benchmarks.quality.matrix import (
    BASELINES,
    CHIPS,
    EVERY,
    KEPT,
    LONGER,
    MODELS,
    ONE,
    ONE_SAMPLE,
    PLUS_RUNS,
    SEARCH,
    STRATEGIES,
    plus_runs,
)
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.report.bounds.bound_steps import BOUND
from graphturbo_ui.figures.bound_steps import BOUND_WORDS, STEP_WORDS

PAGE, FIGURE = KEPT.with_suffix(".md"), KEPT.parent / "images" / "quality.svg"
DRAWN = ("tvm@16", "graphturbo@16", SEARCH)
NOT_RUN = "not run"
EARLIER = "is_earlier"
"""Field of a run that an earlier state of the search gave."""
LONG = " (long)"
MARK = " (before)"
MARKED = f"`{MARK.strip()}`: of an earlier state of the search or of lowering, and not run since."
LONG_REMARK = (
    f"`{LONG.strip()}`: the program is too long for the usual limit of instructions; with "
    f"`--max-instructions {DEFAULT_LIMITS.max_instructions_longest}`."
)
SHORT_ONLY = "Programs longer than the usual limit are left out."
NEAR_BOUND = 0.85
NOT_SLOWER = 0.995
LARGEST_STEPS = 3
BATCH_HEAD = "share of its cluster batch"
NONE: Mapping[Key, Run] = MappingProxyType({})
LEAST_SECONDS = 0.1
"""Seconds are kept with one digit after the point."""


def page(
    found: Mapping[Key, Run],
    closed_forms: Mapping[Key, Run] = NONE,
    others: Mapping[Key, Run] = NONE,
) -> str:
    """Text of docs/quality.md."""
    count = len(MODELS) * len(CHIPS) * (len(EVERY) + PLUS_RUNS)
    return "\n".join(
        [
            "# Quality of schedules\n",
            "Written by `python -m benchmarks.quality`. A number is a share: the model's lower "
            "bound on this chip over the time of the strategy's schedule; 1 is the bound itself. "
            f"`{SEARCH}` chooses the cluster batch. `resnet50-slim` to `vit-b16` are samples, the "
            f"others PyTorch's exports without weights. {len(found)} of {count} runs are kept.\n",
            f"![Shares of the lower bound](images/{FIGURE.name})\n",
            *(sheet.markdown() for sheet in (*_sheets(found), *sheets(closed_forms))),
            *choices(SEARCH),
            *(sheet.markdown() for sheet in other_models.sheets(others)),
        ]
    )


def _sheets(found: Mapping[Key, Run]) -> Iterator[Sheet]:
    yield from (
        _means(found), _shares(found), _beside(found), _beside_plus(found), _one_sample(found),
        _separated(found), _times(found),
    )  # fmt: skip


def _shares(found: Mapping[Key, Run]) -> Sheet:
    rows = [
        (model.name, chip, *(_cell(found, (model.name, chip, s)) for s in STRATEGIES),
         str(found.get((model.name, chip, SEARCH), {}).get("strategy", "")))
        for chip in CHIPS for model in MODELS
    ]  # fmt: skip
    head = ("model", "chip", *STRATEGIES, f"chosen by `{SEARCH}`")
    marked = [MARKED] if any(run.get(EARLIER) for run in found.values()) else []
    remark = " ".join([*marked, LONG_REMARK, *_faster_if_longer(found)])
    return Sheet("Share of the lower bound", head, rows, remark)


def _faster_if_longer(found: Mapping[Key, Run]) -> Iterator[str]:
    """A sentence on each longer program that is faster than the search's usual one."""
    for (model, chip, of), run in found.items():
        best = _usual_share(found.get((model, chip, SEARCH), {}))
        if of in BASELINES and run.keys() >= LONGER.keys() and run.get("share", 0.0) > best > 0:
            ratio = run["share"] / best
            yield (
                f"`{SEARCH}` keeps to the usual limit: the longer program of `{of}` for {model} on "
                f"`{chip}` is {ratio:.1f} times as fast."
            )


def _cell(found: Mapping[Key, Run], key: Key) -> str:
    value, run = _value(found, key), found.get(key, {})
    text = value if isinstance(value, str) else f"{value:.2f}"
    long = LONG if run.keys() >= LONGER.keys() else ""
    return f"{text}{long}{MARK if run.get(EARLIER) else ''}"


def _value(found: Mapping[Key, Run], key: Key) -> float | str:
    run = found.get(key)
    if run is None:
        return NOT_RUN
    return "refused" if "refused" in run else float(run["share"])


def _means(found: Mapping[Key, Run]) -> Sheet:
    """Means over the models that every strategy has on that chip; one not run there is left out."""
    rows = []
    for chip in CHIPS:
        shares = {
            strategy: [found.get((model.name, chip, strategy), {}).get("share") for model in MODELS]
            for strategy in STRATEGIES
            if any((model.name, chip, strategy) in found for model in MODELS)
        }
        places = range(len(MODELS))
        whole = [place for place in places if all(own[place] for own in shares.values())]
        means = {
            strategy: f"{geometric_mean(own[place] for place in whole):.2f}"
            for strategy, own in shares.items()
            if whole
        }
        cells = (means.get(strategy, "") for strategy in STRATEGIES)
        rows.append((chip, str(len(whole) if shares else 0), *cells))
    has_earlier = any(run.get(EARLIER) for run in found.values())
    earlier = f", with those of `{MARK.strip()}`" if has_earlier else ""
    remark = f"Over the models with all schedules of their line{earlier}. Longer programs count."
    return Sheet("Geometric mean per chip", ("chip", "models", *STRATEGIES), rows, remark)


def _beside(found: Mapping[Key, Run]) -> Sheet:
    """The search's schedule beside the fastest baseline, where all of these are kept."""
    rows, slower = [], 0
    for chip in CHIPS:
        for model in MODELS:
            own = {name: found.get((model.name, chip, name)) for name in (*BASELINES, SEARCH)}
            shares = {name: _usual_share(run) for name, run in own.items() if run}
            if not all(own.values()) or not shares.get(SEARCH):
                continue
            best = shares.pop(SEARCH)
            fastest = max(BASELINES, key=lambda name: shares.get(name, 0.0))
            slower += best < NOT_SLOWER * shares[fastest]
            ratio = f"{best / shares[fastest]:.2f}"
            text = _cell(found, (model.name, chip, SEARCH))
            other = _cell(found, (model.name, chip, fastest))
            rows.append((model.name, chip, fastest, other, text, ratio))
    return Sheet(
        f"`{SEARCH}` beside every cluster batch",
        ("model", "chip", "fastest of the others", "its share", SEARCH, "times as fast"),
        rows,
        f"{SHORT_ONLY} Of {len(rows)} pairs of which all twelve others were run (`tvm` and "
        f"`graphturbo` at cluster batches of 1 to 32), `{SEARCH}` is slower than {NOT_SLOWER} of "
        f"the fastest in {slower}.",
    )


def _beside_plus(found: Mapping[Key, Run]) -> Sheet:
    """The search's schedule beside `graphturbo:plus` where `graphturbo` is fastest."""
    rows, slower = [], 0
    for chip in CHIPS:
        for model in MODELS:
            names = (*plus_runs(found, model.name, chip), SEARCH)
            own = {name: found.get((model.name, chip, name)) for name in names}
            shares = {name: _usual_share(run) for name, run in own.items() if run}
            if len(names) == 1 or not all(own.values()) or not shares[SEARCH]:
                continue
            best = shares.pop(SEARCH)
            fastest = max(shares, key=lambda name: shares[name])
            slower += best < NOT_SLOWER * shares[fastest]
            cells = {name: _cell(found, (model.name, chip, name)) for name in shares}
            others = ", ".join(f"{name}: {cell}" for name, cell in cells.items())
            text = _cell(found, (model.name, chip, SEARCH))
            rows.append((model.name, chip, others, text, f"{best / shares[fastest]:.2f}"))
    return Sheet(
        f"`{SEARCH}` beside `graphturbo:plus`",
        ("model", "chip", "shares of `graphturbo:plus`", SEARCH, "times as fast as the faster"),
        rows,
        f"`graphturbo:plus` at the two cluster batches where `graphturbo` is fastest. {SHORT_ONLY} "
        f"Of {len(rows)} pairs, `{SEARCH}` is slower than {NOT_SLOWER} of the faster in {slower}.",
    )


def _usual_share(run: Run) -> float:
    """Share of a run under the usual limit of instructions; 0 without such a schedule."""
    return 0.0 if run.keys() >= LONGER.keys() else float(run.get("share", 0.0))


def _one_sample(found: Mapping[Key, Run]) -> Sheet:
    """The search's schedule of one sample beside the others', where all are kept."""
    rows, slower = [], 0
    for chip in CHIPS:
        for model in MODELS:
            keys = [(model.name, chip, of) for of in ONE_SAMPLE]
            if any(key not in found for key in keys):
                continue
            *others, best = (_usual_share(found[key]) for key in keys)
            slower += best < NOT_SLOWER * max(others)
            rows.append((model.name, chip, *(_cell(found, key) for key in keys)))
    return Sheet(
        "One sample",
        ("model", "chip", *(of.removeprefix(ONE) for of in ONE_SAMPLE)),
        rows,
        f"Shares at batch 1. {LONG_REMARK} Of {len(rows)} pairs, `{SEARCH}` is slower than "
        f"{NOT_SLOWER} of the fastest of the others in {slower}.",
    )


def _separated(found: Mapping[Key, Run]) -> Sheet:
    """The largest steps between the bound and the time of each run below `NEAR_BOUND`."""
    rows = [
        (
            model.name,
            chip,
            _cell(found, (model.name, chip, SEARCH)),
            _batch_share(run),
            BOUND_WORDS[run["resource"]],
            _steps(run),
        )
        for chip in CHIPS
        for model in MODELS
        if "steps" in (run := found.get((model.name, chip, SEARCH), {}))
        and run["share"] < NEAR_BOUND
    ]
    return Sheet(
        f"What separates `{SEARCH}` from the lower bound",
        ("model", "chip", "share", BATCH_HEAD, "bound by", "largest steps (% of the time)"),
        rows,
        f"Schedules below {NEAR_BOUND} of the bound: what the resource of the bound does beyond "
        "it, and what it waits for; data that come from DRAM through GB count as GB's. Those found "
        f"before steps were kept are not listed. {BATCH_HEAD}: as the share, of the lower bound of "
        "all schedules with the chosen cluster batch, whose rounds follow one another and each "
        "read all weights. We can prove no tighter one: kernels of several sub-graphs interleave, "
        "so a tensor between two of them need never exist as a whole.",
    )


def _batch_share(run: Run) -> str:
    return f"{run['batch_share']:.2f}" if "batch_share" in run else ""


def _steps(run: Run) -> str:
    """The largest steps after the bound, in words."""
    steps = [(name, own) for name, own in run["steps"].items() if name != BOUND]
    largest = sorted(steps, key=lambda step: -step[1])[:LARGEST_STEPS]
    return ", ".join(f"{STEP_WORDS[name]} {100 * own:.0f}" for name, own in largest)


def _times(found: Mapping[Key, Run]) -> Sheet:
    """Ratios within one process."""
    rows = [(model.name, *(_time(found, model.name, chip) for chip in CHIPS)) for model in MODELS]
    title = f"Time to schedule: `{SEARCH}` over `graphturbo@16`"
    return Sheet(
        title,
        ("model", *CHIPS),
        rows,
        "Import to Trace, in one process. Empty: not run, or the two were not timed together.",
    )


def _time(found: Mapping[Key, Run], model: str, chip: str) -> str:
    searched, plain = (found.get((model, chip, s), {}) for s in (SEARCH, "graphturbo@16"))
    if "seconds" not in searched or "seconds" not in plain:
        return ""
    return f"{searched['seconds'] / max(plain['seconds'], LEAST_SECONDS):.0f}"


def figure(found: Mapping[Key, Run]) -> str:
    """Text of the picture."""
    panels = [Panel(strategy, dict(_cells(found, strategy))) for strategy in DRAWN]
    remark = "Share of the lower bound: 1 is the bound. Grey: refused, or not run."
    return heat_svg([model.name for model in MODELS], CHIPS, panels, remark)


def _cells(
    found: Mapping[Key, Run], strategy: str
) -> Iterator[tuple[tuple[str, str], float | str]]:
    for model in MODELS:
        for chip in CHIPS:
            yield (model.name, chip), _value(found, (model.name, chip, strategy))
