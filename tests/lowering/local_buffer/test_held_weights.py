"""Weights held in GB over neighbouring kernels: no element comes there twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.global_buffer.stays import is_cut_otherwise
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.semantics.table import analyse
from graphturbo_core.verify.static.coverage import moved_twice
from tests.lowering.nets import chip, plan_of
from tests.models import imported


@pytest.mark.parametrize(
    ("boxes", "is_so"),
    [
        ([((0, 32), (0, 3)), ((32, 64), (0, 3))], False),
        ([((0, 32), (0, 3)), ((32, 64), (0, 3)), ((32, 50), (0, 3))], True),
        ([((0, 32), (0, 2)), ((16, 48), (2, 4))], False),
        ([], False),
    ],
)
def test_boxes_that_meet_are_cut_otherwise(boxes: list[Box], is_so: bool) -> None:
    assert is_cut_otherwise(frozenset(boxes)) == is_so


@pytest.mark.slow
def test_kernels_that_cut_a_weight_otherwise_do_not_hold_it() -> None:
    """Pieces of AlexNet's first convolution have other tiles of its weights on the small chip.

    Nor does it stay where a plan wants it to.
    """
    graph = imported(load_sample("light-bvlc_alexnet"), ImportOptions("alexnet"))
    plan = plan_of(analyse(graph), "graphturbo:full", chip("generic-4x4"))
    program = lower(plan)
    assert moved_twice(program) is None
    weight = "conv1_w_0"
    staying = replace(plan, stays=(GbRetention(weight, 0, 1, plan.weight_bytes[weight]),))
    staying.check()
    assert np.array_equal(lower(staying).access_buffer, program.access_buffer)
