"""A run of each chip under each strategy comes to what it came to before; the command has all."""

from __future__ import annotations

from itertools import product

import pytest

from graphturbo_core.hardware.profile import profile_names
from tests.frozen.digests import RUNS, Run, digests_of, kept, runs
from tests.full import often
from tests.verify.small_samples import SMALL, models_of

MODELS = tuple(SMALL)
SOME = [
    Run(models_of(pair[0])[place % len(models_of(pair[0]))], *pair)
    for place, pair in enumerate(product(profile_names(), RUNS))
]
"""Every pair of a chip and a strategy, with the models in turn."""
EVERY_DAY = [run for place, run in enumerate(SOME) if sum(divmod(place, len(RUNS))) % 3 == 0]
"""A third of a chip's strategies, others on the next chip."""


@pytest.mark.parametrize("run", often(SOME, EVERY_DAY), ids=lambda run: run.name)
def test_it_comes_to_the_same(run: Run) -> None:
    assert digests_of(run) == kept()[run.name]


def test_all_runs_are_kept() -> None:
    assert list(kept()) == [run.name for run in runs()]
    assert {run.model for run in SOME} == set(MODELS)
    assert {run.strategy for run in EVERY_DAY} == set(RUNS)
    assert {run.chip for run in EVERY_DAY} == set(profile_names())
