"""Cycles of the engines, from the formulas of the profile's models."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.hardware.hardware import EngineKind, MatrixModel
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.semantics.access import Work
from graphturbo_core.semantics.cost import compute_cycles, matrix_cycles, product_peaks
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import work_of
from tests.models import graph_of
from tests.semantics.models import chip, semantics

SIZES = (100, 70, 30)


@pytest.mark.parametrize(
    ("model", "cycles"),
    [
        (MatrixModel.PASSES, 2 * 3 * 30),
        (MatrixModel.OUTPUT_STATIONARY, 2 * 3 * (30 + 64 + 32 - 2)),
        (MatrixModel.WEIGHT_STATIONARY, 1 * 3 * (100 + 128 + 32 - 2)),
        (MatrixModel.INPUT_STATIONARY, 1 * 4 * (70 + 128 + 32 - 2)),
    ],
)
def test_matrix_models(model: MatrixModel, cycles: int) -> None:
    """100 x 70 x 30: ceil(100/64) = 2, ceil(70/32) = 3, ceil(30/64) = 1, ceil(100/32) = 4."""
    assert matrix_cycles(SIZES, chip(model), "fp16") == cycles


def test_a_faster_format_takes_two_steps_at_once() -> None:
    """int8 at twice the rate: 15 instead of 30 steps a pass."""
    assert matrix_cycles(SIZES, chip(), "int8") == 2 * 3 * 15


def test_a_cube_takes_many_steps_of_k_in_a_cycle() -> None:
    """100 x 70 x 30 on 16 x 16 x 16: ceil(100/16) x ceil(70/16) x ceil(30/16) = 7 x 5 x 2.

    int8 at twice the rate takes 32 steps of K: one cycle a pass.
    """
    cube = replace(chip(), matrix_rows=16, matrix_columns=16, matrix_depth=16)
    assert matrix_cycles(SIZES, cube, "fp16") == 7 * 5 * 2
    assert matrix_cycles((16, 16, 16), cube, "fp16") == 1
    assert matrix_cycles((17, 16, 16), cube, "fp16") == 2
    assert matrix_cycles((16, 16, 17), cube, "fp16") == 2
    assert matrix_cycles(SIZES, cube, "int8") == 7 * 5 * 1


def test_vector_cycles_weigh_transcendentals() -> None:
    """100 elements of Elu: 3 plain and one exponential of 4 each, 700 / 64 -> 11 cycles."""
    sem = semantics("g (float[100] x) => (float[100] y) { y = Elu(x) }")
    op = sem.by_op["y"]
    work = work_of(op, ((0, 100),))
    assert compute_cycles(work, op, chip(), "fp16") == (EngineKind.VECTOR, 11)
    assert compute_cycles(work, op, chip(), "int8") == (EngineKind.VECTOR, 6)
    assert compute_cycles(work_of(op, ((0, 1),)), op, chip(), "fp16")[1] == 1
    assert compute_cycles(Work(0, 0), op, chip(), "fp16")[1] == 0


def test_depthwise_runs_where_it_is_cheaper() -> None:
    """8 channels of 8 x 8 by 3 x 3: matrix 8 * 1 * 1 * 9 = 72, vector 4608 / 64 = 72: a tie.

    One pixel fewer in a channel does not change the passes, but vector work falls below.
    """
    sem = semantics("""g (float[1,8,8,8] x, float[8,1,3,3] w) => (float[1,8,8,8] y) {
        y = Conv <group = 8, pads = [1,1,1,1]> (x, w) }""")
    op = sem.by_op["y"]
    tie = work_of(op, full_box((1, 8, 8, 8)))
    assert compute_cycles(tie, op, chip(), "fp16") == (EngineKind.MATRIX, 72)
    smaller = work_of(op, ((0, 1), (0, 8), (0, 7), (0, 8)))
    assert compute_cycles(smaller, op, chip(), "fp16") == (EngineKind.VECTOR, 63)


def test_batched_products_add_up() -> None:
    """Four products of 10 x 10 x 10: 4 * 1 * 1 * 10."""
    sem = semantics("""g (float[4,10,10] a, float[4,10,10] b) => (float[4,10,10] y) {
        y = MatMul(a, b) }""")
    op = sem.by_op["y"]
    work = work_of(op, full_box((4, 10, 10)))
    assert compute_cycles(work, op, chip(), "fp16") == (EngineKind.MATRIX, 40)
    assert compute_cycles(Work(0, 0), op, chip(), "fp16") == (EngineKind.MATRIX, 0)


def test_products_of_bytes_run_at_their_own_rate() -> None:
    """64 x 64 by 64 x 32 is one pass of the array, 64 steps of K, two of them a cycle."""
    text = (
        "g (uint8[64,64] x, uint8[64,32] w) => (uint8[64,32] y) <float s = {0.1}, uint8 z = {0}> "
        "{ y = QLinearMatMul (x, s, z, w, s, z, s, z) }"
    )
    sem = analyse(graph_of(text))
    (op,) = sem.by_op.values()
    work = work_of(op, ((0, 64), (0, 32)))
    assert compute_cycles(work, op, chip(), "fp16") == (EngineKind.MATRIX, 32)
    plain = replace(op, is_of_bytes=False)
    assert compute_cycles(work, plain, chip(), "fp16") == (EngineKind.MATRIX, 64)
    assert product_peaks(sem, chip(), "fp16") == (2 * 64 * 32, 2 * 64)
    without = analyse(graph_of("g (float[4] x) => (float[4] y) { y = Relu (x) }"))
    assert product_peaks(without, chip(), "fp16") == (64 * 32, 64)
