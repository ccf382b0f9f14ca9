"""One match of a rule in a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.frontend.passes.horizontal import sizes_text
from graphturbo_core.ir.graph import Graph, Op


@dataclass(frozen=True, slots=True)
class Substitution:
    """One match of a rule in a graph.

    `ops`: their names in that graph. `subject`: names in the undecomposed graph, for an enlarged
    convolution also that of the other one. `look`: equal for matches of one rule and equal shapes.
    `kernel` and `pads`: of an enlarged convolution. `groups`: of one whose groups are merged.
    """

    rule: str
    ops: tuple[str, ...]
    subject: tuple[str, ...]
    numbers: Mapping[str, int | str]
    look: str
    kernel: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()
    groups: int = 0


def look_of(graph: Graph, what: str, ops: Sequence[Op]) -> str:
    """Equal for equal changes of ops that read data, and weights if any, of equal shapes."""
    names = [ops[0].inputs[0], *(op.inputs[1] for op in ops if len(op.inputs) > 1)]
    return " ".join([what, *(sizes_text(graph.tensors[name].shape) for name in names)])
