"""The app without a browser: its script, and how long a test waits for it."""

from __future__ import annotations

from pathlib import Path

APP = Path(__file__).resolve().parents[3] / "graphturbo_ui" / "server" / "script.py"

PATIENCE_S = 120
