"""Small graphs, how oneDNN's patterns partition them, and what holds for every graph."""

from __future__ import annotations

from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.onednn import MOST_POST_OPS, matched_kernels
from graphturbo_core.strategies.partitioners.op_kernels import OpKernels, in_legal_order
from tests.strategies.samples import weighted

MAP = "float[1,4,8,8]"
CONSTANTS = "float[1] v1, float[1] v2"


def of_maps(body: str, inputs: str = "", outputs: str = f"{MAP} z") -> str:
    """A graph of maps; `w` and `v...` are weights."""
    named = f"{MAP} x, {MAP} y, float[4,4,1,1] w, float[4] vs, float[4] vt, float[4,1,1] vb"
    return f"g ({named}, {CONSTANTS}{inputs}) => ({outputs}) {{ {body} }}"


def matched(text: str, most_post_ops: int = MOST_POST_OPS) -> OpKernels:
    return matched_kernels(weighted(text), most_post_ops)


def kernels(text: str, most_post_ops: int = MOST_POST_OPS) -> list[str]:
    """Each kernel's ops with spaces, in a legal order."""
    sem = weighted(text)
    found = in_legal_order(sem.graph, matched_kernels(sem, most_post_ops).kernels)
    return [" ".join(ops) for ops, _ in found]


def rule(text: str, pair: str, most_post_ops: int = MOST_POST_OPS) -> tuple[str, bool]:
    """The only rule that decided about a producer and its reader, and whether they are joined."""
    decisions = matched(text, most_post_ops).decisions
    found = [(d.rule, d.is_taken) for d in decisions if " ".join(d.subject) == pair]
    assert len(found) == 1, found
    return found[0]


def check_partition(sem: GraphSemantics, most_post_ops: int = MOST_POST_OPS) -> None:
    """Each op in one kernel, kernels in a legal order, one result each."""
    found = matched_kernels(sem, most_post_ops)
    ordered = in_legal_order(sem.graph, found.kernels)
    ops = [op for names, _ in ordered for op in names]
    assert sorted(ops) == sorted(op.name for op in sem.graph.ops)
    for names, results in ordered:
        makers = {sem.graph.producer[result].name for result in results}
        assert len(makers) == 1 and makers <= set(names)
    kernel_of = {op: number for number, (names, _) in enumerate(ordered) for op in names}
    for each in found.decisions:
        producer, reader = each.subject
        assert each.is_taken == (kernel_of[producer] == kernel_of[reader])
