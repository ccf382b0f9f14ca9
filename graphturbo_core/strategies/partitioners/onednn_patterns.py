"""KernelChains -> complex patterns of oneDNN Graph: attention and the gated perceptron.

Source: oneDNN `doc/graph/fusion_patterns`, pages `sdpa` and `gated_mlp`. In both, results between
the ops have one reader each (`single_reads`), so only the last op's result leaves the kernel.

1. Attention: MatMul, scale, mask, Softmax along the last axis, MatMul, Transpose, Reshape. Scale
   (a product or quotient with one element), mask (a sum or a choice of two values), Transpose and
   Reshape may be absent. The probabilities are the second product's first operand.
2. Gated perceptron: two MatMuls of one first operand meet in a Mul, whose only reader is a third
   MatMul. One of the two may pass a unary op or a gate on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.strategies.partitioners.op_classes import (
    RESHAPES,
    is_scalar_beside,
    is_unary,
    keeps_shape,
    operand_beside,
    type_of,
)
from graphturbo_core.strategies.partitioners.single_reads import KernelChains

RULE_ATTENTION = "scaled dot-product attention: one kernel"
RULE_GATED = "two products of one operand meet in a product of elements: one kernel"
_NEWER_SOFTMAX = 13
"""First opset whose Softmax is along one axis, the last by default."""
_PAIR = 2


@dataclass(frozen=True, slots=True)
class AttentionPart:
    """One op of the chain: `accepts(graph, op, value)`; an optional one may be absent."""

    accepts: Callable[[Graph, Op, str], bool]
    is_optional: bool = False


def _is_scale(graph: Graph, op: Op, value: str) -> bool:
    is_first = op.inputs[0] == value or type_of(op) == "Mul"
    return type_of(op) in ("Mul", "Div") and is_first and is_scalar_beside(graph, op, value)


def _is_mask(graph: Graph, op: Op, value: str) -> bool:
    if type_of(op) == "Where":
        is_mask = value in op.inputs[1:] and value != op.inputs[0]
    else:
        is_mask = type_of(op) == "Add" and bool(operand_beside(op, value))
    return is_mask and keeps_shape(graph, op, value)


def _is_row_softmax(graph: Graph, op: Op, value: str) -> bool:
    if type_of(op) != "Softmax":
        return False
    last = len(graph.tensors[value].shape) - 1
    axis = op.attributes.get("axis", -1 if op.opset >= _NEWER_SOFTMAX else 1)
    return axis in (-1, last)


def _is_product_of(graph: Graph, op: Op, value: str) -> bool:
    del graph
    return type_of(op) == "MatMul" and op.inputs[0] == value != op.inputs[1]


def _is_transpose(graph: Graph, op: Op, value: str) -> bool:
    del graph, value
    return type_of(op) == "Transpose"


def _is_reshape(graph: Graph, op: Op, value: str) -> bool:
    del graph
    return type_of(op) in RESHAPES and op.inputs[0] == value


AFTER_SCORES = (
    AttentionPart(_is_scale, is_optional=True),
    AttentionPart(_is_mask, is_optional=True),
    AttentionPart(_is_row_softmax),
    AttentionPart(_is_product_of),
    AttentionPart(_is_transpose, is_optional=True),
    AttentionPart(_is_reshape, is_optional=True),
)
"""Rule 1, after the first product."""


def take_attention(chains: KernelChains) -> None:
    """Rule 1 in the graph's order; linear, since a chain that fails is short."""
    for op in chains.free_ops():
        ops = _attention(chains, op) if type_of(op) == "MatMul" else []
        if ops:
            chains.close(ops)
            for first, second in pairwise(ops):
                pair = first.name, second.name
                chains.note(RULE_ATTENTION, pair, {"ops": len(ops)}, is_taken=True)


def _attention(chains: KernelChains, first: Op) -> list[Op]:
    ops = [] if first.name in chains.taken else [first]
    for part in AFTER_SCORES if ops else ():
        following = chains.after(ops[-1], has_gates=False).ops
        if following and part.accepts(chains.graph, following[0], ops[-1].outputs[0]):
            ops.append(following[0])
        elif not part.is_optional:
            return []
    return ops


def take_gated(chains: KernelChains) -> None:
    """Rule 2 in the graph's order."""
    for op in chains.free_ops():
        ops = _gated(chains, op) if type_of(op) == "Mul" else []
        if not ops:
            continue
        chains.close(ops)
        names = {each.name for each in ops}
        for reader in ops:
            for maker in _makers(chains, reader):
                if maker.name in names:
                    pair = maker.name, reader.name
                    chains.note(RULE_GATED, pair, {"ops": len(ops)}, is_taken=True)


def _gated(chains: KernelChains, meeting: Op) -> list[Op]:
    """The ops of the pattern around a Mul, or none."""
    down = chains.after(meeting, has_gates=False).ops
    if not down or not _is_product_of(chains.graph, down[0], meeting.outputs[0]):
        return []
    branches = [_branch(chains, maker, meeting) for maker in _makers(chains, meeting)]
    if len(branches) != _PAIR or not all(branches):
        return []
    one, other = branches
    is_activated = min(len(one), len(other)) == 1
    has_one_operand = one[0].inputs[0] == other[0].inputs[0] and one[0] != other[0]
    return [*one, *other, meeting, down[0]] if is_activated and has_one_operand else []


def _branch(chains: KernelChains, last: Op, meeting: Op) -> list[Op]:
    """The ops from a MatMul to the Mul's operand that `last` makes, or none."""
    if last.name in chains.taken or chains.after(last, has_gates=False).ops != (meeting,):
        return []
    if type_of(last) == "MatMul":
        return [last]
    for product in _makers(chains, last):
        between = chains.after(product).ops if type_of(product) == "MatMul" else ()
        if not between or between[-1] != last or product.name in chains.taken:
            continue
        if len(between) > 1 or is_unary(chains.graph, last, product.outputs[0]):
            return [product, *between]
    return []


def _makers(chains: KernelChains, op: Op) -> Iterator[Op]:
    """The ops whose results an op reads, in the order of its operands."""
    found = (chains.graph.producer.get(name) for name in chains.graph.activations_in(op))
    return (maker for maker in found if maker is not None)
