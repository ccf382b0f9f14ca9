"""`python -m benchmarks.strategies [--check]`: docs/strategies.md, written from the registry."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.run_request import options_of_strategy
from graphturbo_core.strategies.options import LOWERING
from graphturbo_core.strategies.registry import STRATEGIES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "strategies.md"
INTRO = """# Strategies and options

Written by `python -m benchmarks.strategies`; a test compares.

A strategy is written `NAME[:LEVEL][@CLUSTER_BATCH]`, an option `--set NAME=VALUE`. The first value
is the default. [paper-assumptions.md](paper-assumptions.md) has the reasons.
"""
HEADINGS = ("option", "values", "what it decides")


def page() -> str:
    """Text of docs/strategies.md."""
    return "\n".join([INTRO, *_strategies(), *_lowering()]) + "\n"


def _strategies() -> Iterator[str]:
    for name, strategy in STRATEGIES.items():
        yield f"## {name}\n\n{_sentence(strategy.doc)} Source: {strategy.source}.\n"
        if strategy.departures:
            yield f"What differs here:\n\n{_list(strategy.departures)}"
        if strategy.levels:
            default = f"level (default `{strategy.default_level}`)"
            rows = [(f"`{level}`", doc) for level, doc in strategy.levels.items()]
            yield _table((default, "what it does"), rows)
        own = {
            option.name: option
            for level in strategy.levels or ("",)
            for option in options_of_strategy(f"{name}:{level}" if level else name).values()
            if not option.name.startswith(LOWERING)
        }
        if own:
            yield _options(own.values())


def _lowering() -> Iterator[str]:
    first = next(iter(STRATEGIES))
    options = options_of_strategy(first).values()
    yield "## Lowering\n\nEvery strategy's plans are lowered with these.\n"
    yield _options(option for option in options if option.name.startswith(LOWERING))


def _options(options: Iterable[StrategyOption]) -> str:
    rows = [(f"`{each.name}`", each.choices, each.doc) for each in options]
    return _table(HEADINGS, rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _list(sentences: Iterable[str]) -> str:
    return "".join(f"- {sentence}\n" for sentence in sentences)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page, or compares it with --check; returns 1 where it differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args(arguments).check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    is_same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
    if not is_same:
        print("docs/strategies.md differs: run python -m benchmarks.strategies", file=sys.stderr)
    return int(not is_same)


if __name__ == "__main__":
    sys.exit(main())
