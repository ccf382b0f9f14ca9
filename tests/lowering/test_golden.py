"""A whole Program as text, reviewed like code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, plan_of
from tests.lowering.replay import Touch, View
from tests.strategies.samples import weighted

MODEL = (
    "g (float[1,8,8,8] x, float[8,8,3,3] w, float[8,8,3,3] v) => (float[1,8,8,8] y)"
    "{ a = Conv <pads = [1,1,1,1]> (x, w) b = Conv <pads = [1,1,1,1]> (a, v) y = Add (b, a) }"
)


def box_text(box: Box) -> str:
    return " ".join(f"{lo}:{hi}" for lo, hi in box)


def buffer_text(program: Program, view: View, number: int) -> str:
    buffers = program.buffers
    core = f" core {buffers.core[number]}" if buffers.core[number] >= 0 else ""
    start, size = buffers.offset[number], buffers.size_bytes[number]
    memory = Memory(int(buffers.memory[number])).name
    return (
        f"b{number} {memory}{core} bytes [{start}, {start + size}) {view.tensors[number]} "
        f"[{box_text(view.boxes[number])}] used {buffers.first[number]} to {buffers.last[number]}"
    )


def touches_text(touches: list[Touch]) -> str:
    return ", ".join(f"b{touch.buffer}[{box_text(touch.box)}]" for touch in touches)


def instruction_text(program: Program, view: View, row: int) -> str:
    kind = InstructionKind(int(program.kind[row])).name.lower()
    op, tile = view.op(row).name, program.tile[row]
    reads = [touch for touch in view.touches[row] if not touch.is_write]
    writes = [touch for touch in view.touches[row] if touch.is_write]
    moved = f", {program.size_bytes[row]} bytes" if program.size_bytes[row] else ""
    halo = f" ({program.halo_bytes[row]} again)" if program.halo_bytes[row] else ""
    cause = Cause(int(program.cause[row]))
    why = f" {cause.name.lower()}" if cause else ""
    work = f", {program.macs[row]} macs" if program.macs[row] else ""
    latency = f"+{program.latency_cycles[row]}" if program.latency_cycles[row] else ""
    waits = [
        f"{program.conflict[at]}{'a' if program.is_address_conflict[at] else ''}"
        for at in range(program.conflict_at[row], program.conflict_at[row + 1])
    ]
    return (
        f"{row} {program.engines[program.engine[row]].label}: {kind} {op} tile {tile}, "
        f"{program.hold_cycles[row]}{latency} cycles{moved}{halo}{why}{work}\n"
        f"    {touches_text(reads)} -> {touches_text(writes)}"
        + (f"  waits for {' '.join(waits)}" if waits else "")
    )


def program_text(program: Program) -> str:
    view = View(program)
    lines = [f"{program.plan.strategy} on {program.plan.hardware.name}, {program.size} rows"]
    for segment, (opens, closes) in enumerate(
        zip(program.segment_open_cycles, program.segment_close_cycles, strict=True)
    ):
        rows = np.flatnonzero(program.segment == segment)
        span = f"{rows[0]} to {rows[-1]}"
        lines.append(f"segment {segment}: {opens} cycles, rows {span}, {closes} cycles")
    lines += [buffer_text(program, view, number) for number in range(len(view.boxes))]
    lines += [instruction_text(program, view, row) for row in range(program.size)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("strategy", ["tvm", "graphturbo:full"])
def test_two_convolutions_and_a_sum(strategy: str, golden: Callable[[str, str], None]) -> None:
    """Two cores halve the rows: `full` exchanges a line of `a`, `tvm` reads it again from DRAM."""
    two = replace(chip("generic-4x4"), cores=2)
    program = lower(plan_of(weighted(MODEL), strategy, two))
    check_program(simulate(program))
    golden(f"two-convolutions-{strategy.partition(':')[0]}", program_text(program))
