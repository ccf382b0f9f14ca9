"""The schedule that is searched for a chip or a batch is the fastest there of all that are found.

Source: the paper's section on specialised schedules (IOS, Ding et al., MLSys 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import pytest

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.strategies.ios.endings import Stage
from graphturbo_core.strategies.ios.stage_plans import IosTrial
from graphturbo_core.strategies.ios.stage_times import StageTimes
from graphturbo_core.strategies.ios.strategy import IosScheduler
from tests.full import SLOW
from tests.strategies.ios.branch_models import MODELS

Stages = tuple[Stage, ...]
Setting = tuple[str, int]
"""A chip, and the samples of a batch."""
CHIPS: tuple[Setting, ...] = (("stcp920", 1), ("generic-4x4", 1), ("ascend910", 1))
BATCHES: tuple[Setting, ...] = (("stcp920", 1), ("stcp920", 8))


@dataclass(frozen=True)
class Searched:
    """A finished search: what it chose, and how it costs stages."""

    scheduler: IosScheduler
    times: StageTimes
    stages: Stages
    cycles: int

    def cycles_with(self, stages: Stages) -> int:
        """Simulated cycles of other stages on this chip, with this batch."""
        self.times.known = {}
        cost = self.scheduler._cost(self.scheduler._assembled(self.times, stages))
        assert cost is not None
        return cost.cycles


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Searched]]:
    """All searches of a test, in their order."""
    found: list[Searched] = []
    before = IosScheduler._try

    def noted(self, times, made, tried: dict[Stages, IosTrial]) -> None:  # type: ignore[no-untyped-def]
        before(self, times, made, tried)
        stages = min(tried, key=lambda each: tried[each].cycles)
        if found and found[-1].scheduler is self:
            found.pop()
        found.append(Searched(self, times, stages, tried[stages].cycles))

    monkeypatch.setattr(IosScheduler, "_try", noted)
    yield found


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("branches", BATCHES),
        pytest.param("wired 1", CHIPS, marks=SLOW),
        pytest.param("wired 2", CHIPS, marks=SLOW),
        pytest.param("inception", CHIPS[:2], marks=SLOW),
    ],
)
def test_it_is_the_fastest_where_it_was_searched(
    model: str, settings: Sequence[Setting], searches: list[Searched]
) -> None:
    """Each chip's or batch's schedule against those of the others."""
    for chip, batch in settings:
        strategy = f"ios@{max(1, batch // 4)}"
        run_report(MODELS[model](), RunRequest(model, strategy, chip, batch))
    assert len(searches) == len(settings)
    assert len({each.stages for each in searches}) > 1
    for own, other in permutations(searches, 2):
        assert own.cycles_with(own.stages) == own.cycles
        assert own.cycles <= own.cycles_with(other.stages)
