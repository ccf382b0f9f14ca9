"""Point -> Cuts: layers of each group, and its split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from graphturbo_core.strategies.graphturbo.fitting import Fitter
from graphturbo_core.strategies.plus.cuts import GroupCut
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import Splitter, SubGraph
from graphturbo_core.strategies.tuned.beyond import ONE, PARTS, SECOND_AXIS, TWO
from graphturbo_core.strategies.tuned.crossing import Crosser, parts_of, plain, stepped
from graphturbo_core.strategies.tuned.space import (
    AS_IS,
    FLIPPED,
    START,
    STEPS,
    WHOLE,
    Point,
    SearchSpace,
)
from graphturbo_core.strategies.tuned.starts import Start, plain_splitter


@dataclass(frozen=True)
class Shaper:
    """Makes the groups of points of one space; splits are cached."""

    target: Target
    space: SearchSpace

    @cached_property
    def _starts(self) -> dict[str, Start]:
        return {start.name: start for start in self.space.starts}

    @cached_property
    def _split(self) -> dict[tuple[tuple[int, ...], int | None], GroupCut | None]:
        return {}

    def start(self, point: Point) -> Start:
        """The schedule that the point changes."""
        return self._starts.get(point.get(START, ""), self.space.starts[0])

    def cuts(self, point: Point) -> tuple[GroupCut, ...]:
        """Returns the groups in topological order.

        1. The point separates or joins neighbours; they are joined only if the whole has a split
        (Algorithm 1). 2. A group of the start has the start's split. Another group has Algorithm
        1's, its count raised until each core's part fits. 3. The point may name another axis that
        carries. 4. The point may add or remove a second axis; with two axes, neighbours are also
        joined if no single axis fits. 5. The point moves the counts of both axes by steps in the
        list of counts that divide all tensors inside. LB may then overflow, and lowering spills.
        """
        own = {cut.layers: cut for cut in self.start(point).cuts}
        turned = (self._turned(cut, point) for cut in self._merged(point, own))
        return tuple(self._stepped(self._crossed(cut, point), point) for cut in turned)

    def _merged(self, point: Point, own: dict[tuple[int, ...], GroupCut]) -> Iterator[GroupCut]:
        """Rules 1 and 2."""
        held: GroupCut | None = None
        cuts = self.start(point).cuts
        for layers, is_joined in (run for cut in cuts for run in self._runs(point, cut)):
            joined = (
                self._joined((*held.layers, *layers), own, point) if held and is_joined else None
            )
            if joined is None and held is not None:
                yield held
            held = joined or self._known(layers, own) or GroupCut(layers, -1, 1)
        if held is not None:
            yield held

    def _runs(self, point: Point, cut: GroupCut) -> Iterator[tuple[tuple[int, ...], bool]]:
        """Undivided runs of layers, and whether each is to join the run before it."""
        run: list[int] = []
        is_joined = self._is_flipped(point, cut.layers[0])
        for layer in cut.layers:
            if run and self._is_flipped(point, layer):
                yield tuple(run), is_joined
                run, is_joined = [], False
            run.append(layer)
        yield tuple(run), is_joined

    def _is_flipped(self, point: Point, layer: int) -> bool:
        """Whether the point inverts the start's choice between this layer and the one before."""
        line = self.start(point).line
        place = self._places(self.start(point))[layer]
        return place > 0 and point.get(self.space.pair(line[place - 1], layer)) == FLIPPED

    def _places(self, start: Start) -> dict[int, int]:
        if start.name not in self._place_of:
            self._place_of[start.name] = {layer: place for place, layer in enumerate(start.line)}
        return self._place_of[start.name]

    @cached_property
    def _place_of(self) -> dict[str, dict[int, int]]:
        return {}

    def _joined(
        self, layers: tuple[int, ...], own: dict[tuple[int, ...], GroupCut], point: Point
    ) -> GroupCut | None:
        """These layers as one group; along two axes if none fits alone and the point has two."""
        known = self._known(layers, own)
        says = self._second_axis(layers, point)
        if known is not None or says in (AS_IS, ONE):
            return known
        having = frozenset(() if says == TWO else (int(says),))
        return self._crosser.pair(tuple(sorted(layers)), having)

    def _known(
        self, layers: tuple[int, ...], own: dict[tuple[int, ...], GroupCut]
    ) -> GroupCut | None:
        """The group of these layers from the start, or with Algorithm 1's split."""
        rising = tuple(sorted(layers))
        return own.get(rising) or self._fitted(rising, None)

    def _fitted(self, layers: tuple[int, ...], axis: int | None) -> GroupCut | None:
        """Algorithm 1, along `axis` if given, with the count at which each core's part fits."""
        key = (layers, axis)
        if key not in self._split:
            part = SubGraph(self.space.graph, layers)
            splitter = replace(self._splitter, axis=axis)
            split = splitter(part)
            if split is not None:
                section = Fitter(self.target, splitter)(part, split, "tried").section
                self._split[key] = GroupCut(layers, split.axis, section.pieces)
            else:
                self._split[key] = None
        return self._split[key]

    @cached_property
    def _splitter(self) -> Splitter:
        return plain_splitter(self.target)

    def _turned(self, cut: GroupCut, point: Point) -> GroupCut:
        """Rule 3."""
        axis = point.get(f"axis {self.space.classes[cut.layers[-1]]}", AS_IS)
        if axis == AS_IS or int(axis) == cut.axis:
            return cut
        return self._fitted(cut.layers, int(axis)) or cut

    def _crossed(self, cut: GroupCut, point: Point) -> GroupCut:
        """Rule 4."""
        says = self._second_axis(cut.layers, point)
        if says == AS_IS or (says == ONE and not cut.further):
            return cut
        if says == ONE:
            return self._fitted(cut.layers, None) or GroupCut(cut.layers, -1, 1)
        if says == TWO:
            return self._crosser.wanting(cut)
        return self._crosser.along(cut, int(says))

    def _second_axis(self, layers: tuple[int, ...], point: Point) -> str:
        """A point's second axis of a group: by its last layer's class, or for the whole model."""
        says = point.get(f"{SECOND_AXIS} {self.space.classes[max(layers)]}", AS_IS)
        return point.get(SECOND_AXIS, AS_IS) if says == AS_IS else says

    @cached_property
    def _crosser(self) -> Crosser:
        return Crosser(self.target, self.space.graph)

    def _stepped(self, cut: GroupCut, point: Point) -> GroupCut:
        """Rule 5."""
        number = self.space.classes[cut.layers[-1]]
        step = point.get(f"{PARTS} {number}", AS_IS)
        parted = cut if step == AS_IS else self._crosser.parted(cut, STEPS[step])
        return self._counted(parted, point)

    def _counted(self, cut: GroupCut, point: Point) -> GroupCut:
        """Rule 5, of the first axis."""
        step = point.get(f"pieces {self.space.classes[cut.layers[-1]]}", AS_IS)
        if step == AS_IS:
            step = point.get("pieces", AS_IS)
        if step == AS_IS:
            return cut
        if step == WHOLE:
            return replace(cut, pieces=1, further=())
        base = cut if cut.axis >= 0 else self._fitted(cut.layers, None)
        if base is None:
            return cut
        inner = prod(parts for _, parts in base.further)
        counts = parts_of(self.space.graph, base.layers, base.axis)
        first = stepped(counts, base.pieces // inner, STEPS[step])
        return plain(replace(base, pieces=first * inner))
