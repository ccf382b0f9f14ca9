"""Strategies side by side as HTML: a column each, all on one axis of layers.

A box is a kernel: down its layers, across the pieces of its split. Too many pieces are stripes.
A hue is a part of the model, the same in every column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil
from urllib.parse import urlencode

from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.comparison.side_by_side.kernel_picture import (
    KernelPicture,
    KernelStretch,
    ModelPart,
)
from graphturbo_core.report.canvases.resources import KEY_WORDS
from graphturbo_core.report.verdict.verdict import is_same
from graphturbo_core.units import counted, format_bytes, format_percent, format_seconds
from graphturbo_ui.palette import RESOURCE_COLOURS, lighter
from graphturbo_ui.schedulers.collecting import SchedulerAnswer, Schedulers, name_of
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import Sink, safe_text

LEAST_PIXELS, HEIGHT = 3, 560
"""Of a layer, and of the picture unless its layers need more."""
LEAST_LINE = 2
"""Pixels of a kernel and the gap below it, where it has part of a layer."""
MOST_BOXES = 1500
"""Of one column (our choice: some 170 kB of HTML)."""
LEAST_TITLE = 14
"""Pixels of a part of the model that has room for its title."""
MOST_LAYERS = 320
"""In one picture; of longer models a part is chosen."""
LEAST_PART = 0.002
"""A part of a bar below this share of it is not drawn."""
OPEN = "Open in Explore as B, beside A"


@dataclass(frozen=True)
class Sheet:
    """What all columns have in common. `fastest_s`, `slowest_s`: of the runs that are there.

    `window`: first and last layer that are drawn. `missing`: what is said of a run without an
    answer.
    """

    choices: Choices
    fastest_s: float
    slowest_s: float
    window: tuple[int, int]
    missing: str


def columns_html(now: Schedulers, choices: Choices, window: tuple[int, int]) -> str:
    """The picture of layers `window` (first, last); strategies that wait have an empty column."""
    parts = next((each.picture.parts for each in now.drawn if each.picture is not None), ())
    times = [run.figures.latency_s for run in now.runs] or [0.0]
    missing = "not run" if now.is_stopped else "waiting"
    sheet = Sheet(choices, min(times), max(times), window, missing)
    columns = "".join(
        _column(sheet, strategy, now.answers.get(strategy))
        for strategy in (each.request.strategy for each in now.wanted)
    )
    label = safe_text(_label(now), Sink.HTML, 2000)
    return (
        f'<div class="side-card" role="group" aria-label="{label}" '
        f'style="--n:{len(now.wanted)};--high:{_height(window)}px">'
        f'<div class="side-grid">{_axis(parts, window)}{columns}</div>'
        f'<div class="side-keys">{_keys(parts, now)}</div></div>'
    )


def _height(window: tuple[int, int]) -> int:
    """Pixels of the picture."""
    return max(HEIGHT, LEAST_PIXELS * (window[1] - window[0] + 1))


def _label(now: Schedulers) -> str:
    """The picture for those who do not see it."""
    texts = (f"{run.name} {format_seconds(run.figures.latency_s)}, "
             f"{counted(run.figures.launches, 'kernel')}" for run in now.runs)  # fmt: skip
    return f"Kernels of each strategy by layers and pieces. Times: {'; '.join(texts)}."


def _axis(parts: Sequence[ModelPart], window: tuple[int, int]) -> str:
    """Titles of the model's parts, each at the middle of its layers."""
    first, last = window
    count = last - first + 1
    titles = []
    for hue, part in enumerate(parts):
        top, foot = max(part.first, first), min(part.last, last) + 1
        if _height(window) * (foot - top) / count < LEAST_TITLE:
            continue
        place = f"top:{100 * (top - first) / count:.3f}%;height:{100 * (foot - top) / count:.3f}%"
        title = safe_text(part.title, Sink.HTML, 40)
        titles.append(f'<span style="{place};--c:var(--t{hue})" title="{title}">{title}</span>')
    return (
        '<div class="side-head">Strategy</div><div class="side-time">Time of the batch</div>'
        f'<div class="side-axis">{"".join(titles)}</div>'
        '<div class="side-foot">Over DRAM<br>Kernels a cluster<br>Of the bound</div>'
    )


def _column(sheet: Sheet, strategy: str, answer: SchedulerAnswer | None) -> str:
    """One strategy."""
    name = safe_text(name_of(strategy), Sink.HTML, 40).replace(":", ":<wbr>")
    link = escape(_explore(sheet.choices, strategy))
    head = f'<div class="side-head"><a href="{link}" target="_self" title="{OPEN}">{name}</a></div>'
    if answer is None or answer.figures is None or answer.picture is None:
        why = answer.refusal if answer is not None else sheet.missing
        text = safe_text(why, Sink.HTML, 300)
        return (
            f'{head}<div class="side-time"></div><div class="side-plot empty"><p>{text}</p></div>'
            '<div class="side-foot"></div>'
        )
    figures = answer.figures
    idle = " idle" if answer.picture.clusters else ""
    is_best = sheet.slowest_s > sheet.fastest_s and is_same(figures.latency_s, sheet.fastest_s)
    best = " best" if is_best else ""
    return (
        f'{head}<div class="side-time{best}">{_time(figures, sheet.slowest_s)}</div>'
        f'<div class="side-plot{idle}">{_kernels(answer.picture, sheet.window)}</div>'
        f'<div class="side-foot">{format_bytes(figures.dram_bytes)}<br>'
        f"{figures.launches:,}<br>{format_percent(figures.bound_share)}</div>"
    )


def _explore(choices: Choices, strategy: str) -> str:
    """The address of Explore with this strategy as B, at its defaults."""
    named = [
        (key, value) for key, value in choices.address() if key not in ("b", "set_b", "plan_b")
    ]
    return "./?" + urlencode([*named, ("b", strategy)])


def _time(figures: RunFigures, slowest: float) -> str:
    """The time and its bar, divided by what the critical path occupies."""
    total = sum(figures.critical_path.values()) or 1.0
    parts = "".join(
        f'<i style="flex-grow:{1000 * seconds / total:.2f};'
        f'background:{lighter(RESOURCE_COLOURS[key])}" '
        f'title="{KEY_WORDS[key]}: {format_seconds(seconds)}"></i>'
        for key in KEY_WORDS
        if (seconds := figures.critical_path.get(key, 0.0)) > LEAST_PART * total
    )
    share = figures.latency_s / slowest
    return (
        f"<b>{format_seconds(figures.latency_s)}</b>"
        f'<span class="side-bar"><span style="width:{100 * share:.2f}%">{parts}</span></span>'
    )


def _kernels(picture: KernelPicture, window: tuple[int, int]) -> str:
    """The boxes of one column, equal ones once; beyond `MOST_BOXES` pieces are stripes."""
    shown = [
        stretch
        for stretch in picture.stretches
        if stretch.foot > window[0] and stretch.top < window[1] + 1
    ]
    is_full = sum(len(stretch.parts) for stretch in shown) > MOST_BOXES
    boxes: dict[str, str] = {}
    for stretch in shown:
        is_many = stretch.is_many or (is_full and stretch.kernels > 1)
        title = _layers_text(stretch) + f": {counted(stretch.kernels, 'kernel')}"
        title += " side by side" if stretch.kernels > 1 else ""
        for style in _places(picture, stretch, window, is_whole=is_full and not stretch.is_many):
            boxes.setdefault(
                style, f'<u class="box{" many" if is_many else ""}" {style} title="{title}"></u>'
            )
    return "".join(boxes.values())


def _places(
    picture: KernelPicture, stretch: KernelStretch, window: tuple[int, int], *, is_whole: bool
) -> Iterator[str]:
    """Place and fill of each kernel of a stretch; of the whole stretch at once if `is_whole`."""
    first, count = window[0], window[1] - window[0] + 1
    line = _as_line(stretch, _height(window) / count)
    height = line.foot - line.top
    parts = stretch.parts
    if is_whole:
        parts = ((min(part[0] for part in parts), max(part[1] for part in parts), 0.0, 1.0),)
    for left, right, upper, lower in parts:
        top = max(float(first), line.top + upper * height)
        foot = min(float(first + count), line.top + lower * height)
        if foot <= top:
            continue
        place = (100 * (top - first) / count, 100 * (1 - right),
                 100 * (1 - (foot - first) / count), 100 * left)  # fmt: skip
        inset = " ".join(f"{each:.4g}%" for each in place)
        yield f'style="inset:{inset};--f:{_fill(picture, top, foot)}"'


def _as_line(stretch: KernelStretch, pixels: float) -> KernelStretch:
    """A kernel of part of a layer, that is `pixels` high, as one of the lines that have room there.

    Several kernels may have one line: without it thin kernels would be no lines, or one box.
    """
    height = stretch.foot - stretch.top
    layer = int(stretch.top)
    if height >= 1 or height * pixels >= LEAST_LINE or stretch.foot > layer + 1:
        return stretch
    owners = round(1 / height)
    lines = max(1, int(pixels / LEAST_LINE))
    line = round((stretch.top - layer) * owners) * lines // owners
    return replace(stretch, top=layer + line / lines, foot=layer + (line + 1) / lines)


def _layers_text(stretch: KernelStretch) -> str:
    """The layers of a stretch, counted from 1."""
    first, last = int(stretch.top) + 1, ceil(stretch.foot)
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def _fill(picture: KernelPicture, top: float, foot: float) -> str:
    """The hue of these layers, or bands of hues from the top to the foot."""
    bands = []
    at = top
    while at < foot:
        hue = picture.hue(int(at))
        end = float(picture.parts[hue].last + 1) if hue >= 0 else foot
        bands.append((f"var(--g{hue})" if hue >= 0 else "var(--rest)", min(end, foot)))
        at = end
    if len(bands) == 1:
        return bands[0][0]
    stops, at = [], 0.0
    for colour, end in bands:
        share = 100 * (end - top) / (foot - top)
        stops.append(f"{colour} {at:.4g}% {share:.4g}%")
        at = share
    return f"linear-gradient({','.join(stops)})"


def _keys(parts: Sequence[ModelPart], now: Schedulers) -> str:
    """What the colours stand for: parts of the model, and what the critical paths occupy."""
    used = {key for run in now.runs for key, value in run.figures.critical_path.items()
            if value > LEAST_PART * run.figures.latency_s}  # fmt: skip
    hues = [(part.title, f"var(--g{hue})") for hue, part in enumerate(parts)]
    paths = [(KEY_WORDS[key], lighter(RESOURCE_COLOURS[key])) for key in KEY_WORDS if key in used]
    return (
        f"<div><span>A box is a kernel: down its layers, {_across(now)}. Stripes: too many "
        f"kernels to draw. Thin lines: kernels of part of a layer, or several of them. Colours: "
        f"parts of the model</span>{_swatches(hues)}</div>"
        "<div><span>A name opens Explore with that strategy as B.</span></div>"
        f"<div><span>Time on the critical path in</span>{_swatches(paths)}</div>"
    )


def _across(now: Schedulers) -> str:
    """What the width of a column stands for."""
    clusters = max((each.picture.clusters for each in now.drawn if each.picture), default=0)
    if not clusters:
        return "across the pieces of its split"
    return f"across the chip's {clusters} clusters, since the batch has fewer samples"


def _swatches(colours: Sequence[tuple[str, str]]) -> str:
    return "".join(
        f'<span class="key"><i style="background:{colour}"></i>'
        f"{safe_text(words, Sink.HTML, 60)}</span>"
        for words, colour in colours
    )
