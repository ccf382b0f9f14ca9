"""When stages are expected to run, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.local_buffer import place_kernel
from graphturbo_core.lowering.stages.expected import StageLoad, expected_times, stage_load
from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.lowering.tiling import staging
from tests.lowering.nets import chip, placements_of, plan_of
from tests.strategies.samples import weighted

MATRIX, VECTOR = EngineKind.MATRIX, EngineKind.VECTOR


def test_a_stage_takes_what_its_largest_share_does() -> None:
    """10 rows are 3, 3, 2 and 2 on four cores. Of 3 rows: one pass of 32 rows over two of 32
    columns, 64 steps of K each; 192 elements on 32 lanes. 64 x 64 fp16 weights at 16 bytes a cycle.
    """
    plan = plan_of(
        weighted(
            "g (float[10,64] x, float[64,64] w) => (float[10,64] y) { a = MatMul (x, w) "
            "y = Relu (a) }"
        ),
        "graphturbo",
        chip("generic-4x4"),
    )
    (placement,) = placements_of(plan)
    (stage,) = placement.stages
    assert stage_load(plan, stage) == StageLoad(((MATRIX, 128), (VECTOR, 6)), 512)


def test_products_belong_to_the_output_that_they_make() -> None:
    """The last states of a recurrent cell are copies: 16 elements over four cores each."""
    text = """g (float[4,2,8] x, float[1,32,8] w, float[1,32,8] r)
      => (float[4,1,2,8] y, float[1,2,8] h, float[1,2,8] c)
      { y, h, c = LSTM <hidden_size = 8> (x, w, r) }"""
    plan = plan_of(weighted(text), "layerwise", chip("generic-4x4"))
    (found,) = placements_of(plan)
    loads = [stage_load(plan, stage) for stage in found.stages]
    assert [[engine for engine, _ in load.engines] for load in loads] == [
        [MATRIX],
        [VECTOR],
        [VECTOR],
    ]
    assert loads[1] == loads[2] == StageLoad(((VECTOR, 1),), 0)


def stages_of(reads: list[tuple[int, ...]]) -> list[Stage]:
    """Stages that read the results of others, by number, and one tensor from outside."""
    return [
        cast(
            Stage,
            SimpleNamespace(
                index=index,
                output=str(index),
                operands=[SimpleNamespace(tensor=name) for name in ("x", *map(str, read))],
            ),
        )
        for index, read in enumerate(reads)
    ]


def test_stages_wait_for_data_weights_and_engines() -> None:
    """Weights of 0 and 1 arrive in [0, 40) and [40, 80). 2 and 4 are ready when 0 has ended, at 40:
    2 takes the vector engine first, 4 follows at 70. 3 reads 1 and 2, is ready at 80 and waits for
    the engine until 90. 5 needs no weight and no data of others: its engine is busy until 10.
    """
    stages = stages_of([(), (), (0,), (1, 2), (0,), ()])
    product = StageLoad(((MATRIX, 10),), 40)
    vector = {2: 30, 3: 5, 4: 20}
    loads = [product, product, *(StageLoad(((VECTOR, vector[n]),), 0) for n in (2, 3, 4))]
    loads.append(StageLoad(((MATRIX, 7),), 0))
    times = expected_times(stages, loads)
    assert times == [(0, 40), (40, 80), (40, 70), (90, 95), (70, 90), (10, 17)]


@pytest.mark.parametrize("engines", [((MATRIX, 60), (VECTOR, 9)), ((VECTOR, 9), (MATRIX, 60))])
def test_a_stage_ends_with_its_longest_engine(engines: tuple[tuple[EngineKind, int], ...]) -> None:
    """Behind it the other engine is free at once."""
    loads = [StageLoad(engines, 50), StageLoad(((VECTOR, 1),), 0)]
    assert expected_times(stages_of([(), ()]), loads) == [(0, 60), (9, 10)]


def test_a_view_takes_no_time() -> None:
    loads = [StageLoad(((VECTOR, 4),), 0), StageLoad((), 0)]
    assert expected_times(stages_of([(), (0,)]), loads) == [(0, 4), (4, 4)]


ATTENTION = """
g (float[4,32,64] x, float[64,64] u, float[64,64] v, float[64,64] w) => (float[4,32,64] y) {
  q = MatMul (x, u) k = MatMul (x, v) p = MatMul (x, w) t = Transpose <perm = [0,2,1]> (k)
  s = MatMul (q, t) e = Softmax (s) y = MatMul (e, p)
}"""


@pytest.mark.parametrize(("level", "is_asked"), [("full", True), ("order", False)])
def test_places_in_lb_and_staging_follow_what_is_expected(
    level: str, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every kernel, by its own stages; not where one layer ends before the next begins."""
    asked: list[Sequence[Interval]] = []
    for module in (place_kernel, staging):
        kept = module.rested

        def spy(*given, kept=kept):  # type: ignore[no-untyped-def]
            asked.append(given[4])
            return kept(*given)

        monkeypatch.setattr(module, "rested", spy)
    plan = plan_of(weighted(ATTENTION), f"graphturbo:{level}", chip("generic-4x4"))
    (found,) = placements_of(plan)
    loads = [stage_load(plan, stage) for stage in found.stages]
    times = expected_times(found.stages, loads)
    assert len({begin for begin, _ in times}) > 2
    assert asked == [times] * len(asked)
    assert (len(asked) >= 2) is is_asked


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20), st.booleans(), st.integers(0, 7)),
        min_size=1,
        max_size=12,
    )
)
def test_no_stage_begins_before_what_it_reads_is_there(
    drawn: list[tuple[int, int, bool, int]],
) -> None:
    reads = [(index - 1 - back,) if back < index else () for index, (*_, back) in enumerate(drawn)]
    loads = [
        StageLoad(((MATRIX if is_matrix else VECTOR, cycles),), fetch)
        for cycles, fetch, is_matrix, _ in drawn
    ]
    times = expected_times(stages_of(reads), loads)
    arrived = 0
    for (begin, end), load, read in zip(times, loads, reads, strict=True):
        assert begin >= max((times[index][1] for index in read), default=0)
        if load.fetch:
            assert begin >= arrived
            arrived += load.fetch
            assert end >= arrived
        assert end >= begin + load.engines[0][1]
    for kind in (MATRIX, VECTOR):
        held = sorted(
            (begin, begin + load.engines[0][1])
            for (begin, _), load in zip(times, loads, strict=True)
            if load.engines[0][0] is kind
        )
        assert all(end <= begin for (_, end), (begin, _) in pairwise(held))
