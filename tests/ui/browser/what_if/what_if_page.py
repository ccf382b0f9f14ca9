"""What-if as its tests open it: a small model on a small chip, and all points there."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.ui.app_server import AppPage

SMALL = "model=teaching-resnet&batch=8&chip=generic-4x4&a=tvm%402&b=graphturbo%402"
THUMB = "stSliderThumbValue"
"""Stands above its thumb, on the page's ground."""


def open_page(visit: AppPage, query: str = "") -> None:
    visit.page.goto(f"{visit.address}/what-if?{SMALL}&{query}")
    settle(visit)


def settle(visit: AppPage) -> None:
    """All points are there and drawn."""
    expect(visit.page.get_by_text(re.compile(r"\d+ runs?, all computed"))).to_be_visible()
    visit.rest()
    expect(visit.page.locator(".js-plotly-plot")).to_have_count(1)


def heading(visit: AppPage, text: str | re.Pattern[str]) -> None:
    expect(visit.page.get_by_role("heading", name=text)).to_be_visible()
