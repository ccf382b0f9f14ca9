"""Rows of the commands that list what there is: samples, chips, strategies with their options."""

from __future__ import annotations

from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_core.hardware.profile import load_profile, profile_names
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import STRATEGIES

ListedRow = dict[str, str]


def sample_rows() -> list[ListedRow]:
    """One row per sample model."""
    return [{"name": name} for name in sample_names()]


def profile_rows() -> list[ListedRow]:
    """One row per shipped chip."""
    return [{"name": name, "title": load_profile(name).title} for name in profile_names()]


def strategy_rows() -> list[ListedRow]:
    """One row per strategy, per level, and per option of `--set`."""
    rows = []
    for name, strategy in STRATEGIES.items():
        rows.append({"name": name, "levels": "", "what": strategy.doc})
        rows += [
            {"name": f"{name}:{level}", "levels": level, "what": doc}
            for level, doc in strategy.levels.items()
        ]
    rows += [
        {"name": f"--set {option.name}=...", "levels": option.choices, "what": option.doc}
        for option in strategy_options().values()
    ]
    return rows
