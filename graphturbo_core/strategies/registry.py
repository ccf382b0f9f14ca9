"""The strategies by name, and the parser of `NAME[:LEVEL][@CLUSTER_BATCH]`.

A new strategy is a class in a file of its own and a line in `STRATEGIES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.strategies.baselines.astitch import AStitch
from graphturbo_core.strategies.baselines.layerwise import Layerwise
from graphturbo_core.strategies.baselines.tvm import Tvm
from graphturbo_core.strategies.best.strategy import Best
from graphturbo_core.strategies.graphturbo_levels import GraphTurboLevels
from graphturbo_core.strategies.ios.strategy import Ios
from graphturbo_core.strategies.partitioners.glow import Glow
from graphturbo_core.strategies.partitioners.onednn import OneDnn
from graphturbo_core.strategies.partitioners.taso_like import TasoLike
from graphturbo_core.strategies.partitioners.tensorrt_like import TensorRtLike
from graphturbo_core.strategies.partitioners.xla import Xla
from graphturbo_core.strategies.strategy import Strategy
from graphturbo_core.strategies.tuned.strategy import TunedSearch

STRATEGIES: Mapping[str, type[Strategy]] = MappingProxyType(
    {
        each.name: each
        for each in (
            Layerwise,
            Tvm,
            AStitch,
            Xla,
            Glow,
            OneDnn,
            TensorRtLike,
            TasoLike,
            Ios,
            GraphTurboLevels,
            Best,
            TunedSearch,
        )
    }
)
"""All strategies by name, the simplest first."""
BEST = Best.name
"""The strategy that also chooses the cluster batch."""
MAX_DIGITS = 9
"""Most digits of a cluster batch; a longer number is refused."""


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """Parsed `NAME[:LEVEL][@CLUSTER_BATCH]`; no level is the empty string."""

    name: str
    level: str = ""
    cluster_batch: int | None = None

    @property
    def text(self) -> str:
        """The spec as `NAME[:LEVEL][@CLUSTER_BATCH]`."""
        level = f":{self.level}" if self.level else ""
        batch = "" if self.cluster_batch is None else f"@{self.cluster_batch}"
        return f"{self.name}{level}{batch}"


def parse_strategy(text: str) -> StrategySpec:
    """Read `NAME[:LEVEL][@CLUSTER_BATCH]`; a strategy with levels gets its default one.

    Raises:
        OptionError: naming what exists.
    """
    head, has_batch, batch = text.partition("@")
    name, has_level, level = head.partition(":")
    strategy = STRATEGIES.get(name)
    if strategy is None:
        raise OptionError(
            "UNKNOWN_STRATEGY",
            f"strategy {name!r} is not known",
            change=f"choose one of {', '.join(STRATEGIES)}",
        )
    if has_level and level not in strategy.levels:
        levels = ", ".join(f"{name}:{known}" for known in strategy.levels)
        choices = levels or f"{name} without level"
        raise OptionError(
            "UNKNOWN_LEVEL", f"level {level!r} is not known", f"strategy {name}", f"use {choices}"
        )
    cluster_batch = _cluster_batch(text, batch) if has_batch else None
    return StrategySpec(name, level or strategy.default_level, cluster_batch)


def _cluster_batch(text: str, batch: str) -> int:
    is_number = batch.isascii() and batch.isdigit() and len(batch) <= MAX_DIGITS
    if not is_number or int(batch) < 1:
        raise OptionError(
            "BAD_CLUSTER_BATCH",
            f"cluster batch {batch!r} is not a positive integer",
            f"strategy {text!r}",
            "write for example graphturbo@16",
        )
    return int(batch)
