"""All options of `--set`, of strategies and of lowering, and strategies made with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.hardware.tile_rules import TileRules
from graphturbo_core.option_fields import StrategyOption, from_texts, options_of
from graphturbo_core.strategies.registry import STRATEGIES, StrategySpec
from graphturbo_core.strategies.strategy import Strategy

LOWERING = "lowering"
"""Prefix of the options of lowering, which apply to all strategies."""
SEED, EVALUATIONS, SPACE = "tuned.seed", "tuned.evaluations", "tuned.space"
STARTS = "tuned.starts"


def _all_options() -> Iterator[StrategyOption]:
    for strategy in STRATEGIES.values():
        yield from options_of(strategy, strategy.name)
        for level, owner in strategy.level_options.items():
            yield from options_of(owner, level)
    yield from options_of(TileRules, LOWERING)


@cache
def strategy_options() -> Mapping[str, StrategyOption]:
    """All `--set` options by name: of strategies in the registry's order, then of lowering."""
    return MappingProxyType({option.name: option for option in _all_options()})


def resolve_options(options: Mapping[str, str]) -> dict[str, str]:
    """All options with their defaults filled in.

    Raises:
        OptionError: an unknown option or value, naming those that exist.
    """
    known = strategy_options()
    for name, value in sorted(options.items()):
        if name not in known:
            raise OptionError(
                "UNKNOWN_OPTION",
                f"option {name!r} is not known",
                change=f"choose one of {', '.join(known)}",
            )
        if not known[name].accepts(value):
            raise OptionError(
                "UNKNOWN_OPTION_VALUE",
                f"{value!r} is not a value of option {name}",
                change=f"choose one of {known[name].choices}",
            )
    return {name: options.get(name, option.default) for name, option in known.items()}


def chosen_strategy(spec: StrategySpec, options: Mapping[str, str]) -> Strategy:
    """Returns the strategy of a spec, with its level and options.

    Raises:
        OptionError: an unknown option or value.
    """
    texts = resolve_options(options)
    owner = STRATEGIES[spec.name]
    of_levels: dict[str, object] = {
        level: from_texts(cls, level, texts) for level, cls in owner.level_options.items()
    }
    level = spec.level or owner.default_level
    return from_texts(owner, owner.name, texts, level=level, **of_levels)


def tile_rules(options: Mapping[str, str]) -> TileRules:
    """Returns the tile rules that the options set.

    Raises:
        OptionError: an unknown option or value.
    """
    return from_texts(TileRules, LOWERING, resolve_options(options))
