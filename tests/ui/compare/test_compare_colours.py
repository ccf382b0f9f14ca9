"""Colours of Compare and Schedulers: those of the first screen, named for both themes at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphturbo_ui

FOLDER = Path(graphturbo_ui.__file__).parent
TOKEN = re.compile(r"(--[a-z0-9-]+): (#[0-9A-Fa-f]{6}|light-dark\(([^,]+), ([^)]+)\));")


@pytest.mark.parametrize("style", ["compare/compare.css", "schedulers/schedulers.css"])
def test_a_name_is_one_colour_on_both_pages(style: str) -> None:
    light, dark = (FOLDER / "components" / "colours.css").read_text("utf-8").split("}")[:2]
    themes = [{m[1]: m[2].lower() for m in TOKEN.finditer(text)} for text in (light, dark)]
    own = (FOLDER / style).read_text("utf-8").split("}")[0]
    found = {m[1]: [m[3] or m[2], m[4] or m[2]] for m in TOKEN.finditer(own)}
    shared = found.keys() & themes[0].keys()
    assert {"--ink", "--card", "--rest", *(f"--g{hue}" for hue in range(5))} <= shared
    for name in sorted(shared):
        assert found[name] == [theme[name] for theme in themes], name
