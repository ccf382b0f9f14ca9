"""The compiled simulator equals one that steps cycle by cycle, over random small programs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.products.program import InstructionKind, Memory
from graphturbo_core.sim.simulate import simulate
from tests.full import examples

from .programs import MATRIX, MOVE, VECTOR, Step, build
from .reference import Reference

CHANNELS = ("dram", "gb", "lb 0", "lb 1")
CYCLES = st.integers(0, 5)


@st.composite
def _step(draw: st.DrawFn, index: int, segment: int) -> Step:
    engine = draw(st.sampled_from([(MATRIX, 0), (VECTOR, 0), (MOVE, 0), (MOVE, 1), (MOVE, 2), 0]))
    is_move = engine == 0 or engine[0] == MOVE
    earlier = st.lists(st.integers(0, index - 1), max_size=2) if index else st.just([])
    channels = st.dictionaries(st.sampled_from(CHANNELS), CYCLES, min_size=1, max_size=3)
    return Step(
        engine,
        hold=0 if is_move else draw(CYCLES),
        latency=draw(st.integers(0, 3)) if is_move else 0,
        channels=draw(channels) if is_move else {},
        data=draw(earlier),
        address=draw(earlier),
        segment=segment,
        kind=InstructionKind.LOAD if is_move else InstructionKind.COMPUTE,
        source=draw(st.sampled_from(Memory)) if is_move else -1,
        target=draw(st.sampled_from((Memory.LB_DATA, Memory.LB_WEIGHT))) if is_move else -1,
    )


@st.composite
def _programs(draw: st.DrawFn) -> tuple[list[Step], list[tuple[int, int]]]:
    segments = draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=3)
    )
    of_steps = draw(st.lists(st.integers(0, len(segments) - 1), max_size=12))
    return [draw(_step(i, s)) for i, s in enumerate(sorted(of_steps))], segments


@settings(max_examples=examples(400), deadline=None)
@given(_programs())
def test_equal_to_stepping_every_cycle(case: tuple[list[Step], list[tuple[int, int]]]) -> None:
    steps, segments = case
    expected = Reference(steps, segments).run()
    trace = simulate(build(steps, segments))
    trace.check()
    assert dict(enumerate(trace.start.tolist())) == expected.start
    assert trace.segment_open.tolist() == expected.opened
    assert trace.segment_close.tolist() == expected.closed
    assert trace.stalls.tolist() == [expected.stalls(e) for e in trace.program.engines]
    waits = [expected.data_waits(e) for e in trace.program.engines]
    assert trace.data_waits.tolist() == waits
    found = list(zip(trace.wait.tolist(), trace.wait_on.tolist(), strict=True))
    assert found == [(int(wait), on) for wait, on in expected.waits()]
    assert trace.makespan >= trace.longest_chain_cycles
