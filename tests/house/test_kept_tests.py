"""Slow tests are left out while nothing that they read has changed, in one process and several."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.house import kept_tests
from tests.house.kept_tests import VARIABLE, closure, digest_of_file, modules_of
from tests.house.source_files import ROOT

CONFTEST = """
from pathlib import Path
from tests.house import kept_tests, source_files

kept_tests.ROOT = source_files.ROOT = Path(__file__).parent
kept_tests.KEPT = kept_tests.ROOT / "kept.json"

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: left out while kept")
    kept_tests.register(config)
"""
TESTS = """
import pytest
from sample_models.size import SIZE

def test_quick(): pass
@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2])
def test_slow(size): assert size < SIZE
@pytest.mark.slow
@pytest.mark.skipif(True, reason="left to others")
def test_others(): pass
"""
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""But the one that is asked for: they take longer to import than the tests to run."""
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}
"""A file of the same second and length as the one before would run as that one."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a library, a module that tests import, data beside it, and three tests."""
    files = {
        "conftest.py": CONFTEST,
        "graphturbo_core/__main__.py": "",
        "sample_models/__init__.py": "",
        "sample_models/size.py": "SIZE = 3",
        "sample_models/golden/size.txt": "3",
        "docs/verified.json": "[]",
        "tests/test_sample.py": TESTS,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(folder: Path, mode: str, *arguments: str) -> dict[str, int]:
    """Numbers of a pytest run on a project in a process of its own, by word: passed, failed …"""
    own = {VARIABLE: mode, "PYTHONPATH": f"{ROOT}"}
    environment = {**os.environ, **NO_PLUGINS, **NO_BYTECODE, **own}
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "--import-mode=importlib"]
    done = subprocess.run(
        [*command, "-o", f"pythonpath={folder}", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", last)}


def write(path: Path, text: str) -> None:
    """All files are of one second, as they are on a fast machine."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (10**9, 10**9))


@pytest.mark.parametrize("processes", ["0", "2"])
def test_slow_tests_are_left_out_until_something_that_they_read_changes(
    processes: str, project: Path
) -> None:
    several = ("-n", processes)
    assert run(project, "kept", *several) == {"passed": 3, "skipped": 1}
    assert run(project, "keep", *several, "-m", "slow")["passed"] == 2
    assert [*json.loads((project / "kept.json").read_text())] == ["tests/test_sample.py"]
    assert run(project, "kept", *several)["passed"] == 1
    write(project / "sample_models/size.py", "# as before\nSIZE  = 3")
    assert run(project, "kept", *several)["passed"] == 1
    write(project / "sample_models/size.py", "SIZE = 4")
    assert run(project, "kept", *several) == {"passed": 3, "skipped": 1}


def test_a_change_of_the_library_or_of_data_has_the_slow_tests_run(project: Path) -> None:
    run(project, "keep")
    write(project / "sample_models/golden/size.txt", "4")
    assert run(project, "kept") == {"passed": 3, "skipped": 1}
    run(project, "keep")
    write(project / "docs/verified.json", "{}")
    assert run(project, "kept") == {"passed": 3, "skipped": 1}
    run(project, "keep")
    write(project / "graphturbo_core/__main__.py", "x = 1")
    assert run(project, "kept") == {"passed": 3, "skipped": 1}
    run(project, "keep")
    assert run(project, "kept")["passed"] == 1


def test_a_file_with_a_failure_and_a_part_of_a_file_are_not_kept(project: Path) -> None:
    write(project / "sample_models/size.py", "SIZE = 2")
    assert run(project, "keep", "-m", "slow") == {
        "failed": 1,
        "passed": 1,
        "skipped": 1,
        "deselected": 1,
    }
    assert run(project, "kept") == {"failed": 1, "passed": 2, "skipped": 1}
    write(project / "sample_models/size.py", "SIZE = 3")
    run(project, "keep", "tests/test_sample.py::test_slow[1]")
    assert run(project, "kept") == {"passed": 3, "skipped": 1}


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "sometimes")
    with pytest.raises(pytest.UsageError, match="`kept` or `keep`, not 'sometimes'"):
        kept_tests.register(SimpleNamespace())  # type: ignore[arg-type]


def test_imports_are_followed_and_where_they_end() -> None:
    begin = ROOT / "graphturbo_ui/server/script.py"
    every = closure([begin])
    assert {ROOT / "graphturbo_ui/pages/learn.py", ROOT / "graphturbo_core/units.py"} <= every
    assert closure([begin], ends=[begin]) == {begin}


def test_a_test_in_a_browser_reads_the_pages_that_it_visits() -> None:
    learn, chips = (ROOT / f"graphturbo_ui/pages/{name}.py" for name in ("learn", "chips"))
    found = modules_of("tests/ui/browser/pages/test_browser_learn.py")
    assert learn in found
    assert chips not in found
    assert ROOT / "graphturbo_ui/pages/explore.py" in found
    assert ROOT / "tests/ui/conftest.py" in found
    assert ROOT / "tests/conftest.py" in found


def test_pages_are_of_files_that_exist() -> None:
    files = [path.name for path in (ROOT / "tests/ui").rglob("test_*.py")]
    for start, page in kept_tests.PAGE_OF.items():
        assert any(name.startswith(start) for name in files)
        assert (ROOT / f"graphturbo_ui/pages/{page}.py").is_file()


def test_the_layout_of_a_module_is_not_read_and_every_byte_of_other_files_is(
    tmp_path: Path,
) -> None:
    texts = {
        "a.py": "x = 1",
        "b.py": "x  =  1  # one",
        "c.py": "x = 2",
        "a.css": "x: 1",
        "b.css": "x : 1",
    }
    for name, text in texts.items():
        write(tmp_path / name, text)
    a, b, c, one, other = (digest_of_file(tmp_path / name) for name in texts)
    assert a == b != c
    assert one != other


def test_scripts_count_where_nothing_imports_their_folder() -> None:
    """A component's folder has a docstring in `__init__.py`, and no other Python."""
    folder = kept_tests.ROOT / "graphturbo_ui/components"
    read = kept_tests.data_beside(folder)
    assert {folder / "overview/overview.js", folder / "overview/overview.css"} <= {*read}
    assert not any("__pycache__" in path.parts for path in read)
