"""Streamed data of a product whose weights are cut along K: fetched with all of K, or cut too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from onnx import numpy_helper

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, placements_of, plan_of, tiny_profile
from tests.lowering.tiling.placements import check_placements
from tests.models import model_of
from tests.strategies.samples import weighted

LB_BYTES = 65536


def product(columns: int) -> str:
    """1,024 rows of 256 elements; a core of four has 256 rows, 128 KiB, which do not fit its LB."""
    return (
        f"g (float[1024,256] x, float[256,{columns}] w) => (float[1024,{columns}] y)"
        " { y = MatMul (x, w) }"
    )


def roomy() -> Hardware:
    """`tiny` with room for data tiles of 4,096 bytes: a 16th of LB."""
    return replace(chip("tiny"), lb_data_bytes=LB_BYTES)


def loaded_bytes(program: Program, tensor: str) -> int:
    """What goes from DRAM to LB of a tensor."""
    rows = np.flatnonzero(program.source == Memory.DRAM)
    names = (program.tensors[program.access_tensor[program.access_at[row]]] for row in rows)
    return sum(int(program.size_bytes[row]) for row, name in zip(rows, names, strict=True)
               if name == tensor)  # fmt: skip


@pytest.mark.parametrize(("columns", "parts", "is_whole"), [(64, 33, True), (8, 18, False)])
def test_what_moves_fewer_bytes_is_taken(columns: int, parts: int, is_whole: bool) -> None:
    # A weight slot has 2,048 bytes: 8 columns of 128 elements, half of K. A data tile of 4,096
    # bytes has 16 rows of half of K or 8 rows of all; of the grids (..., 15, 18, 22, 27, 33 parts)
    # the first that are fine enough have 18 and 33. A core's 256 rows are 131,072 bytes, weights
    # of 64 columns 32,768. Cut: 8 x 131,072 + 18 x 32,768 = 1,638,400 bytes; whole: 131,072 +
    # 33 x 32,768 = 1,212,416. With 8 columns no data are fetched again, whatever is cut.
    plan = plan_of(weighted(product(columns)), "tvm", roomy())
    (placement,) = placements_of(plan)
    (tiling,) = placement.tilings
    assert (tiling.is_data_whole, tiling.parts[0]) == (is_whole, parts)
    assert (tiling.columns, tiling.reduced) == (8, 128)
    check_placements(plan)
    program = lower(plan)
    check_program(simulate(program))
    assert loaded_bytes(program, "x") == 1024 * 256 * 2


def test_it_computes_the_right_numbers() -> None:
    profile = tiny_profile(lb_data_bytes=LB_BYTES, matrix_rows=8, matrix_columns=8)
    model = model_of(product(64))
    weights = np.random.default_rng(0).normal(size=(256, 64)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    del model.graph.input[1]
    request = RunRequest("product", "tvm", "roomy", verify=True)
    contract = run_report(model.SerializeToString(), request, profile).contract
    assert contract["verify"]["ok"]
    assert contract["dram_ledger"]["input"] == 1024 * 256 * 2
