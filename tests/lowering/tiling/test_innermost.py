"""The innermost axis of row tiles: tiles that read one box of an operand follow each other."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper

from graphturbo_core.lowering.tiling import cutting
from graphturbo_core.lowering.tiling.loop_order import box_fetches, innermost_axis
from graphturbo_core.lowering.tiling.tiling import row_boxes
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.products.program import Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, lowered_with_placements, plan_of, tiny_profile
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
    """Else each of the 16 windows that `r` has of a core's image fetches all 16 again.

    `y` reads only the image and window that it has: no axis need be innermost.
    """
    program, innermost = of_windows()
    check_program(simulate(program))
    assert innermost == {"r": 1, "y": -1}
    monkeypatch.setattr(cutting, "innermost_axis", lambda *_: -1)
    usual, _ = of_windows()
    assert 4 * int(program.size_bytes.sum()) < int(usual.size_bytes.sum())


def innermost_of(text: str, parts: tuple[int, ...], *read: str) -> int:
    """The axis for the stage of `y` on one core, if these tensors are streamed."""
    plan = plan_of(weighted(text), "layerwise", chip("tiny"))
    (placement,) = lowered_with_placements(plan)[1]
    (stage,) = placement.stages
    readers = {
        name: [operand for operand in stage.operands if operand.tensor == name] for name in read
    }
    return innermost_axis(plan, stage, (stage.box, parts), readers)


TWO = "g (float[8,4,1] x, float[4,64] m) => (float[8,4,64] y) { y = Add (x, m) }"
UNEQUAL = "g (float[8,1,64] x, float[1,4,1] s) => (float[8,4,64] y) { y = Add (x, s) }"
PRODUCTS = "g (float[1,8,16] x, float[4,16,8] w) => (float[4,8,8] y) { y = MatMul (x, w) }"


@pytest.mark.parametrize(
    ("text", "parts", "read", "axis"),
    [
        # In elements, usual order against axis 0 innermost: 2 * 4 boxes of m of 64 against 4.
        pytest.param(TWO, (2, 4, 1), ["m"], 0, id="half as many"),
        # And 8 boxes of x of 4 in both: 544 against 288.
        pytest.param(TWO, (2, 4, 1), ["x", "m"], -1, id="more than half"),
        pytest.param(TWO, (8, 4, 1), ["x", "m"], 0, id="a quarter"),
        # x has 64 boxes of 32, or 16 with axis 1 innermost; s 32 of 1, or 4 with axis 0.
        pytest.param(UNEQUAL, (8, 4, 2), ["x", "s"], 1, id="the larger operand decides"),
        pytest.param(PRODUCTS, (4, 2, 1), ["x"], -1, id="products have an order of their own"),
        pytest.param(TWO, (2, 4, 1), [], -1, id="nothing is streamed"),
        pytest.param(TWO, (1, 4, 1), ["m"], -1, id="one axis is cut"),
    ],
)
def test_the_axis_that_saves_most_if_it_saves_half(
    text: str, parts: tuple[int, ...], read: list[str], axis: int
) -> None:
    assert innermost_of(text, parts, *read) == axis


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=4))
def test_changes_are_counted_as_the_nest_goes(loops: list[tuple[int, int]]) -> None:
    """Per axis, outermost first: its parts, and how many of them in a row read the same."""
    parts = [count for count, _ in loops]
    steps = product(*(range(count) for count in parts))
    boxes = [tuple(at // run for at, (_, run) in zip(step, loops, strict=True)) for step in steps]
    distinct = {axis: len({at // run for at in range(n)}) for axis, (n, run) in enumerate(loops)}
    assert box_fetches(range(len(loops)), parts, distinct) == len([*groupby(boxes)])


@given(st.integers(-1, 2))
def test_the_innermost_axis_changes_the_order_alone(innermost: int) -> None:
    share, parts = ((0, 4), (2, 9), (0, 6)), (2, 3, 3)
    boxes = row_boxes(share, parts, innermost)
    assert sorted(boxes) == row_boxes(share, parts)
    rows = [boxes[at : at + parts[innermost]] for at in range(0, len(boxes), parts[innermost])]
    moving = [{axis for axis in range(3) if len({box[axis] for box in row}) > 1} for row in rows]
    assert moving == [{innermost % 3}] * len(rows)


def test_it_computes_the_right_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    used, innermost = [], cutting.innermost_axis
    monkeypatch.setattr(
        cutting, "innermost_axis", lambda *a: used.append(innermost(*a)) or used[-1]
    )
    model = model_of(WINDOWS)
    mask = np.random.default_rng(0).normal(size=(1, 16, 1, 16, 16)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(mask, "m"))
    del model.graph.input[1]
    for strategy in ("tvm", "layerwise", "graphturbo"):
        request = RunRequest("windows", strategy, "tiny", verify=True)
        contract = run_report(model.SerializeToString(), request, tiny_profile()).contract
        assert contract["verify"]["ok"]
        assert max(used) >= 0
        used.clear()
