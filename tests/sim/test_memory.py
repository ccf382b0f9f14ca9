"""Live bytes over time and per layer, and the sweeps under them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.products.program import Memory
from graphturbo_core.sim.lifetimes import live_intervals
from graphturbo_core.sim.occupancy import layer_memory, occupancy
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.sweeps import overlapping_pair
from graphturbo_core.sim.trace import Trace
from tests.full import examples

from .programs import MATRIX, MOVE, VECTOR, Block, Step, build, hardware

BLOCKS = (
    Block(Memory.LB_DATA, 0, 10, core=0, tensor="a"),
    Block(Memory.LB_WEIGHT, 0, 4, core=0, tensor="w"),
    Block(Memory.LB_DATA, 0, 7, core=1, tensor="b"),
    Block(Memory.GB, 0, 32, tensor="g"),
    Block(Memory.STAGING, 0, 9, core=0, tensor="p"),
    Block(Memory.DRAM, 0, 64, tensor="x"),
    Block(Memory.DRAM, 64, 64, tensor="y", is_output=True),
)


def _example() -> Trace:
    # core 0 move: load x -> a [0, 4) visible 6; core 1 move: load w -> GB g [0, 3) visible 3
    # core 0 matrix: a -> partial sums p, w: [6, 16)
    # core 1 vector: g -> b: [3, 8)
    # core 1 move: b -> y: [8, 10), visible 12; then 8 more cycles on core 0 vector: [16, 24)
    steps = [
        Step((MOVE, 0), latency=2, channels={"dram": 4}, reads=[5], writes=[0]),
        Step((MOVE, 1), channels={"gb": 3}, writes=[3], layer=1),
        Step((MATRIX, 0), hold=10, data=[0], reads=[0], writes=[4, 1]),
        Step((VECTOR, 1), hold=5, data=[1], reads=[3], writes=[2], layer=1),
        Step((MOVE, 1), latency=2, channels={"dram": 2}, data=[3], reads=[2], writes=[6], layer=1),
        Step((VECTOR, 0), hold=8, data=[2], layer=0),
    ]
    trace = simulate(build(steps, blocks=BLOCKS))
    trace.check()
    assert trace.start.tolist() == [0, 0, 6, 3, 8, 16]
    return trace


def test_live_intervals() -> None:
    trace = _example()
    live_from, live_to = live_intervals(trace.program, trace.start, trace.end, trace.makespan)
    # a: its load starts at 0, the matrix engine reads it until 16; x is only read: from 0 until
    # the load ends at 6; y is a graph output: from its store's start at 8 until the makespan.
    assert live_from.tolist() == [0, 6, 3, 0, 6, 0, 8]
    assert live_to.tolist() == [16, 16, 12, 8, 16, 6, 24]


def test_occupancy_as_step_functions() -> None:
    live = occupancy(_example())
    assert (live.gb.cycle.tolist(), live.gb.live_bytes.tolist()) == ([0, 8], [32, 0])
    # core 0: a (10) in [0, 16), w (4) in [6, 16); core 1: b (7) in [3, 12); staging is left out
    assert live.lb_worst.cycle.tolist() == [0, 3, 6, 12, 16]
    assert live.lb_worst.live_bytes.tolist() == [10, 10, 14, 14, 0]
    assert live.lb_total.live_bytes.tolist() == [10, 17, 21, 14, 0]
    assert (live.gb.peak_bytes, live.lb_worst.peak_bytes) == (32, 14)


def test_memory_per_layer() -> None:
    trace = _example()
    layers = layer_memory(trace, occupancy(trace))
    # layer 0 [0, 24): both cores' bytes 10*3 + 17*3 + 21*6 + 14*4 + 0*8 = 263, over 24 * 2 cores
    # layer 1 [0, 12): 10*3 + 17*3 + 21*6 = 207, over 12 * 2
    assert layers.start.tolist() == [0, 0]
    assert layers.end.tolist() == [24, 12]
    assert layers.lb_peak.tolist() == [14, 14]
    assert layers.gb_peak.tolist() == [32, 32]
    assert layers.lb_mean.tolist() == [263 / 48, 207 / 24]


def test_a_layer_counts_its_windows_in_each_kernel_only() -> None:
    # Layer 0 runs in kernel 0 [0, 2) and kernel 2 [5, 6); the 100 bytes of kernel 1 [2, 5) are
    # not in its windows. Its own: 10 bytes in [0, 2), 20 in [5, 6): mean (20 + 20) / 3.
    blocks = [
        Block(Memory.LB_DATA, 0, 10, core=0),
        Block(Memory.LB_DATA, 0, 100, core=0),
        Block(Memory.LB_DATA, 0, 20, core=0),
    ]
    steps = [
        Step((VECTOR, 0), hold=2, writes=[0]),
        Step((VECTOR, 0), hold=3, writes=[1], layer=1, kernel=1, segment=1),
        Step((VECTOR, 0), hold=1, writes=[2], kernel=2, segment=2),
    ]
    trace = simulate(build(steps, [(0, 0)] * 3, blocks, chip=hardware(cores=1)))
    layers = layer_memory(trace, occupancy(trace))
    assert layers.lb_peak.tolist() == [20, 100]
    assert layers.lb_mean.tolist() == [40 / 3, 100]
    assert (layers.start.tolist(), layers.end.tolist()) == ([0, 2], [6, 5])


def test_a_layer_without_instructions_is_all_zeros() -> None:
    trace = simulate(build([Step((VECTOR, 0), hold=2, layer=1)]))
    layers = layer_memory(trace, occupancy(trace))
    assert (layers.start[0], layers.end[0], layers.lb_peak[0], layers.lb_mean[0]) == (0, 0, 0, 0)


INTERVAL = st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda p: (p[0], p[0] + p[1]))


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(INTERVAL, INTERVAL), max_size=8))
def test_the_sweep_finds_an_overlap_if_there_is_one(
    rectangles: list[tuple[tuple[int, int], tuple[int, int]]],
) -> None:
    table = np.array(rectangles, np.int64).reshape(-1, 4)
    shared = {
        (i, j)
        for j, (time, low) in enumerate(rectangles)
        for i, (other_time, other_low) in enumerate(rectangles[:j])
        if set(range(*time)) & set(range(*other_time)) and set(range(*low)) & set(range(*other_low))
    }
    found = overlapping_pair(table[:, 0], table[:, 1], table[:, 2], table[:, 3])
    assert (found is not None) == bool(shared)
    assert found is None or found in shared


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.integers(1, 9),
            st.integers(0, 4),
            st.integers(0, 2),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=10,
    )
)
def test_memory_per_layer_equals_counting_every_cycle(
    rows: list[tuple[int, int, int, int, int]],
) -> None:
    # Every instruction writes its own buffer, the next but one reads it.
    blocks = [
        Block(Memory.GB, 0, size) if size % 3 == 0 else Block(Memory.LB_DATA, 0, size, core=core)
        for core, size, *_ in rows
    ]
    steps = [
        Step(
            (VECTOR, core), hold=hold, layer=layer, kernel=kernel, writes=[i], reads=[max(0, i - 2)]
        )
        for i, (core, _, hold, layer, kernel) in enumerate(rows)
    ]
    trace = simulate(build(steps, blocks=blocks))
    live = occupancy(trace)
    layers = layer_memory(trace, live)
    live_from, live_to = live_intervals(trace.program, trace.start, trace.end, trace.makespan)

    def bytes_at(cycle: int, place: int) -> int:
        return sum(
            block.size
            for block, begin, stop in zip(blocks, live_from, live_to, strict=True)
            if begin <= cycle < stop and place == (-1 if block.memory == Memory.GB else block.core)
        )

    for layer in range(len(layers.start)):
        cycles, peaks, gb_peaks = [], [0], [0]
        for kernel in range(3):
            own = [i for i, s in enumerate(steps) if (s.layer, s.kernel) == (layer, kernel)]
            if own:
                begin, stop = min(trace.start[own]), max(trace.end[own])
                cycles += range(begin, stop)
                peaks += [max(bytes_at(c, 0), bytes_at(c, 1)) for c in [begin, *range(begin, stop)]]
                gb_peaks += [bytes_at(c, -1) for c in [begin, *range(begin, stop)]]
        assert layers.lb_peak[layer] == max(peaks)
        assert layers.gb_peak[layer] == max(gb_peaks)
        area = sum(bytes_at(c, 0) + bytes_at(c, 1) for c in cycles)
        assert layers.lb_mean[layer] == area / max(1, len(cycles)) / 2
