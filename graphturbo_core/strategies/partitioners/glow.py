"""`glow`: runs of data-parallel instructions share a kernel, as in Glow's CPU backend.

Source: glow `docs/Optimizations.md` and the LLVM backend's stacking (reference page on schedulers,
section 3).

1. An instruction is *data-parallel* if each element of its result needs one element per operand.
2. In the order of instructions, a run of data-parallel ones with one number of elements is a stack:
   one kernel. It has at most `MOST_BUFFERS` buffers.
3. Any other instruction ends the stack and is a kernel of its own. A convolution takes no epilogue.

`Glow.departures` has what differs here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM
from graphturbo_core.ir.graph import Op
from graphturbo_core.option_fields import number
from graphturbo_core.products.plan import Decision, Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.op_kernels import (
    BETWEEN_LAYERS,
    FUSE_STEP,
    OpKernel,
    OpKernels,
    plan_of_kernels,
)
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy

MOST_BUFFERS = 64
RULE_STACKED = "data-parallel and as many elements as the op before it: stacked"
RULE_OTHER_OP = "not data-parallel: it ends a stack and is a kernel of its own"
RULE_AFTER_OTHER = "data-parallel, but the op before it is not: a new stack"
RULE_OTHER_SIZE = "data-parallel, but of another number of elements: a new stack"
RULE_BUFFERS = "data-parallel, but the stack has no room for its buffers: a new stack"


@dataclass(frozen=True, kw_only=True)
class Glow(Strategy):
    """One kernel per stack or op that is not data-parallel; DRAM between kernels."""

    name: ClassVar[str] = "glow"
    doc: ClassVar[str] = "runs of elementwise ops of one size share a kernel (Glow's stacking)"
    source: ClassVar[str] = "Glow: docs/Optimizations.md and the stacking of its LLVM backend"
    departures: ClassVar[tuple[str, ...]] = (
        "Instructions are in the graph's order; Glow orders them by its own scheduler.",
        "Of Glow's graph clean-up, only what the importer does runs: no transpose sinking, no swap"
        " of relu and pooling, no merge of concatenations.",
        "A matrix product with a bias is one op, as in the file; Glow adds the bias apart.",
        "A mean over the last two of four axes is a reduction; Glow makes an average pooling of it."
        " Both are kernels of their own.",
        "A batch norm is one data-parallel op; Glow lowers it to several.",
        "An ONNX op never writes into its operand. Glow ends a stack where views of one buffer"
        " overlap.",
        "An operand that is broadcast is read in the stack; Glow first writes it in full.",
        BETWEEN_LAYERS,
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    most_buffers: int = number(MOST_BUFFERS, (2, 4096), "most buffers of a stack")

    @property
    def import_passes(self) -> tuple[str, ...]:
        """Glow lowers layer norm to arithmetic, softmax not."""
        return (LAYER_NORM,)

    def plan(self, target: Target) -> Plan:
        """Stack and assemble."""
        found = stacked_kernels(target.semantics, self.most_buffers)
        return plan_of_kernels(target, self.name, found)


@dataclass
class GlowStack:
    """The ops of the kernel that grows; `elements`: 0 where no op may join."""

    ops: list[str] = field(default_factory=list)
    elements: int = 0
    buffers: set[str] = field(default_factory=set)


def stacked_kernels(sem: GraphSemantics, most_buffers: int = MOST_BUFFERS) -> OpKernels:
    """The stacks in the graph's order; linear in ops and their operands."""
    stacks: list[GlowStack] = []
    decisions: list[Decision] = []
    for op in sem.graph.ops:
        elements = _elements(sem, op)
        buffers = set(_buffers(op))
        last = stacks[-1] if stacks else GlowStack()
        rule = _rule(last, elements, len(last.buffers | buffers), most_buffers)
        if last.ops:
            numbers: dict[str, int | float | str] = {
                "elements": elements,
                "of the stack": last.elements,
                "buffers": len(last.buffers | buffers),
            }
            subject = last.ops[-1], op.name
            decisions.append(Decision(FUSE_STEP, rule, subject, rule == RULE_STACKED, numbers))
        if rule != RULE_STACKED:
            last = GlowStack(elements=elements)
            stacks.append(last)
        last.ops.append(op.name)
        last.buffers |= buffers
    kernels = tuple(OpKernel(tuple(stack.ops)) for stack in stacks)
    return OpKernels(kernels, tuple(decisions))


def _rule(stack: GlowStack, elements: int, buffers: int, most_buffers: int) -> str:
    """Whether an op joins the stack before it, or why not."""
    if not elements:
        return RULE_OTHER_OP
    if not stack.elements:
        return RULE_AFTER_OTHER
    if elements != stack.elements:
        return RULE_OTHER_SIZE
    return RULE_STACKED if buffers <= most_buffers else RULE_BUFFERS


def _elements(sem: GraphSemantics, op: Op) -> int:
    """Elements of a data-parallel op's result; 0 for any other op."""
    is_parallel = sem.by_op[op.name].is_pointwise
    return sem.graph.tensors[op.outputs[0]].elements if is_parallel else 0


def _buffers(op: Op) -> Iterator[str]:
    """Operands and results."""
    return (name for name in (*op.inputs, *op.outputs) if name)
