"""Loop order by cost: bytes that each order fetches, their memories, and ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling.cutting import COARSEST, Grain, grains
from graphturbo_core.lowering.tiling.expected_places import OperandPlaces
from graphturbo_core.lowering.tiling.loop_order import refetches
from graphturbo_core.lowering.tiling.stage_cuts import StageCuts
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import LoopOrder, Tiling
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan, Residency, Scope
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, placements_of, plan_of, tiny_profile
from tests.lowering.tiling.placements import check_placements
from tests.models import model_of
from tests.strategies.samples import weighted

ROWS, WEIGHTS = LoopOrder.ROWS, LoopOrder.WEIGHTS

PRODUCT = "g (float[1024,64] x, float[64,64] w) => (float[1024,64] y) { y = MatMul (x, w) }"

SUMMED = (
    "g (float[512,256] x, float[256,8] w, float[512,8] r) => (float[512,8] y)"
    " { a = MatMul (x, w) y = Add (a, r) }"
)
"""With one tile of columns: no data are fetched again, so weight tiles do not become wider."""


def tiny_with(staging_bytes: int) -> Hardware:
    return replace(chip("tiny"), staging_bytes=staging_bytes)


def narrow() -> Hardware:
    """`tiny` without room for partial sums: weight tiles have all of K, not more columns."""
    return tiny_with(128)


def tiling_of(
    plan: Plan, in_dram: Sequence[str], weight: Residency, grain: Grain | None = None
) -> Tiling:
    """The tiling of a plan's only stage, if nothing is in LB; by default of the finest grain."""
    (placement,) = placements_of(plan)
    grain = grains(plan.rules)[0] if grain is None else grain
    places = OperandPlaces(frozenset(in_dram), {"w": weight})
    cuts = StageCuts(plan, placement.stages, grain, StageMemo(plan), places)
    return cuts.cut(placement.stages[0], (), is_output_in_lb=False).tiling


@pytest.mark.parametrize(
    ("in_dram", "weight", "order"),
    [
        (["x"], Residency.STREAM, WEIGHTS),
        (["x"], Residency.LB, WEIGHTS),
        (["x"], Residency.GB, ROWS),
        ([], Residency.STREAM, WEIGHTS),
        ([], Residency.GB, WEIGHTS),
    ],
)
def test_the_order_of_lower_cost_is_taken(
    in_dram: Sequence[str], weight: Residency, order: LoopOrder
) -> None:
    """A core has 256 rows of 128 bytes. A tile has 512 bytes, 4 rows: of the grids ..., 63 and 78
    the latter is fine enough. A weight slot has 2,048 bytes, 16 of 64 columns. All rows have
    131,072 bytes, the weights 8,192, more than the 4,096 of LB. DRAM moves 16 bytes per cycle, GB
    128; weights pass GB twice.

    1. Both from DRAM. Rows outermost: (131,072 + 78 * 8,192) / 16 + 156 * 8,192 / 128 = 58,112
       cycles; weights outermost: (4 * 131,072 + 8,192) / 16 + 2 * 8,192 / 128 = 33,408.
    2. Weights in GB. Rows: (131,072 + 8,192) / 16 + 79 * 8,192 / 128 = 13,760; weights: 33,408.
    3. Rows in GB. Rows: 78 * 8,192 / 16 + (131,072 + 156 * 8,192) / 128 = 50,944; weights:
       8,192 / 16 + (4 * 131,072 + 2 * 8,192) / 128 = 4,736.
    4. Both in GB. Rows: 8,192 / 16 + (131,072 + 79 * 8,192) / 128 = 6,592; weights: 4,736.
    """
    tiling = tiling_of(plan_of(weighted(PRODUCT), "layerwise", narrow()), in_dram, weight)
    assert (tiling.parts, tiling.columns, tiling.reduced) == ((78, 1), 16, 0)
    assert tiling.order is order


def test_additional_passes_outweigh_fewer_bytes() -> None:
    """A core has 8 rows of 1,024 bytes; 64 columns are 8 tiles of half of K, 65,536 bytes in all.

    The coarsest grain has tiles of 8,192 / 4 = 2,048 bytes beside the result's: with all of K 2
    rows, 4 row tiles; else 4 rows. One pass of the array takes 8 rows. Fewer bytes in more tiles
    cost more: (4 * 8,192 + 4 * 65,536) / 16 = 18,432 cycles of DRAM and 16,384 of passes; with K
    cut and one row tile (8 * 4 * 8,192 + 65,536) / 16 = 20,480, and 4,096.
    """
    text = "g (float[32,512] x, float[512,64] w) => (float[32,64] y) { y = MatMul (x, w) }"
    plan = plan_of(weighted(text), "layerwise", chip("tiny"))
    tiling = tiling_of(plan, ["x"], Residency.STREAM, COARSEST)
    assert (tiling.parts, tiling.is_data_whole) == ((1, 1), False)


def fetched_bytes(program: Program, tensor: str) -> int:
    """Bytes of a tensor that leave DRAM."""
    rows = np.flatnonzero(
        (program.source == Memory.DRAM) & (program.kind != InstructionKind.COMPUTE)
    )
    names = (program.tensors[program.access_tensor[program.access_at[row]]] for row in rows)
    return sum(
        int(program.size_bytes[row])
        for row, name in zip(rows, names, strict=True)
        if name == tensor
    )


def streaming(plan: Plan) -> Plan:
    """The plan with all weights streamed."""
    kernels = (
        replace(kernel, residency=dict.fromkeys(kernel.residency, Residency.STREAM))
        for kernel in plan.kernels
    )
    return replace(plan, kernels=tuple(kernels))


def test_weights_are_fetched_once_and_rows_per_column_tile() -> None:
    """Case 1 above as instructions: 4 column tiles."""
    plan = streaming(plan_of(weighted(PRODUCT), "layerwise", narrow()))
    check_placements(plan)
    program = lower(plan)
    check_program(simulate(program))
    assert fetched_bytes(program, "w") == 8192
    assert fetched_bytes(program, "x") == 4 * 131_072


def test_one_weight_tile_serves_all_rows() -> None:
    """8 columns are one tile, which no order changes: 1,024 bytes, not once per row tile."""
    text = PRODUCT.replace("[64,64] w", "[64,8] w").replace("[1024,64] y", "[1024,8] y")
    program = lower(streaming(plan_of(weighted(text), "layerwise", chip("tiny"))))
    assert fetched_bytes(program, "w") == 1024
    assert fetched_bytes(program, "x") == 131_072


def test_what_is_added_last_is_fetched_at_the_last_cut_of_k() -> None:
    """Weight tiles have 8 columns and half of K. Rows wait for the second half as partial sums.

    The added tensor is read after it: 2,048 * 8 * 2 = 32,768 bytes, once.
    """
    text = SUMMED.replace("[512,", "[2048,")
    plan = streaming(plan_of(weighted(text), "graphturbo:gb", tiny_with(65536)))
    (placement,) = placements_of(plan)
    (tiling,) = placement.tilings
    assert (tiling.columns, tiling.reduced, tiling.order) == (8, 128, WEIGHTS)
    assert (0, "r") in placement.rings
    check_placements(plan)
    program = lower(plan)
    check_program(simulate(program))
    assert fetched_bytes(program, "r") == 32_768
    assert fetched_bytes(program, "w") == 4096
    assert fetched_bytes(program, "x") == 2048 * 256 * 2


def test_without_room_for_partial_sums_rows_are_outermost() -> None:
    """A tile of 512 bytes has 2 rows of half of K, and the first fine enough grid 78 row tiles.

    78 * 2 rows x 8 columns x 4 bytes, twice, are 9,984 bytes of staging.
    """
    for staging_bytes, order in ((9984, WEIGHTS), (9983, ROWS)):
        plan = plan_of(weighted(SUMMED), "graphturbo:gb", tiny_with(staging_bytes))
        assert tiling_of(plan, ["x", "r"], Residency.STREAM).order is order


def test_without_room_in_gb_tiles_are_chosen_for_dram() -> None:
    """Cases 4 and 2 above: the plan has the rows in GB, of which 32 KiB have no room for 128."""
    text = PRODUCT.replace("y = MatMul (x, w)", "a = Relu (x) y = MatMul (a, w)")
    plan = plan_of(weighted(text), "layerwise", narrow())
    first, last = plan.kernels
    kernels = (
        replace(first, scopes={**first.scopes, "a": Scope.GB}),
        replace(last, residency={"w": Residency.GB}),
    )
    for gb_bytes, order in ((2**18, WEIGHTS), (2**15, ROWS)):
        hardware = replace(plan.hardware, gb_bytes=gb_bytes)
        placements = placements_of(replace(plan, kernels=kernels, hardware=hardware))
        assert placements[-1].tilings[-1].order is order


@given(
    st.sampled_from(LoopOrder),
    st.tuples(*[st.integers(1, 4)] * 3),
    st.frozensets(st.integers(0, 2)),
)
def test_refetches_count_changes_of_the_box(
    order: LoopOrder, counts: tuple[int, int, int], followed: frozenset[int]
) -> None:
    """Every step of the nest in turn: a box is fetched if it is not that of the step before."""
    outer, middle, inner = order.loops
    steps = product(*(range(counts[loop]) for loop in (outer, middle, inner)))
    boxes = [
        tuple(at for at, loop in zip(step, order.loops, strict=True) if loop in followed)
        for step in steps
    ]
    fetched = 1 + sum(one != other for one, other in pairwise(boxes))
    assert fetched == refetches(order, counts, followed) * len(set(boxes))


def test_it_computes_the_right_numbers() -> None:
    profile = tiny_profile(staging_bytes=16384, matrix_rows=8, matrix_columns=8)
    model = model_of(SUMMED)
    weights = np.random.default_rng(0).normal(size=(256, 8)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    del model.graph.input[1]
    for strategy in ("tvm", "graphturbo:gb", "graphturbo"):
        request = RunRequest("summed", strategy, "tiny", verify=True)
        contract = run_report(model.SerializeToString(), request, profile).contract
        assert contract["verify"]["ok"]
