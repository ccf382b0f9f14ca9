"""Rows of a sweep -> what they show: knees, cliffs, winners, gains, and smallest buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

KEPT_SHARE = 0.95
"""Share of the best speed that counts as kept (our choice: a difference one does not see)."""
CLIFF_RATIO = 1.1
"""Least change of speed between two neighbouring values that can be a cliff (our choice)."""


TIE = 0.005
"""Two speeds that differ by less, as a share, are equal (our choice)."""


@dataclass(frozen=True, slots=True)
class SpeedStep:
    """Two neighbouring values of a curve, by their places in it, and the ratio of the speeds."""

    below: int
    above: int
    ratio: float


@dataclass(frozen=True, slots=True)
class Change:
    """Two neighbouring values between which another strategy becomes the fastest."""

    below: int
    above: int
    before: int
    after: int


def knee(speeds: Sequence[float | None]) -> int | None:
    """The first place that has `KEPT_SHARE` of the best speed; None where all are refused.

    `speeds`: per value, the cheapest value first; None: refused.
    """
    done = [speed for speed in speeds if speed is not None]
    enough = KEPT_SHARE * max(done, default=0.0)
    places = (place for place, speed in enumerate(speeds) if speed is not None)
    return next((place for place in places if (speeds[place] or 0.0) >= enough), None)


def cliffs(numbers: Sequence[float], speeds: Sequence[float | None]) -> tuple[SpeedStep, ...]:
    """Neighbours between which the speed changes more than the number does, in either direction.

    In logarithms: the slope is above 1, so it is not just the speed of a resource that binds.
    A change below `CLIFF_RATIO` is none.
    """
    found = []
    for place in range(1, len(numbers)):
        low, high = speeds[place - 1], speeds[place]
        if not low or not high:
            continue
        ratio = high / low
        is_large = max(ratio, 1 / ratio) >= CLIFF_RATIO
        slope = abs(log(ratio)) / log(numbers[place] / numbers[place - 1])
        if is_large and slope > 1:
            found.append(SpeedStep(place - 1, place, ratio))
    return tuple(found)


def changes_of_winner(curves: Sequence[Sequence[float | None]]) -> tuple[Change, ...]:
    """Where the fastest of several strategies changes; values without a fastest one are skipped."""
    winners = [
        (place, winner)
        for place in range(min(map(len, curves), default=0))
        if (winner := fastest([curve[place] for curve in curves])) is not None
    ]
    return tuple(
        Change(below, above, before, after)
        for (below, before), (above, after) in pairwise(winners)
        if before != after
    )


def fastest(speeds: Sequence[float | None]) -> int | None:
    """The place of the largest speed; None where all are refused, or two are equal up to `TIE`."""
    done = sorted(
        (-speed, place) for place, speed in enumerate(speeds) if speed is not None and speed > 0
    )
    if len(done) > 1 and done[1][0] < done[0][0] * (1 - TIE):
        return None
    return done[0][1] if done else None


def pareto(costs: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Places of the pairs that no other pair undercuts in both, by the first number.

    Of equal pairs the first counts.
    """
    found: list[int] = []
    for place in sorted(range(len(costs)), key=lambda each: (*costs[each], each)):
        if not found or costs[place][1] < costs[found[-1]][1]:
            found.append(place)
    return tuple(found)


def worst_shares(
    speeds: Mapping[str, Sequence[float | None]], own: Mapping[str, float | None]
) -> list[float | None]:
    """Per point, the least share of a model's own speed over all models; None: one is refused.

    `speeds`: per model, a speed per point; `own`: its speed on the chip as it is.
    """
    count = min(map(len, speeds.values()), default=0)
    found: list[float | None] = []
    for place in range(count):
        shares = [
            None if not base or (speed := speeds[model][place]) is None else speed / base
            for model, base in own.items()
        ]
        known = [share for share in shares if share is not None]
        found.append(min(known) if known and len(known) == len(shares) else None)
    return found


def smallest(
    shares: Sequence[float | None], size_bytes: Sequence[int], kept: float = KEPT_SHARE
) -> int | None:
    """The place of the fewest bytes whose share is at least `kept`; of equal ones, the faster."""
    enough = [
        (size_bytes[place], -share, place)
        for place, share in enumerate(shares)
        if share is not None and share >= kept
    ]
    return min(enough)[2] if enough else None
