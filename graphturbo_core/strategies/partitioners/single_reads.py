"""Graph -> chains: kernels that grow from an op to the one op that reads its result.

1. An op's result continues a chain if it has one reader, is the op's only used result and is no
   result of the model. No other kernel has the reader.
2. A *gate* continues a chain too: a value times a function of it (`GATES`), whose results between
   have one reader each.
3. A value with other readers ends a chain. The refusal says whether one of them also depends on
   the value through another one: with both in one kernel, the kernel would not be convex.

Such kernels are convex, and no two need each other. Only the last op's result leaves a kernel, so
every path that leaves begins there. A path back into the kernel would lead to its last op again,
and graphs have no cycles. Two kernels that need each other would do so through their last ops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphturbo_core.ir.graph import Op
from graphturbo_core.products.plan import Decision
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.op_classes import is_scalar_beside, type_of
from graphturbo_core.strategies.partitioners.op_kernels import (
    FUSE_STEP,
    RULE_MODEL_RESULT,
    OpKernel,
    OpKernels,
)

MOST_SEARCHED = 64
"""Ops searched for the reason of a refusal (our choice): beyond, it is `RULE_SEVERAL`."""
RULE_SEVERAL_RESULTS = "several results of the op are used"
RULE_SEVERAL_READERS = "the result has several readers"
RULE_NOT_CONVEX = "a reader also depends on the result through another reader: not convex"
RULE_READER_TAKEN = "the reader is in another kernel"

SCALED, SHIFTED = frozenset({"Mul", "Div"}), frozenset({"Add"})
"""Of a gate: the other operand has one element."""
GATES: tuple[tuple[frozenset[str], ...], ...] = (
    (frozenset({"Sigmoid"}),),
    (frozenset({"HardSigmoid"}),),
    (frozenset({"Softplus"}), frozenset({"Tanh"})),
    (SCALED, frozenset({"Erf"}), SHIFTED),
)
"""Ops between a value and its product with the last one: Swish, HardSwish, Mish, Gelu."""
_GATE_READERS = 2


@dataclass(frozen=True, slots=True)
class NextOps:
    """How a chain may continue after a result.

    `ops`: the reader, or the ops of a gate; empty with a `fault`. `reader`: the first op that
    reads the result; "" if no op reads it.
    """

    reader: str
    ops: tuple[Op, ...] = ()
    fault: str = ""


class KernelChains:
    """Kernels of one graph so far; each op is in at most one."""

    def __init__(self, semantics: GraphSemantics) -> None:
        """No op is in a kernel."""
        self.semantics, self.graph = semantics, semantics.graph
        self.place = {op.name: index for index, op in enumerate(self.graph.ops)}
        self.taken: set[str] = set()
        self._kernels: dict[str, tuple[str, ...]] = {}
        self._first: dict[str, str] = {}
        self._decisions: list[Decision] = []
        self._replaced: dict[tuple[str, str], int] = {}

    def close(self, ops: Iterable[Op]) -> None:
        """These ops are a kernel."""
        self._close(tuple(op.name for op in ops))

    def _close(self, names: tuple[str, ...]) -> None:
        self.taken.update(names)
        self._kernels[names[0]] = names
        self._first |= dict.fromkeys(names, names[0])

    def kernel_of(self, op: Op) -> tuple[str, ...]:
        """The ops of the kernel that has this op."""
        return self._kernels[self._first[op.name]]

    def join(self, kernels: Iterable[tuple[str, ...]], op: Op) -> None:
        """These kernels and an op without a kernel are one kernel."""
        names: list[str] = []
        for ops in kernels:
            names += self._kernels.pop(ops[0])
        self._close((*names, op.name))

    def note(
        self, rule: str, pair: tuple[str, str], numbers: Mapping[str, int], *, is_taken: bool
    ) -> None:
        """Record why a producer and its reader are in one kernel, or are not."""
        self._decisions.append(Decision(FUSE_STEP, rule, pair, is_taken, dict(numbers)))

    def replace_note(self, rule: str, pair: tuple[str, str], *, is_taken: bool) -> None:
        """As `note`; drops what was recorded about the pair before."""
        self._replaced[pair] = len(self._decisions)
        self.note(rule, pair, {}, is_taken=is_taken)

    def result(self) -> OpKernels:
        """The kernels and the decisions."""
        decisions = tuple(
            each
            for place, each in enumerate(self._decisions)
            if place >= self._replaced.get((each.subject[0], each.subject[1]), 0)
        )
        return OpKernels(tuple(map(OpKernel, self._kernels.values())), decisions)

    def free_ops(self) -> list[Op]:
        """Ops without a kernel, in the graph's order."""
        return [op for op in self.graph.ops if op.name not in self.taken]

    def after(self, op: Op, *, has_gates: bool = True) -> NextOps:
        """How a chain may continue after an op: rules 1 to 3."""
        used = [name for name in op.outputs if name and self._is_used(name)]
        readers = [reader for name in used for reader in self.graph.consumers[name]]
        reader = readers[0].name if readers else ""
        if len(used) > 1:
            return NextOps(reader, fault=RULE_SEVERAL_RESULTS)
        if used and used[0] in self.graph.output_names:
            return NextOps(reader, fault=RULE_MODEL_RESULT)
        ops = tuple(readers) if len(readers) == 1 else ()
        if has_gates and len(readers) == _GATE_READERS:
            ops = self._gate(used[0], readers[0], readers[1])
        if readers and not ops:
            return NextOps(reader, fault=self._several(used[0], readers))
        if any(each.name in self.taken for each in ops):
            return NextOps(reader, fault=RULE_READER_TAKEN)
        return NextOps(reader, ops)

    def _is_used(self, tensor: str) -> bool:
        return tensor in self.graph.output_names or bool(self.graph.consumers[tensor])

    def _gate(self, value: str, first: Op, last: Op) -> tuple[Op, ...]:
        """The ops of a gate that reads the value first and ends in this product, or none."""
        if type_of(last) != "Mul":
            return ()
        for types in GATES:
            ops = self._path(value, first, types)
            if ops and self._only_reader(ops[-1]) == last:
                return (*ops, last)
        return ()

    def _path(self, value: str, first: Op, types: tuple[frozenset[str], ...]) -> list[Op]:
        """Ops of these types from a value on, each the only reader of the one before it."""
        ops: list[Op] = []
        op: Op | None = first
        for accepted in types:
            if op is None or type_of(op) not in accepted:
                return []
            is_constant = accepted in (SCALED, SHIFTED)
            if is_constant and not is_scalar_beside(self.graph, op, value):
                return []
            ops.append(op)
            value, op = op.outputs[0], self._only_reader(op)
        return ops

    def _only_reader(self, op: Op) -> Op | None:
        """The one op that reads an op's result, which is no result of the model."""
        readers = self.graph.consumers[op.outputs[0]]
        is_inside = len(readers) == 1 and op.outputs[0] not in self.graph.output_names
        return readers[0] if is_inside else None

    def _several(self, value: str, readers: list[Op]) -> str:
        """Rule 3; the search backwards from the readers is bounded."""
        names = {reader.name for reader in readers}
        start = self.place[self.graph.producer[value].name]
        stack = [operand for op in readers for operand in op.inputs if operand != value]
        seen: set[str] = set()
        while stack and len(seen) < MOST_SEARCHED:
            maker = self.graph.producer.get(stack.pop())
            if maker is None or maker.name in seen or self.place[maker.name] < start:
                continue
            if maker.name in names:
                return RULE_NOT_CONVEX
            seen.add(maker.name)
            stack += maker.inputs
        return RULE_SEVERAL_READERS
