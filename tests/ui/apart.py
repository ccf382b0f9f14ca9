"""Two runs of one model of which A's graph has more ops: it takes layer norm and softmax apart."""

from __future__ import annotations

from functools import cache

from graphturbo_core.pipeline import RunRequest, run_reports
from graphturbo_core.report.report import Report
from tests.frontend.passes.decomposed_block import DECOMPOSED, block

SOFTMAX, NORM = 4, 8
"""Places in the model, and of the ops in B."""
SOFTMAX_PARTS = frozenset(range(4, 9))
NORM_PARTS = frozenset(range(12, 22))
"""Ops of A, in `BLOCK`'s order: four ops, five parts, three ops, ten parts, one op."""


@cache
def apart() -> tuple[Report, Report]:
    """A runs as `tvm` with both taken apart, B as `layerwise`."""
    asked = [
        RunRequest("block", strategy, "generic-4x4", 4, options=DECOMPOSED)
        for strategy in ("tvm@1", "layerwise@1")
    ]
    first, second = run_reports(block(), asked)
    return first, second
