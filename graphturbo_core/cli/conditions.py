"""`NAME>NUMBER` -> conditions on the figures of runs, for scripts that are to stop."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_type_hints

from graphturbo_core.errors import OptionError
from graphturbo_core.plain_yaml import shown
from graphturbo_core.report.contract import Contract
from graphturbo_core.sweep.tasks import FIGURES

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne,
    ">": operator.gt, "<": operator.lt,
}  # fmt: skip
NUMBERS = tuple(
    name
    for name, kind in get_type_hints(Contract).items()
    if name in FIGURES and kind in (int, float)
)
"""Figures that are numbers."""
CONDITION = re.compile(
    r"\s*([a-z][a-z0-9_]*)\s*(>=|<=|==|!=|>|<)\s*(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,2})?)\s*"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A figure of a report, compared with a number."""

    figure: str
    sign: str
    number: float

    def holds(self, contract: Mapping[str, Any]) -> bool:
        """Whether it holds for a run."""
        return OPERATORS[self.sign](contract[self.figure], self.number)


def conditions_of(texts: Sequence[str]) -> tuple[Condition, ...]:
    """The conditions of `--fail-if`.

    Raises:
        OptionError: one is no condition, or of no figure that is a number.
    """
    return tuple(map(_condition, texts))


def _condition(text: str) -> Condition:
    found = CONDITION.fullmatch(text)
    if found is None:
        what = f"{shown(text)} is no condition"
        raise OptionError("BAD_CONDITION", what, "--fail-if", "write for instance latency_s>0.005")
    name, sign, number = found.groups()
    if name not in NUMBERS:
        near = ", ".join(get_close_matches(name, NUMBERS) or ("latency_s", "dram_read_bytes"))
        what = f"{shown(name)} is no number of a run"
        raise OptionError("UNKNOWN_FIGURE", what, "--fail-if", f"choose for instance {near}")
    return Condition(name, sign, float(number))


def failures(
    conditions: Sequence[Condition], contracts: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yields a sentence per condition and run for which it holds."""
    for contract in contracts:
        for each in conditions:
            if each.holds(contract):
                value = contract[each.figure]
                yield (
                    f"{contract['strategy']}: {each.figure} is {value}, "
                    f"and --fail-if {each.figure}{each.sign}{each.number:g} was given"
                )
