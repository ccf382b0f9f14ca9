"""A test over its CPU budget fails the run, in one process and in several."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.cpu_budget import OWN_BUDGETS_S, VARIABLE, Budgets
from tests.house.source_files import ROOT

CONFTEST = """
from tests.house.cpu_budget import register

OWN = {"test_sample.py::test_listed": (60, "listed")}

def pytest_configure(config):
    register(config, OWN)
"""
TESTS = """
import subprocess, sys, time
import pytest

BUSY = "import time\\nwhile time.process_time() < 0.3: pass"

def spend():
    end_s = time.process_time() + 0.3
    while time.process_time() < end_s:
        pass

def test_quick(): pass
def test_asleep(): time.sleep(0.3)
@pytest.mark.parametrize("size", [1, 2])
def test_slow(size): spend()
@pytest.mark.parametrize("size", [1, 2])
def test_listed(size): spend()
def test_child(): subprocess.run([sys.executable, "-c", BUSY], check=True)
"""
BUDGET_S = "0.2"
NO_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""But the one that is asked for: they take longer to import than the tests to run."""


def run(folder: Path, *arguments: str, budget_s: str = BUDGET_S) -> subprocess.CompletedProcess:
    """Pytest on TESTS in a process of its own."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_sample.py").write_text(TESTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: budget_s, **NO_PLUGINS}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("processes", ["0", "2"])
def test_tests_over_their_budget_fail_the_run(processes: str, tmp_path: Path) -> None:
    done = run(tmp_path, "-n", processes)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    _, _, listed = done.stdout.partition("tests over their CPU budget")
    lines = [line for line in listed.splitlines() if line.startswith("test_sample")]
    names = [line.partition(": ")[0].removeprefix("test_sample.py::") for line in lines]
    assert names == ["test_child", "test_slow[1]", "test_slow[2]"]
    assert all(line.endswith(" CPU s, budget 0.2 CPU s") for line in lines)
    assert "7 passed" in done.stdout


def test_a_run_within_its_budgets_passes(tmp_path: Path) -> None:
    done = run(tmp_path, "-k", "quick or asleep or listed")
    assert done.returncode == pytest.ExitCode.OK
    assert "budget" not in done.stdout


def test_a_budget_that_is_no_number_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, budget_s="much")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "GRAPHTURBO_TEST_BUDGET_S is 'much': give CPU seconds" in done.stderr


def unknown_tests(budgets_s: Budgets) -> list[str]:
    """Names of tests that no file has."""
    return [name for name in budgets_s if name.partition("::")[2] not in functions_of(name)]


def functions_of(name: str) -> set[str]:
    """The functions of the file that a node id names."""
    path = ROOT / name.partition("::")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_own_budgets_are_of_tests_that_exist_and_have_a_reason() -> None:
    assert unknown_tests(OWN_BUDGETS_S) == []
    assert all(reason for _, reason in OWN_BUDGETS_S.values())
    own = f"tests/house/{Path(__file__).name}::test_own_budgets_are_of_tests_that_exist_and_have_a_"
    assert unknown_tests({f"{own}reason": (1, ""), f"{own}budget": (1, "")}) == [f"{own}budget"]
