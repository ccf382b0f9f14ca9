"""All matches of a graph, and the graph after some of them: a pass that gets its steps as a text.

The text joins indices of `substitutions` with dots, each in the graph after the steps before it.
Names are equal for equal graphs: the order of independent steps does not change the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.passes.horizontal import RULE_MERGED, merge_sets
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import with_ops
from graphturbo_core.frontend.passes.substitutions.branches import (
    RULE_ENLARGED,
    enlarged,
    of_branches,
)
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.frontend.passes.substitutions.single_ops import (
    RULE_GROUPED,
    RULE_POOL,
    of_single_ops,
    pool_as_convolution,
    regrouped,
)
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.option_fields import BETWEEN_STEPS

_REPLACED: Mapping[str, Callable[[Parts, Op, Substitution], Op]] = {
    RULE_ENLARGED: enlarged,
    RULE_GROUPED: regrouped,
    RULE_POOL: pool_as_convolution,
}
"""By rule, the op that takes the place of another one."""


def substituted(graph: Graph, text: str) -> Graph:
    """The graph after the steps of a text.

    Raises:
        OptionError: NO_SUBSTITUTION, a graph has no match of this index.
    """
    for _, after in _steps(graph, text):
        graph = after
    return graph


def steps_of(graph: Graph, text: str) -> tuple[Substitution, ...]:
    """The matches that a text applies.

    Raises:
        OptionError: as `substituted`.
    """
    return tuple(found for found, _ in _steps(graph, text))


def _steps(graph: Graph, text: str) -> Iterator[tuple[Substitution, Graph]]:
    for step in text.split(BETWEEN_STEPS) if text else ():
        matches = substitutions(graph)
        if int(step) >= len(matches):
            what = f"step {step} of {text!r} is not one of {len(matches)} substitutions"
            raise OptionError("NO_SUBSTITUTION", what, change="search for the steps of this model")
        graph = applied(graph, matches[int(step)])
        yield matches[int(step)], graph


def substitutions(graph: Graph) -> tuple[Substitution, ...]:
    """All matches: those of convolutions of one input, then those of single ops."""
    return (*of_branches(graph), *of_single_ops(graph))


def applied(graph: Graph, match: Substitution) -> Graph:
    """The graph after one match; linear in ops and the weights of the match."""
    ops = [graph.op_by_name[name] for name in match.ops]
    if match.rule == RULE_MERGED:
        return merge_sets(graph, {ops[0].name: ops})
    parts, changed = Parts(graph), _REPLACED[match.rule]
    parts.ops += [changed(parts, op, match) if op is ops[0] else op for op in graph.ops]
    return with_ops(graph, parts.ops, parts.tensors)
