"""A kernel copied from its class's template is the kernel that would have been emitted."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering.program import Program
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from sample_models import build_samples
from tests.lowering.counting import check_program
from tests.lowering.nets import analysed, chip, plan_of
from tests.models import graph_of


def _wide(channels: int) -> str:
    """One convolution to so many channels."""
    return f"""
g (float[1,8,16,16] x) => (float[1,{channels},16,16] y) {{
  s = Constant<value_ints=[{channels},8,3,3]>()
  w = ConstantOfShape(s)
  c = Conv<pads=[1,1,1,1]>(x, w)
  y = Relu(c)
}}"""


def _arrays(program: Program) -> dict[str, np.ndarray]:
    tables = ((program, "program"), (program.buffers, "buffers"))
    return {
        f"{name}.{field.name}": getattr(table, field.name)
        for table, name in tables
        for field in fields(table)
        if isinstance(getattr(table, field.name), np.ndarray)
    }


def _small_resnet(batch: int) -> GraphSemantics:
    return analysed(build_samples.resnet("v15", (2, 1), 8, 32, 10), batch)


@pytest.mark.parametrize("strategy", ["graphturbo:order", "graphturbo"])
@pytest.mark.parametrize("name", ["tiny", "generic-4x4"])
@pytest.mark.parametrize("batch", [1, 4])
def test_copies_equal_what_they_stand_for(
    monkeypatch: pytest.MonkeyPatch, strategy: str, name: str, batch: int
) -> None:
    plan = plan_of(_small_resnet(batch), strategy, chip(name))
    copied = _arrays(lowering.lower(plan))
    monkeypatch.setattr(lowering, "template_key", id)
    emitted = _arrays(lowering.lower(plan))
    assert copied.keys() == emitted.keys()
    for key, value in copied.items():
        assert np.array_equal(value, emitted[key]), key


@pytest.mark.parametrize("channels", [64, 96, 256])
def test_a_split_over_channels_takes_other_weights(
    monkeypatch: pytest.MonkeyPatch, channels: int
) -> None:
    """Pieces of output channels read pieces of the weights: their places count in the key.

    Where all weights have a place in GB, each piece still fetches its own.
    """
    plan = plan_of(analyse(graph_of(_wide(channels))), "graphturbo:order", chip("tiny"))
    program = lowering.lower(plan)
    check_program(simulate(program))
    copied = _arrays(program)
    monkeypatch.setattr(lowering, "template_key", id)
    emitted = _arrays(lowering.lower(plan))
    assert all(np.array_equal(copied[key], emitted[key]) for key in copied)
