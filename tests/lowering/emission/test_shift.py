"""Relative positions: scores shifted by padding and two reshapes, on chips of small buffers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.cutting import COARSEST, choose_tiling
from graphturbo_core.lowering.tiling.stage_cuts import StageCut, StageCuts
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import analyse
from graphturbo_core.sim.simulate import simulate
from tests.full import EVERY_DAY, often
from tests.lowering.counting import check_program
from tests.lowering.nets import STRATEGIES, chip, placements_of, plan_of, tiny_profile
from tests.lowering.tiling.placements import check_placements
from tests.models import graph_of, model_bytes

SHIFTED = """
g (float[2,8,48,16] q, float[2,8,16,48] k, float[2,8,16,95] p) => (float[2,8,48,48] y)
  <int64[8] pads = {0,0,0,1,0,0,0,0}, int64[4] tall = {2,8,96,48}, int64[4] wide = {2,8,48,95},
   int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] three = {3},
   int64[1] rows = {48}, int64[1] last = {2147483647}> {
    far = MatMul (q, p) padded = Pad (far, pads) turned = Reshape (padded, tall)
    dropped = Slice (turned, one, last, two) back = Reshape (dropped, wide)
    taken = Slice (back, zero, rows, three) near = MatMul (q, k) both = Add (near, taken)
    y = Softmax <axis = -1> (both)
}"""
"""The shifted scores of one head take 95 * 48 * 2 = 9,120 bytes, which do not fit the 8,192 of
`tiny`; the positions of a core's four heads 4 * 16 * 95 * 2 = 12,160, so that they stream, one head
at a time: 3,040 bytes, more than an even share for pairs of three tensors (1,365)."""

SLANTED = "g (float[31,16] x) => (float[16,31] y) <int64[2] s = {16,31}> { y = Reshape (x, s) }"


@pytest.mark.parametrize("strategy", often(STRATEGIES, ("layerwise", "graphturbo:order")))
def test_a_head_of_shifted_scores_larger_than_a_tile(strategy: str) -> None:
    plan = plan_of(analyse(graph_of(SHIFTED)), strategy, chip("tiny"))
    check_placements(plan)
    check_program(simulate(lower(plan)))


@pytest.mark.parametrize("strategy", often(STRATEGIES, EVERY_DAY))
def test_it_computes_the_right_numbers(strategy: str) -> None:
    request = RunRequest("shift", strategy, "tiny", verify=True)
    found = run_report(model_bytes(SHIFTED), request, tiny_profile()).contract["verify"]
    assert found["ran"] and found["ok"], found  # type: ignore[index, call-overload]


def coarsest(text: str, output: str, cores: int, lb_bytes: int) -> StageCut:
    """How the op of this output is cut where all its tensors stream and no tile need overlap."""
    return planned(text, output, cores, lb_bytes)[1]


def planned(text: str, output: str, cores: int, lb_bytes: int) -> tuple[Plan, StageCut]:
    """The same with the plan whose LBs have so many bytes."""
    small = replace(
        chip("tiny"), cores=cores, lb_data_bytes=8192, split_capacity_bytes=8192 * cores
    )
    plan = plan_of(analyse(graph_of(text)), "layerwise", small)
    (placement,) = (p for p in placements_of(plan) if p.stages[0].output == output)
    plan = replace(plan, hardware=replace(small, lb_data_bytes=lb_bytes))
    places = placement.alike.places.of_kernel(placement.kernel, placement.stages)
    cuts = StageCuts(plan, placement.stages, COARSEST, placement.alike, places)
    return plan, cuts.cut(placement.stages[0], (), False)


@pytest.mark.parametrize(
    ("lb_bytes", "parts", "bytes_of_x"), [(1088, (4, 1), 9 * 32), (1024, (5, 1), 8 * 32)]
)
def test_a_later_tile_may_be_the_largest(
    lb_bytes: int, parts: tuple[int, int], bytes_of_x: int
) -> None:
    """Four rows in each of four tiles take 4 * 31 * 2 = 248 bytes, 256 when aligned.

    The first reads elements 0 to 124, rows 0 to 8 of 16, the second 124 to 248, rows 7 to 16: nine,
    288 bytes. Both pairs take 2 * (288 + 256) = 1,088 bytes. In 1,024 the first tile alone would
    fit; of five tiles it is the largest: those of three rows read elements 124 to 217, 217 to 310,
    310 to 403 and 403 to 496, rows 7 to 14, 13 to 20, 19 to 26 and 25 to 31.
    """
    cut = coarsest(SLANTED, "y", 1, lb_bytes)
    assert cut.tiling.parts == parts
    assert cut.ring_bytes == {"x": bytes_of_x, "y": 256}


def test_a_tile_that_cannot_be_cut_takes_what_others_leave() -> None:
    """One head's positions take 16 * 95 * 2 = 3,040 bytes.

    A row of q and one of `far` take 32 and 190 bytes: four of each 128 and 760, 768 when aligned,
    and 2 * (128 + 3,040 + 768) = 7,872; five 2 * (160 + 3,040 + 960) = 8,320.
    """
    cut = coarsest(SHIFTED, "far", 4, 8192)
    batch, heads, rows, columns = cut.tiling.parts
    assert (batch * heads, rows, columns) == (4, 12, 1)
    assert cut.ring_bytes == {"q": 128, "p": 3040, "far": 768}


def test_what_cannot_be_cut_and_fits_no_half_is_refused() -> None:
    """Two buffers of 3,040 bytes are more than 4,096."""
    with pytest.raises(CapacityError, match=r"tile of 'MatMul_0' .* 2 KiB .* for 'p'") as found:
        _ = coarsest(SHIFTED, "far", 4, 4096).tiling
    assert found.value.code == "TILE_TOO_LARGE"


def test_finer_tiles_for_overlap_are_left_out_where_one_of_them_reads_more() -> None:
    """8 rows of 64 out of 2 rows of 256: a tile of 4 reads one of these, the second of three two.

    Pairs of 4 * 128 and 512 bytes take 2,048; of 3 * 128 and 1,024 they would take 2,816.
    """
    text = "g (float[2,256] x) => (float[8,64] y) <int64[2] s = {8,64}> { y = Reshape (x, s) }"
    found = []
    for lb_bytes in (2048, 4096):
        plan, cut = planned(text, "y", 1, lb_bytes)
        finer = replace(plan, rules=replace(plan.rules, vector_tile_elements=1))
        found.append(choose_tiling(finer, cut.stage, replace(cut.space, tiles=3)).parts)
    assert found == [(2, 1), (3, 1)]
