"""Small forms of the paper's models replay under what goes beyond its steps and TVM as taken.

The four steps and `tvm` as taken are in the sample (`tests/matrix.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from benchmarks.paper.rows import ROWS
from benchmarks.paper.switches import FARTHEST
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.strategies.options import EVALUATIONS, SPACE
from tests.soundness import check_right
from tests.verify.small_samples import BATCH, SMALL

RUNS = {
    "graphturbo:plus": ("generic-4x4", {}),
    "tuned@2": ("generic-4x4", {EVALUATIONS: "3"}),
    "tuned": ("generic-4x4", {EVALUATIONS: "5", SPACE: "plus"}),
    "tvm@1": ("generic-4x4", FARTHEST),
}
MODELS = sorted({row.variants[0].sample for row in ROWS.values()})
SEARCHED = {"conformer": "tuned", "densenet-121": "tuned@2"}
"""The quickest searches; what a search finds is made by steps that the other runs replay too."""


def cases() -> Iterator[tuple[str, str]]:
    """Every run on every model, but for the searches."""
    for model in MODELS:
        for strategy in RUNS:
            if not strategy.startswith("tuned") or SEARCHED.get(model) == strategy:
                yield model, strategy


@cache
def small(model: str) -> Imports:
    """The small form, imported once."""
    return Imports(bytes(SMALL[model]().SerializeToString(deterministic=True)))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "strategy"), list(cases()))
def test_it_replays(model: str, strategy: str) -> None:
    chip, options = RUNS[strategy]
    request = RunRequest(model, strategy, chip, BATCH, options=options, verify=True)
    check_right(run_shared(small(model), request))
