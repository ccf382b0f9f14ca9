"""LectureResults -> the last picture of each step as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from graphturbo_core.lecture.facts import KIB, kib, read_bytes, whole
from graphturbo_core.lecture.printed.drawing import (
    PrintedBar,
    PrintedLine,
    PrintedRow,
    bars,
    lines,
    rows_of_intervals,
)
from graphturbo_core.lecture.results import LectureResult, LectureResults
from graphturbo_core.lecture.step import LectureStep

THOUSAND = 1000
G3_LAYERS = ("conv4", "conv5", "conv6")


CAPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "traffic": "KiB over DRAM with a kernel, one launch of the chip, per op, layer or group;"
        " dark: {compulsory_kib} KiB that every schedule moves",
        "pieces": "KiB that are live, needed at the same time, in one piece of the first group",
        "groups": "Cycles by what is merged; g1 | g2 | g3: {groups_line}",
        "order": "KiB in GB after each kernel",
        "places": "Cycles by where results between groups wait",
        "borders": "KiB of the images that are read from DRAM; dark: the images",
        "overlap": "g3 on DMA (load) and one core (compute): with fences, where a layer waits until"
        " the one before it has ended, and free; the store of the result takes {g3_after} more",
        "limits": "Thousand cycles by KiB of LB per core; slow: a GB as slow as DRAM",
    }
)
"""What each picture shows, with units."""


def end_state(step: LectureStep, results: LectureResults) -> str:
    """The picture of a step when its question has been answered."""
    return _PICTURES[step.key](step, results)


def _traffic(step: LectureStep, results: LectureResults) -> str:
    needed = results.compulsory_dram_bytes
    rows = []
    for setting in step.knob.settings:
        moved = results.runs[setting.runs[0]].dram_bytes
        rows.append(PrintedBar(setting.label, needed, moved - needed, f"{kib(moved)} KiB"))
    return bars(f"Bytes over DRAM; {kib(needed)} KiB are needed", rows)


def _pieces(step: LectureStep, results: LectureResults) -> str:
    rows = [
        PrintedBar(
            f"{each.pieces} piece{'s' if each.pieces > 1 else ''}",
            each.peak_bytes if each.taken else 0,
            0 if each.taken else each.peak_bytes,
            f"{kib(each.peak_bytes)} KiB",
        )
        for each in results.candidates
    ]
    room = results.cores * results.lb_data_bytes
    return bars("Live bytes of one piece", rows, room, f"all LBs {kib(room)} KiB")


def _cycles(step: LectureStep, results: LectureResults) -> str:
    """Cycles of every setting, the fastest dark."""
    runs = {setting.label: results.runs[setting.runs[0]].cycles for setting in step.knob.settings}
    best = min(runs.values())
    rows = [
        PrintedBar(label, n if n == best else 0, 0 if n == best else n, whole(n))
        for label, n in runs.items()
    ]
    return bars("Cycles", rows)


def _order(step: LectureStep, results: LectureResults) -> str:
    depth, breadth = (results.runs[name] for name in step.knob.settings[step.knob.first].runs)
    drawn = [
        PrintedLine("depth first", _waiting(depth)),
        PrintedLine("breadth first", _waiting(breadth)),
    ]
    places = [str(number + 1) for number in range(len(depth.kernels))]
    return lines("KiB in GB after each kernel", places, drawn, "kernel", has_peaks=True)


def _waiting(run: LectureResult) -> tuple[float, ...]:
    return tuple(kernel.parked_bytes / KIB for kernel in run.kernels)


def _borders(step: LectureStep, results: LectureResults) -> str:
    image = results.tensor("image").bytes
    rows = []
    for setting in step.knob.settings:
        read = read_bytes(results.runs[setting.runs[0]], "image")
        rows.append(PrintedBar(setting.label, image, read - image, f"{kib(read)} KiB"))
    return bars("Bytes of the images that DRAM reads", rows)


def _overlap(step: LectureStep, results: LectureResults) -> str:
    rows = []
    for name, label in (("order", "fenced"), ("full", "free")):
        for engine, what in (("dma 0", "load"), ("core 0 matrix", "compute")):
            rows.append(PrintedRow(f"{label}, {what}", _spans(results.runs[name], engine)))
    return rows_of_intervals("Loads and computes of g3", rows)


def _spans(run: LectureResult, engine: str) -> tuple[tuple[int, int, str], ...]:
    """Per layer, from the first start to the last end on an engine."""
    found = []
    for layer in G3_LAYERS:
        own = [each for each in run.last_kernel if (each.engine, each.layer) == (engine, layer)]
        start = min(each.start for each in own)
        found.append((start, max(each.start + each.cycles for each in own) - start, layer))
    return tuple(found)


def _limits(step: LectureStep, results: LectureResults) -> str:
    settings = step.knob.settings
    names = ("A", "B", "A, slow GB", "B, slow GB")
    drawn = [
        PrintedLine(
            name,
            tuple(results.runs[setting.runs[place]].cycles / THOUSAND for setting in settings),
        )
        for place, name in enumerate(names)
    ]
    unit = f"{step.knob.unit} of LB per core"
    return lines(
        "A and B by the size of LB", [each.label for each in settings], drawn, unit, has_peaks=False
    )


_PICTURES: Mapping[str, Callable[[LectureStep, LectureResults], str]] = MappingProxyType(
    {
        "traffic": _traffic,
        "pieces": _pieces,
        "groups": _cycles,
        "order": _order,
        "places": _cycles,
        "borders": _borders,
        "overlap": _overlap,
        "limits": _limits,
    }
)
