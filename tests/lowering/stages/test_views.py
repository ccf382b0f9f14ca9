"""Views: what is only another name for bytes costs no instruction and no bytes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import Memory, Program
from graphturbo_core.semantics.table import analyse
from graphturbo_core.sim.simulate import simulate
from tests.lowering.nets import chip, plan_of
from tests.models import graph_of


def _weight(name: str, *shape: int) -> str:
    """A weight without numbers."""
    return f"s{name} = Constant<value_ints=[{','.join(map(str, shape))}]>()\n" + (
        f"{name} = ConstantOfShape(s{name})"
    )


CONCAT = f"""
g (float[4,8,8,8] x) => (float[4,8,8,8] y) {{
  {_weight("a", 8, 8, 1, 1)}
  {_weight("b", 8, 8, 1, 1)}
  {_weight("c", 8, 16, 1, 1)}
  l = Conv(x, a)
  r = Conv(x, b)
  m = Concat<axis=1>(l, r)
  y = Conv(m, c)
}}"""
POOLED = f"""
g (float[4,8,8,8] x) => (float[4,10] y) {{
  {_weight("a", 8, 8, 1, 1)}
  {_weight("w", 10, 8)}
  l = Conv(x, a)
  p = GlobalAveragePool(l)
  f = Flatten(p)
  y = Gemm<transB=1>(f, w)
}}"""
IN_PLACE = f"""
g (float[4,8,8,8] x) => (float[4,8,8,8] y) {{
  {_weight("a", 8, 8, 1, 1)}
  {_weight("b", 8, 8, 1, 1)}
  l = Conv(x, a)
  p = Softmax<axis=3>(l)
  e = Exp(p)
  y = Conv(e, b)
}}"""


def _lowered(text: str, strategy: str = "graphturbo:order") -> Program:
    plan = plan_of(analyse(graph_of(text)), strategy, chip("generic-4x4"))
    program = lower(plan)
    simulate(program).check()
    return program


def _types(program: Program) -> set[str]:
    ops = program.plan.semantics.graph.ops
    return {ops[op].op_type for op in program.op[program.kind == 0]}


def _buffers(program: Program, memory: Memory, tensor: str) -> np.ndarray:
    index = program.tensors.index(tensor)
    table = program.buffers
    return np.flatnonzero((table.tensor == index) & (table.memory == memory))


def test_concat_parts_are_computed_in_their_place() -> None:
    """Channels [0, 8) and [8, 16) of the result are written by the two convolutions."""
    program = _lowered(CONCAT)
    assert "Concat" not in _types(program)
    assert not len(_buffers(program, Memory.LB_DATA, "l"))
    assert not len(_buffers(program, Memory.LB_DATA, "r"))
    home = _buffers(program, Memory.LB_DATA, "m")
    writes = program.access_write & np.isin(program.access_buffer, home)
    corners = {
        (int(lo), int(hi))
        for lo, hi in zip(program.access_lo[writes, 1], program.access_hi[writes, 1], strict=True)
    }
    assert corners == {(0, 8), (8, 16)}


def test_flatten_of_one_pixel_is_a_view() -> None:
    """[4, 8, 1, 1] and [4, 8] are the same bytes; the product reads the pool's buffer."""
    program = _lowered(POOLED)
    assert "Flatten" not in _types(program)
    assert not len(_buffers(program, Memory.LB_DATA, "f"))
    assert len(_buffers(program, Memory.LB_DATA, "p"))


def test_elementwise_op_takes_the_softmax_s_tile() -> None:
    """Exp runs with the softmax, tile by tile: the softmax's result has no lifetime of its own."""
    program = _lowered(IN_PLACE)
    assert "Exp" in _types(program)
    layers = {layer.ops for layer in program.plan.layers}
    assert any(len(ops) > 1 for ops in layers)


@pytest.mark.parametrize("text", [CONCAT, POOLED, IN_PLACE])
def test_between_kernels_nothing_is_a_view(text: str) -> None:
    """`layerwise` hands every tensor over in DRAM, so every op runs."""
    program = _lowered(text, "layerwise")
    graph = program.plan.semantics.graph
    assert _types(program) == {op.op_type for op in graph.ops}


def test_channel_padding_takes_whole_multiples() -> None:
    """8 channels padded to 16: an image tensor's buffers double, weights' do not."""
    sem = analyse(graph_of(CONCAT))
    plain = lower(plan_of(sem, "layerwise", chip("generic-4x4")))
    padded = lower(plan_of(sem, "layerwise", replace(chip("generic-4x4"), channel_padding=16)))

    def size(program: Program, tensor: str) -> int:
        return int(program.buffers.size_bytes[_buffers(program, Memory.DRAM, tensor)][0])

    assert size(padded, "x") == 2 * size(plain, "x") == 2 * 4 * 8 * 8 * 8 * 2
    assert size(padded, "c") == size(plain, "c")
