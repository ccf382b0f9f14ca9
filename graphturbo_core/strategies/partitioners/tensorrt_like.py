"""`tensorrt-like`: products with their epilogue, and runs of elementwise ops, are kernels.

Source: TensorRT's guide on layer fusion, and IOS's measurements of it (reference page on
schedulers, section 4). TensorRT itself is closed, so these rules are recalled and incomplete.

1. A convolution or matrix product takes the biases and scales behind it: sums, differences,
   products and quotients with a weight per channel or one element, and batch norms.
2. Then it takes a residual sum with another value of its shape (option `residual`).
3. Then it takes one activation, which ends the kernel.
4. For rules 1 to 3 a result has one reader (`single_reads`). Products are visited from the last to
   the first: a sum of two products belongs to the later product.
5. An elementwise op joins the elementwise op that reads it (option `pointwise`). It may have
   several readers if all are in one kernel. All results in such a kernel have one shape.
6. Softmax and normalisations are whole: one kernel per op. So are pools, reductions, and ops that
   move data (reshape, transpose, slice: a shuffle).
7. A concatenation joins the kernels of its operands (option `concat`; `joined_operands.py`).
8. Convolutions of one input, shape and activation are one convolution before these rules apply
   (option `horizontal`; conditions: `frontend/passes/horizontal.py`). Its kernel has the slices of
   its result too, and per slice what follows by rules 1 and 3.

A kernel hands out the result of its last op alone, but for rule 8. `single_reads` shows why no two
kernels need each other. A kernel of rule 8 reads one value that is no weight, and all its results
depend on that value: two kernels that need each other would still be a cycle of ops.

`TensorRtLike.departures` has what differs here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import ClassVar

from graphturbo_core.frontend.passes.clean_up import HORIZONTAL
from graphturbo_core.frontend.passes.horizontal import ACTIVATIONS, horizontal_pairs
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.option_fields import switch
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.semantics.access import FusionKind
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.joined_operands import close_concat
from graphturbo_core.strategies.partitioners.op_classes import (
    BATCH_NORMS,
    NORMS,
    POOLS,
    PRODUCTS,
    REDUCTIONS,
    SLICE,
    SOFTMAXES,
    channel_axis,
    is_binary,
    is_per_channel,
    is_scalar_beside,
    keeps_shape,
    operand_beside,
    type_of,
)
from graphturbo_core.strategies.partitioners.op_kernels import (
    BETWEEN_LAYERS,
    MAX_KERNEL_OPS,
    RULE_MODEL_RESULT,
    OpKernels,
    plan_of_kernels,
)
from graphturbo_core.strategies.partitioners.single_reads import (
    RULE_READER_TAKEN,
    KernelChains,
    NextOps,
)
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy

RULE_SCALED = "a bias or scale of the product"
RULE_RESIDUAL = "a residual sum after the product"
RULE_ACTIVATION = "the activation of the product, which ends its kernel"
RULE_POINTWISE = "elementwise, and all readers are in one elementwise kernel of its shape"
RULE_KIND = "an op of this kind does not join a product"
RULE_OFF = "residual sums are switched off"
RULE_OTHER_SHAPE = "the other operand or the result is of another shape than the product"
RULE_ENDED = "an activation ends the product's kernel"
RULE_LATE = "biases and scales come first, and one residual sum after them"
RULE_READER = "a reader is not in an elementwise kernel"
RULE_SEVERAL = "the readers are in several elementwise kernels"
RULE_POINTWISE_SHAPE = "elementwise, but of another shape than its readers"
RULE_FULL = "the elementwise kernel has as many ops as allowed"
RULE_POINTWISE_OFF = "elementwise kernels are switched off"
RULE_WHOLE = "a softmax or normalisation is a kernel of its own"
RULE_REDUCES = "a pool or reduction is a kernel of its own"
RULE_SHUFFLE = "an op that moves data is a kernel of its own"
RULE_CONCAT = "a concatenation does not join its readers"
RULE_NO_RULE = "no rule joins this op to another one"
RULE_BRANCH = "the result of a merged convolution, sliced in its kernel"
RULE_BRANCH_SUM = "a merged convolution takes no residual sum"
RULE_MERGES_OFF = "horizontal merges are switched off"

MERGE_STEP = "horizontal"
"""Step of decisions about rule 8; the subjects are two convolutions of the undecomposed graph."""


class EpiloguePart(IntEnum):
    """Part of a product's epilogue, in the order in which they follow each other."""

    NONE = 0
    SCALED = 1
    RESIDUAL = 2
    ACTIVATION = 3


TAKEN_RULES = {
    EpiloguePart.SCALED: RULE_SCALED,
    EpiloguePart.RESIDUAL: RULE_RESIDUAL,
    EpiloguePart.ACTIVATION: RULE_ACTIVATION,
}


@dataclass(frozen=True, kw_only=True)
class TensorRtLike(Strategy):
    """One kernel per product with its epilogue, elementwise run or other op; DRAM between."""

    name: ClassVar[str] = "tensorrt-like"
    doc: ClassVar[str] = "products take bias, residual and activation (rules like TensorRT's)"
    source: ClassVar[str] = "recalled from TensorRT's guide on layer fusion; TensorRT is closed"
    departures: ClassVar[tuple[str, ...]] = (
        "A merged convolution is sliced before the activations: every branch keeps its own layer.",
        "Work and weights of a merged convolution count for the layer of its first branch.",
        "A convolution with a residual sum behind it is not merged: its kernel takes the sum.",
        "A concatenation is no kernel, but its operands are copied from LB to LB: in TensorRT their"
        " producers write into the joined tensor.",
        "Operands that others read too, or that a kernel with more results makes, are read back.",
        "A value times its own sigmoid is an elementwise kernel behind the product.",
        "Kernels, merges and concatenations are not chosen by measurement: on small LBs a merge, or"
        " a kernel with a concatenation, can be slower.",
        BETWEEN_LAYERS,
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    residual: bool = switch("a product takes the residual sum behind it")
    pointwise: bool = switch("elementwise ops that read each other share a kernel")
    horizontal: bool = switch("convolutions of one input, shape and activation are one convolution")
    concat: bool = switch("a concatenation shares a kernel with the producers of its operands")

    @property
    def import_passes(self) -> tuple[str, ...]:
        """Rule 8 rewrites weights."""
        return (HORIZONTAL,) if self.horizontal else ()

    def plan(self, target: Target) -> Plan:
        """Fuse and assemble."""
        found = layered_kernels(
            target.semantics,
            has_residual=self.residual,
            has_pointwise=self.pointwise,
            has_concat=self.concat,
        )
        merges = merge_decisions(target.semantics.graph)
        found = replace(found, decisions=(*merges, *found.decisions))
        return plan_of_kernels(target, self.name, found)


def merge_decisions(graph: Graph) -> tuple[Decision, ...]:
    """Why convolutions of one input are one in this graph, or are not; from the graph before."""
    decisions = []
    for pair in horizontal_pairs(graph.whole):
        is_taken = pair.is_merged and pair.second not in graph.op_by_name
        rule = RULE_MERGES_OFF if pair.is_merged and not is_taken else pair.rule
        subject = pair.first, pair.second
        decisions.append(Decision(MERGE_STEP, rule, subject, is_taken, pair.numbers))
    return tuple(decisions)


def layered_kernels(
    sem: GraphSemantics,
    *,
    has_residual: bool = True,
    has_pointwise: bool = True,
    has_concat: bool = True,
) -> OpKernels:
    """Kernels of a graph; linear in ops and their reads."""
    chains = KernelChains(sem)
    for op in reversed(chains.graph.ops):
        if type_of(op) in PRODUCTS:
            branches = _branches(chains.graph, op)
            if branches:
                _take_branches(chains, op, branches)
            else:
                sum_fault = "" if has_residual else RULE_OFF
                chains.close(_with_epilogue(chains, op, op, sum_fault))
    _take_pointwise(chains, has_pointwise=has_pointwise)
    for op in chains.free_ops():
        if sem.by_op[op.name].is_joint:
            close_concat(chains, op, is_joined=has_concat)
        else:
            chains.close([op])
        following = chains.after(op, has_gates=False)
        if following.reader:
            pair = op.name, following.reader
            chains.note(_own_kernel_rule(sem, op), pair, {}, is_taken=False)
    return chains.result()


def _own_kernel_rule(sem: GraphSemantics, op: Op) -> str:
    """Rules 6 and 7."""
    kind = type_of(op)
    if kind in SOFTMAXES | NORMS:
        return RULE_WHOLE
    if kind in POOLS | REDUCTIONS:
        return RULE_REDUCES
    if sem.by_op[op.name].is_joint:
        return RULE_CONCAT
    return RULE_SHUFFLE if sem.by_op[op.name].fusion is FusionKind.INJECTIVE else RULE_NO_RULE


def _branches(graph: Graph, product: Op) -> list[Op]:
    """Slices of a merged convolution's result; empty for another product."""
    readers = graph.consumers[product.outputs[0]]
    return [op for op in readers if op.origin and type_of(op) == SLICE]


def _take_branches(chains: KernelChains, product: Op, branches: list[Op]) -> None:
    """Rule 8: the kernel of a merged convolution."""
    ops = [product]
    for branch in branches:
        pair = product.name, branch.name
        chains.note(RULE_BRANCH, pair, {"ops": len(ops)}, is_taken=True)
        ops += _with_epilogue(chains, product, branch, RULE_BRANCH_SUM)
    chains.close(ops)


def _with_epilogue(chains: KernelChains, product: Op, head: Op, sum_fault: str) -> list[Op]:
    """Rules 1 to 3: ops from the head on, which is a product or a slice of its result.

    `sum_fault`: why no residual sum may join; "" if it may.
    """
    ops, last, is_taken = [head], EpiloguePart.NONE, True
    while is_taken:
        following = chains.after(ops[-1], has_gates=False)
        part, fault = _epilogue_part(chains, product, ops[-1], following)
        if part is EpiloguePart.RESIDUAL:
            fault = fault or sum_fault
        fault = fault or _order_fault(part, last)
        is_taken = not fault and part is not EpiloguePart.NONE
        if following.reader:
            pair = ops[-1].name, following.reader
            chains.note(fault or TAKEN_RULES[part], pair, {"ops": len(ops)}, is_taken=is_taken)
        if is_taken:
            ops += following.ops
            last = part
    return ops


def _epilogue_part(
    chains: KernelChains, product: Op, tail: Op, following: NextOps
) -> tuple[EpiloguePart, str]:
    """The part that the next op would be, and why it is none."""
    if following.fault or not following.ops:
        is_product = following.fault == RULE_READER_TAKEN and _is_product(chains, following.reader)
        return EpiloguePart.NONE, RULE_KIND if is_product else following.fault
    graph, op, value = chains.graph, following.ops[0], tail.outputs[0]
    if type_of(op) in BATCH_NORMS and op.inputs[0] == value:
        return EpiloguePart.SCALED, ""
    if type_of(op) in ACTIVATIONS and op.inputs[0] == value:
        return EpiloguePart.ACTIVATION, ""
    other = operand_beside(op, value)
    if not other or not is_binary(op, value) or type_of(op) in ("Max", "Min"):
        return EpiloguePart.NONE, RULE_KIND
    if not keeps_shape(graph, op, value):
        return EpiloguePart.NONE, RULE_OTHER_SHAPE
    is_weight = graph.tensors[other].kind is TensorKind.WEIGHT
    is_scalar = is_weight and is_scalar_beside(graph, op, value)
    if is_scalar or is_per_channel(graph, op, value, channel_axis(product)):
        return EpiloguePart.SCALED, ""
    if type_of(op) != "Add":
        return EpiloguePart.NONE, RULE_KIND
    has_one_shape = graph.tensors[other].shape == graph.tensors[value].shape
    return EpiloguePart.RESIDUAL, "" if has_one_shape else RULE_OTHER_SHAPE


def _is_product(chains: KernelChains, name: str) -> bool:
    return type_of(chains.graph.op_by_name[name]) in PRODUCTS


def _order_fault(part: EpiloguePart, last: EpiloguePart) -> str:
    """Whether a part may follow the last one; only scales repeat."""
    if last is EpiloguePart.ACTIVATION:
        return RULE_ENDED
    if part > last or part is last is EpiloguePart.SCALED:
        return ""
    return RULE_LATE


def _take_pointwise(chains: KernelChains, *, has_pointwise: bool) -> None:
    """Rule 5: readers first, so that a reader's kernel is known. Its last op names it."""
    kernels: dict[str, list[Op]] = {}
    kernel_of: dict[str, str] = {}
    for op in reversed(chains.free_ops()):
        if not chains.semantics.by_op[op.name].is_pointwise:
            continue
        readers = chains.graph.consumers[op.outputs[0]]
        roots = sorted({kernel_of.get(reader.name, "") for reader in readers})
        joined = [kernels.get(root, []) for root in roots]
        rule = _pointwise_rule(chains, op, joined) if has_pointwise else RULE_POINTWISE_OFF
        is_taken = rule == RULE_POINTWISE
        if readers:
            pair, numbers = (op.name, readers[0].name), {"ops": max(map(len, joined))}
            chains.note(rule, pair, numbers, is_taken=is_taken)
        root = roots[0] if is_taken else op.name
        kernels.setdefault(root, []).append(op)
        kernel_of[op.name] = root
    for kernel in reversed(kernels.values()):
        chains.close(reversed(kernel))


def _pointwise_rule(chains: KernelChains, op: Op, joined: list[list[Op]]) -> str:
    """Whether an op joins the kernels of its readers, or why not; a kernel begins with its root."""
    graph, value = chains.graph, op.outputs[0]
    if value in graph.output_names:
        return RULE_MODEL_RESULT
    if not joined or not all(joined):
        return RULE_READER
    if len(joined) > 1:
        return RULE_SEVERAL
    if not keeps_shape(graph, joined[0][0], value):
        return RULE_POINTWISE_SHAPE
    return RULE_POINTWISE if len(joined[0]) < MAX_KERNEL_OPS else RULE_FULL
