"""Step 5 and 6 of the lecture: where results wait, and what borders cost, for their pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from graphturbo_core.lecture.results import LectureKernel, LectureResult, LectureResults
from graphturbo_core.lecture.runs import COARSE
from graphturbo_core.lecture.steps import LectureStep
from graphturbo_ui.learn.keys import setting_key

WAITING, READER = "relu2", "relu3"
"""The tensor that waits, and the one that is computed from it."""
IN_ORDER = "cores_0123"
"""The run whose cores take the images in their own order."""
Picture = Mapping[str, object]


def placing(step: LectureStep, found: LectureResults) -> Picture:
    """Step 5: where the images of the first kernel of the second group wait, and their moves."""
    binding = next(each for each in found.bindings if each.tensor == READER)
    cores = json.loads(binding.cores)
    return {
        "tensor": WAITING,
        "cores": found.cores,
        "runs": {
            setting_key(setting): _waiting(
                found.runs[setting.runs[0]], binding.kernel, cores, setting.runs[0] == COARSE
            )
            for setting in step.knob.settings
        },
        "compared": [
            {"takes": cores, "bytes": found.runs[COARSE].core_to_core_bytes},
            {"takes": sorted(cores), "bytes": found.runs[IN_ORDER].core_to_core_bytes},
        ],
    }


def _waiting(run: LectureResult, reader: str, cores: Sequence[int], is_bound: bool) -> Picture:
    """Parts of the tensor before the kernel that reads them; with its cores where they are kept."""
    at = next(at for at, kernel in enumerate(run.kernels) if kernel.name == reader)
    kernel = run.kernels[at]
    moves = [move for move in kernel.moves if move.tensor == WAITING]
    return {
        "cycles": run.cycles,
        "between_cores": run.core_to_core_bytes,
        "images": list(range(kernel.first, kernel.last + 1)),
        "takes": list(cores) if is_bound else None,
        "parts": list(_parts(run.kernels[:at])),
        "moves": [
            {"image": move.image, "from": move.source, "to": move.target, "bytes": move.bytes}
            for move in moves
        ],
    }


def _parts(kernels: Sequence[LectureKernel]) -> Iterator[Mapping[str, object]]:
    """Parts of the tensor that wait when the last of these kernels has ended."""
    for part in kernels[-1].in_cores:
        if part.tensor == WAITING:
            yield {"image": part.first, "place": "LB", "core": part.core, "bytes": part.bytes}
    for part in kernels[-1].parked:
        if part.tensor == WAITING:
            yield from _by_image(part.first, part.last, part.bytes, "GB")
    for kernel in kernels:
        for each in kernel.traffic:
            if each.tensor == WAITING and each.way == "write":
                yield from _by_image(kernel.first, kernel.last, each.bytes, "DRAM")


def _by_image(first: int, last: int, size: int, place: str) -> Iterator[Mapping[str, object]]:
    count = last - first + 1
    for image in range(first, last + 1):
        yield {"image": image, "place": place, "core": -1, "bytes": size // count}


def borders(step: LectureStep, found: LectureResults) -> Picture:
    """Step 6: what each kernel of a cut reads of images and of border rows."""
    return {
        "images": found.images,
        "image_bytes": found.tensor("image").bytes // found.images,
        "whole": found.tensor("image").bytes,
        "first": setting_key(step.knob.settings[step.knob.first]),
        "runs": {
            setting_key(setting): _reads(found.runs[setting.runs[0]])
            for setting in step.knob.settings
        },
    }


def _reads(run: LectureResult) -> Picture:
    first = run.groups[0]
    return {
        "halo_macs": run.halo_macs,
        "read": sum(run.dram[cause] for cause in ("input", "halo")),
        "kernels": [
            {
                "name": kernel.name,
                "axis": kernel.axis,
                "low": kernel.low,
                "high": kernel.high,
                "extent": kernel.extent,
                "input": _bytes_of(kernel, "input"),
                "halo": _bytes_of(kernel, "halo"),
            }
            for kernel in run.kernels
            if kernel.group == first.name
        ],
    }


def _bytes_of(kernel: LectureKernel, cause: str) -> int:
    return sum(each.bytes for each in kernel.traffic if each.cause == cause)
