"""Labels of the bar's popovers: a caption, and below it the present choice."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.hardware.profile import load_profile, parse_profile
from graphturbo_core.run_request import options_of_strategy
from graphturbo_core.strategies.registry import STRATEGIES
from graphturbo_core.units import counted, format_bytes, format_si
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.sizes import Sizes
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.uploads import box_names

NO_MARKDOWN = re.compile(r"[A-Za-z0-9]+(?:[@.-][A-Za-z0-9]+)*")
"""Names that mean the same with and without Markdown: read aloud without backslashes."""
MAX_LENGTH = 60
MAX_SYMBOL, MOST_SIZES = 16, 2
"""Characters of a dimension's name, and sizes that the bar shows."""


def labelled(caption: str, value: str) -> str:
    """The caption, and the value in bold: the style sheet gives each a line of its own."""
    return f"{caption} **{value}**"


def model_label() -> str:
    """The model's name; an upload's file name."""
    return labelled("Model", _file_text("model", query.DEFAULT_MODEL, state.model_names()))


def chip_label(default: str) -> str:
    """The chip's name; an upload's file name."""
    return labelled("Chip", _file_text("chip", default, state.chip_names()))


def batch_label(proposed: Sizes) -> str:
    """The batch of the whole chip, and above it the sizes of the model's open dimensions."""
    sizes = [
        f"{safe_text(symbol, Sink.MARKDOWN, MAX_SYMBOL)} "
        f"{state.shown_value(query.dimension_key(symbol), str(size))}"
        for symbol, size in proposed.dims.items()
    ]
    more = [f"{len(sizes) - MOST_SIZES} more"] if len(sizes) > MOST_SIZES else []
    shown = ", ".join([*sizes[:MOST_SIZES], *more])
    caption = f"Batch · {shown}" if shown else "Batch"
    return labelled(caption, state.shown_value("batch", str(proposed.batch)))


def run_label(key: str, default: str) -> str:
    """A run's strategy, with whether its groups are fine, and how it departs from the strategy."""
    strategy = state.shown_value(key, default)
    caption = f"{key.upper()}, {kind_of(strategy)}"
    count = len(chosen_options(key, strategy))
    if run_state.held_plan(key):
        caption = f"{key.upper()}, from a plan"
    elif count:
        caption += f" · {counted(count, 'option')}"
    return labelled(caption, plain_text(strategy))


def kind_of(strategy: str) -> str:
    """Whether a strategy, as typed, partitions finely or coarsely."""
    name, _, _ = query.split_strategy(strategy)[0].partition(":")
    found = STRATEGIES.get(name)
    return "fine" if found is not None and found.is_fine else "coarse"


def chosen_options(key: str, strategy: str) -> dict[str, str]:
    """The options of a run that are its strategy's and not at their default."""
    known = () if query.strategy_fault(strategy) else options_of_strategy(strategy)
    return {name: text for name, text in run_state.set_options(key).items() if name in known}


def plain_text(name: str) -> str:
    """A name for a label, escaped only where it has to be."""
    if NO_MARKDOWN.fullmatch(name) and len(name) <= MAX_LENGTH:
        return name
    return safe_text(name, Sink.MARKDOWN, MAX_LENGTH)


def _file_text(key: str, default: str, files: Sequence[str]) -> str:
    """What the box of a model or chip calls its choice."""
    label = state.shown_value(key, default)
    return plain_text(box_names(files).get(label, state.short_name(label)))


def chip_facts(chip: str) -> tuple[str, ...]:
    """Cores, LB and GB, DRAM of a chip; nothing of an upload that is gone.

    The most important first: a narrow screen drops the last ones.
    """
    try:
        kept = state.uploaded(chip)
        found = parse_profile(kept.data, kept.name) if kept else load_profile(chip)
    except GraphTurboError:
        return ()
    memory = f"GB {format_bytes(found.gb_bytes)}" if found.gb_bytes else "no GB"
    return (
        f"{counted(found.clusters, 'cluster')} × {counted(found.cores, 'core')}",
        f" · LB {format_bytes(found.lb_bytes)} · {memory}",
        f" · {format_si(found.dram_bandwidth, 'B/s')} DRAM per cluster",
    )
