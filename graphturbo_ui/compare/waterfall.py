"""A ladder -> its steps as HTML: speed over the first step, ours and the paper's on one scale."""

from __future__ import annotations

from collections.abc import Sequence

from graphturbo_core.comparison.ladder import Ladder, Rung
from graphturbo_core.comparison.published import LEVELS, PublishedSteps
from graphturbo_core.comparison.settings import RunSetting
from graphturbo_core.report.verdict.verdict import is_same
from graphturbo_core.units import format_si
from graphturbo_ui.text import Sink, safe_text


def ladder_title(ladder: Ladder) -> str:
    """`resnet50-slim on stcp920, batch 64, fp16; 16 samples per cluster at once`."""
    setting: RunSetting = ladder.setting
    return f"{setting.title()}; {ladder.cluster_batch:,} samples per cluster at once"


def ladder_text(ladder: Ladder) -> str:
    """The ladder in one sentence."""
    first, last = ladder.rungs[0], ladder.rungs[-1]
    speed = _speeds(ladder)[-1]
    largest = max(ladder.rungs[1:], key=lambda rung: rung.gain)
    has_gain = largest.gain > 1 and not is_same(largest.gain, 1)
    step = f"the largest step is {largest.level}: {_gain(largest.gain)}"
    whole = f"{last.level} is {format_si(speed)}× as fast as {first.level}"
    return f"{whole}; {step if has_gain else 'no step gains'}"


def paper_text(ladder: Ladder) -> str:
    """Where the paper's numbers are from, or that there are none."""
    paper = ladder.paper
    if paper is None:
        return "The paper has no steps for this model and chip."
    same = paper.batch == ladder.setting.batch and paper.cluster_batch == ladder.cluster_batch
    batches = f"batch {paper.batch:,}, {paper.cluster_batch:,} samples per cluster"
    return (
        f"Hollow: the paper's {paper.title} on STCP920, {batches}"
        f"{'' if same else ' (other than here)'}; {_source(paper)}. Which model file the paper ran "
        "is not known."
    )


def _source(paper: PublishedSteps) -> str:
    """Which numbers were read off a chart, and which the paper states."""
    words = "read off its bar charts to within 0.05 of TVM's speed"
    if len(paper.read_off) == len(paper.over_tvm):
        return words
    stated = [level for level in paper.over_tvm if level not in paper.read_off]
    said = f"{', '.join(stated)} as its text states"
    return f"{said}; {', '.join(paper.read_off)} {words}" if paper.read_off else said


def _speeds(ladder: Ladder) -> list[float]:
    """Throughput of each step over the first one's."""
    first = ladder.rungs[0].run.figures.throughput_per_s
    return [rung.run.figures.throughput_per_s / first if first else 0.0 for rung in ladder.rungs]


def _paper_speeds(ladder: Ladder) -> list[float | None]:
    """The paper's, over its own number for our first step; None where it has none."""
    if ladder.paper is None or ladder.rungs[0].level not in LEVELS:
        return [None] * len(ladder.rungs)
    bars = ladder.paper.over_tvm
    first = bars[ladder.rungs[0].level]
    return [bars[rung.level] / first if rung.level in LEVELS else None for rung in ladder.rungs]


def waterfall_html(ladder: Ladder) -> str:
    """A row per step: what it adds, its gain, and the speed that is reached."""
    ours, papers = _speeds(ladder), _paper_speeds(ladder)
    most = max([*ours, *(speed for speed in papers if speed is not None)]) or 1.0
    rows = []
    for at, rung in enumerate(ladder.rungs):
        before = ours[at - 1] if at else 0.0
        rows.append(
            f"{_step(rung, at)}<div class='stairs'>"
            f"{_stair(before, ours[at], most, f'{format_si(ours[at])}×', '')}"
            f"{_paper_stair(papers, at, most)}</div>"
        )
    label = safe_text(f"{ladder_title(ladder)}: {ladder_text(ladder)}", Sink.HTML, 1000)
    heads = (
        "<div class='h'>Step</div><div class='h end-of'>Gain</div>"
        f"<div class='h end-of'>{'Paper' if ladder.paper else ''}</div>"
        f"<div class='h'>Speed over {ladder.rungs[0].level}</div>"
    )
    said, title, source = (
        safe_text(text, Sink.HTML, 500)
        for text in (ladder_text(ladder), ladder_title(ladder), paper_text(ladder))
    )
    return (
        f'<div class="compare-card"><h2>{said}</h2><p>The paper&#39;s steps on {title}</p>'
        f'<div class="ladder-rows" role="img" aria-label="{label}">{heads}{"".join(rows)}</div>'
        f'<p class="source">{source}</p></div>'
    )


def _step(rung: Rung, at: int) -> str:
    gain = "" if not at else _gain(rung.gain)
    paper = "" if rung.published is None else _gain(rung.published)
    words = safe_text(rung.words, Sink.HTML)
    return (
        f"<div class='step'><b>{rung.level}</b><span>{words}</span></div>"
        f"<div class='gain'>{gain}</div><div class='gain paper'>{paper}</div>"
    )


def _gain(ratio: float) -> str:
    return f"{format_si(ratio)}×"


def _paper_stair(papers: Sequence[float | None], at: int, most: float) -> str:
    speed = papers[at]
    if speed is None:
        return ""
    before = papers[at - 1] if at else 0.0
    return _stair(before or 0.0, speed, most, f"paper {format_si(speed)}×", "paper")


def _stair(before: float, speed: float, most: float, text: str, kind: str) -> str:
    """A stretch from the step before to this one, pale below it; hatched where it is slower."""
    low, high = sorted((before, speed))
    word = "loss" if speed < before else "rise"
    return (
        f'<div class="stair {kind}"><i class="base" style="--w:{low / most:.5f}"></i>'
        f'<i class="{word}" style="--f:{low / most:.5f};--w:{(high - low) / most:.5f}"></i>'
        f'<span class="end" style="--w:{high / most:.5f}">{text}</span></div>'
    )
