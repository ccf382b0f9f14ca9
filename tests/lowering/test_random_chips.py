"""Random networks on random chips: every Program is sound, or refused by name."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError
from graphturbo_core.hardware.hardware import Hardware, MatrixModel
from graphturbo_core.lowering.lower import lower
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from tests.full import examples
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, conv_nets, plan_of

KIB = 1024
EXAMPLES = 40


@st.composite
def chips(draw: st.DrawFn) -> Hardware:
    """Chips around generic-4x4: odd core counts, small and large memories, any bandwidth."""
    cores = draw(st.sampled_from([1, 2, 3, 4, 6, 8]))
    data = draw(st.sampled_from([8, 16, 64, 512])) * KIB
    weight = draw(st.sampled_from([4, 16, 64])) * KIB
    is_pooled = draw(st.booleans())
    pool = data + weight
    bandwidths = st.sampled_from([3, 16, 27, 64, 512])
    return replace(
        chip("generic-4x4"),
        name="random",
        cores=cores,
        matrix_rows=draw(st.sampled_from([4, 8, 64])),
        matrix_columns=draw(st.sampled_from([4, 8, 32])),
        matrix_model=draw(st.sampled_from(MatrixModel)),
        vector_lanes=draw(st.sampled_from([1, 8, 64])),
        dma_engines=draw(st.integers(1, 3)),
        is_pooled=is_pooled,
        lb_data_bytes=pool if is_pooled else data,
        lb_weight_bytes=pool if is_pooled else weight,
        staging_bytes=draw(st.sampled_from([4, 64])) * KIB,
        gb_bytes=draw(st.sampled_from([64, 256, 4096])) * KIB,
        split_capacity_bytes=cores * data,
        lb_bandwidth=draw(bandwidths) * 10**9,
        gb_bandwidth=draw(bandwidths) * 10**9,
        dram_bandwidth=draw(bandwidths) * 10**9,
        link_bandwidth=draw(bandwidths) * 10**9,
        launch_cycles=draw(st.sampled_from([0, 1, 2000])),
        barrier_cycles=draw(st.sampled_from([0, 200])),
    )


@given(conv_nets(), chips(), st.sampled_from(STRATEGIES))
@settings(max_examples=examples(EXAMPLES))
def test_sound_or_refused(sem: GraphSemantics, hardware: Hardware, strategy: str) -> None:
    plan = plan_of(sem, strategy, hardware)
    try:
        program = lower(plan)
    except CapacityError as error:
        assert error.change
        return
    check_program(simulate(program))
