"""One table of instruction columns: declared once, filled by name, checked in a Program."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.lowering.instructions import code
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products import instruction_table
from graphturbo_core.products.instruction_table import CodeColumns, IssueColumns, columns
from graphturbo_core.products.program import Program
from tests.lowering.codes import Row, kernel_code
from tests.lowering.small_plans import teaching

PER_SEGMENT = {"segment_open_cycles", "segment_close_cycles"}


def test_every_column_is_declared_once_with_unit_and_meaning() -> None:
    owners = [*vars(instruction_table).values(), Program, KernelCode]
    tables = {owner for owner in owners if isinstance(owner, type) and columns(owner)}
    declared = Counter(name for table in tables for name in table.__annotations__)
    assert all(declared[name] == 1 for name in columns(Program))
    assert all(column.unit and column.meaning for column in columns(Program).values())
    assert columns(KernelCode).keys() | columns(IssueColumns).keys() < columns(Program).keys()


def test_every_array_of_an_instruction_is_a_column() -> None:
    program, own = lower(teaching()), kernel_code([Row()], [])
    for table, others in ((program, PER_SEGMENT), (own, set())):
        names = {each.name for each in fields(table)}
        arrays = {name for name in names if isinstance(getattr(table, name), np.ndarray)}
        assert arrays - others == columns(type(table)).keys()


@pytest.mark.parametrize("name", columns(Program))
def test_a_program_with_a_column_too_short_is_refused(name: str) -> None:
    program = lower(teaching())
    program.check_columns()
    column = getattr(program, name)
    named = "channel_at" if name == "engine" else name  # the length of `engine` is the count
    what = f"{named} (has {len(column) - 1} rows|does not divide the rows)"
    with pytest.raises(InvariantError, match=what):
        replace(program, **{name: column[:-1]}).check_columns()
    with pytest.raises(InvariantError, match=f"{name} has .* rows of float32"):
        replace(program, **{name: column.astype(np.float32)}).check_columns()


@pytest.mark.parametrize("cells", [(0,), (0, -1, 0)])
def test_emission_gives_each_column_a_cell_and_no_other(
    cells: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if a column were new, or emission had a cell for one that is gone."""
    monkeypatch.setattr(code, "_NO_PART", cells)
    with pytest.raises(AssertionError, match="cells are not the columns"):
        lower(teaching())


def test_sums_over_cores_are_bytes_and_work() -> None:
    sums = {name: column.unit for name, column in columns(CodeColumns).items() if column.is_sum}
    assert sums == {
        "size_bytes": "bytes", "halo_bytes": "bytes", "macs": "MAC", "vector_ops": "operations",
    }  # fmt: skip
