"""Bytes by memory, direction and cause."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import Cause, InstructionKind, Memory
from graphturbo_core.sim.ledger import ledger

from .programs import MATRIX, MOVE, Step, build

LB, GB, DRAM = Memory.LB_DATA, Memory.GB, Memory.DRAM


def _move(  # one argument a field of the row
    kind: InstructionKind, way: tuple[Memory, Memory], size: int, cause: Cause, halo: int = 0
) -> Step:
    source, target = way
    return Step(
        (MOVE, 0), kind=kind, size=size, halo=halo, source=source, target=target, cause=cause
    )


def test_every_byte_has_a_cause() -> None:
    book = ledger(
        build(
            [
                _move(InstructionKind.LOAD, (DRAM, LB), 100, Cause.INPUT, halo=10),
                _move(InstructionKind.PREFETCH, (DRAM, GB), 64, Cause.WEIGHT_FIRST),
                _move(InstructionKind.BROADCAST, (GB, Memory.LB_WEIGHT), 64, Cause.WEIGHT_FIRST),
                _move(InstructionKind.BROADCAST, (DRAM, Memory.LB_WEIGHT), 8, Cause.WEIGHT_AGAIN),
                _move(InstructionKind.EXCHANGE, (LB, LB), 7, Cause.NONE),
                Step((MATRIX, 0), hold=3),
                _move(InstructionKind.STORE, (LB, GB), 30, Cause.SPILL, halo=5),
                _move(InstructionKind.LOAD, (GB, LB), 40, Cause.ACTIVATION, halo=4),
                _move(InstructionKind.STORE, (LB, DRAM), 20, Cause.OUTPUT),
            ]
        )
    )
    book.check()
    assert book.dram_read_bytes == 100 + 64 + 8
    assert book.dram_write_bytes == 20
    assert book.gb_read_bytes == 64 + 40
    assert book.gb_write_bytes == 64 + 30
    assert book.core_to_core_bytes == 7
    assert book.causes[DRAM] == {
        Cause.INPUT: 90,
        Cause.HALO: 10,
        Cause.WEIGHT_FIRST: 64,
        Cause.WEIGHT_AGAIN: 8,
        Cause.OUTPUT: 20,
    }
    assert book.causes[GB] == {
        Cause.WEIGHT_FIRST: 64 + 64,
        Cause.SPILL: 30,
        Cause.ACTIVATION: 36,
        Cause.HALO: 4,
    }


def test_a_ledger_that_does_not_sum_is_refused() -> None:
    book = ledger(build([_move(InstructionKind.LOAD, (DRAM, LB), 100, Cause.INPUT)]))
    with pytest.raises(InvariantError, match="DRAM moved 101 bytes, booked are 100"):
        replace(book, dram_read_bytes=101).check()


def test_bytes_without_a_cause_are_refused() -> None:
    book = ledger(build([_move(InstructionKind.LOAD, (DRAM, LB), 100, Cause.NONE)]))
    with pytest.raises(InvariantError, match="DRAM has bytes without a cause"):
        book.check()
