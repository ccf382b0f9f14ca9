"""Runs of a comparison -> small multiples as HTML: one row per run, one scale per column.

Time is divided among parts of the model, in the saturated hues; DRAM bytes among causes, engines
by kind, in the greyed colours of the palette. Figures stand at the ends of bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.comparison.sentences import CAUSE_WORDS
from graphturbo_core.comparison.settings import differing_setting
from graphturbo_core.units import format_bytes, format_percent, format_seconds
from graphturbo_ui.compare.scales import Scales
from graphturbo_ui.figures.accounting import cause_text
from graphturbo_ui.palette import CAUSE_COLOURS, ENGINE_COLOURS, lighter
from graphturbo_ui.text import Sink, safe_text

ENGINE_TITLES: Mapping[str, str] = {
    "matrix": "Matrix", "vector": "Vector", "move": "Move", "dma": "DMA",
}  # fmt: skip
ROOMY, TIGHT = 9, 18
"""Most runs whose rows are high, and most whose rows have two lines of text."""
THINNEST = 0.002
"""A part below this share of its own bar is not drawn."""
HUES = 5
BOUND_TITLE = "Share of the lower bound's speed"


def picture_html(runs: Sequence[ComparedRun], marks: Mapping[str, str]) -> str:
    """The picture; `marks`: A or B by the key of a run that is ticked."""
    scales = Scales.of(runs)
    size = "roomy" if len(runs) <= ROOMY else "close" if len(runs) <= TIGHT else "tight"
    settings = differing_setting(runs)
    rows = (
        _row(run, scales, setting, marks.get(run.key, ""))
        for run, setting in zip(runs, settings, strict=True)
    )
    label = safe_text(_label(runs, scales), Sink.HTML, 2000)
    return (
        f'<div class="compare-card {size}" role="img" aria-label="{label}">'
        f'<div class="compare-rows">{_head(scales)}{"".join(rows)}</div>'
        f'<div class="compare-keys">{_keys(runs)}</div></div>'
    )


def _label(runs: Sequence[ComparedRun], scales: Scales) -> str:
    """The picture for those who do not see it; the table below has every number."""
    texts = (f"{run.name} {scales.time_text(run.figures)}" for run in runs[:ROOMY])
    more = f" and {len(runs) - ROOMY} more" if len(runs) > ROOMY else ""
    return f"Time {scales.of_what}: {', '.join(texts)}{more}. The table below has all figures."


def _head(scales: Scales) -> str:
    engines = "".join(f'<div class="h">{title} busy</div>' for title in ENGINE_TITLES.values())
    return (
        '<div class="h">Run</div>'
        f'<div class="h">Time {scales.of_what}; dashed: lower bound</div>'
        f'<div class="h">DRAM bytes {scales.of_what}</div>{engines}'
        '<div class="h">Of bound&#39;s speed</div>'
    )


def _row(run: ComparedRun, scales: Scales, setting: str, mark: str) -> str:
    figures = run.figures
    busy = (_share(figures.utilization.get(kind, 0.0), lighter(ENGINE_COLOURS[kind]), title)
            for kind, title in ENGINE_TITLES.items())  # fmt: skip
    return (
        f"{_who(run, setting, mark)}"
        f"{_time(figures, scales)}{_traffic(figures, scales)}"
        f"{''.join(busy)}{_share(figures.bound_share, 'var(--bound)', BOUND_TITLE)}"
    )


def _time(figures: RunFigures, scales: Scales) -> str:
    bound = scales.seconds(figures, figures.lower_bound_s) / scales.most_s
    whole = scales.seconds(figures) / scales.most_s
    return _bar(whole, _time_parts(figures, scales), scales.time_text(figures), bound)


def _traffic(figures: RunFigures, scales: Scales) -> str:
    whole = scales.dram_bytes(figures) / scales.most_bytes
    return _bar(whole, _byte_parts(figures, scales), scales.bytes_text(figures))


def _who(run: ComparedRun, setting: str, mark: str) -> str:
    """The name with its marks, and below it what others do not share."""
    badge = f'<span class="badge {mark.lower()}">{mark}</span>' if mark else ""
    pin = '<span class="pin" title="pinned">●</span>' if run.is_pinned else ""
    old = (
        f'<span class="old" title="figures of version {_html(run.figures.version)}">'
        f"v{_html(run.figures.version, 12)}</span>"
        if run.is_of_other_version
        else ""
    )
    title = _html(f"{run.name}. {run.note}" if run.note else run.name, 700)
    below = f'<span class="setting">{_html(setting, 120)}</span>' if setting else ""
    name = f'<b title="{title}">{_html(run.name)}</b>'
    return f'<div class="who"><span class="line">{badge}{pin}{name}{old}</span>{below}</div>'


def _html(text: str, most: int = 80) -> str:
    return safe_text(text, Sink.HTML, most)


Part = tuple[float, str, str]
"""Share of the scale's end, colour, and what it says when pointed at."""


def _bar(whole: float, parts: Sequence[Part], text: str, bound: float | None = None) -> str:
    """A bar of `whole` of the scale, divided in the ratio of its parts."""
    total = sum(share for share, _, _ in parts) or 1
    unit = 1000 / total
    drawn = "".join(
        f'<i style="flex-grow:{unit * share:.2f};background:{colour}" title="{said}"></i>'
        for share, colour, said in parts
        if share >= THINNEST * total
    )
    line = "" if bound is None else f'<em style="--w:{bound:.5f}"></em>'
    return (
        f'<div class="bar"><span class="fill" style="--w:{whole:.5f}">{drawn}</span>{line}'
        f'<span class="end" style="--w:{whole:.5f}">{text}</span></div>'
    )


def _time_parts(figures: RunFigures, scales: Scales) -> list[Part]:
    """Parts of the model, then time without a layer in flight; else one grey part."""
    other = "without a layer in flight" if figures.parts else "whole run, its parts are not known"
    rest_s = figures.other_s if figures.parts else figures.latency_s
    rows = [(part.title, part.seconds, f"var(--g{hue})") for hue, part in enumerate(figures.parts)]
    return [
        (
            scales.seconds(figures, seconds) / scales.most_s,
            colour,
            _html(f"{title}: {format_seconds(scales.seconds(figures, seconds))}", 200),
        )
        for title, seconds, colour in (*rows, (other, rest_s, "var(--rest)"))
    ]


def _byte_parts(figures: RunFigures, scales: Scales) -> list[Part]:
    return [
        (
            scales.dram_bytes(figures, size) / scales.most_bytes,
            colour,
            _html(f"{CAUSE_WORDS[cause]}: {format_bytes(scales.dram_bytes(figures, size))}", 200),
        )
        for cause, colour in CAUSE_COLOURS.items()
        if (size := figures.dram_ledger.get(cause, 0))
    ]


def _share(share: float, colour: str, title: str) -> str:
    """A bar from 0 to 100 % with its number."""
    text = f"{100 * share:.0f} %"
    said = _html(f"{title}: {format_percent(share)}")
    style = f"--w:{min(1.0, share):.4f};--c:{colour}"
    return f'<div class="share" style="{style}" title="{said}">{text}</div>'


def _keys(runs: Sequence[ComparedRun]) -> str:
    """What the colours stand for: parts of each model, causes that occur."""
    return f"<div>{''.join(_part_keys(runs))}</div><div>{_cause_keys(runs)}</div>"


def _part_keys(runs: Sequence[ComparedRun]) -> Iterator[str]:
    titles = dict.fromkeys(
        tuple(part.title for part in run.figures.parts) for run in runs if run.figures.parts
    )
    yield "<span>Time by</span>"
    if len(titles) == 1:
        for hue, title in enumerate(next(iter(titles))):
            yield _key(f"var(--g{hue})", title)
    else:
        words = "part of the model, in its order" if titles else "run"
        yield f"<span>{words}</span>"
        for hue in range(HUES if titles else 0):
            yield _key(f"var(--g{hue})", f"{hue + 1}")
    if any(run.figures.parts and run.figures.other_s for run in runs):
        yield _key("var(--rest)", "no layer in flight")
    elif any(not run.figures.parts for run in runs):
        yield _key("var(--rest)", "not divided")


def _cause_keys(runs: Sequence[ComparedRun]) -> str:
    found = [
        _key(colour, cause_text(cause))
        for cause, colour in CAUSE_COLOURS.items()
        if any(run.figures.dram_ledger.get(cause, 0) for run in runs)
    ]
    return f"<span>DRAM bytes by</span>{''.join(found)}" if found else ""


def _key(colour: str, words: str) -> str:
    return f'<span class="key"><i style="background:{colour}"></i>{_html(words, 60)}</span>'
