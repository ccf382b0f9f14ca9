"""The operands that a part of the output may read: those of which it needs a part."""

from __future__ import annotations

from itertools import product

import pytest

from graphturbo_core.ir.boxes import is_empty
from graphturbo_core.lowering.stages import reached
from graphturbo_core.lowering.stages.reached import FEW, Reached
from graphturbo_core.semantics.table import analyse
from tests.lowering.nets import chip, placements_of, plan_of
from tests.models import graph_of

SIZES = [1 + 7 * number % 11 for number in range(FEW + 5)]
NAMES = [f"x{number}" for number in range(len(SIZES))]
GIVEN = ", ".join(f"float[{size},8] {name}" for size, name in zip(SIZES, NAMES, strict=True))
READ = ", ".join(NAMES)
JOINED = f"g ({GIVEN}) => (float[{sum(SIZES)},8] y) {{ y = Concat<axis=0> ({READ}) }}"
ADDED = f"""
g ({GIVEN}, float[{sum(SIZES)},8] b) => (float[{sum(SIZES)},8] y) {{
  j = Concat<axis=0> ({READ})
  y = Add (j, b)
}}
"""
SUMMED = f"""
g ({", ".join(f"float[9,8] {name}" for name in NAMES)}) => (float[9,8] y) {{ y = Sum ({READ}) }}
"""


@pytest.mark.parametrize("text", [JOINED, ADDED, SUMMED])
def test_rows_have_the_operands_that_they_read(text: str) -> None:
    fewest = len(NAMES)
    for placement in placements_of(plan_of(analyse(graph_of(text)), "tvm", chip("tiny"))):
        for stage in placement.stages:
            known = Reached(stage, stage.operands, [(operand,) for operand in stage.operands])
            rows = stage.box[0][1]
            for lo, size in product(range(0, rows, 2), (1, 5, rows)):
                box = ((lo, min(rows, lo + size)), (0, 8))
                read = [o for o in stage.operands if not is_empty(o.reads.box(box))]
                assert list(known.by(box)) == read
                fewest = min(fewest, len(read))
    assert (fewest < FEW) is (text != SUMMED)


def test_groups_of_several_operands_are_always_listed() -> None:
    """A tensor that is joined twice is read by tiles of either part."""
    text = JOINED.replace(READ, f"{READ}, x0").replace(f"[{sum(SIZES)}", f"[{sum(SIZES) + 1}")
    (placement,) = placements_of(plan_of(analyse(graph_of(text)), "tvm", chip("tiny")))
    (stage,) = placement.stages
    groups = [[o for o in stage.operands if o.tensor == name] for name in NAMES]
    known = Reached(stage, groups, groups)
    end = sum(SIZES)
    assert known.by(((end, end + 1), (0, 8))) == [groups[0]]
    assert known.by(((end - 1, end), (0, 8))) == [groups[0], groups[-1]]


def test_few_groups_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("an index is made")

    monkeypatch.setattr(reached, "BoxIndex", refused)
    text = "g (float[12,8] a, float[8,8] b) => (float[20,8] y) { y = Concat<axis=0> (a, b) }"
    (placement,) = placements_of(plan_of(analyse(graph_of(text)), "tvm", chip("tiny")))
    (stage,) = placement.stages
    known = Reached(stage, stage.operands, [(operand,) for operand in stage.operands])
    assert known.by(((0, 1), (0, 8))) == stage.operands
