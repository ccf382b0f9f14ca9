"""Weight tiles of more columns and less of K, where each tile of columns refetches data."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper

from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.tiling import cutting
from graphturbo_core.lowering.tiling.cutting import grains
from graphturbo_core.lowering.tiling.expected_places import OperandPlaces
from graphturbo_core.lowering.tiling.stage_cuts import StageCuts
from graphturbo_core.lowering.tiling.stage_memo import StageMemo
from graphturbo_core.lowering.tiling.tiling import Tiling
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, placements_of, plan_of, tiny_profile
from tests.lowering.tiling.placements import check_placements
from tests.models import model_of
from tests.strategies.samples import weighted

PRODUCT = "g (float[256,512] x, float[512,64] w) => (float[256,64] y) { y = MatMul (x, w) }"
"""A core of four has 64 rows of 1,024 bytes; 64 columns of w are 65,536 bytes."""


def planned() -> Plan:
    return plan_of(weighted(PRODUCT), "layerwise", chip("tiny"))


def test_data_are_fetched_per_tile_of_columns_so_those_are_wide() -> None:
    """A weight slot has 2,048 bytes: 8 columns of 128, 16 of 64, 32 of 32, or 64 of 16 of K.

    Tiles of data and results have 512 bytes: 2, 4, 8 and (of 64 results each) 4 rows; a pass of the
    array takes 8. DRAM moves 16 bytes per cycle. With 8 columns x is fetched 8 times and w per row
    tile, 33 times: (8 * 262,144 + 33 * 65,536) / 16 = 266,240 cycles. With 32 columns x is fetched
    2 times and w 8 times: (2 * 262,144 + 8 * 65,536) / 16 = 65,536 cycles.
    """
    plan = planned()
    (placement,) = placements_of(plan)
    (tiling,) = placement.tilings
    assert (tiling.parts, tiling.columns, tiling.reduced) == ((8, 1), 32, 32)
    check_placements(plan)
    check_program(simulate(lower(plan)))


def test_the_schedule_is_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the bytes above: four times."""
    wide = simulate(lower(planned())).makespan
    monkeypatch.setattr(cutting, "_wider", lambda *_: ())
    narrow = simulate(lower(planned())).makespan
    assert 3 * wide < narrow


def tiling_with(*in_lb: str) -> Tiling:
    plan = planned()
    (placement,) = placements_of(plan)
    (stage,) = placement.stages
    places = OperandPlaces(frozenset({"x"}), {"w": Residency.STREAM})
    cuts = StageCuts(plan, placement.stages, grains(plan.rules)[0], StageMemo(plan), places)
    return cuts.cut(stage, in_lb, is_output_in_lb=False).tiling


def test_data_in_lb_are_not_fetched_so_weight_tiles_are_not_wide() -> None:
    assert tiling_with().columns == 32
    assert tiling_with("x").columns == 8


def test_it_computes_the_right_numbers() -> None:
    model = model_of(PRODUCT)
    weights = np.random.default_rng(0).normal(size=(512, 64)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    del model.graph.input[1]
    profile = tiny_profile(matrix_rows=8, matrix_columns=8)
    request = RunRequest("product", "layerwise", "tiny", verify=True)
    contract = run_report(model.SerializeToString(), request, profile).contract
    assert contract["verify"]["ok"]
    assert contract["dram_ledger"]["input"] == 2 * 256 * 1024
