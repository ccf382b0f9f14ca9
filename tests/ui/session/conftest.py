"""Workers for the app without a browser: fake ones, which answer at once or take orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphturbo_ui import charts, frame, shown
from graphturbo_ui.beside import equal_run, searched_run, what_helps
from graphturbo_ui.jobs import Desk
from tests.remote import fake_worker

ASKING = (charts, frame, shown, equal_run, searched_run, what_helps)
"""Modules that hand runs of Explore to a worker."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One worker that answers at once, for all tests that give it no orders."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(fake_worker.ORDERS, str(tmp_path_factory.mktemp("orders")))
        desk = Desk(workers=1, target=fake_worker.main)
        yield desk
        desk.close()


@pytest.fixture
def answering(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """The app's workers are that one."""
    for module in ASKING:
        monkeypatch.setattr(module, "shared_desk", lambda: desk)
    return desk


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder with orders for the workers, which are fake: what a strategy's run does."""
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    desk = Desk(workers=1, target=fake_worker.main)
    for module in ASKING:
        monkeypatch.setattr(module, "shared_desk", lambda: desk)
    yield tmp_path
    fake_worker.forget(tmp_path)
    desk.close()
