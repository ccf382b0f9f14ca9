"""Sets of convolutions of one input, each of which becomes one convolution, by a text.

Two or more convolutions of one input that differ in kernel and padding at most. Padding is the
largest one of the set on each side. Kernels are enlarged (`branches.py`); with this padding all
have one shape, or the convolutions are no set. So all results have equal height and width. Source:
IOS (Ding et al., MLSys 2021), section 4: a stage with the strategy "operator merge".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.passes.horizontal import (
    RULE_KERNEL,
    RULE_PADDING,
    convolutions_by_input,
    merge_sets,
    traits_of,
)
from graphturbo_core.frontend.passes.substitutions.branches import RULE_ENLARGED, is_merged
from graphturbo_core.frontend.passes.substitutions.graph_steps import applied
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.frontend.passes.substitutions.windows import widened, window_of
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.option_fields import BETWEEN_STEPS

MOST_IN_SET = 6
"""Convolutions of one input among which sets are listed. More are cut into runs of so many, in the
order of the graph (our choice: Inception-v3 has three, and n convolutions have 2^n - n - 1 sets).
"""
_PAIR = 2


@dataclass(frozen=True, slots=True)
class ConvolutionSet:
    """Convolutions that can become one convolution, by name in the order of the graph.

    `run`: equal for sets of the same convolutions; two of them may share a convolution. `kernel`
    and `pads`: of the merged convolution; empty where all have these already.
    """

    ops: tuple[str, ...]
    run: int
    kernel: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()


def convolution_sets(graph: Graph) -> tuple[ConvolutionSet, ...]:
    """All sets: by input in the order of the graph, small sets first.

    Linear in the convolutions of the graph, but for the sets of each run of `MOST_IN_SET`.
    """
    found: list[ConvolutionSet] = []
    runs = 0
    for ops in convolutions_by_input(graph).values():
        for able in _settable(graph, ops):
            for first in range(0, len(able), MOST_IN_SET):
                run = able[first : first + MOST_IN_SET]
                for size in range(_PAIR, len(run) + 1):
                    found += (_set_of(graph, ops, runs) for ops in combinations(run, size))
                runs += len(run) > 1
    return tuple(found)


def _settable(graph: Graph, ops: Sequence[Op]) -> list[list[Op]]:
    """Convolutions of one input, by all that must be equal in a set."""
    alike: dict[tuple[object, ...], list[Op]] = {}
    for op in ops:
        traits = traits_of(graph, op)
        if traits.fault or is_merged(graph, op):
            continue
        window = window_of(graph, op, traits)
        others = {RULE_KERNEL, RULE_PADDING} if window else set[str]()
        equal = [text for rule, text in traits.by_rule.items() if rule not in others]
        without_pads = widened(window, (0,) * len(window.pads)) if window else ()
        alike.setdefault((*equal, without_pads), []).append(op)
    return list(alike.values())


def _set_of(graph: Graph, ops: Sequence[Op], run: int) -> ConvolutionSet:
    names = tuple(op.name for op in ops)
    windows = [window_of(graph, op, traits_of(graph, op)) for op in ops]
    first = windows[0]
    if first is None or len(set(windows)) == 1:
        return ConvolutionSet(names, run)
    pads = tuple(map(max, *(window.pads for window in windows if window is not None)))
    return ConvolutionSet(names, run, widened(first, pads), pads)


def merged_sets(graph: Graph, text: str) -> Graph:
    """The graph after the merges of a text: indices of `convolution_sets` with dots between them.

    Raises:
        OptionError: NO_SUBSTITUTION, there is no such set, or two sets share a convolution.
    """
    merged: dict[str, list[Op]] = {}
    for each in sets_of(graph, text):
        ops = [graph.op_by_name[name] for name in each.ops]
        results = [op.outputs[0] for op in ops]
        for op in ops if each.kernel else ():
            if window_of(graph, op, traits_of(graph, op)) != (each.kernel, each.pads):
                names, kernels = (op.name,), (each.kernel, each.pads)
                graph = applied(graph, Substitution(RULE_ENLARGED, names, (), {}, "", *kernels))
        merged[results[0]] = [graph.producer[name] for name in results]
    return merge_sets(graph, {ops[0].name: ops for ops in merged.values()}) if merged else graph


def sets_of(graph: Graph, text: str) -> tuple[ConvolutionSet, ...]:
    """The sets that a text names.

    Raises:
        OptionError: as `merged_sets`.
    """
    known, taken = convolution_sets(graph), set[str]()
    found = []
    for step in text.split(BETWEEN_STEPS) if text else ():
        if int(step) >= len(known):
            what = f"step {step} of {text!r} is not one of {len(known)} sets of convolutions"
            raise OptionError("NO_SUBSTITUTION", what, change="search for the steps of this model")
        each = known[int(step)]
        if not taken.isdisjoint(each.ops):
            what = f"step {step} of {text!r} shares a convolution with a step before it"
            raise OptionError("NO_SUBSTITUTION", what, change="search for the steps of this model")
        taken.update(each.ops)
        found.append(each)
    return tuple(found)
