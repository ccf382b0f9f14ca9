"""What every test may use: golden text, deterministic hypothesis, CPU budgets, a Chromium."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from multiprocessing.context import BaseContext
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from graphturbo_core import register
from graphturbo_core.sweep import points
from tests.full import examples
from tests.house import cpu_budget, kept_tests

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REQUIRE_BROWSER = "GRAPHTURBO_REQUIRE_BROWSER"
FOLDER_OF_BROWSER = Path(__file__).parent / "ui"
EVERY_TIME = (
    "test_browser", "test_browser_axe", "test_browser_groupings", "test_browser_help",
    "test_browser_schedulers", "test_browser_verification",
)  # fmt: skip
"""Files whose tests in a browser `make test-all` runs each time; those of others are `slow`."""

pytest.register_assert_rewrite(
    "tests.lowering", "tests.sim", "tests.soundness", "tests.strategies", "tests.verify"
)  # fmt: skip

settings.register_profile(
    "graphturbo",
    derandomize=True,
    max_examples=examples(50),
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("graphturbo")


COLLECTED_EVERY = 100_000
"""Objects made between two searches for unused cycles (our choice: Python's 700 costs a tenth of
the tests' time, most of it spent on looking at modules again and again)."""


def pytest_configure(config: pytest.Config) -> None:
    cpu_budget.register(config)
    kept_tests.register(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`make test-all` looks for tests in a browser in their folder only."""
    for item in items:
        if item.get_closest_marker("browser") is None:
            continue
        if FOLDER_OF_BROWSER not in item.path.parents:
            raise pytest.UsageError(f"{item.nodeid} is a test in a browser outside tests/ui")
        if item.path.stem not in EVERY_TIME:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What modules hold stays until the end: it is not looked at in search of unused cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECTED_EVERY)


def find_browser() -> str | None:
    """Path of the first Chromium on this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden files instead of comparing"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser") is None or find_browser():
        return
    reason = f"no browser found: install one of {', '.join(BROWSERS)}"
    if os.environ.get(REQUIRE_BROWSER) == "1":
        pytest.fail(f"{reason} ({REQUIRE_BROWSER}=1)", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def forks() -> BaseContext:
    """Processes out of one that has imported the library already."""
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["tests.remote.fake_worker"])
    return found


@pytest.fixture(scope="module")
def forked_pools(forks: BaseContext) -> Iterator[None]:
    """Pools of a sweep and of the register take 2 CPU s less for each process.

    Command lines of their own begin as they do for a user, in some tests of `tests/sweep`.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (points, register):
            patch.setattr(module, "get_context", lambda _: forks)
        yield


@pytest.fixture
def browser_path() -> str:
    """Path of the Chromium; a test that uses it is marked `browser`."""
    path = find_browser()
    assert path is not None, "mark the test with @pytest.mark.browser"
    return path


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: the text is that of `golden/NAME.txt` beside the test's file."""
    folder = Path(request.path).parent / "golden"
    is_update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = folder / f"{name}.txt"
        if is_update:
            folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.is_file(), f"{path} is missing: run pytest with --update-golden and review it"
        assert text == path.read_text(encoding="utf-8")

    return compare
