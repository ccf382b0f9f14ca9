"""`run --measured`: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphturbo_core.cli import main

SMALL = ("run", "teaching-resnet", "--batch", "8")


@pytest.fixture
def times(tmp_path: Path) -> Path:
    path = tmp_path / "times.csv"
    path.write_text(
        "layer,milliseconds\nstem/conv,3\nstage1/block1/conv1,2\nhead/pool,1\n[bold]x,1\n",
        encoding="utf-8",
    )
    return path


def test_the_table_is_below_the_others(
    times: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([*SMALL, "--measured", str(times)]) == 0
    out, _ = capsys.readouterr()
    assert "Spearman's rank correlation" in out and "over 3 layers" in out
    assert "1 row without a layer: [bold]x (line 5)." in out
    assert "10 layers without a time" in out


def test_the_json_has_the_comparison(times: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--measured", str(times), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr()[0])["measured"]
    assert [layer["name"] for layer in found["layers"]] == [
        "stem/conv", "stage1/block1/conv1", "head/pool",
    ]  # fmt: skip
    assert found["measured_ms"] == 6


def test_without_the_option_the_json_has_no_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--json", "-"]) == 0
    assert "measured" not in json.loads(capsys.readouterr()[0])


def test_a_file_that_cannot_be_used_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "times.csv"
    path.write_text("name,ms\n", encoding="utf-8")
    for named, code in ((path, "MEASURED_HEADER"), (tmp_path / "none.csv", "UNREADABLE")):
        assert main([*SMALL, "--measured", str(named)]) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert err.startswith(f"error: {code}: ")
