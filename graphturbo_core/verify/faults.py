"""What a replay finds wrong: a Program that does not do what its model says."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.ir.boxes import Box


@dataclass(frozen=True, slots=True)
class Fault:
    """One instruction that broke a rule, or whose result differs.

    `expected` and `got` are numbers where a result differs, else 0. `cycle`: its start.
    """

    rule: str
    what: str
    instruction: int
    op: str
    tensor: str
    box: Box
    core: int
    cycle: int
    expected: float = 0.0
    got: float = 0.0


class ReplayFaultError(Exception):
    """Stops a replay at its first fault."""

    def __init__(self, fault: Fault) -> None:
        """`fault` says which instruction, and how."""
        super().__init__(fault.what)
        self.fault = fault
