"""Layers -> stages: contiguous stretches with a name that a reader of the model knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TypedDict

from graphturbo_core.report.outcome import Outcome

MOST_STAGES = 12
"""More runs of one path are joined, the shortest first. Our choice: more names fill no legend."""
SMALLEST_SHARE = 0.04
"""A run with fewer than this share of the layers joins its neighbour (our choice)."""
SPREAD = 0.7
"""One run with more than this share of all layers is divided by the next part of its path."""
DEEPEST = 6
"""Parts of a path that are looked at."""
MATRIX_AXES = 4
"""Axes of a tensor that has a height and a width: N, C, H, W."""
NUMBERED = re.compile(r"^(?:.*[._])?([A-Za-z]+?)[._]?(\d+)$")
PARTS = re.compile(r"[/.]")


@dataclass(frozen=True, slots=True)
class ModelStage:
    """Layers `first` to `last`, both counted from 0."""

    title: str
    first: int
    last: int

    @property
    def layers(self) -> int:
        """How many layers it has."""
        return self.last - self.first + 1


class StageRow(TypedDict):
    """One stage; `first_layer` and `last_layer` are indices of layers."""

    index: int
    title: str
    first_layer: int
    last_layer: int


def stage_rows(outcome: Outcome) -> Iterator[StageRow]:
    """The stages of the model's layers, in order: the same for every strategy."""
    graph = outcome.plan.semantics.graph
    layers = outcome.plan.layers
    shapes = [graph.tensors[graph.op_by_name[layer.ops[-1]].outputs[0]].shape for layer in layers]
    for index, stage in enumerate(stages([layer.name for layer in layers], shapes)):
        yield {
            "index": index,
            "title": stage.title,
            "first_layer": stage.first,
            "last_layer": stage.last,
        }


def stages(names: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> list[ModelStage]:
    """The stages of layers with these names and output shapes.

    Names with a path (`stage1/block2/conv`, `layer1.0.conv1`) are grouped by its first parts. Where
    names have none, a stage begins where height times width of the output shrinks; where there is
    neither, the layers are divided evenly. Our choice: no model format says what a stage is.
    """
    paths = [tuple(part for part in PARTS.split(name) if part) for name in names]
    runs = _by_path(paths)
    if len(runs) < 2:  # noqa: PLR2004  # one stage says nothing
        runs = _by_shape(shapes)
    if len(runs) < 2:  # noqa: PLR2004
        runs = _evenly(len(names))
    return _joined(runs, len(names))


def _by_path(paths: Sequence[tuple[str, ...]]) -> list[ModelStage]:
    """Runs of one path prefix, deeper where one prefix holds nearly all layers."""
    found = [ModelStage("", 0, len(paths) - 1)]
    for depth in range(DEEPEST):
        large = [run for run in found if run.layers > SPREAD * len(paths)]
        if not large:
            break
        at = found.index(large[0])
        parts = _runs(paths, large[0], depth)
        if parts is None:
            return []
        found[at : at + 1] = parts
    return found if len(found) > 1 else []


def _runs(paths: Sequence[tuple[str, ...]], run: ModelStage, depth: int) -> list[ModelStage] | None:
    """The runs of equal part number `depth` within a run; None where most names end before it."""
    inside = range(run.first, run.last + 1)
    with_part = sum(len(paths[layer]) > depth + 1 for layer in inside)
    if with_part < run.layers / 2:
        return None
    found = []
    for key, members in groupby(inside, key=lambda at: paths[at][depth : depth + 1]):
        own = list(members)
        found.append(ModelStage(title_of(key), own[0], own[-1]))
    return found


def title_of(path: Sequence[str]) -> str:
    """The last part of a path: `stage1` -> `stage 1`, (`layer`, `11`) -> `layer 11`."""
    if not path:
        return ""
    last = f"{path[-2]}{path[-1]}" if path[-1].isdigit() and len(path) > 1 else path[-1]
    numbered = NUMBERED.match(last)
    return f"{numbered[1]} {int(numbered[2])}" if numbered else last


def _by_shape(shapes: Sequence[tuple[int, ...]]) -> list[ModelStage]:
    """A stage per size of the picture: it begins where height times width shrinks."""
    found: list[ModelStage] = []
    smallest = 0
    for at, shape in enumerate(shapes):
        size = shape[-1] * shape[-2] if len(shape) == MATRIX_AXES else 0
        if size > 1 and (not smallest or size < smallest):
            smallest = size
            title = f"{shape[-2]} × {shape[-1]}"
            found.append(ModelStage(title, at if found else 0, at))
        elif found:
            found[-1] = ModelStage(found[-1].title, found[-1].first, at)
    return found


def _evenly(layers: int) -> list[ModelStage]:
    """At most five stretches of equal length, named by their layers."""
    count = max(1, min(5, layers))
    ends = [layers * part // count for part in range(count + 1)]
    return [
        ModelStage(_numbers(first, last - 1), first, last - 1) for first, last in pairwise(ends)
    ]


def _numbers(first: int, last: int) -> str:
    return f"layer {first + 1}" if first == last else f"layers {first + 1}–{last + 1}"


def _joined(runs: list[ModelStage], layers: int) -> list[ModelStage]:
    """Small runs join a neighbour: before the first large one as `stem`, after it by name."""
    least = max(2, round(SMALLEST_SHARE * layers))
    large = [run for run in runs if run.layers >= least]
    if not large:
        return fewer(runs, MOST_STAGES)
    found: list[ModelStage] = []
    for run in runs:
        is_small = run.layers < least
        if not found and is_small:
            found.append(ModelStage("stem", run.first, run.last))
        elif found and found[-1].title == "stem" and run.first < large[0].first:
            found[-1] = ModelStage("stem", found[-1].first, run.last)
        elif is_small and run.first > large[-1].last:
            title = found[-1].title
            title = title if title.endswith(" + head") else f"{title} + head"
            found[-1] = ModelStage(title, found[-1].first, run.last)
        elif is_small:
            found[-1] = ModelStage(found[-1].title, found[-1].first, run.last)
        else:
            found.append(run)
    return fewer(found, MOST_STAGES)


def fewer(found: list[ModelStage], most: int, cost: Sequence[float] = ()) -> list[ModelStage]:
    """At most so many stages: the smallest joins its smaller neighbour.

    `cost`: of each layer, which the size of a stage is the sum of; without it, it is its layers.
    """

    def size(stage: ModelStage) -> float:
        return sum(cost[stage.first : stage.last + 1]) if cost else stage.layers

    found = list(found)
    while len(found) > most:
        at = min(range(len(found)), key=lambda place: size(found[place]))
        beside = [place for place in (at - 1, at + 1) if 0 <= place < len(found)]
        first, last = sorted((at, min(beside, key=lambda place: size(found[place]))))
        title = _both(found[first].title, found[last].title)
        found[first : last + 1] = [ModelStage(title, found[first].first, found[last].last)]
    return found


def _both(first: str, last: str) -> str:
    """`stage 4 + head`; `stage 1 – stage 4` where either is of several already."""
    ends = re.split(r" [+–] ", first)[0], re.split(r" [+–] ", last)[-1]
    if ends[0] == ends[1]:
        return ends[0]
    return f" {'+' if ends == (first, last) else '–'} ".join(ends)
