"""Reports -> the colour number of each layer and of each sub-graph of B: one hue everywhere.

Five hues can be told apart by everyone, so what a hue stands for depends on the plan: a sub-graph,
a stage of the model, or a kind of sub-graph that repeats.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.partition.stages import (
    PARTS,
    ModelStage,
    both,
    fewer,
    title_of,
)

HUES = 5
"""Colours; the number after the last stands for everything else."""
DOMINANT = 0.6
"""A sub-graph with more than this share of A's time is coloured by stages (our choice)."""
REPEATS = 3
"""A kind of sub-graph that occurs at least so often repeats (our choice)."""
KINDS_SHARE = 0.9
"""Five kinds are enough where they hold this share of A's time (our choice)."""
BANDED = -1
"""Hue of a sub-graph whose layers have several."""
NUMBERED = re.compile(r"\D+ \d+")
"""The title of one of several equal blocks, `layer 0`."""
PLACES = ("first", "second", "third", "fourth", "fifth")
BY_NUMBER = re.compile(r"layers? \d+(–\d+)?")
"""The title of a stage without a name."""
Meaning = Literal["group", "stage", "kind"]


@dataclass(frozen=True, slots=True)
class Hues:
    """What the hues stand for. `of_layer`: a hue per layer; `of_group`: per sub-graph of B."""

    meaning: Meaning
    titles: tuple[str, ...]
    of_layer: tuple[int, ...]
    of_group: tuple[int, ...]


def hues_of(a: Report, b: Report) -> Hues:
    """The hues for two runs over the same layers; B's sub-graphs decide."""
    groups = layers_of_groups(b)
    cost = np.array([row["window_s"] for row in a.tables["layers"]], float)
    stages = stages_of(b)
    heaviest = max(float(cost[list(layers)].sum()) for layers in groups if layers)
    is_dominant = heaviest > DOMINANT * float(cost.sum()) and len(stages) >= REPEATS
    if not is_dominant and len(groups) <= HUES:
        return _by_group(groups, stages, len(cost))
    kinds = _by_kind(b, groups, cost) if not is_dominant else None
    few = fewer(stages, HUES, _in_both(cost, b))
    return kinds or _by_stage(groups, few, cost, is_banded=is_dominant)


def _in_both(cost: np.ndarray[tuple[int], np.dtype[np.float64]], b: Report) -> list[float]:
    """Share of A's time plus share of B's, per layer: what takes long in either has its hue."""
    other = np.array([row["window_s"] for row in b.tables["layers"]], float)
    shares: list[float] = (cost / (cost.sum() or 1) + other / (other.sum() or 1)).tolist()
    return shares


def titles_of_groups(b: Report, hues: Hues) -> list[str]:
    """The name of each of B's sub-graphs: the title of its hue, or of its first and last stage.

    `whole model` where it has every layer. Several sub-graphs of a hue share its title.
    """
    titles = []
    for layers, hue in zip(layers_of_groups(b), hues.of_group, strict=True):
        if hues.meaning != "stage" and 0 <= hue < len(hues.titles):
            titles.append(hues.titles[hue])
        elif len(layers) == len(hues.of_layer):
            titles.append("whole model")
        else:
            titles.append(_from_to(layers, hues) if layers else "no layer")
    return titles


def _from_to(layers: Sequence[int], hues: Hues) -> str:
    """The stages of these layers, in the words of the hues; layers by number without names."""
    own = dict.fromkeys(hues.of_layer[layer] for layer in layers)
    titles = [hues.titles[hue] for hue in own] if hues.meaning == "stage" else []
    if not all(map(BY_NUMBER.fullmatch, titles)):
        return reduce(both, titles)
    first, last = layers[0] + 1, layers[-1] + 1
    return f"layer {first}" if first == last else f"layers {first} to {last}"


def stages_of(report: Report) -> list[ModelStage]:
    """The stages of the report's layers."""
    return [
        ModelStage(row["title"], row["first_layer"], row["last_layer"])
        for row in report.tables["stages"]
    ]


def layers_of_groups(report: Report) -> list[tuple[int, ...]]:
    """The layers of each sub-graph, in order; a layer that several share is in each."""
    found: list[set[int]] = [set() for _ in report.tables["groups"]]
    for node in report.tables["graph_nodes"]:
        found[node["group"]].add(node["layer"])
    return [tuple(sorted(layers)) for layers in found]


def hues_of_groups(report: Report, hues: Hues) -> tuple[int, ...]:
    """The hue of each sub-graph of a run other than B; none where its layers have several."""
    found = []
    for layers in layers_of_groups(report):
        own = {hues.of_layer[layer] for layer in layers}
        found.append(own.pop() if len(own) == 1 else BANDED)
    return tuple(found)


def _by_group(groups: Sequence[tuple[int, ...]], stages: Sequence[ModelStage], layers: int) -> Hues:
    """A hue per sub-graph, titled by the stages of its layers."""
    titles = []
    for hue, members in enumerate(groups):
        own = [stage.title for stage in stages if _overlaps(stage, members)]
        titles.append(_several(own) or f"sub-graph {hue + 1}")
    of_group = tuple(range(len(groups)))
    of_layer = _with_groups([0] * layers, groups, of_group)
    return Hues("group", _distinct(titles), tuple(of_layer), of_group)


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    """Titles that occur more than once with their number."""
    counts = Counter(titles)
    return tuple(
        f"{title} ({hue + 1})" if counts[title] > 1 else title for hue, title in enumerate(titles)
    )


def _overlaps(stage: ModelStage, members: Sequence[int]) -> bool:
    return any(stage.first <= layer <= stage.last for layer in members)


def _several(titles: Sequence[str]) -> str:
    """`a + b` of two titles, `a – d` of more."""
    joined = " + ".join(titles)
    return joined if len(titles) < REPEATS else f"{titles[0]} – {titles[-1]}"


def _by_stage(
    groups: Sequence[tuple[int, ...]],
    stages: Sequence[ModelStage],
    cost: np.ndarray[tuple[int], np.dtype[np.float64]],
    *,
    is_banded: bool,
) -> Hues:
    """A hue per stage; a sub-graph has that of most of A's time, or none where it has bands."""
    of_layer = [0] * len(cost)
    for hue, stage in enumerate(stages):
        for layer in range(stage.first, stage.last + 1):
            of_layer[layer] = hue
    of_group = []
    for members in groups:
        times: dict[int, float] = defaultdict(float)
        for layer in members:
            times[of_layer[layer]] += float(cost[layer])
        best = max(sorted(times), key=lambda hue: times[hue], default=0)
        of_group.append(BANDED if is_banded and len(times) > 1 else best)
    if not is_banded:
        of_layer = _with_groups(of_layer, groups, of_group)
    titles = [_title_of_hue(hue, stages, of_layer) for hue in range(len(stages))]
    return Hues("stage", _distinct(titles), tuple(of_layer), tuple(of_group))


def _title_of_hue(hue: int, stages: Sequence[ModelStage], of_layer: list[int]) -> str:
    """The stages of which most layers have a hue: a sub-graph across stages has one for them."""
    titles = []
    for stage in stages:
        own = of_layer[stage.first : stage.last + 1]
        if 2 * own.count(hue) > len(own):
            titles.append(stage.title)
    return reduce(both, titles) if titles else stages[hue].title


def _with_groups(
    of_layer: list[int], groups: Sequence[tuple[int, ...]], of_group: Sequence[int]
) -> list[int]:
    """Layers in the hue of the sub-graph that has them: the first one, where several share one."""
    found = list(of_layer)
    for members, hue in reversed([*zip(groups, of_group, strict=True)]):
        for layer in members:
            found[layer] = hue
    return found


def _by_kind(
    b: Report,
    groups: Sequence[tuple[int, ...]],
    cost: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> Hues | None:
    """A hue per kind: sub-graphs of the same op types, pieces and axes; None where none repeats."""
    layers = b.tables["layers"]
    kinds: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for index, (row, members) in enumerate(zip(b.tables["groups"], groups, strict=True)):
        types = tuple(layers[layer]["op_types"] for layer in members)
        kinds[types, row["along"], row["pieces"]].append(index)
    if len(groups) == len(layers) or max(map(len, kinds.values())) < REPEATS:
        return None
    time_of = {
        kind: sum(float(cost[list(groups[index])].sum()) for index in own)
        for kind, own in kinds.items()
    }
    # The heaviest kinds have the hues, in the order in which they first occur.
    heaviest = sorted(kinds, key=lambda kind: (-time_of[kind], kinds[kind][0]))[:HUES]
    if sum(time_of[kind] for kind in heaviest) < KINDS_SHARE * float(cost.sum()):
        return None
    chosen = [kind for kind in kinds if kind in heaviest]
    of_group = [HUES] * len(groups)
    for hue, kind in enumerate(chosen):
        for index in kinds[kind]:
            of_group[index] = hue
    of_layer = _with_groups([HUES] * len(layers), groups, of_group)
    names = [layer["name"] for layer in layers]
    titles = _kind_titles([[names[layer] for layer in groups[kinds[kind][0]]] for kind in chosen])
    return Hues("kind", _numbered(titles), tuple(of_layer), tuple(of_group))


def _numbered(titles: Sequence[str]) -> tuple[str, ...]:
    """Titles that occur more than once with their place among equal ones: `second matmul`."""
    counts, seen = Counter(titles), Counter[str]()
    found = []
    for title in titles:
        found.append(f"{PLACES[seen[title]]} {title}" if counts[title] > 1 else title)
        seen[title] += 1
    return tuple(found)


def _kind_titles(kinds: Sequence[Sequence[str]]) -> list[str]:
    """Per kind the last part of the path that its layers share, `attention`.

    Where kinds share it, with what is below, `attention: query – key`; below a numbered block, as
    all blocks have the kind, that alone. Without a shared path the first part of the last one.
    """
    paths = [[[part for part in PARTS.split(name) if part] for name in names] for names in kinds]
    shared = [_shared(own) for own in paths]
    titles = [title_of(path or own[-1][:1]) for path, own in zip(shared, paths, strict=True)]
    counts = Counter(titles)
    found = []
    for title, path, own in zip(titles, shared, paths, strict=True):
        below = [title_of([parts[min(len(path), len(parts) - 1)]]) for parts in (own[0], own[-1])]
        words = " – ".join(dict.fromkeys(below))
        is_block = NUMBERED.fullmatch(title) is not None
        is_enough = words == title or not path or (counts[title] == 1 and not is_block)
        found.append(title if is_enough else words if is_block else f"{title}: {words}")
    return found


def _shared(paths: Sequence[Sequence[str]]) -> list[str]:
    """The parts that all paths begin with."""
    found: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        found.append(parts[0])
    return found
