"""A table is looked up: only the rows asked for come to the cores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.verify.static.claims import wrong_claim
from sample_models.builder import Builder
from tests.lowering.nets import analysed, plan_of

COLUMNS = 64


def table(rows: int) -> onnx.ModelProto:
    """Rows of a table, by index, and a Relu that shares their tiles."""
    builder = Builder("table")
    ids = builder.input("ids", ("batch", 8), TensorProto.INT64)
    found = builder.op("Gather", "look", (builder.weight("table", (rows, COLUMNS)), ids))
    builder.output("y", builder.relu("relu", found), ("batch", 8, COLUMNS))
    return builder.model({})


def program_of(rows: int, batch: int, strategy: str = "tvm") -> Program:
    plan = plan_of(analysed(table(rows), batch), strategy, load_profile("generic-4x4"))
    return lower(plan)


def from_table(program: Program) -> np.ndarray:
    """Rows of the instructions that bring the table to a core's data part."""
    first = program.access_buffer[program.access_at[:-1]]
    number = program.tensors.index("table")
    is_load = (program.kind == InstructionKind.LOAD) & (program.target == Memory.LB_DATA)
    return np.flatnonzero(is_load & (program.buffers.tensor[first] == number))


@pytest.mark.parametrize("rows", [50_000, 4_000_000])
def test_bytes_are_those_of_the_rows_asked(rows: int) -> None:
    """10 samples of 8 indices ask 80 rows of 64 fp16 columns, however long the table is."""
    program = program_of(rows, batch=10)
    moves = from_table(program)
    assert program.size_bytes[moves].sum() == 80 * COLUMNS * 2
    assert set(program.cause[moves].tolist()) == {Cause.WEIGHT_FIRST}


def test_no_more_is_booked_as_first_than_the_table_has() -> None:
    """1,000 rows of 128 bytes; 512 samples of 8 indices ask 4,096: four times the table."""
    program = program_of(1000, batch=512)
    moves = from_table(program)
    size, is_first = program.size_bytes[moves], program.cause[moves] == Cause.WEIGHT_FIRST
    assert size.sum() == 4096 * COLUMNS * 2
    assert 128_000 <= size[is_first].sum() < 128_000 + size.max()
    assert set(program.cause[moves][~is_first].tolist()) == {Cause.WEIGHT_AGAIN}


def test_a_small_table_comes_whole() -> None:
    assert not len(from_table(program_of(20, batch=10)))


def test_other_bytes_than_those_asked_are_a_wrong_claim() -> None:
    program = program_of(50_000, batch=10)
    assert wrong_claim(program) is None
    size = program.size_bytes.copy()
    size[from_table(program)[0]] += COLUMNS * 2
    found = wrong_claim(replace(program, size_bytes=size))
    assert found is not None and found[1] == "BYTES"


@pytest.mark.parametrize("strategy", ["layerwise", "tvm", "graphturbo:order", "graphturbo"])
def test_what_is_looked_up_is_what_the_model_says(strategy: str) -> None:
    data = table(3000).SerializeToString()
    request = RunRequest("table", strategy, "generic-4x4", 7, verify=True)
    (report,) = run_reports(data, [request])
    assert report.contract["verify"]["ok"]  # type: ignore[index]
