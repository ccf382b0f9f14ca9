"""Pytest plugin: `slow` tests whose kept result belongs to the present source are not run again.

`make evidence` runs all slow tests and keeps, in docs/slow-tests.json, how many of each file have
passed, with a digest of what they read: every module of the project that the file imports, directly
or not, the library (for tests in a browser the app too), and the data files beside these modules.
`make test-all` leaves out the slow tests of a file with the same digest, and runs the others: all
of them after a change of any statement of the library, those of one page after a change of it.

    python -m tests.house.kept_tests [FILE ...]    run slow tests, of these files alone, and keep

The environment variable `GRAPHTURBO_SLOW_TESTS` is `kept` to leave these out and `keep` to write
the file; without it the plugin is off.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.house.source_files import ROOT, imports, name_of

VARIABLE = "GRAPHTURBO_SLOW_TESTS"
KEPT = ROOT / "docs" / "slow-tests.json"
PACKAGES = ("graphturbo_core", "graphturbo_ui", "tests", "benchmarks", "sample_models")
NOTHING_IS_MISSING = ("GRAPHTURBO_REQUIRE_BROWSER", "GRAPHTURBO_REQUIRE_MODELS")
COMMAND_LINE = "graphturbo_core/__main__.py"
APP = ("app.py", "graphturbo_ui/server/script.py", "graphturbo_ui/server/startup.py")
"""They import every page; each test reads those that it visits."""
VISITED = ("explore", "verification", "paper")
"""Pages that tests of other pages turn to."""
PAGE_OF = {
    "test_browser_chips": "chips",
    "test_browser_compare": "compare",
    "test_browser_learn": "learn",
    "test_browser_plan_diff": "compare",
    "test_browser_schedulers": "schedulers",
    "test_browser_what_if": "what_if",
}
"""The page that a file of tests visits too, by the start of the file's name."""
IN_A_BROWSER = "tests/ui/"
ALWAYS = (
    "requirements*.txt", "pyproject.toml", "hardware_profiles/*", "sample_models/*.onnx",
    ".streamlit/*", "docs/verified.json", "docs/paper-rows.json", "docs/scheduler-abilities.json",
)  # fmt: skip
"""Files that the library and the app read. Tests of docs/schedulers.json are none of the slow."""
TEXTS = ("*.md", "docs/**/*.md", "docs/*.json", "benchmarks/site/*", "Makefile")
READ_TEXTS = ("tests/pages/", "tests/site/", "tests/ui/browser/pages/test_browser_help")
"""Tests that read the project's texts as well."""


def module_file(name: str) -> Path | None:
    """The file of a module or of a package of the project."""
    path = ROOT / name.replace(".", "/")
    found = (path / "__init__.py", path.with_suffix(".py"))
    return next((each for each in found if each.is_file()), None)


@cache
def imported(path: Path) -> frozenset[Path]:
    """The project's files that a module imports, with the packages that these are in."""
    found = set()
    for name in imports(path):
        parts = name.split(".")
        if parts[0] in PACKAGES:
            found |= {module_file(".".join(parts[:count])) for count in range(1, len(parts) + 1)}
    return frozenset(each for each in found if each is not None)


def closure(paths: Iterable[Path], ends: Iterable[Path] = ()) -> set[Path]:
    """These modules and all that they import, directly or not; imports of `ends` do not count."""
    found: set[Path] = set()
    waiting, last = [*paths], set(ends)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += () if path in last else imported(path)
    return found


def modules_of(name: str) -> set[Path]:
    """Modules that a file of tests runs, by its path from the project's root."""
    path = ROOT / name
    above = [each / "conftest.py" for each in path.parents if ROOT in each.parents]
    begins = [path, ROOT / COMMAND_LINE, *(each for each in above if each.is_file())]
    if not name.startswith(IN_A_BROWSER):
        return closure(begins)
    app = [ROOT / each for each in APP]
    own = [page for start, page in PAGE_OF.items() if path.name.startswith(start)]
    pages = [ROOT / f"graphturbo_ui/pages/{page}.py" for page in (*VISITED, *own)]
    return closure([*begins, *app, *pages], ends=app)


@cache
def data_beside(folder: Path) -> tuple[Path, ...]:
    """Files of a folder that are no Python, and those of its folders without Python to import.

    A folder of scripts may have a docstring, which nothing imports.
    """
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            found.append(path)
        elif path.is_dir() and {each.name for each in path.rglob("*.py")} <= {"__init__.py"}:
            inside = (each for each in sorted(path.rglob("*")) if "__pycache__" not in each.parts)
            found += (each for each in inside if each.is_file())
    return tuple(found)


@cache
def digest_of_file(path: Path) -> bytes:
    """Of a module what it says, not how it is laid out; of another file its bytes."""
    data = path.read_bytes()
    if path.suffix == ".py":
        data = ast.dump(ast.parse(data)).encode()
    return hashlib.sha256(data).digest()


def digest(name: str) -> str:
    """Digest of all that a file of tests reads, by its path from the project's root."""
    modules = modules_of(name)
    folders = {path.parent for path in modules} - {ROOT, ROOT / "tests"}
    patterns = ALWAYS + (TEXTS if name.startswith(READ_TEXTS) else ())
    read = modules.union(*map(data_beside, folders))
    read |= {
        path for each in patterns for path in ROOT.glob(each) if path.is_file() and path != KEPT
    }
    found = hashlib.sha256()
    for path in sorted(read):
        found.update(name_of(path).encode() + b"\0" + digest_of_file(path))
    return found.hexdigest()[:16]


def kept() -> dict[str, list[object]]:
    """Digest and number of passed slow tests, by file."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}


def is_slow(item: pytest.Item) -> bool:
    """Whether `make test` leaves it out."""
    return item.get_closest_marker("slow") is not None


def file_of(nodeid: str) -> str:
    """The file that a test is in."""
    return nodeid.partition("::")[0]


class LeavesOut:
    """Leaves out the slow tests of files whose kept result is of the present source."""

    def __init__(self, fresh: Mapping[str, int]) -> None:
        self.fresh = fresh

    @pytest.hookimpl(optionalhook=True)  # of pytest-xdist
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[VARIABLE] = dict(self.fresh)

    def pytest_report_header(self) -> str:
        count = sum(self.fresh.values())
        return f"not run: {count} slow tests of {len(self.fresh)} files, kept in {KEPT.name}"

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        slow = Counter(file_of(item.nodeid) for item in items if is_slow(item))
        known = {name for name, count in slow.items() if self.fresh.get(name) == count}
        out = [item for item in items if is_slow(item) and file_of(item.nodeid) in known]
        items[:] = [item for item in items if item not in set(out)]
        config.hook.pytest_deselected(items=out)


class Keeps:
    """Writes how many slow tests have passed of each file without a failure."""

    def __init__(self) -> None:
        self.digests = {name_of(path): digest(name_of(path)) for path in test_files()}
        self.passed: Counter[str] = Counter()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = file_of(report.nodeid)
        is_done = report.passed if report.when == "call" else _is_left_to_others(report)
        if report.failed:
            self.failed.add(name)
        elif is_done and "slow" in report.keywords:
            self.passed[name] += 1

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            return
        passed = {name: count for name, count in self.passed.items() if name not in self.failed}
        found = {name: each for name, each in kept().items() if name in self.digests}
        found |= {name: [self.digests[name], count] for name, count in passed.items()}
        rows = [f" {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found)]
        KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _is_left_to_others(report: pytest.TestReport) -> bool:
    """Whether a condition of the source skips a test, as those of `make test-full`."""
    return report.skipped and "skipif" in report.keywords


def test_files() -> list[Path]:
    """All files of tests."""
    return sorted((ROOT / "tests").rglob("test_*.py"))


def fresh() -> dict[str, int]:
    """Number of kept slow tests, by file, of the files that read what they read then."""
    found = kept().items()
    return {
        name: count
        for name, (then, count) in found
        if (ROOT / name).is_file() and digest(name) == then
    }


def register(config: pytest.Config) -> None:
    """Switch the plugin on where the environment variable is set; tests do not inherit it."""
    worker = getattr(config, "workerinput", {})
    mode = os.environ.pop(VARIABLE, "")
    if VARIABLE in worker:
        config.pluginmanager.register(LeavesOut(worker[VARIABLE]))
    elif mode == "kept":
        config.pluginmanager.register(LeavesOut(fresh()))
    elif mode == "keep":
        config.pluginmanager.register(Keeps())
    elif mode:
        raise pytest.UsageError(f"{VARIABLE} is `kept` or `keep`, not {mode!r}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the slow tests, those of some files where these are named; returns pytest's status."""
    chosen = list(arguments if arguments is not None else sys.argv[1:])
    command = [sys.executable, "-m", "pytest", "-n", "3", "--dist", "worksteal", "-m", "slow"]
    environment = {**os.environ, VARIABLE: "keep", **dict.fromkeys(NOTHING_IS_MISSING, "1")}
    return subprocess.run([*command, *chosen], cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
