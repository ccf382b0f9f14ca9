"""Mutants -> whether the everyday tests notice them, each tried in a copy of the tree."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutation.covering import EVERY_DAY, QUICK, Covering
from tests.mutation.draw import ROOT, Mutant, mutated

CAUGHT, SURVIVED = "caught", "survived"
FIRST_SECONDS = 30.0
"""Tests known to run the line that are tried before whole files."""
MOST_SECONDS = 240.0
"""Whole files that are tried last: the quickest of them that take so long together (our choice:
a module that most tests run would take all of them for each of its mutants)."""
SLOWER, GRACE_SECONDS = 5.0, 120.0
"""A run that takes so many times as long as without the mutant, and these, counts as caught."""
LEFT_OUT = {".git", ".venv", ".mutation", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
NO_TESTS = 5
"""pytest's exit code where it collected none."""


def outcomes(
    mutants: Sequence[Mutant],
    covering: Covering,
    processes: int,
    said: Callable[[Mutant, str], None],
) -> dict[Mutant, str]:
    """`caught`, or `survived`, of each; several at once, each in a tree of its own."""
    with TemporaryDirectory() as folder, _copies(Path(folder), processes) as free:

        def outcome(mutant: Mutant) -> str:
            tree = free.get()
            try:
                found = _outcome(mutant, covering, tree)
            finally:
                free.put(tree)
            said(mutant, found)
            return found

        with ThreadPoolExecutor(processes) as pool:
            return dict(zip(mutants, pool.map(outcome, mutants), strict=True))


@contextmanager
def _copies(folder: Path, count: int) -> Iterator[queue.Queue[Path]]:
    """Copies of the tree, with what is compiled in it."""
    free: queue.Queue[Path] = queue.Queue()
    for number in range(count):
        tree = folder / str(number)
        shutil.copytree(ROOT, tree, ignore=lambda _, names: LEFT_OUT & set(names))
        free.put(tree)
    yield free


def _outcome(mutant: Mutant, covering: Covering, tree: Path) -> str:
    path = tree / mutant.file
    source = path.read_text(encoding="utf-8")
    changed = mutated(source, mutant.operator, mutant.occurrence)
    if changed is None:
        raise ValueError(f"{mutant.file} has no such place: {mutant.operator} {mutant.occurrence}")
    path.write_text(changed, encoding="utf-8")
    try:
        return CAUGHT if _is_caught(mutant, covering, tree) else SURVIVED
    finally:
        path.write_text(source, encoding="utf-8")


def _is_caught(mutant: Mutant, covering: Covering, tree: Path) -> bool:
    """First the quickest tests that run the line, then the whole files of all that do."""
    last = mutant.line + mutant.before.count("\n")
    tests = covering.tests_of(mutant.file, range(mutant.line, last + 1))
    first = _within(tests, lambda test: covering.seconds.get(test, 0.0), FIRST_SECONDS)
    if first and _fails(tree, first, FIRST_SECONDS):
        return True
    files = _within(covering.files_of(tests), covering.seconds_of, MOST_SECONDS)
    return bool(files) and _fails(tree, files, sum(map(covering.seconds_of, files)))


def _within(names: Sequence[str], seconds_of: Callable[[str], float], most: float) -> list[str]:
    """The first of these that take at most so long together."""
    totals = accumulate(map(seconds_of, names))
    return [name for name, total in zip(names, totals, strict=True) if total <= most]


def _fails(tree: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether one of these tests fails with the mutant, or they take far too long."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *EVERY_DAY]
    environment = {**os.environ, **QUICK, "PYTHONPATH": str(tree)}
    with subprocess.Popen(
        [*command, *tests],
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(SLOWER * seconds + GRACE_SECONDS) not in (0, NO_TESTS)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            return True
