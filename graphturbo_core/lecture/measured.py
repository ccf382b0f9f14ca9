"""Report -> LectureResult: totals, groups and kernels of one run."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from graphturbo_core.lecture.pictured import (
    DRAM,
    core_moves,
    dram_traffic,
    intervals,
    parked,
    parked_peak,
)
from graphturbo_core.lecture.results import (
    LectureGroup,
    LectureKernel,
    LectureResult,
)
from graphturbo_core.lecture.runs import LectureRun
from graphturbo_core.report.report import Report

IMAGE_AXIS = 0
BUSY_DIGITS = 6
_LEFT = re.compile(r"axis 0 leaves ([0-9,]+) bytes per piece")


def measured(report: Report, run: LectureRun, plan: str) -> LectureResult:
    """The numbers of a run; with lists per kernel where it is pictured."""
    contract = report.contract
    ledgers: dict[str, dict[str, int]] = defaultdict(dict)
    for row in report.tables["ledger"]:
        if row["bytes"]:
            ledgers[row["memory"]][row["cause"]] = row["bytes"]
    return LectureResult(
        cycles=contract["cycles"],
        dram_bytes=contract["dram_read_bytes"] + contract["dram_write_bytes"],
        gb_bytes=contract["gb_read_bytes"] + contract["gb_write_bytes"],
        core_to_core_bytes=contract["core_to_core_bytes"],
        dram=ledgers["DRAM"],
        gb=ledgers["GB"],
        halo_macs=contract["halo_macs"],
        busy={kind: round(share, BUSY_DIGITS) for kind, share in contract["utilization"].items()},
        lower_bound_cycles=_lower_bound(report),
        gb_peak_bytes=contract["gb"]["peak_bytes"],
        lb_peak_bytes=contract["lb"]["peak_bytes"],
        notes=tuple(contract["notes"]),
        groups=_groups(report),
        kernels=_kernels(report, run) if run.is_pictured else (),
        last_kernel=intervals(report, len(report.tables["kernels"]) - 1) if run.is_timed else (),
        plan=plan,
        refused="",
    )


def refused(reason: str, plan: str) -> LectureResult:
    """A run that the pipeline refuses."""
    return LectureResult(
        *(0,) * 4, {}, {}, 0, {}, *(0,) * 3, (), (), (), (), plan=plan, refused=reason
    )


def refused_piece_bytes(reason: str) -> int:
    """Live bytes of a piece cut by images, as the refusal of a number of pieces names them."""
    found = _LEFT.search(reason)
    assert found is not None, reason
    return int(found[1].replace(",", ""))


def _lower_bound(report: Report) -> int:
    """Cycles that no schedule of this model on this chip beats."""
    clock = next(row["value"] for row in report.tables["chip"] if row["key"] == "chip.clock_hz")
    return round(report.contract["lower_bound_s"] * float(clock))


def _groups(report: Report) -> tuple[LectureGroup, ...]:
    layers = _layers_by_op(report)
    pieces = {
        (row["name"], row["axis"], row["pieces"]): row["peak_bytes"]
        for row in report.tables["splits"]
        if row["part"] == "sub-graph"
    }
    found = []
    for entry in report.contract["groups"]:
        name, axis, count = entry["name"], entry["split_axis"], entry["pieces"]
        whole = entry["peak_bytes"]
        piece = whole // count if axis == IMAGE_AXIS else pieces.get((name, axis, count), whole)
        ops = dict.fromkeys(layers[op] for op in entry["ops"])
        found.append(LectureGroup(name, tuple(ops), axis, count, whole, piece))
    return tuple(found)


def _layers_by_op(report: Report) -> dict[str, str]:
    names = [row["name"] for row in report.tables["layers"]]
    return {row["op"]: names[row["layer"]] for row in report.tables["graph_nodes"]}


def _kernels(report: Report, run: LectureRun) -> tuple[LectureKernel, ...]:
    by_kernel = _dram_by_kernel(report)
    return tuple(
        _kernel(report, run, place, by_kernel[place])
        for place in range(len(report.tables["kernels"]))
    )


def _kernel(report: Report, run: LectureRun, place: int, dram_bytes: int) -> LectureKernel:
    row, piece = report.tables["kernels"][place], report.tables["pieces"][place]
    is_by_images = piece["axis"] == IMAGE_AXIS
    in_gb = parked(report, row["end_cycle"], "GB")
    return LectureKernel(
        name=row["name"],
        group=row["group"],
        layers=_kernel_layers(report, place),
        first=1 + (piece["first"] if is_by_images else 0),
        last=piece["end"] if is_by_images else run.batch,
        axis=piece["axis"],
        low=piece["first"],
        high=piece["end"],
        extent=piece["extent"],
        start=row["start_cycle"],
        end=row["end_cycle"],
        dram_bytes=dram_bytes,
        parked_bytes=sum(each.bytes for each in in_gb),
        parked_peak_bytes=parked_peak(report, row["start_cycle"], row["end_cycle"]),
        parked=in_gb,
        in_cores=parked(report, row["end_cycle"], "LB data"),
        traffic=dram_traffic(report, place),
        moves=core_moves(report, place),
    )


def _kernel_layers(report: Report, place: int) -> tuple[str, ...]:
    names = [row["name"] for row in report.tables["layers"]]
    numbers = np.unique(report.arrays["layer"][report.arrays["kernel"] == place])
    return tuple(names[number] for number in numbers.tolist())


def _dram_by_kernel(report: Report) -> Sequence[int]:
    is_dram = report.arrays["booked_memory"] == DRAM
    kernels = report.arrays["kernel"][report.arrays["booked_instruction"][is_dram]]
    sums = np.zeros(len(report.tables["kernels"]), np.int64)
    np.add.at(sums, kernels, report.arrays["booked_bytes"][is_dram])
    return [int(each) for each in sums.tolist()]
