"""Rules of TASO that change convolutions of one input.

1. Merge: convolutions become one, whose result is sliced (conditions: `horizontal.py`). Candidates
   are all convolutions that can be one, and each pair of three or more (our choice).
2. Enlarge: the weights of a convolution get zeros around them, and its padding grows by as many
   elements. The result is equal. The new kernel and padding are the smallest that both this
   convolution and another one of the same input can have: 1x1 beside 3x3 is 3x3, and 1x3 beside 3x1
   is 3x3. Dilations are 1, and all else that a merge requires is equal (our choice: an enlarged
   convolution is slower if it is not merged).

A merged convolution is not merged or enlarged again: all its subsets of three are candidates at
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from graphturbo_core.frontend.passes.horizontal import (
    RULE_MERGED,
    ConvTraits,
    channels_of,
    convolutions_by_input,
    pads_of,
    sizes_text,
    traits_of,
)
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import fresh_name
from graphturbo_core.frontend.passes.substitutions.match import Substitution, look_of
from graphturbo_core.frontend.passes.substitutions.windows import (
    WEIGHT_AXES,
    Window,
    common_window,
    differ_in_window_alone,
    weights_shape,
    window_of,
)
from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.ir.weight_parts import WIDENED, part_of

RULE_ENLARGED = "zeros around the weights give a kernel of another convolution's shape"
_PAIR = 2


def of_branches(graph: Graph) -> Iterator[Substitution]:
    """By input in the order of the graph, first merges, then enlargements.

    Quadratic in the convolutions of one input.
    """
    for ops in convolutions_by_input(graph).values():
        traits = {op.name: traits_of(graph, op) for op in ops if not is_merged(graph, op)}
        able = [op for op in ops if op.name in traits and not traits[op.name].fault]
        yield from _merges(graph, able, traits)
        yield from _enlargements(graph, able, traits)


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
        look_of(graph, "merge", ops),
    )


def _enlargements(
    graph: Graph, ops: Sequence[Op], traits: Mapping[str, ConvTraits]
) -> Iterator[Substitution]:
    """Rule 2; per convolution each new kernel and padding once."""
    windows = {op.name: window_of(graph, op, traits[op.name]) for op in ops}
    for op in ops:
        seen: set[Window | None] = {windows[op.name]}
        for other in ops:
            common = common_window(windows[op.name], windows[other.name])
            if common is None or common in seen or not differ_in_window_alone(traits, op, other):
                continue
            seen.add(common)
            kernels = weights_shape(graph, op)[WEIGHT_AXES:], common.kernel
            yield Substitution(
                RULE_ENLARGED,
                (op.name,),
                (op.origin_name, other.origin_name),
                dict(zip(("from", "to"), map(sizes_text, kernels), strict=True)),
                look_of(graph, f"enlarge to {sizes_text(common.kernel)}", [op]),
                common.kernel,
                common.pads,
            )


def enlarged(parts: Parts, op: Op, match: Substitution) -> Op:
    """The enlarged convolution, which writes the same result, under the name of its new kernel."""
    graph, axes = parts.graph, len(match.kernel)
    own = pads_of(op, axes)
    assert own is not None, "a window has padding in numbers"
    zeros = tuple(new - old for new, old in zip(match.pads, own, strict=True))
    weight = graph.tensors[op.inputs[1]]
    name = fresh_name(f"{op.origin_name}/enlarged{sizes_text(match.kernel)}", graph.op_by_name)
    shape = *weight.shape[:WEIGHT_AXES], *match.kernel
    wide = parts.weight(part_of(weight, f"{name}/weight", shape, (WIDENED, zeros)))
    kept = {key: value for key, value in op.attributes.items() if key != "auto_pad"}
    attributes = {**kept, "kernel_shape": match.kernel, "pads": match.pads}
    inputs = op.inputs[0], wide, *op.inputs[2:]
    return replace(op, name=name, inputs=inputs, attributes=attributes, origin=op.origin_name)
