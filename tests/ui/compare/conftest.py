"""Workers that take orders, for the page Compare without a browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphturbo_ui.compare import collecting
from graphturbo_ui.jobs import Desk
from tests.remote import fake_worker


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder with orders for the page's workers, which are fake."""
    monkeypatch.setenv(fake_worker.ORDERS, str(tmp_path))
    desk = Desk(workers=1, target=fake_worker.main)
    monkeypatch.setattr(collecting, "shared_desk", lambda: desk)
    yield tmp_path
    fake_worker.forget(tmp_path)
    desk.close()
