"""Names -> Plan: the strategies and their levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.graphturbo.binding import Binder, plain_by_kind, plain_literal
from graphturbo_core.strategies.graphturbo.levels import LEVELS
from graphturbo_core.strategies.graphturbo.splitting import (
    Splitter,
    divisors,
    fewest_pieces,
    lexicographic,
    literal_candidates,
)
from graphturbo_core.strategies.graphturbo.strategy import GraphTurbo
from graphturbo_core.strategies.kernels import Target
from graphturbo_core.strategies.layerwise import layerwise_plan
from graphturbo_core.strategies.options import resolve_options, tile_rules
from graphturbo_core.strategies.plan import Plan
from graphturbo_core.strategies.tvm import tvm_plan

MAX_DIGITS = 9
"""Digits of a cluster batch that are read; more cannot be a batch."""


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """A strategy as the command line and the app list it; `levels` end with the default."""

    name: str
    doc: str
    levels: tuple[str, ...] = ()
    level_docs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """What `NAME[:LEVEL][@CLUSTER_BATCH]` says; no level is the empty string."""

    name: str
    level: str = ""
    cluster_batch: int | None = None

    @property
    def text(self) -> str:
        """The same, written out."""
        level = f":{self.level}" if self.level else ""
        batch = "" if self.cluster_batch is None else f"@{self.cluster_batch}"
        return f"{self.name}{level}{batch}"


_STRATEGIES = (
    StrategyInfo("layerwise", "an op a kernel, everything through DRAM"),
    StrategyInfo("tvm", "a Relay layer a kernel, between kernels everything in DRAM"),
    StrategyInfo(
        "graphturbo",
        "layers grouped, groups split, instances ordered depth first (OSDI 2023)",
        tuple(level.name for level in LEVELS),
        tuple(level.doc for level in LEVELS),
    ),
)


def strategies() -> Mapping[str, StrategyInfo]:
    """All strategies by name, the plainest first."""
    return MappingProxyType({info.name: info for info in _STRATEGIES})


def parse_strategy(text: str) -> StrategySpec:
    """Read `NAME[:LEVEL][@CLUSTER_BATCH]`; a strategy with levels gets its default one.

    Raises:
        OptionError: naming what exists.
    """
    head, has_batch, batch = text.partition("@")
    name, has_level, level = head.partition(":")
    info = strategies().get(name)
    if info is None:
        raise OptionError(
            "UNKNOWN_STRATEGY",
            f"strategy {name!r} is not known",
            change=f"choose one of {', '.join(strategies())}",
        )
    if has_level and level not in info.levels:
        choices = ", ".join(f"{name}:{known}" for known in info.levels) or f"{name} without level"
        raise OptionError(
            "UNKNOWN_LEVEL", f"level {level!r} is not known", f"strategy {name}", f"use {choices}"
        )
    default = info.levels[-1] if info.levels else ""
    return StrategySpec(name, level or default, _cluster_batch(text, batch) if has_batch else None)


def _cluster_batch(text: str, batch: str) -> int:
    is_number = batch.isascii() and batch.isdigit() and len(batch) <= MAX_DIGITS
    if not is_number or int(batch) < 1:
        raise OptionError(
            "BAD_CLUSTER_BATCH",
            f"cluster batch {batch!r} is no positive integer",
            f"strategy {text!r}",
            "write for instance graphturbo@16",
        )
    return int(batch)


def make_plan(
    spec: StrategySpec,
    semantics: GraphSemantics,
    hardware: Hardware,
    number_format: str,
    options: Mapping[str, str],
) -> Plan:
    """The plan of one strategy for one cluster's round.

    Raises:
        OptionError: an unknown strategy or option, or a value that it does not have.
    """
    chosen = resolve_options(options)
    is_literal = spec.name == "graphturbo" and chosen["graphturbo.binding"] == "literal"
    binder = Binder(
        hardware.cores, plain_literal if is_literal else plain_by_kind, is_strict=is_literal
    )
    target = Target(semantics, hardware, number_format, binder, tile_rules(chosen))
    makers: dict[str, Callable[[Target], Plan]] = {
        "layerwise": layerwise_plan,
        "tvm": tvm_plan,
        "graphturbo": _graphturbo(spec, hardware, chosen),
    }
    return makers[parse_strategy(spec.text).name](target)


def _graphturbo(spec: StrategySpec, hardware: Hardware, chosen: Mapping[str, str]) -> GraphTurbo:
    literal = chosen["graphturbo.candidates"] == "literal"
    splitter = Splitter(
        hardware.split_capacity_bytes,
        literal_candidates if literal else divisors,
        lexicographic if chosen["graphturbo.best"] == "lexicographic" else fewest_pieces,
        chosen["graphturbo.peak"] == "literal",
    )
    levels = {level.name: level for level in LEVELS}
    return GraphTurbo(
        splitter,
        has_block_step=chosen["graphturbo.blocks"] == "first",
        is_fit_checked=chosen["graphturbo.fit"] == "core",
        level=levels.get(spec.level, LEVELS[-1]),
    )
