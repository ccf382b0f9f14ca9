"""The page about coverage: sums by package, the least covered files, and how it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house import coverage_page
from tests.house.coverage_page import HEAD, PAGE, Lines, by_package, least_covered, page
from tests.house.source_files import ROOT

FILES = {
    "graphturbo_core/errors.py": Lines(10, 10),
    "graphturbo_core/units.py": Lines(30, 0),
    "graphturbo_core/sim/trace.py": Lines(1000, 999),
    "graphturbo_core/sim/kernels/loads.py": Lines(200, 1),
    "graphturbo_core/sim/empty.py": Lines(0, 0),
}


def test_lines_are_added_up_by_package() -> None:
    assert by_package(FILES) == {
        "graphturbo_core": Lines(40, 10),
        "graphturbo_core/sim": Lines(1200, 1000),
    }


def test_the_least_covered_file_comes_first() -> None:
    names = [name.rpartition("/")[2] for name, _ in least_covered(FILES)]
    assert names == ["units.py", "loads.py", "trace.py", "errors.py", "empty.py"]
    many = {f"graphturbo_core/f{number:02}.py": Lines(1, 0) for number in range(11)}
    assert [name for name, _ in least_covered(many)] == sorted(many)[:10]


def test_the_page_of_these_files() -> None:
    text = page(FILES)
    assert "| graphturbo_core/sim | 1,200 | 1,000 | 83.3 |\n" in text
    assert "| **all** | 1,240 | 1,010 | 81.5 |\n" in text
    assert "| graphturbo_core/sim/kernels/loads.py | 200 | 1 | 0.5 |\n" in text


def test_the_page_is_what_the_command_writes() -> None:
    """CI does not run it: the numbers are those of the commit that wrote them."""
    text = PAGE.read_text(encoding="utf-8")
    assert text.startswith(HEAD)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"-m {coverage_page.__name__}" in makefile
    assert "`make coverage`" in HEAD


def test_without_data_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage_page, "ROOT", tmp_path)
    assert coverage_page.main() == 1
    assert "run `make coverage`" in capsys.readouterr().err
