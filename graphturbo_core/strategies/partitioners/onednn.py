"""`onednn`: an op with a chain of cheap ops behind it is a kernel, as in oneDNN Graph.

Source: oneDNN `doc/graph/fusion_patterns`, policy `fusion` (reference page on schedulers,
section 2; marks there say what is recalled).

1. Patterns are tried by priority (`PRIORITIES`), each at every free op in the graph's order. A
   match is as long as it can be, and final. An op of no pattern is a kernel of its own.
2. The complex patterns come first: attention and the gated perceptron (`onednn_patterns`).
3. A chain continues with the one reader of a result (`single_reads`). A match is never non-convex.
4. A product without own bias takes the sum with a weight per channel first, once: its bias.
5. A convolution takes one batch norm, before other post-ops.
6. A convolution with windows of one element takes one depthwise convolution, before rule 7.
7. Then come at most `most_post_ops` post-ops: binary and unary ops that keep the shape. A gate is
   one of them, though it consists of several ops.
8. A batch norm that begins a chain takes one Relu and nothing else.
9. Concatenations, transposes and casts take no post-ops.

`OneDnn.departures` has what differs here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar

from graphturbo_core.ir.graph import Op
from graphturbo_core.option_fields import number
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.onednn_patterns import take_attention, take_gated
from graphturbo_core.strategies.partitioners.op_classes import (
    BATCH_NORMS,
    BINARY,
    NORMS,
    POOLS,
    REDUCTIONS,
    RESIZES,
    SOFTMAXES,
    UNARY,
    channel_axis,
    has_bias,
    is_binary,
    is_depthwise,
    is_one_by_one,
    is_per_channel,
    is_square,
    is_unary,
    keeps_shape,
    type_of,
)
from graphturbo_core.strategies.partitioners.op_kernels import (
    BETWEEN_LAYERS,
    OpKernels,
    plan_of_kernels,
)
from graphturbo_core.strategies.partitioners.single_reads import KernelChains, NextOps
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy

MOST_POST_OPS = 4
RULE_BIAS = "a bias, first in the chain"
RULE_BATCH_NORM = "a batch norm after a convolution"
RULE_DEPTHWISE = "a depthwise convolution after a 1x1 convolution"
RULE_POST_OP = "a post-op of the chain"
RULE_NO_CHAIN = "no pattern continues after this op"
RULE_KIND = "an op of this kind is not a post-op"
RULE_SHAPE = "the result of the chain would be broadcast"
RULE_MOST = "the chain has as many post-ops as allowed"
RULE_ONLY_RELU = "a batch norm takes one Relu and nothing else"
RULE_NORM_LATE = "a batch norm comes before other post-ops, once, after a convolution"
RULE_DEPTHWISE_LATE = "a depthwise convolution comes before other post-ops, once"
RULE_NOT_ONE_BY_ONE = "a depthwise convolution joins only a 1x1 convolution"

CONVOLUTION = frozenset({"Conv"})
PRIORITIES: tuple[frozenset[str], ...] = (
    CONVOLUTION,
    frozenset({"ConvTranspose"}),
    frozenset({"MatMul", "Gemm"}),
    SOFTMAXES,
    NORMS | BATCH_NORMS,
    POOLS,
    REDUCTIONS,
    frozenset({"Concat"}),
    RESIZES,
    BINARY,
    UNARY | {"Pow"},
    frozenset({"Transpose", "Cast"}),
)
"""Types of the ops that begin a chain, the first priority first; complex patterns before them."""
BIASED = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm"})
ALONE = frozenset({"Concat", "Transpose", "Cast"})
_PAIR = 2


class PostOpPart(IntEnum):
    """Part of a chain, in the order in which they follow each other."""

    ANCHOR = 0
    BIAS = 1
    BATCH_NORM = 2
    DEPTHWISE = 3
    POST_OP = 4


TAKEN_RULES = {
    PostOpPart.BIAS: RULE_BIAS,
    PostOpPart.BATCH_NORM: RULE_BATCH_NORM,
    PostOpPart.DEPTHWISE: RULE_DEPTHWISE,
    PostOpPart.POST_OP: RULE_POST_OP,
}


@dataclass(frozen=True, kw_only=True)
class OneDnn(Strategy):
    """One kernel per match of a pattern or op without one; DRAM between kernels."""

    name: ClassVar[str] = "onednn"
    doc: ClassVar[str] = "an op and its chain of post-ops share a kernel (oneDNN Graph)"
    source: ClassVar[str] = "oneDNN Graph: doc/graph/fusion_patterns, policy fusion"
    departures: ClassVar[tuple[str, ...]] = (
        "Ops are those of the ONNX graph. Swish, HardSwish, Mish and Gelu made of smaller ops are"
        " found in one spelling each.",
        "Patterns of quantised numbers are absent: a product of them is a kernel of its own.",
        "A choice between two values (Where) and a cast end a chain before them; newer versions of"
        " oneDNN take them as last ops.",
        "A Transpose, a Reshape or a change of layout behind a matrix product ends the chain; newer"
        " versions of oneDNN take them.",
        "Newer versions of oneDNN take up to 20 post-ops behind a matrix product. Here one option"
        " is the limit of all chains.",
        "Grouped-query attention has no pattern of its own.",
        "Every match is one kernel; oneDNN runs several where it has no kernel for a pattern.",
        "Of two ops of one priority that could take a reader, the first in the graph's order does.",
        BETWEEN_LAYERS,
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    most_post_ops: int = number(MOST_POST_OPS, (0, 32), "most binary and unary ops of a chain")

    def plan(self, target: Target) -> Plan:
        """Match and assemble."""
        found = matched_kernels(target.semantics, self.most_post_ops)
        return plan_of_kernels(target, self.name, found)


def matched_kernels(sem: GraphSemantics, most_post_ops: int = MOST_POST_OPS) -> OpKernels:
    """Kernels by rules 1 to 9; linear in ops and their reads, once per priority."""
    chains = KernelChains(sem)
    take_attention(chains)
    take_gated(chains)
    for types in PRIORITIES:
        for op in chains.free_ops():
            if type_of(op) in types and op.name not in chains.taken and _begins_chain(chains, op):
                _PostOpChain(chains, most_post_ops, [op]).grow()
    for op in chains.free_ops():
        chains.close([op])
        following = chains.after(op)
        if following.reader:
            chains.note(RULE_NO_CHAIN, (op.name, following.reader), {}, is_taken=False)
    return chains.result()


def _begins_chain(chains: KernelChains, op: Op) -> bool:
    """Whether an op of these types is one of oneDNN's: of two operands, or a square."""
    if type_of(op) == "Pow":
        return is_square(chains.graph, op)
    return type_of(op) not in BINARY or len(op.inputs) == _PAIR


@dataclass
class _PostOpChain:
    """A chain that grows; `last` is the part that its newest op is."""

    chains: KernelChains
    most_post_ops: int
    ops: list[Op]
    last: PostOpPart = PostOpPart.ANCHOR
    post_ops: int = field(default=0)

    def grow(self) -> None:
        """Take readers as long as a rule allows; the first refusal ends the chain."""
        is_taken = True
        while is_taken:
            following = self.chains.after(self.ops[-1])
            part, rule = self._next(following)
            is_taken = part is not PostOpPart.ANCHOR
            self.post_ops += part is PostOpPart.POST_OP
            if following.reader:
                pair = self.ops[-1].name, following.reader
                numbers = {"post-ops": self.post_ops}
                self.chains.note(rule, pair, numbers, is_taken=is_taken)
            if is_taken:
                self.ops += following.ops
                self.last = part
        self.chains.close(self.ops)

    def _next(self, following: NextOps) -> tuple[PostOpPart, str]:
        """What part the next ops are, and by which rule; ANCHOR: they are refused."""
        ops, anchor = following.ops, type_of(self.ops[0])
        if anchor in ALONE:
            return PostOpPart.ANCHOR, RULE_NO_CHAIN
        if following.fault or not ops:
            return PostOpPart.ANCHOR, following.fault
        if anchor in BATCH_NORMS:
            is_relu = type_of(ops[0]) == "Relu" and len(self.ops) == 1
            part = PostOpPart.POST_OP if is_relu else PostOpPart.ANCHOR
            return part, RULE_POST_OP if is_relu else RULE_ONLY_RELU
        part, fault = self._part(ops)
        return (PostOpPart.ANCHOR, fault) if fault else (part, TAKEN_RULES[part])

    def _part(self, ops: tuple[Op, ...]) -> tuple[PostOpPart, str]:
        """The part that the next ops would be, and what forbids it."""
        value, op = self.ops[-1].outputs[0], ops[0]
        if self._is_bias(op, value):
            return PostOpPart.BIAS, ""
        if type_of(op) in BATCH_NORMS and op.inputs[0] == value:
            is_early = self.last < PostOpPart.BATCH_NORM and type_of(self.ops[0]) in CONVOLUTION
            return PostOpPart.BATCH_NORM, "" if is_early else RULE_NORM_LATE
        if is_depthwise(self.chains.graph, op, value):
            return PostOpPart.DEPTHWISE, self._depthwise_fault()
        return PostOpPart.POST_OP, self._post_op_fault(ops, value)

    def _is_bias(self, op: Op, value: str) -> bool:
        """Rule 4."""
        anchor = self.ops[0]
        if self.last is not PostOpPart.ANCHOR or type_of(anchor) not in BIASED or has_bias(anchor):
            return False
        axis = channel_axis(anchor)
        return type_of(op) == "Add" and is_per_channel(self.chains.graph, op, value, axis)

    def _depthwise_fault(self) -> str:
        """Rule 6."""
        if not is_one_by_one(self.chains.graph, self.ops[0]):
            return RULE_NOT_ONE_BY_ONE
        return "" if self.last < PostOpPart.DEPTHWISE else RULE_DEPTHWISE_LATE

    def _post_op_fault(self, ops: tuple[Op, ...], value: str) -> str:
        """Rule 7."""
        graph = self.chains.graph
        is_gate = len(ops) > 1
        if not (is_gate or is_binary(ops[0], value) or is_unary(graph, ops[0], value)):
            return RULE_KIND
        if not keeps_shape(graph, ops[-1], value):
            return RULE_SHAPE
        return "" if self.post_ops < self.most_post_ops else RULE_MOST
