"""Bytes that are read again because neighbours' boxes overlap, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Binding, Plan
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.strategies.plan_files.edits import Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.verify.static.halo_bytes import _HaloCount, wrong_halo
from tests.lowering.nets import chip, plan_of
from tests.strategies.samples import weighted

ROWS, ROW_BYTES = 256, 8 * 8 * 2
"""Of x below: 8 channels of 8 columns in fp16."""
CONV = f"""g (float[1,8,{ROWS},8] x, float[8,8,3,3] w) => (float[1,8,{ROWS},8] y)
  {{ y = Conv <pads = [1,1,1,1]> (x, w) }}"""


def loads_of(program: Program, tensor: str) -> np.ndarray:
    """Rows of the program that load a part of a tensor from DRAM."""
    owner = np.repeat(np.arange(program.size), np.diff(program.access_at))
    named = program.buffers.tensor[program.access_buffer] == program.tensors.index(tensor)
    is_load = (program.kind == InstructionKind.LOAD) & (program.source == Memory.DRAM)
    return np.flatnonzero(is_load & np.isin(np.arange(program.size), owner[named]))


def test_a_streamed_tile_reads_two_rows_again() -> None:
    """LBs of 8 KiB: x comes tile by tile. A 3x3 window needs a row above and one below each tile.

    The first tile has no row above it, the last one none below: of n tiles 2n - 2 rows are halo.
    """
    program = lower(plan_of(weighted(CONV), "layerwise", chip("tiny")))
    loads = loads_of(program, "x")
    assert len(loads) > program.plan.hardware.cores  # streamed: several tiles per core
    again = program.halo_bytes[loads]
    assert sorted(again.tolist()) == [ROW_BYTES] * 2 + [2 * ROW_BYTES] * (len(loads) - 2)
    causes = ledger(program).causes[Memory.DRAM]
    assert causes[Cause.HALO] == (2 * len(loads) - 2) * ROW_BYTES
    assert causes[Cause.INPUT] == ROWS * ROW_BYTES


TWO = """g (float[1,8,32,8] x, float[8,8,3,3] w, float[8,8,3,3] v) => (float[1,8,32,8] y)
  { a = Conv <pads = [1,1,1,1]> (x, w) y = Conv <pads = [1,1,1,1]> (a, v) }"""


def in_pieces(text: str, pieces: int) -> Plan:
    """A chain of two convolutions as one group, cut along its rows."""
    semantics = weighted(text)
    first, last = (op.name for op in semantics.graph.ops)
    edits = Edits(merge=((first, last),), pieces={first: pieces}, axis={first: 2})
    task = PlanTask(semantics, chip("generic-4x4"), "fp16", {}, PinnedPlan(None, edits))
    return plan_for(parse_strategy("graphturbo:order"), task)


def test_rows_that_pieces_read_twice_are_halo() -> None:
    """32 rows in 4 pieces of 8: y's 8 rows need 10 of a and 12 of x, less at the edges.

    Piece 1 reads rows [0, 10), piece 2 [6, 18), piece 3 [14, 26), piece 4 [22, 32): 44 rows, of
    which 32 are the pieces' own. On four cores each piece's rows of a overlap too: a core reads a
    row above and one below what it computes of a.
    """
    program = lower(in_pieces(TWO, 4))
    needed = [kernel.boxes["x"][2] for kernel in program.plan.kernels]
    assert sorted(needed) == [(0, 10), (6, 18), (14, 26), (22, 32)]
    causes = ledger(program).causes[Memory.DRAM]
    assert causes[Cause.INPUT] == 32 * ROW_BYTES
    read = sum(program.size_bytes[loads_of(program, "x")].tolist())
    assert causes[Cause.HALO] == read - 32 * ROW_BYTES
    assert read >= 44 * ROW_BYTES


def test_a_piece_on_one_core_has_its_neighbours_rows_as_halo() -> None:
    """No cores beside each other: halo is 44 rows less 32, in whole rows."""
    plan = in_pieces(TWO, 4)
    alone = replace(plan, hardware=replace(plan.hardware, cores=1))
    whole = Binding((), (), (0,))
    kernels = (replace(k, bindings=dict.fromkeys(k.bindings, whole)) for k in plan.kernels)
    program = lower(replace(alone, kernels=tuple(kernels)))
    causes = ledger(program).causes[Memory.DRAM]
    assert causes[Cause.HALO] == 12 * ROW_BYTES
    assert causes[Cause.INPUT] == 32 * ROW_BYTES


@pytest.mark.parametrize("name", ["tiny", "generic-4x4"])
def test_the_verifier_counts_halos_itself(name: str) -> None:
    streamed = lower(plan_of(weighted(CONV), "layerwise", chip(name)))
    for program in (streamed, lower(in_pieces(TWO, 4))):
        assert wrong_halo(program) is None
        for row in np.flatnonzero(program.halo_bytes)[[0, -1]].tolist():
            fewer = program.halo_bytes.copy()
            fewer[row] //= 100
            found = wrong_halo(replace(program, halo_bytes=fewer))
            assert found is not None
            assert found[0] == row
            assert found[1].startswith(
                f"has {fewer[row]} halo bytes, not {program.halo_bytes[row]}"
            )


RESIDUAL = """g (float[5,32,16,16] x, float[5,8,16,16] r, float[8,32,3,3] w) => (float[5,8,16,16] y)
  { a = Conv <pads = [1,1,1,1]> (x, w) b = Add(a, r) y = Relu(b) }"""


def test_the_verifier_finds_the_reader_of_what_comes_with_the_first_cut_of_k() -> None:
    """K of 32 channels is cut: w has 4608 bytes, a weight LB 4096.

    A tile of r comes with the first cut, and Add reads it after the last one. It has no halo.
    """
    program = lower(plan_of(weighted(RESIDUAL), "tvm", chip("tiny")))
    add = [op.name for op in program.plan.semantics.graph.ops].index("b")
    loads = loads_of(program, "r")
    computes = np.flatnonzero(program.kind == InstructionKind.COMPUTE)
    reads = computes[program.op[computes] == add]
    assert set(program.tile[loads]).isdisjoint(program.tile[reads].tolist())
    assert not program.halo_bytes[loads].any()
    assert wrong_halo(program) is None
    wrong = program.halo_bytes.copy()
    wrong[loads[-1]] = 1
    found = wrong_halo(replace(program, halo_bytes=wrong))
    assert found == (loads[-1], "has 1 halo bytes, not 0")


def test_the_verifier_finds_readers_whose_tiles_run_in_another_order() -> None:
    """The list scheduler may begin with the last tile; operands of the others have a reader too."""
    program = lower(plan_of(weighted(CONV), "layerwise", chip("tiny")))
    loads = loads_of(program, "x").tolist()
    count, other = _HaloCount(program), _HaloCount(program)
    other._tiles = {key: dict(reversed(tiles.items())) for key, tiles in count._tiles.items()}
    assert max(len(tiles) for tiles in count._tiles.values()) > 1
    assert [other.of(row) for row in loads] == [count.of(row) for row in loads]
    assert all(count.of(row) for row in loads)
