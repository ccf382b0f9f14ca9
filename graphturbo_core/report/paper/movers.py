"""A step of a configuration -> what moves its throughput, largest effect first."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

from graphturbo_core.report.paper.data import PaperConfiguration, PaperData, PaperMover

LEAST_EFFECT = 0.005
"""Share of the throughput: what moves it by less is counted, not drawn (our choice)."""
FACTORS = ("halved", "doubled")
"""Values of an assumption that is a number of the chip."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One changed thing: our throughput with it over that as taken; None for a refused run."""

    mover: PaperMover
    name: str
    value: str
    ratio: float | None

    @property
    def size(self) -> float:
        """Distance from no effect, in factors of two; infinite for a refused run."""
        return abs(log2(self.ratio)) if self.ratio else float("inf")


@dataclass(frozen=True, slots=True)
class Tornado:
    """Effects on one step: `drawn` by name, largest first; `small`: those that change it by less.

    `needed`: the published throughput over ours.
    """

    level: str
    drawn: tuple[Effect, ...]
    small: tuple[Effect, ...]
    refused: tuple[Effect, ...]
    needed: float | None


def tornado(data: PaperData, letter: str, level: str) -> Tornado:
    """What moves a step of a configuration: effects of one name next to each other."""
    each = data.configuration(letter)
    step = each.step(level)
    if step is None or not step.per_s:
        return Tornado(level, (), (), (), None)
    effects = _effects(each, level, step.per_s)
    refused = tuple(effect for effect in effects if effect.ratio is None)
    known = [effect for effect in effects if effect.ratio is not None]
    small = tuple(each for each in known if abs((each.ratio or 1.0) - 1) < LEAST_EFFECT)
    drawn = [effect for effect in known if effect not in small]
    largest = {effect.name: max(e.size for e in drawn if e.name == effect.name) for effect in drawn}
    order = {name: place for place, name in enumerate(largest)}
    drawn.sort(key=lambda effect: (-largest[effect.name], order[effect.name]))
    needed = step.published_per_s / step.per_s if step.published_per_s else None
    return Tornado(level, tuple(drawn), small, refused, needed)


def _effects(each: PaperConfiguration, level: str, taken_per_s: float) -> list[Effect]:
    return [
        Effect(
            mover,
            _name(mover),
            mover.value,
            mover.per_s / taken_per_s if mover.per_s is not None else None,
        )
        for mover in each.movers
        if mover.level == level
    ]


def _name(mover: PaperMover) -> str:
    """Name of what is changed; the values of a number of the chip share a name."""
    return f"{mover.name} cycles" if mover.value in FACTORS else mover.name
