"""How many layers are in flight, and what runs under what."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.products.program import Engine
from graphturbo_core.sim.layers_in_flight import LayerConcurrency, layers_in_flight
from graphturbo_core.sim.simulate import simulate
from tests.full import examples

from .programs import MATRIX, MOVE, VECTOR, Step, build

COMPUTES = (MATRIX, VECTOR)


def stretches(found: LayerConcurrency) -> list[tuple[int, int]]:
    """Where memory works under compute."""
    return list(zip(found.under_start.tolist(), found.under_end.tolist(), strict=True))


def test_four_figures_worked_by_hand() -> None:
    # Launch 2, barrier 1; the round opens at 2.
    # matrix of core 0: layer 0 [2, 12), layer 1 [12, 16)
    # DMA: layer 1 [2, 8), layer 0 [8, 10), layer 1 [10, 14)
    # vector of core 1: layer 0 [2, 5), layer 2 [5, 6), layer 0 [6, 8), layer 2 [14, 17): it waits
    # for the DMA's last move.
    # Layers at work: [2, 5) 0 and 1; [5, 6) 0, 1 and 2; [6, 8) 0 and 1; [8, 10) 0;
    # [10, 12) 0 and 1; [12, 14) 1; [14, 16) 1 and 2; [16, 17) 2. Closes at 17 + 1 = 18.
    steps = [
        Step((MATRIX, 0), hold=10, layer=0),
        Step((MATRIX, 0), hold=4, layer=1),
        Step(0, channels={"dram": 6}, layer=1),
        Step(0, channels={"dram": 2}, layer=0),
        Step(0, channels={"dram": 4}, layer=1),
        Step((VECTOR, 1), hold=3, layer=0),
        Step((VECTOR, 1), hold=1, layer=2),
        Step((VECTOR, 1), hold=2, layer=0),
        Step((VECTOR, 1), hold=3, layer=2, data=[4]),
    ]
    trace = simulate(build(steps, segments=[(2, 1)]))
    assert trace.makespan == 18
    found = layers_in_flight(trace)
    assert found.cycle.tolist() == [0, 2, 5, 6, 8, 10, 12, 14, 16, 17]
    assert found.layers.tolist() == [0, 2, 3, 2, 1, 2, 1, 2, 1, 0]
    # None: launch and barrier, 3. One: [8, 10), [12, 14), [16, 17). Two: 3 + 2 + 2 + 2. Three: 1.
    assert found.cycles_by_layers.tolist() == [3, 5, 9, 1]
    # A move of layer 1 under layer 0's computes until 8; of layer 0 under layer 0 until 10: not;
    # of layer 1 under layer 0 until 12, under layer 1 until 14: not.
    assert stretches(found) == [(2, 8), (10, 12)]
    assert found.memory_under_compute_cycles == 8
    # Vector work of layer 2 under matrix work of layers 0 and 1: [5, 6) and [14, 16).
    assert found.vector_under_matrix_cycles == 3


def test_a_layer_does_not_overlap_itself() -> None:
    steps = [
        Step((MATRIX, 0), hold=6, layer=3),
        Step((VECTOR, 1), hold=6, layer=3),
        Step((MOVE, 0), channels={"gb": 6}, layer=3),
        Step((MOVE, 1), channels={"dram": 6}, layer=-1),
    ]
    found = layers_in_flight(simulate(build(steps)))
    assert found.cycles_by_layers.tolist() == [0, 6]
    assert (stretches(found), found.vector_under_matrix_cycles) == ([], 0)


def test_two_layers_that_both_compute_and_move_overlap() -> None:
    # Both layers do both kinds of work: each moves under the other's compute.
    steps = [
        Step((MATRIX, 0), hold=5, layer=0),
        Step((VECTOR, 1), hold=5, layer=1),
        Step((MOVE, 0), channels={"gb": 5}, layer=0),
        Step((MOVE, 1), channels={"dram": 5}, layer=1),
    ]
    found = layers_in_flight(simulate(build(steps)))
    assert stretches(found) == [(0, 5)]
    assert found.vector_under_matrix_cycles == 5


def test_nothing_runs() -> None:
    found = layers_in_flight(simulate(build([], segments=[(1, 1)], engines=[Engine(MATRIX, 0, 0)])))
    assert (found.cycle.tolist(), found.layers.tolist()) == ([0], [0])
    assert found.cycles_by_layers.tolist() == [2, 0]
    assert stretches(found) == []


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
    trace = simulate(build(steps, engines=[Engine(MATRIX, 0, 0)]))
    found = layers_in_flight(trace)
    by_layers = [0] * max(2, len(found.cycles_by_layers))
    memory_under, vector_under = [], 0
    for cycle in range(trace.makespan):
        work: dict[EngineKind, set[int]] = {kind: set() for kind in EngineKind}
        for step, start in zip(steps, trace.start, strict=True):
            if step.layer >= 0 and start <= cycle < start + step.hold:
                work[step.find().kind].add(step.layer)
        by_layers[len(set().union(*work.values()))] += 1
        moves = work[MOVE] | work[EngineKind.DMA]
        computes = work[MATRIX] | work[VECTOR]
        if any(one != other for one in moves for other in computes):
            memory_under.append(cycle)
        vector_under += any(v != m for v in work[VECTOR] for m in work[MATRIX])
    assert found.cycles_by_layers.tolist() == by_layers
    assert [c for begin, stop in stretches(found) for c in range(begin, stop)] == memory_under
    assert found.vector_under_matrix_cycles == vector_under
    at = [
        max(i for i, c in enumerate(found.cycle) if c <= cycle) for cycle in range(trace.makespan)
    ]
    assert sum(int(found.layers[i]) for i in at) == sum(n * c for n, c in enumerate(by_layers))
