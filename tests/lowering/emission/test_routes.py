"""Other interconnects: routes of more than two links lower, simulate and replay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.instructions.machine import Machine
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Channel, ChannelKind, InstructionKind, Program
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.static import ports
from graphturbo_core.verify.static.claims import wrong_claim
from tests.lowering.chips import FEW_CORES, folding_above, sharing
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, plan_of, small_model, with_residency
from tests.lowering.small_plans import TWICE, two_convolutions
from tests.strategies.samples import weighted

LINKS = (ChannelKind.LINK_IN, ChannelKind.LINK_OUT)


class BusMachine(Machine):
    """Links out and in meet at a bus of one byte per cycle, which the cores share."""

    def channels(self) -> tuple[Channel, ...]:
        return (*super().channels(), Channel(ChannelKind.LINK_OUT, self.hardware.clock_hz))

    def links(self, source: int, target: int) -> tuple[int, ...]:
        link_out, link_in = super().links(source, target)
        return (link_out, self.channel(ChannelKind.LINK_OUT), link_in)


class LineMachine(Machine):
    """Cores in a line: bytes pass the links of every core on their way."""

    def links(self, source: int, target: int) -> tuple[int, ...]:
        step, hop = (1 if target > source else -1), super().links
        return tuple(link for at in range(source, target, step) for link in hop(at, at + step))


def densenet() -> Plan:
    """Cores exchange what they overlap."""
    return plan_of(small_model("densenet"), "graphturbo", chip("generic-4x4"))


def shards() -> Plan:
    """Weights go from one LB to several others."""
    plan = plan_of(weighted(TWICE), "tvm", sharing(cores=4))
    return with_residency(plan, Residency.SHARDED)


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[type[Machine], Plan], Trace]:
    """Lowers a plan for a machine and simulates it."""

    def run(machine: type[Machine], plan: Plan) -> Trace:
        monkeypatch.setattr(lowering, "Machine", machine)
        monkeypatch.setattr(ports, "Machine", machine)
        trace = simulate(lowering.lower(plan))
        trace.check()
        return trace

    return run


class Link(NamedTuple):
    channel: Channel
    cycles: int


def links(program: Program, row: int) -> list[Link]:
    """Links that an instruction occupies, and for how long."""
    at = range(program.channel_at[row], program.channel_at[row + 1])
    found = [Link(program.channels[program.channel[n]], int(program.channel_cycles[n])) for n in at]
    return [link for link in found if link.channel.kind in LINKS]


def between_cores(program: Program) -> list[int]:
    """Rows that move bytes from one LB to others."""
    is_exchange = program.kind == InstructionKind.EXCHANGE
    is_spread = (program.kind == InstructionKind.BROADCAST) & (program.source == program.target)
    return np.flatnonzero(is_exchange | is_spread).tolist()


def check_bus(program: Program, kind: InstructionKind) -> None:
    """A cycle of the bus per byte between cores, however many cores receive it; else none."""
    moves = between_cores(program)
    assert kind in set(program.kind[moves].tolist())
    for row in range(program.size):
        bus = [link.cycles for link in links(program, row) if link.channel.core < 0]
        assert bus == ([int(program.size_bytes[row])] if row in moves else [])


@pytest.mark.parametrize(
    ("plan", "kind"),
    [(densenet, InstructionKind.EXCHANGE), (shards, InstructionKind.BROADCAST)],
    ids=["exchanges", "broadcasts"],
)
def test_a_bus_between_the_links_carries_each_byte_once(
    plan: Callable[[], Plan],
    kind: InstructionKind,
    on: Callable[[type[Machine], Plan], Trace],
) -> None:
    trace = on(BusMachine, plan())
    check_program(trace)
    assert wrong_claim(trace.program) is None
    check_bus(trace.program, kind)
    assert trace.makespan > on(Machine, plan()).makespan


def test_a_bus_carries_the_bytes_of_cores_that_are_simulated_as_one(
    on: Callable[[type[Machine], Plan], Trace],
) -> None:
    """Cores 0 and 3 each get a row of 128 bytes; cores 1 and 2, simulated as one, get two."""
    with folding_above(FEW_CORES):
        program = on(BusMachine, two_convolutions()).program
    assert program.size_bytes[between_cores(program)].tolist() == [128, 256, 256, 128]
    check_bus(program, InstructionKind.EXCHANGE)


def test_a_line_of_cores_has_routes_of_several_lengths(
    on: Callable[[type[Machine], Plan], Trace],
) -> None:
    """A broadcast passes each link between its first and its last core once."""
    trace = on(LineMachine, shards())
    check_program(trace)
    program = trace.program
    assert wrong_claim(program) is None
    lengths = set()
    for row in between_cores(program):
        at = slice(program.access_at[row], program.access_at[row + 1])
        cores = program.buffers.core[program.access_buffer[at]].tolist()
        lengths.add(max(cores) - min(cores))
        assert len(links(program, row)) == 2 * (max(cores) - min(cores))
    assert max(lengths) > 1
