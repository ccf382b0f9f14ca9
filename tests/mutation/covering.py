"""Which tests run each line of the source, and how long they take: what a mutant is tried with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.draw import ROOT

CACHE = ROOT / ".mutation"
SECONDS = CACHE / "seconds.json"
DATA = CACHE / "coverage"
EVERY_DAY = ("-m", "not browser and not slow")
QUICK = {"GRAPHTURBO_QUICK": "1"}
"""As `make test` runs them."""


@dataclass(frozen=True)
class Covering:
    """Tests by (file, line), and the seconds of each test."""

    by_line: Mapping[tuple[str, int], frozenset[str]]
    seconds: Mapping[str, float]

    def tests_of(self, file: str, lines: Iterable[int]) -> list[str]:
        """The tests that run one of these lines, the quickest first.

        Tables and decorators run when a module is imported, which belongs to no test: for lines
        that no test runs it is the tests that run any line of the file.
        """
        found = {test for line in lines for test in self.by_line.get((file, line), ())}
        if not found:
            found = {
                test for (name, _), tests in self.by_line.items() if name == file for test in tests
            }
        return sorted(found, key=lambda test: (self.seconds.get(test, 0.0), test))

    def files_of(self, tests: Iterable[str]) -> list[str]:
        """The test files of these tests, the quickest first.

        Reports that a file's tests share are made by the first that asks, and no other one is
        known to run the lines that made them: so whole files are run too.
        """
        names = {test.partition("::")[0] for test in tests}
        return sorted(names, key=lambda name: (self.seconds_of(name), name))

    def seconds_of(self, file: str) -> float:
        """How long a test file takes."""
        return sum(s for test, s in self.seconds.items() if test.startswith(f"{file}::"))


def measure() -> None:
    """Run the everyday tests once, each with the lines that it runs."""
    CACHE.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *EVERY_DAY, "-p", __name__]
    command += ["--cov=graphturbo_core", "--cov=graphturbo_ui", "--cov-context=test"]
    command += ["--cov-report=", "-p", "no:cacheprovider"]
    environment = {**os.environ, **QUICK, "COVERAGE_FILE": str(DATA)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)


def read() -> Covering:
    """What `measure` left."""
    from coverage import CoverageData  # noqa: PLC0415  # evidence alone

    data = CoverageData(str(DATA))
    data.read()
    by_line: dict[tuple[str, int], frozenset[str]] = {}
    for path in data.measured_files():
        file = str(Path(path).relative_to(ROOT))
        for line, contexts in data.contexts_by_lineno(path).items():
            tests = frozenset(context.partition("|")[0] for context in contexts if context)
            by_line[file, line] = tests
    return Covering(by_line, json.loads(SECONDS.read_text(encoding="utf-8")))


class _Seconds:
    """As a plugin of pytest: how long each test takes, with its fixtures."""

    def __init__(self) -> None:
        self.by_test: dict[str, float] = {}

    def pytest_runtest_logreport(self, report) -> None:  # pytest's own type
        self.by_test[report.nodeid] = self.by_test.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self, session) -> None:  # pytest's own type
        if not hasattr(session.config, "workerinput"):
            SECONDS.write_text(json.dumps(self.by_test, sort_keys=True), encoding="utf-8")


def pytest_configure(config) -> None:  # pytest's own type
    """Called by pytest where this module is named with -p."""
    config.pluginmanager.register(_Seconds())
