"""Strategies that the page Schedulers and its tables compare, and those of them that rewrite.

A rewrite search changes the graph before it cuts kernels, and simulates each graph: 20 seconds to
minutes per run. `best` and `tuned` search plans of `graphturbo` and change no graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from graphturbo_core.strategies.registry import STRATEGIES

REWRITE_SEARCHES: Mapping[str, str] = MappingProxyType(
    {"taso-like": "tensorrt-like", "ios:both": "ios"}
)
"""The field's two: TASO, and IOS at the level that merges convolutions too; each with the strategy
that cuts the same kernels without this search. `tensorrt-like` merges wherever it can."""


def compared_strategies() -> tuple[str, ...]:
    """Every strategy without a search, and the rewrite searches, the simplest first."""
    found: list[str] = []
    for name, info in STRATEGIES.items():
        found += [name] if not info.is_search else []
        found += [each for each in REWRITE_SEARCHES if each.partition(":")[0] == name]
    return tuple(found)


def source_of(strategy: str) -> str:
    """Where the method of `NAME[:LEVEL]` is described; empty for an unknown name."""
    info = STRATEGIES.get(strategy.partition(":")[0])
    return info.source if info is not None else ""
