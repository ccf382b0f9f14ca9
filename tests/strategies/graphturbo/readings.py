"""Readings of the paper: options, and a model on which each changes the plan."""

from __future__ import annotations

READINGS = (
    ("graphturbo.merging", "equal", "falling", {}),
    ("graphturbo.merging", "largest", "falling", {}),
    ("graphturbo.merging", "any", "falling", {}),
    ("graphturbo.coverage", "outputs", "wide", {"graphturbo.merging": "any"}),
    ("graphturbo.binding_of", "instances", "falling", {}),
    ("graphturbo.gb_binding", "plain", "gated", {}),
    ("graphturbo.conflicts", "lb", "gated", {}),
    ("graphturbo.gb_room", "whole", "heavy", {}),
)
"""Option, value, model, and what else is set."""
