"""Rules of TASO that change one op, whichever others read its input.

3. Merge groups: a convolution of G groups becomes one of G / n, whose weights are those of n groups
   with zeros for the channels of the others. The result of finite numbers is equal, and a matrix
   engine has n times as many channels at once, for n times the work. n: each power of two that
   divides G, and G itself, up to `MOST_GROUPS` (our choice, as is the bound on the new weights'
   elements). Weights are weights of the model. Groups are merged once: another number of them is
   another match.
4. A mean pool (AveragePool) is a convolution with a group per channel and equal weights, 1 over the
   elements of its kernel. All positions count as many elements: the pool has no padding, or counts
   padding in numbers, and it does not round its result's size up (`ceil_mode`).

A pool that is a convolution has groups, which may be merged (rule 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from graphturbo_core.frontend.parse.tensors import read_only
from graphturbo_core.frontend.passes.horizontal import channels_of, pads_of, sizes_text
from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import fresh_name
from graphturbo_core.frontend.passes.substitutions.match import Substitution, look_of
from graphturbo_core.frontend.passes.substitutions.windows import WEIGHT_AXES
from graphturbo_core.ir.graph import Graph, Op, Tensor, TensorKind
from graphturbo_core.ir.weight_parts import CUT, WIDENED, joined, part_of

RULE_GROUPED = "zeros beside the weights of several groups give one group"
RULE_POOL = "a mean pool is a convolution with equal weights and a group per channel"

MOST_GROUPS = 64
"""Groups that become one (our choice)."""
MOST_ELEMENTS = 2**24
"""Elements of the new weights (our choice)."""
_CHANNEL_AXIS = 1
_CONV_OPSET = 11
_KEPT_OF_POOL = ("auto_pad", "pads", "strides")
"""Attributes that a pool and a convolution have in common."""


def of_single_ops(graph: Graph) -> Iterator[Substitution]:
    """In the order of the graph: of a convolution by the number of groups that become one."""
    for op in graph.ops:
        if op.domain:
            continue
        if op.op_type == "Conv":
            yield from _groupings(graph, op)
        elif op.op_type == "AveragePool" and _has_equal_weights(graph, op):
            kernel = _kernel(op)
            numbers: dict[str, int | str] = {
                "kernel": sizes_text(kernel),
                "channels": _channels(graph, op),
            }
            look = look_of(graph, f"pool {sizes_text(kernel)}", [op])
            yield Substitution(RULE_POOL, (op.name,), (op.origin_name,), numbers, look)


def _groupings(graph: Graph, op: Op) -> Iterator[Substitution]:
    """Rule 3."""
    groups, weight = _groups(op), graph.tensors[op.inputs[1]]
    if groups == 1 or weight.kind is not TensorKind.WEIGHT or _is_regrouped(op):
        return
    powers = {2**power for power in range(1, MOST_GROUPS.bit_length())}
    for count in sorted(powers | {groups}):
        is_small = prod(weight.shape) * count <= MOST_ELEMENTS and count <= MOST_GROUPS
        if groups % count or not is_small:
            continue
        yield Substitution(
            RULE_GROUPED,
            (op.name,),
            (op.origin_name,),
            {"from": groups, "to": groups // count},
            look_of(graph, f"groups {groups} to {groups // count}", [op]),
            groups=groups // count,
        )


def _groups(op: Op) -> int:
    found = op.attributes.get("group", 1)
    return found if isinstance(found, int) else 1


def _is_regrouped(op: Op) -> bool:
    return bool(op.origin) and op.name.startswith(f"{op.origin}/groups")


def _kernel(op: Op) -> tuple[int, ...]:
    found = op.attributes["kernel_shape"]
    return tuple(int(size) for size in found) if isinstance(found, tuple) else ()


def _channels(graph: Graph, op: Op) -> int:
    return graph.tensors[op.inputs[0]].shape[_CHANNEL_AXIS]


def _has_equal_weights(graph: Graph, op: Op) -> bool:
    """Rule 4."""
    kernel = _kernel(op)
    pads = pads_of(op, len(kernel))
    counts_all = op.attributes.get("count_include_pad", 0) == 1 or not any(pads or ())
    dilations = op.attributes.get("dilations", ())
    is_dense = isinstance(dilations, tuple) and all(each == 1 for each in dilations)
    is_small = _channels(graph, op) * prod(kernel) <= MOST_ELEMENTS
    is_exact = op.attributes.get("ceil_mode", 0) == 0
    return bool(kernel) and pads is not None and counts_all and is_dense and is_exact and is_small


def regrouped(parts: Parts, op: Op, match: Substitution) -> Op:
    """The convolution with fewer groups, which writes the same result."""
    graph = parts.graph
    weight = graph.tensors[op.inputs[1]]
    name = fresh_name(f"{op.origin_name}/groups{match.groups}", graph.op_by_name)
    own = weight.shape[_CHANNEL_AXIS]
    rows, count = channels_of(graph, op) // _groups(op), _groups(op) // match.groups
    shape = rows, own * count, *weight.shape[WEIGHT_AXES:]
    beside = (0,) * (len(shape) - WEIGHT_AXES)
    pieces = []
    for group in range(_groups(op)):
        rows_of = part_of(
            weight, "", (rows, *weight.shape[1:]), (CUT, (0, group * rows, (group + 1) * rows))
        )
        place = group % count
        zeros = (own * place, *beside, own * (count - 1 - place), *beside)
        pieces.append(part_of(rows_of, f"{name}/weight{group}", shape, (WIDENED, zeros)))
    inputs = op.inputs[0], parts.weight(joined(pieces, f"{name}/weight")), *op.inputs[2:]
    attributes = {**op.attributes, "group": match.groups}
    return replace(op, name=name, inputs=inputs, attributes=attributes, origin=op.origin_name)


def pool_as_convolution(parts: Parts, op: Op, match: Substitution) -> Op:
    """The convolution that a pool is, which writes the same result."""
    graph, kernel = parts.graph, _kernel(op)
    data = graph.tensors[op.inputs[0]]
    name = fresh_name(f"{match.subject[0]}/convolution", graph.op_by_name)
    shape = data.shape[_CHANNEL_AXIS], 1, *kernel
    value = read_only(np.full(shape, 1 / prod(kernel), data.dtype))
    weight = parts.weight(Tensor(f"{name}/weight", shape, data.dtype, TensorKind.WEIGHT, value))
    kept = {key: op.attributes[key] for key in _KEPT_OF_POOL if key in op.attributes}
    attributes = {**kept, "kernel_shape": kernel, "group": data.shape[_CHANNEL_AXIS]}
    return Op(
        name, "Conv", "", (op.inputs[0], weight), op.outputs, attributes, _CONV_OPSET,
        op.origin_name,
    )  # fmt: skip
