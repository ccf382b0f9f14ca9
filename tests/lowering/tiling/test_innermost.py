"""The innermost axis of row tiles: tiles that read one box of an operand follow each other."""

from __future__ import annotations

import re
from itertools import groupby, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphturbo_core.lowering.tiling import cutting
from graphturbo_core.lowering.tiling.loop_order import box_changes
from graphturbo_core.lowering.tiling.tiling import row_boxes
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, lowered_with_placements, plan_of
from tests.models import model_of
from tests.strategies.samples import weighted

WINDOWS = (
    "g (float[64,3,16,16] x, float[1,16,1,16,16] m) => (float[64,3,16,16] y)"
    " <int64[5] apart = {4,16,3,16,16}, int64[4] together = {64,3,16,16}>"
    " { r = Reshape (x, apart) a = Add (r, m) y = Reshape (a, together) }"
)
"""A mask for the 16 windows of each of four images: a box of `x` has all windows of an image."""


def of_windows() -> tuple[Program, dict[str, int]]:
    """The program of `WINDOWS` on a chip of small buffers, and the innermost axis by op."""
    program, (placement, *_) = lowered_with_placements(
        plan_of(weighted(WINDOWS), "tvm", chip("tiny"))
    )
    pairs = zip(placement.stages, placement.tilings, strict=True)
    return program, {stage.ops[0].name: tiling.innermost for stage, tiling in pairs}


def test_windows_of_an_image_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each of the 16 windows of a core's image fetches all 16 again."""
    program, innermost = of_windows()
    check_program(simulate(program))
    assert innermost == {"r": 1, "y": 0}
    monkeypatch.setattr(cutting, "innermost_axis", lambda *_: -1)
    usual, _ = of_windows()
    assert 5 * int(program.size_bytes.sum()) < int(usual.size_bytes.sum())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "g (float[64,3,16,16] x) => (float[64,3,16,16] y) { y = Relu (x) }", id="one follows"
        ),
        pytest.param(
            "g (float[1024,64] x, float[64,64] w) => (float[1024,64] y) { y = MatMul (x, w) }",
            id="product",
        ),
    ],
)
def test_other_stages_have_the_usual_order(text: str) -> None:
    placements = lowered_with_placements(plan_of(weighted(text), "tvm", chip("tiny")))[1]
    assert {tiling.innermost for own in placements for tiling in own.tilings} == {-1}


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4))
def test_changes_are_counted_as_the_nest_goes(loops: list[tuple[int, int]]) -> None:
    """Per axis, outermost first: its parts, and how many of them in a row read the same."""
    parts = [count for count, _ in loops]
    steps = product(*(range(count) for count in parts))
    boxes = [tuple(at // run for at, (_, run) in zip(step, loops, strict=True)) for step in steps]
    distinct = {axis: len({at // run for at in range(n)}) for axis, (n, run) in enumerate(loops)}
    assert box_changes(range(len(loops)), parts, distinct) == len([*groupby(boxes)])


@given(st.integers(-1, 2))
def test_the_innermost_axis_changes_the_order_alone(innermost: int) -> None:
    share, parts = ((0, 4), (2, 9), (0, 6)), (2, 3, 3)
    boxes = row_boxes(share, parts, innermost)
    assert sorted(boxes) == row_boxes(share, parts)
    rows = [boxes[at : at + parts[innermost]] for at in range(0, len(boxes), parts[innermost])]
    moving = [{axis for axis in range(3) if len({box[axis] for box in row}) > 1} for row in rows]
    assert moving == [{innermost % 3}] * len(rows)


def test_it_computes_the_right_numbers() -> None:
    text = Path("hardware_profiles/generic-4x4.yaml").read_text(encoding="utf-8")
    sizes = {
        "lb_data_bytes": 8192, "lb_weight_bytes": 4096, "staging_bytes": 4096, "gb_bytes": 32768,
    }  # fmt: skip
    for key, size in sizes.items():
        text, count = re.subn(rf"{key}: {{value: \d+", f"{key}: {{value: {size}", text)
        assert count == 1, key
    model = model_of(WINDOWS)
    mask = np.random.default_rng(0).normal(size=(1, 16, 1, 16, 16)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(mask, "m"))
    del model.graph.input[1]
    for strategy in ("tvm", "layerwise", "graphturbo"):
        request = RunRequest("windows", strategy, "tiny", verify=True)
        contract = run_report(model.SerializeToString(), request, text.encode()).contract
        assert contract["verify"]["ok"]
