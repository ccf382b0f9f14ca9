"""GRAPHTURBO_FULL=1 (`make test-full`): whole models, every chip, every strategy; hours."""

from __future__ import annotations

import os

IS_FULL = os.environ.get("GRAPHTURBO_FULL") == "1"
EVERY_DAY = ("tvm", "graphturbo:full")
"""Strategies of the slower tests on other days."""
