"""The top bar's choices -> further runs that one click adds to the comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from graphturbo_core.comparison.published import LEVELS
from graphturbo_core.comparison.side_by_side.rewrite_searches import REWRITE_SEARCHES
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.registry import BEST, STRATEGIES
from graphturbo_ui.jobs import Source
from graphturbo_ui.session import query
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun

METHOD = "graphturbo"
PLUS = "plus"
"""The level of the method that goes beyond the paper."""


def ladder(choices: Choices) -> list[WantedRun]:
    """The four levels of the paper's figure at B's cluster batch, with default options."""
    names = (f"{METHOD}:{level}" for level in LEVELS[:-1])
    return [_like_b(choices, f"{name}{_at(choices)}") for name in (*names, METHOD)]


def search(choices: Choices) -> list[WantedRun]:
    """The fastest schedule of a search, which chooses the cluster batch."""
    return [_like_b(choices, BEST)]


def other_strategies(choices: Choices) -> list[WantedRun]:
    """Every strategy that searches nothing, at B's cluster batch; `plus` too."""
    names = [name for name, info in STRATEGIES.items() if not info.is_search]
    return [_like_b(choices, f"{name}{_at(choices)}") for name in (*names, f"{METHOD}:{PLUS}")]


def rewrite_searches(choices: Choices) -> list[WantedRun]:
    """The strategies that search for a graph, at B's cluster batch."""
    return [_like_b(choices, f"{name}{_at(choices)}") for name in REWRITE_SEARCHES]


def all_chips(choices: Choices) -> list[WantedRun]:
    """B's strategy and options on every shipped chip."""
    request = _plain(choices.request("b"))
    request = replace(request, plan="", options=dict(choices.sides["b"].options))
    source = Source.of(choices.source.model, None, choices.source.model_sha256)
    return [WantedRun(replace(request, profile=name), source) for name in profile_names()]


def cluster_batches(choices: Choices) -> list[WantedRun]:
    """B's strategy and options at its cluster batch, halved down to one sample."""
    name, _ = query.split_strategy(choices.sides["b"].strategy)
    options = dict(choices.sides["b"].options)
    found = [_like_b(choices, f"{name}@{samples}") for samples in _halved(choices)]
    return [replace(each, request=replace(each.request, options=options)) for each in found]


def _halved(choices: Choices) -> Iterator[int]:
    _, samples = query.split_strategy(choices.sides["b"].strategy)
    left = samples or choices.batch
    while left:
        yield left
        left //= 2


def _like_b(choices: Choices, strategy: str) -> WantedRun:
    """B's model, chip and sizes with another strategy and default options."""
    request = replace(_plain(choices.request("b")), strategy=strategy, options={}, plan="")
    return WantedRun(request, choices.source)


def _plain(request: RunRequest) -> RunRequest:
    """The request without a replay."""
    return replace(request, verify=False)


def _at(choices: Choices) -> str:
    """`@16`; empty where B takes its whole share."""
    _, samples = query.split_strategy(choices.sides["b"].strategy)
    return f"@{samples}" if samples else ""
