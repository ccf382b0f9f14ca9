"""Layer: the finest unit of a schedule, a group of ops that Relay would fuse."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layer:
    """Ops of one layer in topological order; named after its contraction, else its last op."""

    index: int
    name: str
    ops: tuple[str, ...]
