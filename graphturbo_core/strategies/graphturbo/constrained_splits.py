"""PlanConstraints -> splits: Algorithm 1 where a plan file fixes piece counts or axes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from graphturbo_core.errors import InvariantError, PlanError
from graphturbo_core.products.plan import Decision
from graphturbo_core.strategies.constraints import PLAN_STEP, RULE_FIXED, PlanConstraints
from graphturbo_core.strategies.graphturbo.fitting import FittedSection
from graphturbo_core.strategies.graphturbo.grouping import refused_merge
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.splitting import (
    SplitInfo,
    Splitter,
    SubGraph,
    carried_sizes,
    divides,
)
from graphturbo_core.units import bytes_beside, format_count


@dataclass(frozen=True)
class ConstrainedSplits:
    """A splitter restricted to the piece count and axis fixed for the layers of a sub-graph.

    Of one graph. Without restrictions, layers of one op are split once per kind.
    """

    splitter: Splitter
    constraints: PlanConstraints
    _of_kind: dict[Hashable, SplitInfo | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def __call__(self, part: SubGraph) -> SplitInfo | None:
        """The best split that satisfies the plan file."""
        is_free = not (self.constraints.pieces or self.constraints.axes)
        kind = part.graph.op_kind(part.layers[0]) if is_free and len(part.layers) == 1 else None
        if kind is None:
            return self.splitter_of(part)(part)
        if kind not in self._of_kind:
            self._of_kind[kind] = self.splitter(part)
        return self._of_kind[kind]

    def splitter_of(self, part: SubGraph) -> Splitter:
        """The splitter of one sub-graph; layers whose constraints differ have no common split."""
        counts = _constrained(self.constraints.pieces, part.layers)
        axes = _constrained(self.constraints.axes, part.layers)
        chosen = self.splitter
        if counts:
            chosen = replace(chosen, candidates=partial(_only, counts))
        if axes:
            chosen = replace(chosen, axis=axes[0] if len(axes) == 1 else -1)
        return chosen

    def check_merges(self, graph: LayerGraph) -> None:
        """Check the groups that a plan file requires, before any merge.

        Raises:
            PlanError: PLAN_MERGE: the group has no common split, with the reason per axis.
                PLAN_SPLIT: the same for a group whose count or axis is given.
        """
        for layers in self.constraints.merges:
            part = SubGraph(graph, layers)
            if self(part) is not None:
                continue
            if layers in self.constraints.alone:
                raise _refused(self._subject(part), "; ".join(self._whys(part)))
            names = [graph.layers[index].name for index in layers]
            raise refused_merge(names, "; ".join(self._whys(part)))

    def followed(self, part: SubGraph, section: FittedSection) -> tuple[Decision, ...]:
        """Decisions for the split that the plan file fixes for a group.

        Raises:
            PlanError: PLAN_SPLIT: the group has no such split.
        """
        counts = _constrained(self.constraints.pieces, part.layers)
        axes = _constrained(self.constraints.axes, part.layers)
        if not counts and not axes:
            return ()
        name, split = section.section.name, self(part)
        if split is None:
            raise _refused(self._subject(part), "; ".join(self._whys(part)))
        last = section.decisions[-1] if section.decisions else None
        if counts and last is not None and not last.is_taken:
            held, limit = last.numbers["core_bytes"], last.numbers["lb_data_bytes"]
            demand, room = bytes_beside(int(held), int(limit))
            why = f"a core would need {demand}, its LB has {room} for data"
            raise _refused(self._subject(part), why)
        numbers = {"pieces": section.section.pieces, "axis": split.axis}
        return (Decision(PLAN_STEP, RULE_FIXED, (name,), True, numbers),)

    def _subject(self, part: SubGraph) -> str:
        counts = _constrained(self.constraints.pieces, part.layers)
        axes = _constrained(self.constraints.axes, part.layers)
        fixed = [self.constraints.pieces, self.constraints.axes]
        name = next(
            part.graph.layers[index].name
            for index in part.layers
            if any(index in constrained for constrained in fixed)
        )
        into = f" into {counts[0]} pieces" if counts else ""
        along = f" along axis {axes[0]}" if axes else ""
        return f"the group of {name!r} cannot be split{into}{along}"

    def _whys(self, part: SubGraph) -> Iterator[str]:
        """Reason of the refusal per axis."""
        splitter = self.splitter_of(part)
        tensors = part.graph.semantics.graph.tensors
        shape = tensors[part.outputs[-1]].shape if part.outputs else ()
        axes = [axis for axis in range(len(shape)) if splitter.axis in (None, axis)]
        if not axes:
            yield f"its result {part.outputs[-1]!r} has {len(shape)} axes"
        for axis in axes:
            yield f"axis {axis} {self._why(part, splitter, axis, shape[axis])}"

    def _why(self, part: SubGraph, splitter: Splitter, axis: int, size: int) -> str:
        carry = splitter.carry(part, axis)
        if not carry.is_complete:
            return "does not carry through all of its ops"
        counts = list(splitter.candidates(size))
        if not counts:
            return f"has {size} elements"
        peak = splitter.piece_peak_bytes(part, carry, counts[-1])
        if peak > splitter.capacity_bytes:
            room = format_count(splitter.capacity_bytes)
            return f"leaves {format_count(peak)} bytes per piece, the cores hold {room}"
        if not divides(part, carry, counts[-1]):
            sizes = sorted(set(carried_sizes(part, carry).values()))
            return f"has sizes {', '.join(map(str, sizes))}, which {counts[-1]} does not divide"
        raise InvariantError("SPLIT_FOUND", f"{part.outputs[-1]!r} can be split along {axis}")


def _constrained(constrained: Mapping[int, int], layers: Sequence[int]) -> list[int]:
    """The distinct values fixed for these layers."""
    return (
        sorted({constrained[layer] for layer in layers if layer in constrained})
        if constrained
        else []
    )


def _only(counts: Sequence[int], size: int) -> tuple[int, ...]:
    """Candidate piece counts: the fixed one, or none if two are required."""
    return tuple(counts) if len(counts) == 1 and counts[0] <= size else ()


def _refused(what: str, why: str) -> PlanError:
    where, change = "edits.pieces or edits.axis", "choose another count or axis, or drop it"
    return PlanError("PLAN_SPLIT", f"{what}: {why}", where, change)
