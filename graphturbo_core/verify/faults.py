"""Fault: an instruction of a Program that breaks a rule, or whose result is wrong."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.ir.boxes import Box


@dataclass(frozen=True, slots=True)
class Fault:
    """One instruction that breaks a rule, or whose result differs.

    `expected` and `got`: numbers where a result differs, else 0. `cycle`: its start.
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
        """Stores the fault; its text is the message."""
        super().__init__(fault.what)
        self.fault = fault
