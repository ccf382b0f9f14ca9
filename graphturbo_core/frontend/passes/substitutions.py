"""Graph substitutions by which a search rewrites a graph: a pass that gets its steps as a text.

Rules of TASO (Jia et al., SOSP 2019) that change convolutions of one input:

1. Merge: convolutions become one, whose result is sliced (conditions: `horizontal.py`). Candidates
   are all convolutions that can be one, and each pair of three or more (our choice).
2. Enlarge: the weights of a convolution get zeros around them, and its padding grows by as many
   elements. The result is equal. The new kernel and padding are the smallest that both this
   convolution and another one of the same input can have: 1x1 beside 3x3 is 3x3, and 1x3 beside 3x1
   is 3x3. Dilations are 1, and all else that a merge requires is equal (our choice: an enlarged
   convolution is slower if it is not merged).

A merged convolution is not merged or enlarged again: all its subsets of three are candidates at
once. The text of the pass joins indices of `substitutions` with dots, each in the graph after the
steps before it; no text leaves the graph unchanged. Names are equal for equal graphs: the order
of independent steps does not change the graph.

A second text names sets of convolutions, each of which becomes one convolution (`merged_sets`):

3. Sets: two or more convolutions of one input that differ in kernel and padding at most. Padding is
   the largest one of the set on each side. Kernels are enlarged as in rule 2; with this padding all
   have one shape, or the convolutions are no set. So all results have equal height and width.
   Source: IOS (Ding et al., MLSys 2021), section 4: a stage with the strategy "operator merge".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.passes.horizontal import (
    RULE_DILATIONS,
    RULE_KERNEL,
    RULE_MERGED,
    RULE_PADDING,
    ConvTraits,
    channels_of,
    convolutions_by_input,
    merge_sets,
    pads_of,
    traits_of,
)
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import fresh_name, with_ops
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.ir.weight_parts import WIDENED, part_of
from graphturbo_core.option_fields import BETWEEN_STEPS

RULE_ENLARGED = "zeros around the weights give a kernel of another convolution's shape"

MOST_IN_SET = 6
"""Convolutions of one input among which sets are listed. More are cut into runs of so many, in the
order of the graph (our choice: Inception-v3 has three, and n convolutions have 2^n - n - 1 sets).
"""
_PAIR = 2
_WEIGHT_AXES = 2
"""Axes of a convolution's weights before those of its kernel."""


@dataclass(frozen=True, slots=True)
class Substitution:
    """One match of a rule in a graph.

    `ops`: their names in that graph. `subject`: names in the undecomposed graph, for an enlarged
    convolution also that of the other one. `look`: equal for matches of one rule and equal shapes.
    `kernel` and `pads`: of an enlarged convolution.
    """

    rule: str
    ops: tuple[str, ...]
    subject: tuple[str, ...]
    numbers: Mapping[str, int | str]
    look: str
    kernel: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()


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


class _Window(NamedTuple):
    """Kernel shape and padding of a convolution; `pads`: before all axes, then after them."""

    kernel: tuple[int, ...]
    pads: tuple[int, ...]


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
    """All matches: by input in the order of the graph, first merges, then enlargements.

    Quadratic in the convolutions of one input.
    """
    found: list[Substitution] = []
    for ops in convolutions_by_input(graph).values():
        traits = {op.name: traits_of(graph, op) for op in ops if not is_merged(graph, op)}
        able = [op for op in ops if op.name in traits and not traits[op.name].fault]
        found += _merges(graph, able, traits)
        found += _enlargements(graph, able, traits)
    return tuple(found)


def is_merged(graph: Graph, op: Op) -> bool:
    """Whether a convolution's result is sliced into those of its parts."""
    readers = graph.consumers[op.outputs[0]]
    return bool(op.origin) and any(each.origin == op.origin for each in readers)


def _merges(
    graph: Graph, ops: Sequence[Op], traits: Mapping[str, ConvTraits]
) -> Iterator[Substitution]:
    """Rule 1."""
    sets: dict[tuple[str, ...], list[Op]] = {}
    for op in ops:
        sets.setdefault(traits[op.name].key, []).append(op)
    for equal in sets.values():
        if len(equal) > 1:
            yield _merge_of(graph, equal)
        if len(equal) > _PAIR:
            yield from (_merge_of(graph, pair) for pair in combinations(equal, _PAIR))


def _merge_of(graph: Graph, ops: Sequence[Op]) -> Substitution:
    channels = sum(channels_of(graph, op) for op in ops)
    return Substitution(
        RULE_MERGED,
        tuple(op.name for op in ops),
        tuple(op.origin_name for op in ops),
        {"convolutions": len(ops), "channels": channels},
        _look(graph, "merge", ops),
    )


def _enlargements(
    graph: Graph, ops: Sequence[Op], traits: Mapping[str, ConvTraits]
) -> Iterator[Substitution]:
    """Rule 2; per convolution each new kernel and padding once."""
    windows = {op.name: _window(graph, op, traits[op.name]) for op in ops}
    for op in ops:
        seen = {windows[op.name]}
        for other in ops:
            common = _common(windows[op.name], windows[other.name])
            if common is None or common in seen or not _is_like(traits, op, other):
                continue
            seen.add(common)
            kernels = _shape(graph, op)[_WEIGHT_AXES:], common.kernel
            yield Substitution(
                RULE_ENLARGED,
                (op.name,),
                (op.origin_name, other.origin_name),
                dict(zip(("from", "to"), map(_text, kernels), strict=True)),
                _look(graph, f"enlarge to {_text(common.kernel)}", [op]),
                common.kernel,
                common.pads,
            )


def _window(graph: Graph, op: Op, traits: ConvTraits) -> _Window | None:
    """Kernel and padding; None where a rule gives the padding, or a dilation is not 1."""
    kernel = _shape(graph, op)[_WEIGHT_AXES:]
    pads = pads_of(op, len(kernel))
    has_dilation = traits.by_rule[RULE_DILATIONS] != _text((1,) * len(kernel))
    return None if pads is None or has_dilation else _Window(kernel, pads)


def _common(own: _Window | None, other: _Window | None) -> _Window | None:
    """The smallest window that both can have with equal results; None where there is none."""
    if own is None or other is None:
        return None
    pads = tuple(max(both) for both in zip(own.pads, other.pads, strict=True))
    kernels = {_widened(window, pads) for window in (own, other)}
    return _Window(kernels.pop(), pads) if len(kernels) == 1 else None


def _widened(window: _Window, pads: Sequence[int]) -> tuple[int, ...]:
    """Kernel shape with as many zeros around it as this padding exceeds the own one."""
    axes = len(window.kernel)
    more = [new - own for new, own in zip(pads, window.pads, strict=True)]
    return tuple(size + more[axis] + more[axis + axes] for axis, size in enumerate(window.kernel))


def _is_like(traits: Mapping[str, ConvTraits], op: Op, other: Op) -> bool:
    """Whether two convolutions differ in kernel and padding at most."""
    own, its = traits[op.name].by_rule, traits[other.name].by_rule
    return all(own[rule] == its[rule] for rule in own.keys() - {RULE_KERNEL, RULE_PADDING})


def _look(graph: Graph, what: str, ops: Sequence[Op]) -> str:
    shapes = [graph.tensors[ops[0].inputs[0]].shape, *(_shape(graph, op) for op in ops)]
    return " ".join([what, *map(_text, shapes)])


def _shape(graph: Graph, op: Op) -> tuple[int, ...]:
    """Shape of a convolution's weights."""
    return graph.tensors[op.inputs[1]].shape


def _text(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def applied(graph: Graph, match: Substitution) -> Graph:
    """The graph after one match; linear in ops and the weights of the match."""
    ops = [graph.op_by_name[name] for name in match.ops]
    if match.rule == RULE_MERGED:
        return merge_sets(graph, {ops[0].name: ops})
    parts = Parts(graph)
    parts.ops += [_enlarged(parts, op, match) if op is ops[0] else op for op in graph.ops]
    return with_ops(graph, parts.ops, parts.tensors)


def _enlarged(parts: Parts, op: Op, match: Substitution) -> Op:
    """The enlarged convolution, which writes the same result, under the name of its new kernel."""
    graph, axes = parts.graph, len(match.kernel)
    own = pads_of(op, axes)
    assert own is not None, "a window has padding in numbers"
    zeros = tuple(new - old for new, old in zip(match.pads, own, strict=True))
    weight = graph.tensors[op.inputs[1]]
    name = fresh_name(f"{op.origin_name}/enlarged{_text(match.kernel)}", graph.op_by_name)
    shape = *weight.shape[:_WEIGHT_AXES], *match.kernel
    wide = parts.weight(part_of(weight, f"{name}/weight", shape, (WIDENED, zeros)))
    kept = {key: value for key, value in op.attributes.items() if key != "auto_pad"}
    attributes = {**kept, "kernel_shape": match.kernel, "pads": match.pads}
    inputs = op.inputs[0], wide, *op.inputs[2:]
    return replace(op, name=name, inputs=inputs, attributes=attributes, origin=op.origin_name)


def convolution_sets(graph: Graph) -> tuple[ConvolutionSet, ...]:
    """All sets of rule 3: by input in the order of the graph, small sets first.

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
        window = _window(graph, op, traits)
        others = {RULE_KERNEL, RULE_PADDING} if window else set[str]()
        equal = [text for rule, text in traits.by_rule.items() if rule not in others]
        without_pads = _widened(window, (0,) * len(window.pads)) if window else ()
        alike.setdefault((*equal, without_pads), []).append(op)
    return list(alike.values())


def _set_of(graph: Graph, ops: Sequence[Op], run: int) -> ConvolutionSet:
    names = tuple(op.name for op in ops)
    windows = [_window(graph, op, traits_of(graph, op)) for op in ops]
    first = windows[0]
    if first is None or len(set(windows)) == 1:
        return ConvolutionSet(names, run)
    pads = tuple(map(max, *(window.pads for window in windows if window is not None)))
    return ConvolutionSet(names, run, _widened(first, pads), pads)


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
            if _window(graph, op, traits_of(graph, op)) != (each.kernel, each.pads):
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
