"""The part of a tensor that a piece owns, where several ops read it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.ir.boxes import Box, full_box
from graphturbo_core.lowering.stages.owned import owned_boxes
from tests.lowering.nets import chip, plan_of
from tests.strategies.samples import weighted

TOP, LEFT, BOTTOM = ((0, 4), (0, 8)), ((0, 8), (0, 4)), ((4, 8), (0, 8))
WHOLE = full_box((8, 8))


@pytest.mark.parametrize(
    ("reader", "boxes", "owned"),
    [
        ("Sigmoid (a)", (TOP, TOP), TOP),
        ("Sigmoid (a)", (TOP, BOTTOM), WHOLE),
        ("Transpose <perm = [1, 0]> (a)", (TOP, TOP), WHOLE),
        ("Transpose <perm = [1, 0]> (a)", (TOP, LEFT), TOP),
    ],
)
def test_a_piece_owns_what_the_parts_of_all_readers_need(
    reader: str, boxes: tuple[Box, Box], owned: Box
) -> None:
    """One of two pieces outputs these boxes of y and z."""
    body = f"a = Relu (x) y = Sigmoid (a) z = {reader}"
    text = f"g (float[8,8] x) => (float[8,8] y, float[8,8] z) {{ {body} }}"
    plan = plan_of(weighted(text), "graphturbo", chip("generic-4x4"))
    (group,), (kernel,) = plan.groups, plan.kernels
    plan = replace(plan, groups=(replace(group, pieces=2),))
    kernel = replace(
        kernel,
        outputs=dict(zip("yz", boxes, strict=True)),
        boxes=dict.fromkeys(kernel.boxes, WHOLE),
    )
    assert owned_boxes(plan, kernel)["a"] == owned
