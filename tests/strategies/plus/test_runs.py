"""What runs of layers cost: shares of DRAM that a cluster alone may read at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from graphturbo_core.strategies.plus.runs import Runs
from graphturbo_core.strategies.steps.kernels import Target


@pytest.mark.parametrize(
    ("clusters", "engines", "has_remote_dram", "shares"),
    [(4, 2, True, 2), (2, 3, True, 2), (4, 2, False, 1)],
)
def test_shares_of_dram_are_read_where_others_lend_theirs(
    clusters: int, engines: int, has_remote_dram: bool, shares: int
) -> None:
    target = SimpleNamespace(clusters=clusters, hardware=SimpleNamespace(dma_engines=engines))
    nothing = cast(Any, None)
    runs = Runs(cast(Target, target), nothing, nothing, has_remote_dram=has_remote_dram)
    assert runs._shares == shares
