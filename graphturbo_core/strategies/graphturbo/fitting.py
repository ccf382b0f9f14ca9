"""SplitInfo -> FittedSection: raise the piece count until the part of every core fits its LB.

Algorithm 1 compares with the sum of a cluster's LBs only. Our choice (reference, 3.1): after
binding, the worst core must also fit by the closed form of `semantics/fit.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphturbo_core.products.plan import Decision
from graphturbo_core.strategies.layers.carry import Carry, piece_numbers, split_carry
from graphturbo_core.strategies.steps.instances import FurtherSplit, Section, cut_piece
from graphturbo_core.strategies.steps.kernels import Target, bind_instance
from graphturbo_core.strategies.steps.splitting import (
    SplitInfo,
    Splitter,
    SubGraph,
    carried_sizes,
    divides,
)

RULE_CORE = "the part of every core fits its LB, or the next candidate is taken"


@dataclass(frozen=True)
class FittedSection:
    """A group with its final split, the evaluated piece counts, and notes for the user."""

    section: Section
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fitter:
    """Splits groups for one chip; without `is_checked`, by Algorithm 1 alone."""

    target: Target
    splitter: Splitter
    is_checked: bool = True

    def __call__(self, part: SubGraph, split: SplitInfo | None, name: str) -> FittedSection:
        """Section of a group, in the piece count of its split or more until each core fits."""
        if split is None:
            note = f"{name}: no axis of it can be split so that a piece fits; it runs whole"
            return FittedSection(section_of(part, name, None, 1), notes=(note,))
        carry = split_carry(part.graph, part.ops, part.outputs, split.axis)
        section = section_of(part, name, carry, split.pieces)
        return self._raised(part, section, carry) if self.is_checked else FittedSection(section)

    def _raised(self, part: SubGraph, section: Section, carry: Carry) -> FittedSection:
        limit = self.target.budget.lb_data_bytes
        decisions: list[Decision] = []
        for pieces in _candidates(self.splitter, part, section.pieces, carry):
            tried = replace(section, pieces=pieces)
            held = core_bytes(self.target, tried, carry)
            numbers = {"pieces": pieces, "core_bytes": held, "lb_data_bytes": limit}
            decisions.append(Decision("fit", RULE_CORE, (section.name,), held <= limit, numbers))
            if held <= limit:
                notes = _raised_note(section, pieces, decisions[0])
                return FittedSection(tried, tuple(decisions), notes)
        note = (
            f"{section.name}: at no piece count does the part of a core fit its {limit} bytes; it "
            f"has {section.pieces} and some tensors will spill"
        )
        return FittedSection(section, tuple(decisions), (note,))


def section_of(
    part: SubGraph,
    name: str,
    carry: Carry | None,
    pieces: int,
    further: Sequence[tuple[Carry, int]] = (),
) -> Section:
    """Makes the section of a group, cut along the axis of `carry`; whole if that has none.

    `further`: carry and parts of each axis after the first. `pieces`: product of all parts.
    """
    layer_ops = tuple(part.graph.layers[index].ops for index in part.layers)
    axis_of = {t: carry.axis_of[t] for t in part.outputs} if carry else {}
    more = (
        FurtherSplit({t: other.axis_of[t] for t in part.outputs}, parts) for other, parts in further
    )
    return Section(name, layer_ops, part.outputs, axis_of, pieces, tuple(more))


def _candidates(splitter: Splitter, part: SubGraph, first: int, carry: Carry) -> Iterator[int]:
    """The split's own count, then the later candidates that divide every tensor inside."""
    size = carried_sizes(part, carry)[part.outputs[-1]]
    for pieces in splitter.candidates(size):
        if pieces == first or (pieces > first and divides(part, carry, pieces)):
            yield pieces


def _raised_note(section: Section, pieces: int, first: Decision) -> tuple[str, ...]:
    if pieces == section.pieces:
        return ()
    return (
        f"{section.name}: {pieces} pieces instead of {section.pieces}, with which a core would "
        f"need {first.numbers['core_bytes']} of {first.numbers['lb_data_bytes']} bytes",
    )


def core_bytes(target: Target, section: Section, carry: Carry) -> int:
    """Peak live bytes of the worst core over the pieces that may be the largest."""
    pieces = piece_numbers(section.pieces) if carry.has_halo else (0,)
    return held_bytes(target, section, pieces)


def held_bytes(target: Target, section: Section, pieces: Sequence[int]) -> int:
    """Peak live bytes of the worst core over these pieces."""
    nests = section.nests(target.semantics)
    return max(
        bind_instance(
            target, cut_piece(target.semantics, section, 0, piece), nests
        ).hold.peak_bytes()
        for piece in pieces
    )
