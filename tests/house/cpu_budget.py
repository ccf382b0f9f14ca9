"""Pytest plugin: a run fails where the call of a test uses more CPU seconds than its budget.

The environment variable `GRAPHTURBO_TEST_BUDGET_S` sets the budget of one test; without it the
plugin is off. CPU seconds are those of the process that runs the test and of the child processes
that it waited for. Other users of the machine change them less than the time on the clock.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Generator, Mapping
from time import process_time

import pytest

VARIABLE = "GRAPHTURBO_TEST_BUDGET_S"
CPU_SECONDS = "cpu_seconds"
"""Name of the figure in `user_properties` of a report: pytest-xdist sends it to its controller."""

Budgets = Mapping[str, tuple[float, str]]
OWN_BUDGETS_S: Budgets = {
    "tests/site/test_commands.py::test_the_commands_of_a_page_run_in_their_order": (
        90, "a dozen commands of a page, one after another in one folder",
    ),
    "tests/strategies/ios/test_specialised.py::test_it_is_the_fastest_where_it_was_searched": (
        180, "two searches of Inception-v3 by the defaults, which shorter ones do not stand for",
    ),
}  # fmt: skip
"""CPU seconds and the reason, by the node id of a test without its parameters.

At 60 CPU seconds for every test, the longest others that were measured take a half of that.
"""


def cpu_seconds() -> float:
    """CPU seconds of this process and of the children that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


class CpuMeter:
    """Adds the CPU seconds of a call to the test's report; works in every process with tests."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        began_s = cpu_seconds()
        try:
            return (yield)
        finally:
            item.user_properties.append((CPU_SECONDS, cpu_seconds() - began_s))


class BudgetJudge:
    """Compares the reports with the budgets; works in the controller alone."""

    def __init__(self, default_s: float, own_budgets_s: Budgets) -> None:
        self.default_s = default_s
        self.own_budgets_s = own_budgets_s
        self.over: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        used_s = dict(report.user_properties).get(CPU_SECONDS)
        name = report.nodeid.partition("[")[0]
        budget_s, _ = self.own_budgets_s.get(name, (self.default_s, ""))
        if report.when == "call" and isinstance(used_s, float) and used_s > budget_s:
            self.over.append(f"{report.nodeid}: {used_s:.1f} CPU s, budget {budget_s:g} CPU s")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.over and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.over:
            terminalreporter.section("tests over their CPU budget", red=True, bold=True)
            for line in sorted(self.over):
                terminalreporter.line(line)


def register(config: pytest.Config, own_budgets_s: Budgets = OWN_BUDGETS_S) -> None:
    """Switch the plugin on where the environment variable is set."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return
    try:
        default_s = float(text)
    except ValueError as error:
        raise pytest.UsageError(f"{VARIABLE} is {text!r}: give CPU seconds, as 60") from error
    config.pluginmanager.register(CpuMeter())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(BudgetJudge(default_s, own_budgets_s))
