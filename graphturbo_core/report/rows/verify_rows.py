"""Verification -> the contract's `verify`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import NotRequired, TypedDict

from graphturbo_core.verify.faults import Fault
from graphturbo_core.verify.replay.compare import OutputCheck
from graphturbo_core.verify.verify import Verification


class OutputEntry(TypedDict):
    """One output of a replayed run and its errors."""

    name: str
    dtype: str
    shape: Sequence[int]
    max_abs_error: float | None
    max_rel_error: float | None
    tolerance: float
    rel_tolerance: float | None
    ok: bool


class FaultEntry(TypedDict):
    """The first wrong instruction."""

    rule: str
    what: str
    instruction: int
    op: str
    tensor: str
    box: Sequence[Sequence[int]]
    core: int
    cycle: int
    expected: float | None
    got: float | None


class VerifyEntry(TypedDict):
    """The contract's `verify`; keys that are not required exist for a replayed run only."""

    ran: bool
    ok: bool | None
    max_abs_error: float | None
    max_rel_error: float | None
    outputs: Sequence[OutputEntry]
    fault: NotRequired[FaultEntry | None]
    instructions: NotRequired[int]
    rounds: NotRequired[int]
    drawn_weights: NotRequired[int]


def verify_rows(found: Verification | None) -> VerifyEntry:
    """`ran`, `ok`, the largest errors, every output and the first wrong instruction.

    An infinite or undefined error (an output lacks a number) is null.
    """
    if found is None:
        return {
            "ran": False, "ok": None, "max_abs_error": None, "max_rel_error": None, "outputs": [],
        }  # fmt: skip
    return {
        "ran": True,
        "ok": found.is_right,
        "max_abs_error": _finite(found.max_abs_error),
        "max_rel_error": _finite(found.max_rel_error),
        "outputs": [_output(check) for check in found.outputs],
        "fault": None if found.fault is None else _fault(found.fault),
        "instructions": found.instructions,
        "rounds": found.replays,
        "drawn_weights": found.drawn_weights,
    }


def _output(check: OutputCheck) -> OutputEntry:
    return {
        "name": check.name,
        "dtype": check.dtype,
        "shape": list(check.shape),
        "max_abs_error": _finite(check.max_abs_error),
        "max_rel_error": _finite(check.max_rel_error),
        "tolerance": check.tolerance,
        "rel_tolerance": _finite(check.rel_tolerance),
        "ok": check.is_right,
    }


def _fault(fault: Fault) -> FaultEntry:
    return {
        "rule": fault.rule,
        "what": fault.what,
        "instruction": fault.instruction,
        "op": fault.op,
        "tensor": fault.tensor,
        "box": [list(interval) for interval in fault.box],
        "core": fault.core,
        "cycle": fault.cycle,
        "expected": _finite(fault.expected),
        "got": _finite(fault.got),
    }


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
