"""Bytes of all rounds: a round whose bytes are not all booked is no report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import Cause, Memory
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows import traffic
from graphturbo_core.sim.ledger import Ledger


def test_the_ledger_of_every_round_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of DRAM agree, and 8 bytes of it have no cause."""
    causes = {Memory.DRAM: {Cause.INPUT: 8, Cause.NONE: 8}, Memory.GB: {}}
    wrong = Ledger(16, 0, 0, 0, 0, causes)
    monkeypatch.setattr(traffic, "ledger", lambda _: wrong)
    outcome = SimpleNamespace(traces={2: SimpleNamespace(program=None)}, repeats={2: 1})
    with pytest.raises(InvariantError) as caught:
        traffic.traffic(cast(Outcome, outcome))
    assert caught.value.code == "LEDGER_CAUSE"
