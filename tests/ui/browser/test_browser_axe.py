"""axe-core over the app's pages: no fault that it calls serious or critical."""

from __future__ import annotations

import pytest

from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults

pytestmark = pytest.mark.browser

SMALL = "?model=teaching-resnet&batch=8"
VIEWS = ("Why", "Graph", "Every+core", "Memory", "Algorithms", "Plan+edits", "Export")
ALL_VIEWS = "".join(f"&views={view}" for view in VIEWS)


@pytest.mark.parametrize("query", [f"{SMALL}{ALL_VIEWS}", f"{SMALL}&present=1"])
def test_no_serious_fault(visit: AppPage, query: str) -> None:
    visit.open(query)
    for _ in visit.in_both_themes():
        assert serious_faults(visit) == []


def test_a_fault_is_found(visit: AppPage) -> None:
    visit.open(SMALL)
    visit.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button></button>')")
    assert [fault[1] for fault in serious_faults(visit)] == ["button-name"]


def test_no_serious_fault_where_replays_are_asked_for(visit: AppPage) -> None:
    visit.open(SMALL)
    visit.turn_to("Verification", "What a replay checks")
    visit.rest()
    assert serious_faults(visit) == []
