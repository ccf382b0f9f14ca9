"""A step and the kept results -> what its picture draws, as plain values for its script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping

from graphturbo_core.comparison.ladder import KERNEL_WORDS, RUNG_WORDS
from graphturbo_core.lecture.results import (
    Interval,
    LectureKernel,
    LectureResult,
    LectureResults,
)
from graphturbo_core.lecture.runs import (
    BASE_LB,
    COARSE,
    FINE,
    GB,
    GB_FOR_WEIGHTS,
    KIB,
    LB,
    LB_BYTES,
    RUNS,
    SLOW_GB,
)
from graphturbo_core.lecture.steps import LectureStep
from graphturbo_core.units import format_bytes
from graphturbo_ui.learn.keys import setting_key
from graphturbo_ui.learn.places import borders, placing

Picture = Mapping[str, object]
STAIRS = {
    "layerwise": ("", KERNEL_WORDS["layerwise"], "per op"),
    FINE: ("A: ", KERNEL_WORDS["tvm"], "per layer"),
    "gb": ("+ ", RUNG_WORDS["gb"], "in GB"),
    "lb": ("+ ", RUNG_WORDS["lb"], "in LB"),
    "order": ("+ ", RUNG_WORDS["order"], "pieces"),
    COARSE: ("B: + ", RUNG_WORDS["full"], "overlap"),
}
"""Runs of step 8 from op to overlap: a sign, and what each adds to the one before, long and short.
"""
BASE_GB_RATE = 8
"""Bytes per cycle of GB on the lecture's chip; `SLOW_GB` on that with a slow GB."""
ENGINES = {"dma 0": "load", "core 0 matrix": "compute"}
"""Engines of step 7, by what its picture calls them."""
STORE = "store"
"""Kind of the instructions that write results to DRAM; a picture calls them the same."""


def traffic(step: LectureStep, found: LectureResults) -> Picture:
    """Step 1: what every kernel reads from DRAM and writes to it, by cause."""
    return {
        "runs": {
            setting_key(setting): _crossings(found, setting.runs[0])
            for setting in step.knob.settings
        }
    }


def _crossings(found: LectureResults, name: str) -> Picture:
    run = found.runs[name]
    return {
        "dram": run.dram_bytes,
        "causes": dict(run.dram),
        "kernels": [
            {
                "names": _names(found, kernel, name),
                "reads": _by_cause(kernel, "read"),
                "writes": _by_cause(kernel, "write"),
            }
            for kernel in run.kernels
        ],
    }


def _names(found: LectureResults, kernel: LectureKernel, run: str) -> list[str]:
    """What a kernel's box shows, the longest first: its op, its layer, or its piece of a group."""
    if run == FINE:
        return [kernel.layers[0], kernel.layers[0].removeprefix("conv")]
    if run != "layerwise":
        return [kernel.name]
    written = next(each.tensor for each in kernel.traffic if each.way == "write")
    name = "add" if found.tensor(written).kind == "output" else written
    return [name, re.sub("^(conv|relu)", lambda kind: kind[0][0], name)]


def _by_cause(kernel: LectureKernel, way: str) -> list[list[object]]:
    sums: Counter[str] = Counter()
    for each in kernel.traffic:
        if each.way == way:
            sums[each.cause] += each.bytes
    return [[cause, size] for cause, size in sums.items() if size]


def cutting(_step: LectureStep, found: LectureResults) -> Picture:
    """Step 2: what is live while the first layer runs, and the piece counts that are tried."""
    live = [found.tensor("image"), found.tensor("relu1")]
    return {
        "layer": live[-1].layer,
        "images": found.images,
        "cores": found.cores,
        "capacity": found.cores * found.lb_data_bytes,
        "whole": sum(tensor.bytes for tensor in live),
        "tensors": [{"name": tensor.name, "bytes": tensor.bytes} for tensor in live],
        "candidates": [
            {"pieces": each.pieces, "peak": each.peak_bytes, "fits": each.fits}
            for each in found.candidates
        ],
    }


def merging(step: LectureStep, found: LectureResults) -> Picture:
    """Step 3: pieces of each layer on its own, the rule's groups, and cycles per grouping."""
    cards = [group for group in found.runs["apart"].groups for _ in group.layers]
    places = {name: at for at, group in enumerate(cards) for name in group.layers}
    runs = {setting: found.runs[setting.runs[0]] for setting in step.knob.settings}
    return {
        "layers": [{"name": group.layers[0], "pieces": group.pieces} for group in cards],
        "named": [
            {"name": group.name, "layers": sorted(places[name] for name in group.layers)}
            for group in found.runs[COARSE].groups
        ],
        "shown": [setting_key(setting) for setting in runs if not setting.is_hidden],
        "groupings": [
            {
                "key": setting_key(setting),
                "label": setting.label,
                "groups": [sorted(places[name] for name in group.layers) for group in run.groups],
                "cycles": run.cycles,
                "again": run.dram.get("weight_again", 0),
            }
            for setting, run in runs.items()
        ],
    }


def ordering(step: LectureStep, found: LectureResults) -> Picture:
    """Step 4: both orders by the size of GB, with what waits in GB at the end of each kernel."""
    return {
        "runs": {
            setting_key(setting): {
                "capacity": int(RUNS[setting.runs[0]].chip.get(GB, found.gb_bytes)),
                "depth": _lane(found.runs[setting.runs[0]]),
                "breadth": _lane(found.runs[setting.runs[1]]),
            }
            for setting in step.knob.settings
        },
        "for_weights": GB_FOR_WEIGHTS,
    }


def _lane(run: LectureResult) -> Picture:
    groups = [group.name for group in run.groups]
    return {
        "cycles": run.cycles,
        "spill": run.dram.get("spill", 0) + run.dram.get("activation", 0),
        "kernels": [
            {
                "name": kernel.name,
                "group": groups.index(kernel.group),
                "from": kernel.start,
                "to": kernel.end,
                "parked_bytes": kernel.parked_bytes,
                "parked": [
                    {"images": list(range(each.first, each.last + 1)), "bytes": each.bytes}
                    for each in kernel.parked
                ],
            }
            for kernel in run.kernels
        ],
    }


def overlapping(step: LectureStep, found: LectureResults) -> Picture:
    """Step 7: loads and computes of the last kernel with and without its fence, and the gains."""
    return {
        "rate": setting_key(step.knob.settings[step.knob.first]),
        "lanes": {"fenced": _gantt(found.runs["order"]), "free": _gantt(found.runs[COARSE])},
        "gains": [
            {
                "key": setting_key(setting),
                "fenced": found.runs[setting.runs[0]].cycles,
                "free": found.runs[setting.runs[1]].cycles,
            }
            for setting in step.knob.settings
        ],
    }


def _gantt(run: LectureResult) -> Picture:
    """Loads, computes and stores; cycles before the first load and after the last compute."""
    last = run.kernels[-1]
    named = [(_work(each), each) for each in run.last_kernel]
    starts = [each.start for work, each in named if work == "load"]
    ends = [each.start + each.cycles for work, each in named if work == "compute"]
    cycles = last.end - last.start
    return {
        "cycles": cycles,
        "before": min(starts),
        "after": cycles - max(ends),
        "intervals": [
            {
                "engine": work,
                "layer": each.layer,
                "from": each.start,
                "to": each.start + each.cycles,
            }
            for work, each in named
            if work
        ],
    }


def _work(interval: Interval) -> str:
    """What the picture of step 7 calls it; empty: it is not drawn."""
    return STORE if interval.kind == STORE else ENGINES.get(interval.engine, "")


def limits(step: LectureStep, found: LectureResults) -> Picture:
    """Step 8: the staircase with its lower bound, and A and B over LB with a fast and a slow GB."""
    return {
        "bound": found.runs[COARSE].lower_bound_cycles,
        "rate": BASE_GB_RATE,
        "slow_rate": SLOW_GB,
        "own_lb": format_bytes(BASE_LB),
        "stairs": [
            {
                "key": run,
                "names": [f"{sign}{words[0].lower()}{words[1:]}", f"{sign}{short}"],
                "run": {FINE: "A", COARSE: "B"}.get(run, ""),
                "cycles": found.runs[run].cycles,
                "dram": found.runs[run].dram_bytes,
            }
            for run, (sign, words, short) in STAIRS.items()
        ],
        "points": [
            {
                "kib": size / KIB,
                "a": found.runs[FINE if size == BASE_LB else f"{FINE}_lb{size}"].cycles,
                "b": found.runs[COARSE if size == BASE_LB else f"{COARSE}_lb{size}"].cycles,
                "slow_a": found.runs[f"{FINE}_slow_lb{size}"].cycles,
                "slow_b": found.runs[f"{COARSE}_slow_lb{size}"].cycles,
            }
            for size in LB_BYTES
        ],
        "settings": [
            {
                "key": setting_key(setting),
                "kib": RUNS[setting.runs[0]].chip.get(LB, BASE_LB) / KIB,
                **{
                    name: found.runs[run].cycles
                    for name, run in zip(("a", "b", "slow_a", "slow_b"), setting.runs, strict=True)
                },
            }
            for setting in step.knob.settings
        ],
    }


PICTURES: Mapping[int, Callable[[LectureStep, LectureResults], Picture]] = {
    1: traffic,
    2: cutting,
    3: merging,
    4: ordering,
    5: placing,
    6: borders,
    7: overlapping,
    8: limits,
}
"""The steps that are drawn, by their number."""
