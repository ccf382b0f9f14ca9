"""Passes of the matrix array over squares of a map: `tvm.passes=squares`, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import EngineKind, Hardware, MatrixModel
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.stages.expected import stage_load
from graphturbo_core.lowering.stages.stage import KernelStages
from graphturbo_core.lowering.tiling.array_passes import array_passes, square_cuts
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import InstructionKind
from graphturbo_core.semantics.cost import compute_cycles, square_of
from graphturbo_core.semantics.feeding import DEFAULT_FEEDING, Feeding
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.semantics.work import work_of
from graphturbo_core.sim.simulate import simulate
from sample_models.build_samples import teaching_resnet
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, tvm
from tests.semantics.models import semantics
from tests.strategies.samples import weighted

SQUARES = {"tvm.passes": "squares"}
SQUARE = Feeding(has_square_passes=True)
WIDE = replace(chip("generic-4x4"), matrix_rows=64)
"""An array of 64 x 32: squares of 8 x 8."""


def point(sizes: str, area: str = "1,1", places: str = "") -> GraphSemantics:
    """8 channels in, 32 out; K is 8 for a window of one."""
    maps = f"8,{sizes}"
    return semantics(f"""g (float[2,{maps}] x, float[32,8,{area}] w) => (float[2,32,{sizes}] y)
        {{ y = Conv {places} (x, w) }}""")


def cycles(sem: GraphSemantics, feeding: Feeding, hardware: Hardware = WIDE) -> int:
    op = sem.by_op["y"]
    work = work_of(op, full_box(op.output_shapes[0]))
    engine, found = compute_cycles(work, op, hardware, "fp16", feeding)
    assert engine is EngineKind.MATRIX
    return found


@pytest.mark.parametrize(
    ("sizes", "area", "taken", "squares"),
    [
        ("14,14", "1,1", 7, 8),  # 392 pixels; two by two squares of two maps
        ("4,14", "1,1", 2, 4),  # 112 pixels; two squares a map, half empty
        ("16,8", "1,1", 4, 4),
        ("7,7", "1,1", 2, 2),
        ("3,4,14", "1,1,1", 6, 12),  # each slice is a map
        ("3,14,1", "1,1,1", 2, 4),
        ("14", "1", 1, 1),  # no map
        ("1,14", "1,1", 1, 1),
    ],
)
def test_each_square_takes_a_pass(sizes: str, area: str, taken: int, squares: int) -> None:
    sem = point(sizes, area)
    assert cycles(sem, DEFAULT_FEEDING) == 8 * taken
    assert cycles(sem, SQUARE) == 8 * squares


def test_a_square_has_the_rows_of_the_array() -> None:
    """4 x 14 pixels of two maps: 4 x 8 of 32 rows, 1 x 7 of 7, 4 x 4 of 16, 2 x 3 of 6."""
    sem = point("4,14")
    wanted = ((32, (4, 8), 4), (7, (1, 7), 16), (16, (4, 4), 8), (6, (2, 3), 20))
    for rows, square, passes in wanted:
        hardware = replace(WIDE, matrix_rows=rows)
        assert square_of(hardware, SQUARE) == square
        assert cycles(sem, SQUARE, hardware) == 8 * passes


def test_an_array_without_passes_has_no_squares() -> None:
    hardware = replace(WIDE, matrix_model=MatrixModel.OUTPUT_STATIONARY)
    assert square_of(hardware, SQUARE) is None
    assert square_of(WIDE, DEFAULT_FEEDING) is None
    sem = point("4,14")
    assert cycles(sem, SQUARE, hardware) == cycles(sem, DEFAULT_FEEDING, hardware)


BIG = "g (float[1,8,56,56] x, float[32,8,1,1] w) => (float[1,32,56,56] y) { y = Conv (x, w) }"


def test_tiles_are_cut_along_squares() -> None:
    """A core has 14 x 56 pixels of 32 channels: 25,088 sums where 8,192 have room.

    Cut into rows these are four tiles of 4 or 3 rows: seven squares each, 28 passes. Cut along
    squares first, two halves of 7 rows, each in two of 28 columns would do: 16 passes. Three of 19
    or 18 columns, three squares each, overlap better for 18, which padding allows.
    """
    plan = tvm(weighted(BIG), WIDE, SQUARES)
    trace = simulate(lower(plan))
    check_program(trace)
    program = trace.program
    matrix = [at for at, each in enumerate(program.engines) if each.kind is EngineKind.MATRIX]
    held = [int(program.hold_cycles[program.engine == at].sum()) for at in matrix]
    assert held == [18 * 8] * 4
    assert (program.kind == InstructionKind.COMPUTE).sum() == 4 * 6


def test_images_are_cut_apart_before_their_maps() -> None:
    """A core has two of eight images: then 14 rows and 20 columns in two and three squares."""
    text = "g (float[8,8,14,20] x, float[32,8,1,1] w) => (float[8,32,14,20] y) { y = Conv (x, w) }"
    plan = tvm(weighted(text), WIDE, SQUARES)
    (stage,) = KernelStages(plan, {"y": 0}).of(plan.kernels[0])
    assert list(square_cuts(plan, stage, stage.shares[0])) == [(0, 2), (2, 2), (3, 3)]
    taken = tvm(weighted(text), WIDE, {})
    assert list(square_cuts(taken, stage, stage.shares[0])) == []


@pytest.mark.parametrize(("options", "passes"), [({}, 13), (SQUARES, 14)])
def test_a_stage_expects_what_its_passes_take(options: dict[str, str], passes: int) -> None:
    """14 x 56 pixels: 784 of 64 rows, or two by seven squares."""
    plan = tvm(weighted(BIG), WIDE, options)
    (stage,) = KernelStages(plan, {"y": 0}).of(plan.kernels[0])
    assert stage_load(plan, stage).engines == ((EngineKind.MATRIX, passes * 8),)


def test_parts_of_a_share_cost_their_squares() -> None:
    """14 x 56 pixels, whole, in two by three parts, and in rows of 4 or 3."""
    plan = tvm(weighted(BIG), WIDE, SQUARES)
    (stage,) = KernelStages(plan, {"y": 0}).of(plan.kernels[0])
    parts = ((1, 1, 1, 1), (1, 1, 2, 3), (1, 1, 4, 1))
    assert [array_passes(plan, stage, stage.shares[0], each) for each in parts] == [14, 18, 28]


@pytest.mark.parametrize("profile", ["generic-4x4", "stcp920", "ascend910", "goya"])
def test_it_replays(profile: str) -> None:
    request = RunRequest("m.onnx", "tvm@2", profile, 5, options=SQUARES, verify=True)
    report = run_report(teaching_resnet().SerializeToString(), request)
    assert report.contract["verify"]["ok"]
    assert report.contract["options"]["tvm.passes"] == "squares"
