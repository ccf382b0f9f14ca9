"""Stored results of long runs: a digest shows when their inputs have changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import evidence
from benchmarks.evidence import Evidence
from benchmarks.probes.figures import figures
from benchmarks.probes.runs import OPTIONS
from graphturbo_core.strategies.options import strategy_options

MADE = Evidence("one", (("no.module",),), ("docs/one.md",), ("rows/*.py",))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree with one stored result that is up to date; runs give 7."""
    for name in ("docs/one.md", "rows/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    monkeypatch.setattr(evidence, "KEPT", tmp_path / "docs" / "evidence.json")
    monkeypatch.setattr(evidence, "ALL", (MADE,))
    monkeypatch.setattr(evidence, "figures", lambda _: "7")
    evidence.KEPT.write_text(json.dumps({"one": MADE.digest()}), encoding="utf-8")
    return tmp_path


def test_what_is_kept_is_not_stale(tree: Path) -> None:
    assert evidence.main(["--check"]) == 0


def test_a_file_that_it_reads_changes(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "rows" / "a.py").write_text("y", encoding="utf-8")
    assert evidence.main(["--check"]) == 1
    assert "one: its inputs have changed" in capsys.readouterr().err


def test_a_file_that_it_reads_is_new(tree: Path) -> None:
    (tree / "rows" / "b.py").write_text("", encoding="utf-8")
    assert len(evidence.stale()) == 1


def test_runs_give_something_else(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "figures", lambda _: "8")
    assert len(evidence.stale()) == 1


def test_its_result_is_gone(tree: Path) -> None:
    (tree / "docs" / "one.md").unlink()
    (line,) = evidence.stale()
    assert "docs/one.md is missing" in line


def test_it_runs_its_commands_and_keeps_a_digest(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(evidence.subprocess, "run", lambda command, **_: ran.append(command))
    (tree / "rows" / "a.py").write_text("y", encoding="utf-8")
    assert evidence.main([]) == 0
    assert [command[1:] for command in ran] == [["-m", "no.module"]]
    assert evidence.stale() == []


def test_a_pattern_that_names_no_file_is_an_error(tree: Path) -> None:
    with pytest.raises(ValueError, match="matches no file"):
        evidence.files_of(["nothing/*"])


def test_every_result_that_is_kept_has_its_files() -> None:
    for each in evidence.ALL:
        assert evidence.files_of(each.reads)


def test_each_value_of_an_option_has_a_run_in_which_it_changes_a_figure() -> None:
    owned = {
        f"{option.name}={value}"
        for option in strategy_options().values()
        if option.name.startswith("graphturbo.")
        for value in option.choices.split(", ")
        if value != option.default
    }
    assert owned <= {name for probe in OPTIONS for name in probe.options}
    for probe in OPTIONS:
        without = figures((replace(probe, options=probe.options[1:]),))
        taken, other = json.loads(without)[0][-1], json.loads(figures((probe,)))[0][-1]
        assert taken != other, probe
