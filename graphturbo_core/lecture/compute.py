"""Runs -> LectureResults: everything that the lecture shows, computed by the pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Literal

from graphturbo_core.errors import PlanError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.lecture.measured import measured, refused, refused_piece_bytes
from graphturbo_core.lecture.results import (
    SCHEMA,
    Candidate,
    LectureBinding,
    LectureReady,
    LectureResult,
    LectureResults,
    LectureTensor,
)
from graphturbo_core.lecture.runs import (
    CHIP,
    COARSE,
    FINE,
    IMAGES,
    MODEL,
    RUNS,
    LectureRun,
    with_edits,
)
from graphturbo_core.pipeline import Imports, run_shared
from graphturbo_core.report.report import Report

PIECES = (1, 2, 4, 8)
"""Numbers of pieces that divide the images."""


def compute_results() -> LectureResults:
    """Every run, and the lists of the coarse one."""
    runs = {name: compute_run(run) for name, run in RUNS.items()}
    report = _report(RUNS[COARSE], "")
    chip, contract = load_profile(CHIP), report.contract
    return LectureResults(
        schema=SCHEMA,
        model=MODEL,
        chip=CHIP,
        images=IMAGES,
        dtype=contract["dtype"],
        lb_data_bytes=chip.lb_data_bytes,
        lb_weight_bytes=chip.lb_weight_bytes,
        gb_bytes=chip.gb_bytes,
        cores=chip.cores,
        launch_cycles=chip.launch_cycles,
        core_part_bytes=_core_part_bytes(),
        compulsory_dram_bytes=contract["compulsory_dram_bytes"],
        macs=contract["macs"],
        tensors=tuple(_tensors(report, _weights(runs[FINE]))),
        candidates=tuple(_candidates(runs, chip.cores * chip.lb_data_bytes)),
        ready=tuple(
            LectureReady(row["run"], tuple(filter(None, row["ready"].split(", "))))
            for row in report.tables["ready"]
        ),
        bindings=tuple(
            LectureBinding(row["kernel"], row["tensor"], row["binding"], row["axes"], row["scope"])
            for row in report.tables["bindings"]
        ),
        runs=runs,
    )


def compute_run(run: LectureRun) -> LectureResult:
    """One run; a refused plan is a result too."""
    plan = with_edits(_plan_form(), run.edits) if run.edits else ""
    try:
        return measured(_report(run, plan), run, plan)
    except PlanError as error:
        return refused(str(error), plan)


@cache
def _imports(model: str) -> Imports:
    return Imports(load_sample(model))


@cache
def _plan_form() -> str:
    """A plan file of the coarse run, without edits and record."""
    request = replace(RUNS[COARSE].request(), emit=("edits",))
    return run_shared(_imports(MODEL), request).text("edits")


def _core_part_bytes() -> int:
    """Live bytes of one core in a piece of the coarse run's first group, of its decisions."""
    request = replace(RUNS[COARSE].request(), emit=("plan",))
    text = run_shared(_imports(MODEL), request).text("plan")
    (record,) = read_plan(text.encode(), "the plan").rounds.values()
    return int(next(d.numbers["core_bytes"] for d in record.decisions if d.step == "fit"))


def _report(run: LectureRun, plan: str) -> Report:
    return run_shared(_imports(run.model), run.request(plan), run.profile())


def _weights(fine: LectureResult) -> Iterator[LectureTensor]:
    """Weights with their bytes: the fine run fetches each once."""
    for kernel in fine.kernels:
        for row in kernel.traffic:
            if row.cause == "weight_first":
                layer = kernel.layers[0]
                yield LectureTensor(row.tensor, "weight", row.bytes, layer, (layer,))


def _tensors(report: Report, weights: Iterator[LectureTensor]) -> Iterator[LectureTensor]:
    """Tensors between layers in the network's order, then weights."""
    layers = [row["name"] for row in report.tables["layers"]]
    nodes = report.tables["graph_nodes"]
    edges = report.tables["graph_edges"]
    for tensor in dict.fromkeys(edge["tensor"] for edge in edges):
        own = [edge for edge in edges if edge["tensor"] == tensor]
        writer = layers[nodes[own[0]["source"]]["layer"]] if own[0]["source"] >= 0 else ""
        readers = dict.fromkeys(layers[nodes[edge["target"]]["layer"]] for edge in own)
        kind: Literal["activation", "input"] = "activation" if writer else "input"
        yield LectureTensor(tensor, kind, own[0]["bytes"], writer, tuple(readers))
    result = next(row for row in report.tables["tensors"] if row["kind"] == "output")
    size = report.contract["dram_ledger"]["output"]
    yield LectureTensor(result["tensor"], "output", size, layers[nodes[-1]["layer"]], ())
    yield from weights


def _candidates(runs: Mapping[str, LectureResult], capacity: int) -> Iterator[Candidate]:
    """Algorithm 1 on the first group: numbers of pieces by images, until one fits."""
    for pieces in PIECES:
        run = runs.get(f"pieces_{pieces}", runs[COARSE])
        size = refused_piece_bytes(run.refused) if run.refused else run.groups[0].piece_peak_bytes
        taken = runs[COARSE].groups[0].pieces == pieces
        yield Candidate(pieces, size, size <= capacity, taken)
