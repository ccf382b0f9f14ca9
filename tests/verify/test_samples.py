"""Small samples, every strategy and level: what is scheduled computes the model.

With GRAPHTURBO_FULL=1 on every chip that is shipped (of more than 64 cores a cluster with 19 of
them), and the nine light models at full size besides, at batch 1 and 4; else on the smallest chip.
There one sample of each kind is replayed; `make test` leaves them out.
"""

from __future__ import annotations

import pytest

from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.pipeline import RunRequest, run_reports
from tests.full import IS_FULL, IS_QUICK
from tests.lowering.nets import STRATEGIES
from tests.soundness import check_right
from tests.verify.small_samples import BATCH, SMALL, chips_with_room, with_fewer_cores

LIGHT = tuple(name for name in sample_names() if name.startswith("light-"))
OFTEN = () if IS_QUICK else ("resnet50-slim", "bert-base")
"""Replayed under every strategy; the sample of `tests/matrix.py` has others."""
CHIPS = chips_with_room() if IS_FULL else ("generic-4x4",)


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", SMALL if IS_FULL else OFTEN)
def test_every_strategy_computes_the_model(name: str, chip: str) -> None:
    model = SMALL[name]().SerializeToString(deterministic=True)
    requests = [RunRequest(name, strategy, chip, BATCH, verify=True) for strategy in STRATEGIES]
    for report in run_reports(model, requests, with_fewer_cores(chip)):
        check_right(report)


@pytest.mark.skipif(not IS_FULL, reason="set GRAPHTURBO_FULL=1 for full sizes")
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("name", LIGHT)
def test_light_models_at_full_size(name: str, batch: int) -> None:
    (report,) = run_reports(
        load_sample(name), [RunRequest(name, "graphturbo", "stcp920", batch, verify=True)]
    )
    check_right(report)
