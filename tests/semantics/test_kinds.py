"""Kinds of ops: equal where two ops differ by names alone."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.semantics.kinds import op_trait
from graphturbo_core.semantics.table import GraphSemantics, analyse
from tests.models import graph_of
from tests.strategies.samples import weighted


def _windows(pads: str, others: str) -> GraphSemantics:
    """Eight poolings that keep the size, every second one with other pads."""
    body = "\n".join(
        f"x{n + 1} = MaxPool<kernel_shape=[3,3], pads=[{(pads, others)[n % 2]}]> (x{n})"
        for n in range(8)
    )
    return analyse(graph_of(f"g (float[1,1,8,8] x0) => (float[1,1,8,8] x8) {{{body}}}"))


def test_windows() -> None:
    """Shapes, work and cycles are equal: only the boxes that are read differ.

    The first one alone reads an input of the model.
    """
    assert list(_windows("1,1,1,1", "1,1,1,1").kinds.values()) == [0, *[1] * 7]
    assert list(_windows("1,1,1,1", "2,2,0,0").kinds.values()) == [0, *[1, 2] * 3, 1]


def test_operands_of_a_product() -> None:
    """Which operand is the weight counts."""
    sem = weighted("g (float[8,8] x, float[8,8] w) => (float[8,8] y) { y = MatMul (x, w) }")
    (op,) = sem.graph.ops
    own = sem.by_op[op.name]
    known = own.contraction
    assert known is not None
    turned = replace(own, contraction=replace(known, data=known.weight, weight=known.data))
    assert op_trait(sem.graph, op, own) != op_trait(sem.graph, op, turned)


def test_the_same_tensor_twice() -> None:
    sem = weighted(
        "g (float[8] x, float[8] z) => (float[8] y) "
        "{ a = Add (x, z) b = Add (x, x) y = Add (a, b) }"
    )
    assert len(set(sem.kinds.values())) == 3


def test_an_op_of_a_shared_engine_is_another_kind() -> None:
    sem = weighted(
        "g (float[8,8] x, float[8,8] w) => (float[8,8] y) "
        "{ a = Relu (x) b = MatMul (a, w) c = MatMul (b, w) y = MatMul (c, w) }"
    )
    names = [op.name for op in sem.graph.ops]
    assert sem.kinds[names[1]] == sem.kinds[names[2]] == sem.kinds[names[3]]
    split = replace(sem, cluster_ops=frozenset(names[2:3]))
    assert split.kinds[names[1]] == split.kinds[names[3]] != split.kinds[names[2]]
