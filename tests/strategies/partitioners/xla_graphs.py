"""Small graphs, and the kernels and decisions that XLA's fusion makes of them."""

from __future__ import annotations

from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.op_kernels import OpKernels, in_legal_order
from graphturbo_core.strategies.partitioners.xla_fusion import fused_kernels
from tests.strategies.samples import weighted

MAP = "float[1,4,8,8]"
W = "float[4,4,1,1] w"


def found_in(
    body: str,
    inputs: str = "",
    outputs: str = f"{MAP} z",
    *,
    repeat: bool = True,
    several: bool = True,
) -> tuple[GraphSemantics, OpKernels]:
    text = f"g ({MAP} x, {W}{inputs}) => ({outputs}) {{ {body} }}"
    sem = weighted(text)
    return sem, fused_kernels(sem, "fp16", may_repeat=repeat, has_several_results=several)


def kernels(body: str, *parts: str, **switches: bool) -> list[str]:
    """Each kernel's ops with spaces, in the order in which they run; arguments of `found_in`."""
    sem, found = found_in(body, *parts, **switches)
    return [" ".join(ops) for ops, _ in in_legal_order(sem.graph, found.kernels)]


def reasons(body: str, *parts: str, **switches: bool) -> list[tuple[str, str]]:
    """Pairs of ops and the rule that decided, in the order of the passes."""
    _, found = found_in(body, *parts, **switches)
    return [(" ".join(each.subject), each.rule) for each in found.decisions]
