"""axe-core on a page of a test: what it calls serious or critical."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.ui.app_server import AppPage

AXE = Path(__file__).parents[2] / ".ci" / "node" / "node_modules" / "axe-core" / "axe.min.js"
"""`make types` installs it."""
RUN = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, impact, nodes }) => nodes.map((node) => (
    [impact, id, node.target.join(" "), node.html.slice(0, 120)])));
}"""
SERIOUS = ("serious", "critical")


@cache
def _script() -> str:
    if not AXE.is_file() and not os.environ.get("GRAPHTURBO_REQUIRE_BROWSER"):
        pytest.skip("axe-core is not installed: make types")
    return AXE.read_text(encoding="utf-8")


def serious_faults(visit: AppPage) -> list[list[str]]:
    """Impact, rule, place and text of each serious fault of what is on screen."""
    visit.page.evaluate(_script())
    return [fault for fault in visit.page.evaluate(RUN) if fault[0] in SERIOUS]
