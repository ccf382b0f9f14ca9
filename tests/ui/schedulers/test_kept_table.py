"""The table of kept runs as HTML: units, reasons instead of figures, names made safe."""

from __future__ import annotations

import re

from graphturbo_core.comparison.side_by_side.kept_schedules import KeptRun
from graphturbo_ui.schedulers.kept_table import HEADINGS, table_html

EVIL = "<img src=x onerror=alert(1)>"
FAST = KeptRun(0.0025, 3 * 2**30, 1234, 0.5, {"dram": 0.0025}, 2.5, 1.0)
SLOW = KeptRun(0.25, 2**20, 7, 0.0051, {"dram": 0.25}, 12.0, 0.5)


def cells(html: str) -> list[list[str]]:
    """Texts of the body's rows."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", html.partition("<tbody>")[2])
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_a_row_has_a_run_s_figures_in_the_headings_units() -> None:
    html = table_html({"glow": FAST, "ios:both": SLOW})
    assert cells(html) == [
        ["glow", "2.5", "3,072", "1,234", "50", "2.5"],
        ["ios:both", "250", "1", "7", "0.51", "~12.0 (CPU 6.0)"],
    ]
    units = [heading.rpartition(", ")[2] for heading in HEADINGS]
    assert units == ["ms", "MiB", "kernels per cluster", "%", "s"]
    assert "glow is the fastest, 100× as fast as ios:both." in html


def test_only_the_fastest_is_bold() -> None:
    html = table_html({"glow": SLOW, "xla": FAST, "ios": KeptRun()})
    assert re.findall(r'<tr( class="best")?><th>([a-z]+)', html.partition("<tbody>")[2]) == [
        ("", "glow"), (' class="best"', "xla"), ("", "ios"),
    ]  # fmt: skip


def test_a_run_without_figures_has_its_reason() -> None:
    found = {
        "ios": KeptRun(refused=EVIL), "ios:both": KeptRun(over_seconds=180), "taso-like": KeptRun()
    }  # fmt: skip
    html = table_html(found)
    assert [row[1] for row in cells(html)] == [
        "Refused: <code>&lt;img src=x onerror=alert(1)&gt;</code>",
        "The search takes over 180 s of CPU time.",
        "Not run yet: the search takes minutes.",
    ]
    assert f'colspan="{len(HEADINGS)}"' in html


def test_names_are_made_safe_and_a_single_run_wins_nothing() -> None:
    html = table_html({EVIL: FAST})
    assert EVIL not in html
    assert "fastest" not in html
