"""Two runs as one HTML file: nothing is fetched, names stay names, the same bytes every time."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from dataclasses import replace
from gzip import decompress

import pytest
from plotly.offline import get_plotlyjs

from graphturbo_core.report.canvases.gantt_canvas import gantt_buffer
from graphturbo_core.report.overview.headline import beside_text
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict.binding_change import helps_text
from graphturbo_ui.figures.canvases import overview_bytes
from graphturbo_ui.figures.tables import MAX_ROWS
from graphturbo_ui.page_file import document, sections
from graphturbo_ui.page_file.document import MAX_BYTES, Origin, page_html
from tests.ui.synthetic import synthetic_report
from tests.ui.unpacking import unpack

ORIGIN = Origin("?model=made-up", "python -m graphturbo_core compare made-up")
NASTY = '</script><img src=x onerror="alert(1)">{{ 7 * 7 }}&amp;'


def fine_and_coarse() -> tuple[Report, Report]:
    return synthetic_report(), synthetic_report("graphturbo@16")


def with_name(report: Report, name: str) -> Report:
    """The report with `name` for its model, its first op, its first layer and a note."""
    tables = dict(report.tables)
    for table, column in (("graph_nodes", "op"), ("layers", "name")):
        first, *rest = tables[table]
        tables[table] = ({**first, column: name}, *rest)
    contract = {**report.contract, "model": name, "notes": [name]}
    return replace(report, tables=tables, contract=contract)


def data_of(text: str, name: str) -> bytes:
    (packed,) = re.findall(rf'<script type="text/plain" id="data-{name}">(.*?)</script>', text)
    return decompress(b64decode(packed))


def test_the_same_reports_give_the_same_bytes() -> None:
    assert page_html(*fine_and_coarse(), origin=ORIGIN) == page_html(
        *fine_and_coarse(), origin=ORIGIN
    )


def test_the_list_of_hits_lies_over_the_graph() -> None:
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert 'class="found"' in text
    assert re.search(r"\.found \{\s*position: absolute", text)


def test_the_first_screen_names_the_change_that_helps() -> None:
    helps = "B is DRAM-bound: 25 % more DRAM bandwidth makes B 1.18x as fast"
    text = page_html(*fine_and_coarse(), origin=ORIGIN, helps=helps)
    assert unpack(data_of(text, "overview")[:-8])[0]["helps"] == helps
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert str(unpack(data_of(text, "overview")[:-8])[0]["helps"]).startswith("B is ")


def test_it_holds_what_the_canvases_draw() -> None:
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert re.findall(r'class="canvas" data-name="(\w+)"', text) == ["graph", "addresses", "gantt"]
    drawn = data_of(text, "gantt")[:-8]
    length = int.from_bytes(drawn[:4], "little")
    header = json.loads(drawn[4 : 4 + length])
    assert header["names"] == "AB"
    plain = gantt_buffer(*fine_and_coarse())
    bare = int.from_bytes(plain[:4], "little")
    assert drawn[4 + length :] == plain[4 + bare :]


def test_it_begins_with_the_first_screen() -> None:
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert text.index('<template shadowrootmode="open">') < text.index("<header>")
    helps = helps_text("B", fine_and_coarse()[1])
    assert helps.startswith("B is matrix-bound")
    said = {"beside": beside_text(*fine_and_coarse(), None), "helps": helps, "asked": ""}
    drawn = data_of(text, "overview")[:-8]
    assert drawn == overview_bytes(*fine_and_coarse(), said=said, views=("Every core",))
    assert text.count('<section data-view="Every core">\n<h2>Every core</h2>') == 1


def test_it_says_what_it_comes_from() -> None:
    text = page_html(*fine_and_coarse(), origin=Origin("?a=<b>", "run <c>"))
    assert "<pre>?a=&lt;b&gt;</pre>" in text
    assert "<pre>run &lt;c&gt;</pre>" in text


def test_names_are_not_markup() -> None:
    a, b = fine_and_coarse()
    plain = page_html(a, b, origin=ORIGIN)
    text = page_html(with_name(a, NASTY), with_name(b, NASTY), origin=ORIGIN)
    assert text.count("<script") == plain.count("<script")
    assert text.count("</script") == plain.count("</script")
    assert text.count("<img src=x") == plain.count("<img src=x") == 0
    assert "{{ 7 * 7 }}" in text
    figures = re.findall(r'class="chart".*?<script type="text/plain">([^<]*)</script>', text, re.S)
    assert len(figures) == 7
    charts = [json.loads(decompress(b64decode(figure))) for figure in figures]
    assert all(chart["data"] for chart in charts)
    assert any("<" in json.dumps(chart) for chart in charts), "there is markup in it"


def test_scripts_and_styles_end_where_their_element_ends() -> None:
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert len(re.findall(r"<script\b", text)) == len(re.findall(r"</script>", text)) == 18
    assert "https://" not in text


def test_it_is_small_and_has_plotly_packed() -> None:
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert len(text.encode()) < MAX_BYTES
    assert data_of(text, "plotly").decode() == get_plotlyjs()


def test_what_is_too_large_to_draw_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections, "MAX_CANVAS_BYTES", 10)
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert 'class="canvas"' not in text
    assert len(re.findall(r"are left out, a document takes 10 B; the app draws it", text)) == 3


def test_a_document_of_many_bytes_leaves_canvases_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest that suffices; of a document that is too large without them, all three."""
    whole = page_html(*fine_and_coarse(), origin=ORIGIN)
    said = r"are left out, a document takes [\d.]+ MiB; the app draws it"
    assert not re.findall(said, whole)
    monkeypatch.setattr(document, "MAX_BYTES", len(whole.encode()) - 400)
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert len(re.findall(said, text)) == 1
    assert len(text.encode()) <= document.MAX_BYTES
    monkeypatch.setattr(document, "MAX_BYTES", 2**20)
    monkeypatch.setattr(sections, "FEW_ROWS", 2)
    least = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert len(re.findall(said, least)) == 3
    assert "Table of layers (2 rows)" in least
    assert re.search(r"<p>\d+ more rows are left out\.</p>", least)
    assert "Table of layers (2 rows)" not in text


def test_a_long_table_is_cut_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sections.tables, "MAX_ROWS", 3)
    assert MAX_ROWS > 3
    text = page_html(*fine_and_coarse(), origin=ORIGIN)
    assert "Table of layers (3 rows)" in text
    assert re.search(r"<p>\d+ more rows are left out\.</p>", text)


def test_a_run_alone_has_no_change() -> None:
    text = page_html(synthetic_report(), names="B", origin=ORIGIN)
    assert "<th>change</th>" not in text
    assert "<th>B</th>" in text
