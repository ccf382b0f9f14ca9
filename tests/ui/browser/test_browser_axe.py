"""axe-core over the app's pages: no fault that it calls serious or critical."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ui.app_server import AppPage

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[3] / ".ci" / "node" / "node_modules" / "axe-core" / "axe.min.js"
"""`make types` installs it."""
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, impact, nodes }) => nodes.map((node) => (
    [impact, id, node.target.join(" "), node.html.slice(0, 120)])));
}"""
SERIOUS = ("serious", "critical")
SMALL = "?model=teaching-resnet&batch=8"
VIEWS = ("Why", "Graph", "Every+core", "Memory", "Algorithms", "Plan+edits", "Export")
ALL_VIEWS = "".join(f"&views={view}" for view in VIEWS)


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file() and not os.environ.get("GRAPHTURBO_REQUIRE_BROWSER"):
        pytest.skip("axe-core is not installed: make types")
    return AXE.read_text(encoding="utf-8")


def faults(visit: AppPage, axe: str) -> list[list[str]]:
    """Impact, rule, place and text of each serious fault of what is on screen."""
    visit.page.evaluate(axe)
    return [fault for fault in visit.page.evaluate(RUN) if fault[0] in SERIOUS]


@pytest.mark.parametrize("visit", ["light", "dark"], indirect=True)
@pytest.mark.parametrize("query", [f"{SMALL}{ALL_VIEWS}", f"{SMALL}&present=1"])
def test_no_serious_fault(visit: AppPage, axe: str, query: str) -> None:
    visit.open(query)
    assert faults(visit, axe) == []


def test_a_fault_is_found(visit: AppPage, axe: str) -> None:
    visit.open(SMALL)
    visit.page.evaluate("document.body.insertAdjacentHTML('beforeend', '<button></button>')")
    assert [fault[1] for fault in faults(visit, axe)] == ["button-name"]


def test_no_serious_fault_where_replays_are_asked_for(visit: AppPage, axe: str) -> None:
    visit.open(SMALL)
    visit.turn_to("Verification", "Verification")
    visit.rest()
    assert faults(visit, axe) == []
