"""Outputs of kernels to place in GB, and chains of products whose results lie there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Interval
from graphturbo_core.lowering.addresses.allocator import aligned
from graphturbo_core.lowering.global_buffer.gb_places import GbPlaces, StoredOutput
from graphturbo_core.products.plan import Plan
from tests.lowering.chips import shared
from tests.lowering.nets import plan_of
from tests.strategies.samples import weighted

UNIT = 32
SIDE = 64
RESULT = SIDE * SIDE * 2
"""Bytes of each result of a chain: 8,192."""


def output(
    units: int, kernels: Interval, stages: Interval = (0, 0), **changes: int
) -> StoredOutput:
    """An output of so many aligned units, made by the first of its kernels and read until the last.

    `stages`: of its maker. `changes`: other fields.
    """
    box = ((0, units),)
    made = StoredOutput(
        tensor="t", box=box, maker=kernels[0], last=kernels[1], wants_gb=True,
        is_graph_output=False, is_spill=False, held=box, is_held_once=False,
        size_bytes=units * UNIT, read_bytes=units * UNIT, stages=stages,
        is_remote_input=False, is_fixed=False,
    )  # fmt: skip
    return made._replace(**changes)


def users(
    outputs: Sequence[StoredOutput], places: GbPlaces, shape: tuple[int, int, int]
) -> NDArray[np.int64]:
    """How many outputs use each unit of GB in each stage of each kernel.

    `shape`: numbers of kernels, stages and units.
    """
    found = np.zeros(shape, dtype=np.int64)
    for each, place in zip(outputs, places.of_output, strict=True):
        if place is None:
            continue
        begin = place.offset // UNIT
        during = slice(None) if place.scratch is None else slice(each.stages[0], each.stages[1] + 1)
        end = begin + aligned(each.size_bytes) // UNIT
        found[each.maker : each.last + 1, during, begin:end] += 1
    return found


def chain(products: int, gb_bytes: int, side: int = SIDE) -> Plan:
    """So many products in one kernel, of an engine that all cores share: it writes to GB."""
    body = " ".join(f"t{at + 1} = MatMul (t{at}, w{at})" for at in range(products))
    weights = ", ".join(f"float[{side},{side}] w{at}" for at in range(products))
    result = f"float[{side},{side}] t{products}"
    text = f"g (float[{side},{side}] t0, {weights}) => ({result}) {{ {body} }}"
    plan = plan_of(weighted(text), "graphturbo:full", shared(gb_bytes=gb_bytes))
    assert len(plan.kernels) == 1
    return plan


def in_turn() -> Plan:
    """Five results of 8,192 bytes between six products, in 32,768 bytes of GB."""
    return chain(6, 4 * RESULT)


def few_in_turn() -> Plan:
    """Three results of 512 bytes between four products, in 1,536 bytes of GB."""
    return chain(4, 3 * 512, 16)
