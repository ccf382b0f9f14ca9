"""The plan file that a run follows, and the files that a run emits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from graphturbo_core.export.plan_file import (
    DIGEST_LENGTH,
    Origin,
    PlanFile,
    check_origin,
    chip_digest,
    graph_digest,
)
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.export.plan_write import plan_text
from graphturbo_core.export.program_text import program_lines
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.report.outcome import Outcome
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.plan_files.edits import NO_EDITS
from graphturbo_core.strategies.plan_files.pinned import NO_PINNED_PLAN, PinnedPlan
from graphturbo_core.strategies.plan_files.record import recorded

PLAN_OPTION = "plan"
"""Option key of a report for an edited plan; its value is the digest of the plan's file."""


def plan_digest(data: bytes) -> str:
    """Digest by which links and reports name a plan file."""
    return hashlib.sha256(data).hexdigest()[:DIGEST_LENGTH]


def origin_of(
    request: RunRequest, hardware: Hardware, graph: Graph, options: Mapping[str, str]
) -> Origin:
    """Origin of a plan of this run: model, chip and choices; `options` with defaults filled in."""
    return Origin(
        model=request.model_name,
        model_digest=graph_digest(graph),
        profile=hardware.name,
        profile_digest=chip_digest(hardware),
        strategy=request.strategy,
        dtype=request.dtype,
        batch=request.batch,
        dims=request.dims,
        options=options,
        skip_passes=tuple(request.skip_passes),
    )


def pinned_file(request: RunRequest, wanted: Origin) -> PlanFile:
    """The plan file of the request.

    Raises:
        PlanError: it is no plan file, or it belongs to another run, chip or model.
    """
    file = read_plan(request.plan.encode(), "the plan")
    check_origin(file.origin, wanted)
    return file


def pinned_plan(file: PlanFile | None, size: int) -> PinnedPlan:
    """What the plan file, if there is one, pins for a round of `size` samples.

    Raises:
        PlanError: PLAN_ROUND, it has no such round.
    """
    return NO_PINNED_PLAN if file is None else file.pinned_plan(size)


def plan_option(request: RunRequest, pinned: PlanFile | None) -> dict[str, str]:
    """An edited plan as an option of the report; a plan as it was written changes nothing."""
    if pinned is None or pinned.edits == NO_EDITS:
        return {}
    return {PLAN_OPTION: plan_digest(request.plan.encode())}


def emitted(
    request: RunRequest, origin: Origin, pinned: PlanFile | None, outcome: Outcome
) -> dict[str, Iterable[str]]:
    """The files of `request.emit` by name, each as parts of its text."""
    files: dict[str, Iterable[str]] = {}
    edits = pinned.edits if pinned is not None else NO_EDITS
    if "plan" in request.emit:
        rounds = {size: recorded(t.program.plan) for size, t in outcome.traces.items()}
        files["plan"] = [plan_text(PlanFile(origin, edits, rounds))]
    if "edits" in request.emit:
        files["edits"] = [plan_text(PlanFile(origin, edits))]
    if "program" in request.emit:
        named = outcome.named
        title = f"{named.model}, {named.strategy} on {named.profile}"
        files["program"] = program_lines(outcome.program, title)
    return files
