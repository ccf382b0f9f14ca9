"""When a core runs two layers at once."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.products.program import Engine
from graphturbo_core.sim.overlap import layer_overlap
from graphturbo_core.sim.simulate import simulate
from tests.full import examples

from .programs import MATRIX, MOVE, VECTOR, Step, build


def test_two_layers_on_one_core() -> None:
    # core 0: matrix layer 0 [0, 10); vector layer 1 [0, 4); move layer 2 [0, 2), layer 0 [2, 6),
    # layer 1 [6, 7). Two or more layers at once: [0, 4) and [6, 7): 5 cycles.
    # core 1: layers 1 and 2 one after the other: none. The two DMAs, layers 3 and 2: never count.
    steps = [
        Step((MATRIX, 0), hold=10, layer=0),
        Step((VECTOR, 0), hold=4, layer=1),
        Step((MOVE, 0), channels={"gb": 2}, layer=2),
        Step((MOVE, 0), channels={"gb": 4}, layer=0),
        Step((MOVE, 0), channels={"gb": 1}, layer=1),
        Step((MATRIX, 1), hold=3, layer=1),
        Step((VECTOR, 1), hold=3, layer=2, data=[5]),
        Step(0, channels={"dram": 10}, layer=3),
        Step(1, channels={"link in 0": 10}, layer=2),
    ]
    found = layer_overlap(simulate(build(steps)))
    assert found.core.tolist() == [0, 0]
    assert found.start.tolist() == [0, 6]
    assert found.end.tolist() == [4, 7]
    # Core 0 shares 5 of 10 cycles, core 1 none: mean 0.25
    assert found.ratio == 0.25


def test_one_layer_after_another_makes_one_stretch() -> None:
    # Layer 0 [0, 6) beside layer 1 [0, 3) and layer 2 [3, 6): overlap without a seam at 3.
    steps = [
        Step((MATRIX, 0), hold=6, layer=0),
        Step((VECTOR, 0), hold=3, layer=1),
        Step((VECTOR, 0), hold=3, layer=2),
    ]
    found = layer_overlap(simulate(build(steps)))
    assert (found.start.tolist(), found.end.tolist(), found.ratio) == ([0], [6], 1.0)


def test_nothing_runs() -> None:
    found = layer_overlap(simulate(build([], segments=[(1, 1)], engines=[Engine(MATRIX, 0, 0)])))
    assert (len(found.core), found.ratio) == (0, 0.0)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([(MATRIX, 0), (VECTOR, 0), (MATRIX, 1), (VECTOR, 1), (MOVE, 1), 0]),
            st.integers(0, 5),
            st.integers(-1, 2),
        ),
        max_size=12,
    )
)
def test_equal_to_counting_every_cycle(rows: list[tuple[object, int, int]]) -> None:
    steps = [
        Step(engine, hold=hold, layer=layer)  # type: ignore[arg-type]
        for engine, hold, layer in rows
    ]
    engines = [Engine(MATRIX, 0, 0), Engine(MATRIX, 1, 0)]
    trace = simulate(build(steps, engines=engines))
    found = layer_overlap(trace)
    shared = 0
    for core in (0, 1):
        for cycle in range(trace.makespan):
            running = {
                step.layer
                for step, start in zip(steps, trace.start, strict=True)
                if step.find().core == core
                and start <= cycle < start + step.hold
                and step.layer >= 0
            }
            is_shared = any(
                c == core and begin <= cycle < stop
                for c, begin, stop in zip(found.core, found.start, found.end, strict=True)
            )
            assert is_shared == (len(running) > 1)
            shared += is_shared
    assert found.ratio == shared / max(1, 2 * trace.makespan)
