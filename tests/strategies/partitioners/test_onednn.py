"""oneDNN's chains on small graphs worked out by hand: both sides of every condition."""

from __future__ import annotations

import pytest
from hypothesis import given

from graphturbo_core.products.plan import Decision
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.onednn import (
    MOST_POST_OPS,
    RULE_BATCH_NORM,
    RULE_BIAS,
    RULE_DEPTHWISE,
    RULE_DEPTHWISE_LATE,
    RULE_KIND,
    RULE_MOST,
    RULE_NO_CHAIN,
    RULE_NORM_LATE,
    RULE_NOT_ONE_BY_ONE,
    RULE_ONLY_RELU,
    RULE_POST_OP,
    RULE_SHAPE,
    matched_kernels,
)
from graphturbo_core.strategies.partitioners.onednn_patterns import RULE_ATTENTION, RULE_GATED
from graphturbo_core.strategies.partitioners.op_kernels import OpKernels, in_legal_order
from graphturbo_core.strategies.partitioners.single_reads import (
    MOST_SEARCHED,
    RULE_MODEL_RESULT,
    RULE_NOT_CONVEX,
    RULE_READER_TAKEN,
    RULE_SEVERAL_READERS,
    RULE_SEVERAL_RESULTS,
)
from tests.semantics.models import semantics
from tests.semantics.random_graphs import random_graphs
from tests.strategies.samples import hardware, plan_of, sample_semantics, weighted

MAP = "float[1,4,8,8]"
W = "float[4,4,1,1] w"
NORM = "graphturbo.ScaleShift({}, vs, vt)"
CONSTANTS = "<float two = {2.0}, float three = {3.0}>"


def told(sem: GraphSemantics, found: OpKernels) -> list[str]:
    """Each kernel's ops with spaces, in a legal order."""
    return [" ".join(ops) for ops, _ in in_legal_order(sem.graph, found.kernels)]


def matched(text: str, most_post_ops: int = MOST_POST_OPS) -> tuple[list[str], set[Decision]]:
    sem = weighted(text)
    found = matched_kernels(sem, most_post_ops)
    return told(sem, found), {decided(each) for each in found.decisions}


def decided(decision: Decision) -> Decision:
    """The decision without its numbers, so that it can be a member of a set."""
    return Decision(decision.step, decision.rule, decision.subject, decision.is_taken, FROZEN)


class Frozen(dict[str, int | float | str]):
    """No numbers, with a hash."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 0


FROZEN = Frozen()


def taken(rule: str, producer: str, reader: str) -> Decision:
    return Decision("fuse", rule, (producer, reader), True, FROZEN)


def refused(rule: str, producer: str, reader: str) -> Decision:
    return Decision("fuse", rule, (producer, reader), False, FROZEN)


def of_maps(
    body: str, inputs: str = "", outputs: str = f"{MAP} z", most: int = MOST_POST_OPS
) -> tuple[list[str], set[Decision]]:
    return matched(f"g ({MAP} x, {W}{inputs}) => ({outputs}) {{ {body} }}", most)
