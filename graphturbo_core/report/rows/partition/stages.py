"""Layers -> stages: contiguous stretches with a name that a reader of the model knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from typing import TypedDict

from graphturbo_core.report.outcome import Outcome

MOST_STAGES = 12
"""Stages without stem and head; more are joined, the shortest first (our choice)."""
SMALLEST_SHARE = 0.04
"""A run with fewer than this share of the layers is no stage of its own (our choice) ..."""
SMALLEST_PART = 0.5
"""... unless it has this part of the longest run's layers: a model may have many equal runs."""
SPREAD = 0.7
"""One run with more than this share of all layers is divided by the next part of its path."""
DEEPEST = 6
"""Parts of a path that are looked at."""
PICTURE_AXES = 4
"""Axes of a tensor that has a height and a width."""
SIDES = ((2, 3), (1, 2))
"""Axes of height and width: of N, C, H, W, and of N, H, W, C."""
SHRUNK = 2 / 3
"""Both sides of a picture have shrunk to this or less where a stage begins (our choice)."""
STEM, HEAD = "stem", "head"
PART = "part"
"""What a number is called that has no part of a path before it."""
TENSOR_WORDS = frozenset(
    {"query", "key", "value", "input", "output", "weight", "bias", "merge", "turn", "split"}
)
PLURALS = re.compile(r"^(layer|block|stage)s(?=\d)")
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
    names have none, a stage begins where the picture shrinks; where there is neither, the layers
    are divided evenly. Our choice: no model format says what a stage is. Short runs at the two ends
    are the stem and the head.
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
        found.append(
            ModelStage(title_of(paths[own[0]][: depth + 1] if key else ()), own[0], own[-1])
        )
    return found


def title_of(path: Sequence[str]) -> str:
    """The last part of a path: `stage1` -> `stage 1`, (`layers`, `11`) -> `layer 11`.

    With the part before it where it is a number (`features 5.0`), begins with one (`mixed 3x3`), or
    names a tensor or a change of its layout (`attention value`): by itself it says nothing. A
    model's own part `input` does.
    """
    if not path:
        return ""
    numbers = [*takewhile(str.isdigit, reversed(path))][::-1]
    before, last = path[: len(path) - len(numbers)], path[-1]
    if numbers and before:
        last = f"{before[-1]}{numbers[0]}"
    elif not numbers:
        before = path[:-1]
    last = PLURALS.sub(r"\1", last)
    numbered = NUMBERED.match(last)
    title = f"{numbered[1]} {int(numbered[2])}" if numbered else last
    if numbers and before:
        return ".".join((title, *numbers[1:]))
    if numbers:
        return f"{PART} {'.'.join(numbers)}"
    if title[0].isdigit():
        return f"{title_of(before) or PART} {title}"
    return f"{title_of(before)} {title}" if title in TENSOR_WORDS and before else title


def _by_shape(shapes: Sequence[tuple[int, ...]]) -> list[ModelStage]:
    """A stage per size of the picture: it begins where both sides shrink in one ratio.

    Other tensors of four axes are no picture: an attention's heads shrink on one side only, the
    windows of one are more than the samples (Liu et al., Swin Transformer, section 3.2).
    """
    found: list[ModelStage] = []
    sides = (0, 0)
    for at, shape in enumerate(shapes):
        smaller = _smaller(shape, sides) if shape[:1] == shapes[0][:1] else None
        if smaller:
            sides = smaller
            title = f"stage {sides[0]} × {sides[1]}"
            found.append(ModelStage(title, at if found else 0, at))
        elif found:
            found[-1] = ModelStage(found[-1].title, found[-1].first, at)
    return found


def _smaller(shape: tuple[int, ...], before: tuple[int, int]) -> tuple[int, int] | None:
    """Height and width of a picture that is `before`, shrunk; any picture where both are 0."""
    if len(shape) != PICTURE_AXES:
        return None
    for height, width in ((shape[first], shape[second]) for first, second in SIDES):
        if height * width <= 1:
            continue
        if before == (0, 0):
            return height, width
        # The same ratio, as far as whole pixels allow.
        is_alike = abs(height * before[1] - width * before[0]) < max(before)
        if is_alike and max(height / before[0], width / before[1]) <= SHRUNK:
            return height, width
    return None


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
    """Small runs before the first large one are the stem, after the last the head; others join.

    A small run between two large ones belongs to the first of them.
    """
    longest = max(run.layers for run in runs)
    least = max(2, round(min(SMALLEST_SHARE * layers, SMALLEST_PART * longest)))
    large = [run for run in runs if run.layers >= least]
    if not large:
        return fewer(runs, MOST_STAGES)
    ends = [*(run.first for run in large[1:]), large[-1].last + 1]
    inner = [
        ModelStage(run.title, run.first, end - 1) for run, end in zip(large, ends, strict=True)
    ]
    stem = [run for run in runs if run.last < large[0].first]
    head = [run for run in runs if run.first > large[-1].last]
    return [
        *([ModelStage(STEM, 0, stem[-1].last)] if stem else []),
        *fewer(inner, MOST_STAGES),
        *([ModelStage(HEAD, head[0].first, head[-1].last)] if head else []),
    ]


def fewer(found: list[ModelStage], most: int, cost: Sequence[float] = ()) -> list[ModelStage]:
    """At most so many stages: the smallest joins its smaller neighbour.

    `cost`: of each layer, which the size of a stage is the sum of; without it, it is its layers.
    A stem or head of a third of an even share or more joins only where nothing else can: in one
    name with layers it is overlooked (our choice).
    """

    def size(stage: ModelStage) -> float:
        return sum(cost[stage.first : stage.last + 1]) if cost else stage.layers

    def is_apart(stage: ModelStage) -> bool:
        return stage.title in {STEM, HEAD} and 3 * most * size(stage) >= total

    found = list(found)
    total = sum(map(size, found))
    while len(found) > most:
        places = range(len(found))
        free = [place for place in places if not is_apart(found[place])] or places
        at = min(free, key=lambda place: size(found[place]))
        beside = [place for place in (at - 1, at + 1) if place in places]
        beside = [place for place in beside if place in free] or beside
        first, last = sorted((at, min(beside, key=lambda place: size(found[place]))))
        title = both(found[first].title, found[last].title)
        found[first : last + 1] = [ModelStage(title, found[first].first, found[last].last)]
    return found


def both(first: str, last: str) -> str:
    """The title of two neighbours: `stage 4 + head`.

    `stage 1 – stage 4` where either is of several already.
    """
    ends = re.split(r" [+–] ", first)[0], re.split(r" [+–] ", last)[-1]
    if ends[0] == ends[1]:
        return ends[0]
    return f" {'+' if ends == (first, last) else '–'} ".join(ends)
