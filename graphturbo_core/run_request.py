"""RunRequest: all choices of one run, those that there are, and which options change it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.ir.dtypes import NUMBER_FORMATS
from graphturbo_core.limits import Limits
from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.strategies.options import LOWERING, resolve_options, strategy_options
from graphturbo_core.strategies.registry import parse_strategy

EMITTED = ("plan", "program", "edits")
"""What `--emit` can be asked for; `edits` is a plan without its record, to write edits into."""


@dataclass(frozen=True)
class RunRequest:
    """All choices of one run; the model's and an own profile's bytes travel beside it.

    `plan`: the text of a plan file that the run holds to. `emit`: files the report is to have.
    `max_instructions`: so many are allowed where even the coarsest tiles need more than usual.
    `has_pictures`: the report is to have the tables and arrays that pictures are made of.
    """

    model_name: str
    strategy: str = "graphturbo"
    profile: str = "stcp920"
    batch: int | None = None
    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    dtype: str = "fp16"
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    skip_passes: Sequence[str] = ()
    verify: bool = False
    plan: str = ""
    emit: Sequence[str] = ()
    max_instructions: int | None = None
    has_pictures: bool = True


def check_request(request: RunRequest, limits: Limits) -> None:
    """Refuse choices that no run has, before anything is read.

    Raises:
        OptionError: a strategy, option, number or name that is not known or not allowed.
    """
    if request.batch is not None and request.batch > limits.max_batch:
        raise OptionError(
            "BATCH_TOO_LARGE",
            f"a batch of {request.batch} is more than {limits.max_batch}",
            change="choose a smaller batch; throughput no longer depends on it",
        )
    parse_strategy(request.strategy)
    _check_emit(request.emit)
    resolve_options(request.options)
    _check_length(request.max_instructions, limits)
    if request.dtype not in NUMBER_FORMATS:
        raise OptionError(
            "UNKNOWN_DTYPE",
            f"number format {request.dtype!r} is not known",
            "--dtype",
            f"choose one of {', '.join(NUMBER_FORMATS)}",
        )


def _check_length(max_instructions: int | None, limits: Limits) -> None:
    low, high = limits.max_instructions_coarsest, limits.max_instructions_longest
    if max_instructions is not None and not low <= max_instructions <= high:
        raise OptionError(
            "BAD_MAX_INSTRUCTIONS",
            f"{max_instructions} instructions cannot be allowed",
            "--max-instructions",
            f"choose {low} (as many as without it) to {high}",
        )


def _check_emit(names: Iterable[str]) -> None:
    """Refuse what cannot be emitted.

    Raises:
        OptionError: UNKNOWN_EMIT.
    """
    for name in names:
        if name not in EMITTED:
            choices = f"choose from {', '.join(EMITTED)}"
            raise OptionError("UNKNOWN_EMIT", f"{name!r} cannot be emitted", "--emit", choices)


def options_of_strategy(strategy: str) -> dict[str, StrategyOption]:
    """The options that change a strategy's runs: its own, and those of lowering.

    Raises:
        OptionError: an unknown strategy.
    """
    spec = parse_strategy(strategy)
    own = (spec.name, spec.level, LOWERING)
    return {n: option for n, option in strategy_options().items() if n.split(".")[0] in own}


def own_options(request: RunRequest) -> dict[str, str]:
    """Options of this strategy and of lowering, defaults filled in; others change nothing here.

    Raises:
        OptionError: an unknown strategy, option or value.
    """
    resolved = resolve_options(request.options)
    return {name: resolved[name] for name in options_of_strategy(request.strategy)}
