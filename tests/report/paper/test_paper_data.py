"""The file behind the page about the paper: read strictly, refused with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.report.paper import data as paper
from graphturbo_core.report.paper.data import FILE, kept_paper, read_paper

CONTENT = json.loads(FILE.read_text(encoding="utf-8"))


def refusal(content: object) -> str:
    with pytest.raises(GraphTurboError) as caught:
        read_paper(json.dumps(content).encode(), "rows.json")
    assert caught.value.code == "PAPER_DATA"
    return str(caught.value)


def test_a_file_that_is_not_there_has_no_rows(tmp_path: Path) -> None:
    assert kept_paper(tmp_path / "none.json") is None


def test_the_shipped_file_is_read() -> None:
    found = kept_paper()
    assert [each.letter for each in found.configurations] == list("ABCDEFGHIJ")
    assert found.configuration("G").step("tvm").published_per_s == 1416
    assert found.configuration("H").step("astitch") is None


def test_another_form_is_refused() -> None:
    assert "another form" in refusal([])
    assert "'wrong'" in refusal({**CONTENT, "wrong": 1})
    broken = json.loads(json.dumps(CONTENT))
    broken["configurations"][0]["steps"][0]["per_s"] = "fast"
    assert "'configurations.0.steps.0.per_s'" in refusal(broken)


def test_another_schema_is_refused() -> None:
    assert "schema 2, this version reads 1" in refusal({**CONTENT, "schema": 2})


def test_a_large_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "MAX_BYTES", 10)
    assert "more than 10" in refusal(CONTENT)


def test_a_number_that_is_none_is_refused() -> None:
    text = FILE.read_text(encoding="utf-8").replace('"per_s": 1251.87', '"per_s": NaN', 1)
    with pytest.raises(GraphTurboError, match="another form"):
        read_paper(text.encode(), "rows.json")
