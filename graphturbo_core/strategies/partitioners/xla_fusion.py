"""XlaRules -> OpKernels: XLA's passes over the instructions, each fusion with its reason.

Passes in order: fusion without repeats, fusion with repeats, multi-output fusion of siblings and of
producers with a reader. In the first two, readers come before producers: reverse post-order, here
the graph's order from its end. Each asks `XlaFuser.rule` of a producer and one of its readers.
The first repeats broadcasts and widening conversions. The second first finds the producers that
it never repeats (XLA's `ComputeGloballyUnfusible`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from graphturbo_core.ir.graph import Op
from graphturbo_core.products.plan import Decision
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.partitioners.op_kernels import (
    FUSE_STEP,
    MAX_KERNEL_OPS,
    RULE_MODEL_RESULT,
    OpKernel,
    OpKernels,
)
from graphturbo_core.strategies.partitioners.xla_graph import (
    XlaFusion,
    fuses_on_all_paths,
    reaches,
)
from graphturbo_core.strategies.partitioners.xla_rules import MOST_REPEATS, XlaRules

MOST_TENSORS = 96
"""Operands and results of a fusion (recalled)."""
MOST_REDUCTIONS = 8
"""Reductions of a fusion."""

RULE_FUSED = "the reader is the only one: fused into it"
RULE_REPEATED = "cheap: computed in this reader too"
RULE_ALWAYS = "a broadcast or a widening conversion: computed in every reader"
RULE_LAST = "the last reader that needs it: fused into it"
RULE_SIBLINGS = "both read the same result in loops of one shape: one kernel with both results"
RULE_WITH_READER = "producer and reader have loops of one shape: one kernel with both results"
RULE_LIBRARY = "a product, a sort or another call of a library: a boundary"
RULE_KIND = "an op of this kind is not fused into its readers"
RULE_SEVERAL = "several readers, and an expensive op is not computed again"
RULE_GROWS = "its operands are larger than its result, and a path to its readers cannot be fused"
RULE_REREAD = "an expensive op, whose reader reads elements more than once"
RULE_HEAVY = "a reduction of many elements per result, which the reader would repeat"
RULE_BUDGET = "the fusion would have too many operands and results"
RULE_REDUCTIONS = "the fusion would have too many reductions"
RULE_OPS = "the fusion would have too many ops"
Numbers = dict[str, int | float | str]


class XlaFuser:
    """The fusions of one graph, by the op that names them."""

    def __init__(self, semantics: GraphSemantics, rules: XlaRules) -> None:
        """Every op is a fusion of its own."""
        self.graph, self.rules = semantics.graph, rules
        self.place = {op.name: index for index, op in enumerate(self.graph.ops)}
        self.fusions = {op.name: XlaFusion(op.name, {op.name}, {op.name}) for op in self.graph.ops}
        self.decisions: list[Decision] = []
        self._noted: set[tuple[str, tuple[str, str]]] = set()
        self._repeated: set[str] = set()
        self._never_repeated: set[str] = set()
        self._makers = {op.name: self._makers_of(op) for op in self.graph.ops}
        for op in self.graph.ops:
            for tensor in self.graph.activations_in(op):
                maker = self.graph.producer.get(tensor)
                if maker is not None and maker.name != op.name:
                    self.fusions[op.name].operands.add(maker.name)
                    self.fusions[maker.name].readers.add(op.name)

    def result(self) -> OpKernels:
        """The kernels in the graph's order."""
        kernels = (
            OpKernel(self._ordered(fusion.ops), self._ordered(fusion.roots))
            for fusion in self.fusions.values()
        )
        return OpKernels(tuple(kernels), tuple(self.decisions))

    def _ordered(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self.place.__getitem__))

    def fuse_producers(self, *, may_repeat: bool) -> None:
        """One pass over all readers, the last first; a grown reader tries its new operands too."""
        if may_repeat:
            self._find_never_repeated()
        for name in reversed(list(self.fusions)):
            if name not in self.fusions:
                continue
            waiting = [-self.place[each] for each in self.fusions[name].operands]
            heapq.heapify(waiting)
            asked: set[str] = set()
            while waiting:
                producer = self.graph.ops[-heapq.heappop(waiting)].name
                if producer in asked or producer not in self.fusions[name].operands:
                    continue
                asked.add(producer)
                more = self.fusions[producer].operands
                if self._try(producer, name, may_repeat=may_repeat):
                    for each in more:
                        heapq.heappush(waiting, -self.place[each])

    def _try(self, producer: str, reader: str, *, may_repeat: bool) -> bool:
        """Fuse a producer into a reader; returns whether that was done."""
        made, reading = self.fusions[producer], self.fusions[reader]
        is_repeat = len(made.readers) > 1
        is_always = self.rules.by_op[producer].is_always_repeated
        if is_repeat and not (may_repeat or is_always):
            return False  # the next pass decides, and records why
        rule, numbers = self.rule(made, reading)
        if rule:
            self._note(rule, producer, reader, numbers, is_taken=False)
            return False
        last = RULE_LAST if producer in self._repeated else RULE_FUSED
        again = RULE_ALWAYS if is_always else RULE_REPEATED
        self._note(again if is_repeat else last, producer, reader, numbers, is_taken=True)
        if is_repeat:
            self._repeated.add(producer)
        self._absorb(made, reading)
        return True

    def _note(
        self, rule: str, producer: str, reader: str, numbers: Numbers, *, is_taken: bool
    ) -> None:
        subject = producer, self._reader_op(producer, reader)
        if (rule, subject) not in self._noted:  # the second pass asks again
            self._noted.add((rule, subject))
            self.decisions.append(Decision(FUSE_STEP, rule, subject, is_taken, numbers))

    def _reader_op(self, producer: str, reader: str) -> str:
        """The first op of a fusion that reads another one."""
        makers = self.fusions[producer].roots
        reading = (op for op in self.fusions[reader].ops if makers & self._makers[op])
        return min(reading, key=self.place.__getitem__, default=reader)

    def _makers_of(self, op: Op) -> frozenset[str]:
        """Ops whose results an op reads."""
        makers = map(self.graph.producer.get, self.graph.activations_in(op))
        return frozenset(maker.name for maker in makers if maker is not None)

    def rule(self, made: XlaFusion, reading: XlaFusion) -> tuple[str, Numbers]:
        """Why a producer is not fused into a reader, and the numbers; empty: it is."""
        own, by_op = self.rules.by_op[made.root], self.rules.by_op
        numbers: Numbers = {"readers": len(made.readers), "ops": len(made.ops | reading.ops)}
        if own.is_library or any(by_op[root].is_library for root in reading.roots):
            return RULE_LIBRARY, numbers
        if not own.is_producer:
            return RULE_KIND, numbers
        if not self.graph.output_names.isdisjoint(self.graph.op_by_name[made.root].outputs):
            return RULE_MODEL_RESULT, numbers
        if len(reading.operands) > MOST_TENSORS + len(made.roots):
            return RULE_BUDGET, numbers | {"operands and results": len(reading.operands)}
        is_reread = self._is_reread(made, reading)
        ratio = max(by_op[op].ratio for op in made.ops)
        if is_reread and ratio > MOST_REPEATS:
            return RULE_HEAVY, numbers | {"elements per result": ratio}
        if is_reread and own.is_expensive:
            return RULE_REREAD, numbers
        if len(made.readers) > 1:
            fault, more = self._repeat_fault(made)
            if fault:
                return fault, numbers | more
        return self._budget(made.ops | reading.ops, reading.roots, numbers)

    def _repeat_fault(self, made: XlaFusion) -> tuple[str, Numbers]:
        """Why a producer with several readers is not computed in each."""
        if any(self.rules.by_op[op].is_expensive for op in made.ops):
            return RULE_SEVERAL, {}
        if made.root not in self._never_repeated:
            return "", {}
        read, written = self._sizes(made)
        return RULE_GROWS, {"operand elements": read, "result elements": written}

    def _find_never_repeated(self) -> None:
        """Producers that grow, and that some path to their readers does not fuse; readers first."""
        for name in sorted(self.fusions, key=self.place.__getitem__, reverse=True):
            made = self.fusions[name]
            if len(made.readers) > 1 and self._grows(made):
                is_fused = fuses_on_all_paths(self.fusions, name, self.place, self._is_fusible)
                if not is_fused:
                    self._never_repeated.add(name)

    def _is_fusible(self, producer: str, reader: str) -> bool:
        return not self.rule(self.fusions[producer], self.fusions[reader])[0]

    def _grows(self, made: XlaFusion) -> bool:
        """Whether a fusion has several large operands, with more elements than its result."""
        results = (name for name in self.graph.op_by_name[made.root].outputs if name)
        rank = max(map(self.rules.true_rank, results))
        large = [name for name in self._read_by(made.ops) if self.rules.is_large(name, rank)]
        read, written = self._sizes(made)
        return len(large) > 1 and read > written

    def _sizes(self, made: XlaFusion) -> tuple[int, int]:
        """Elements that a fusion reads, and elements of its result."""
        tensors, results = self.graph.tensors, self.graph.op_by_name[made.root].outputs
        read = sum(tensors[name].elements for name in self._read_by(made.ops))
        return read, sum(tensors[name].elements for name in results if name)

    def _read_by(self, ops: set[str]) -> set[str]:
        """Operands of these ops that they do not compute; parameters as a shape are none."""
        read = {name for op in ops for name in self.rules.operands[op]}
        return read - {name for op in ops for name in self.graph.op_by_name[op].outputs}

    def _budget(self, ops: set[str], roots: set[str], numbers: Numbers) -> tuple[str, Numbers]:
        """Whether a fusion of these ops is too large."""
        if len(ops) > MAX_KERNEL_OPS:
            return RULE_OPS, numbers
        tensors = len(self._read_by(ops)) + len(roots)
        if tensors > MOST_TENSORS:
            return RULE_BUDGET, numbers | {"operands and results": tensors}
        reductions = sum(self.rules.by_op[op].is_reduction for op in ops)
        if reductions > MOST_REDUCTIONS:
            return RULE_REDUCTIONS, numbers | {"reductions": reductions}
        return "", numbers

    def _is_reread(self, made: XlaFusion, reading: XlaFusion) -> bool:
        """Whether a fusion needs elements of a producer more than once."""
        tensors = {name for root in made.roots for name in self.graph.op_by_name[root].outputs}
        return any(
            op in reading.reread or self.rules.rereads(op, tensor)
            for op in reading.ops
            for tensor in self.graph.op_by_name[op].inputs
            if tensor in tensors
        )

    def _absorb(self, made: XlaFusion, reading: XlaFusion) -> None:
        """The reader computes the producer's ops too; a producer without readers is gone."""
        if self._is_reread(made, reading):
            reading.reread |= made.ops
        reading.reread |= made.reread
        reading.ops |= made.ops
        reading.operands.discard(made.root)
        made.readers.discard(reading.root)
        for operand in made.operands:
            reading.operands.add(operand)
            self.fusions[operand].readers.add(reading.root)
        if not made.readers:
            for operand in made.operands:
                self.fusions[operand].readers.discard(made.root)
            del self.fusions[made.root]

    def fuse_siblings(self) -> None:
        """Readers of one result with loops of one shape become one kernel, in the graph's order."""
        for producer in list(self.fusions):
            if producer in self.fusions:
                self._join_readers(producer)

    def _join_readers(self, producer: str) -> None:
        leaders: list[str] = []
        for name in self._ordered(self.fusions[producer].readers):
            leader = next((each for each in leaders if self._are_siblings(each, name)), None)
            if leader is None:
                leaders.append(name)
                continue
            self._note_pair(RULE_SIBLINGS, leader, name)
            self._merge(leader, name)

    def fuse_with_readers(self) -> None:
        """A producer joins its readers that have loops of its shape, one after the other."""
        for producer in list(self.fusions):
            while producer in self.fusions:
                readers = self._ordered(self.fusions[producer].readers)
                reader = next((each for each in readers if self._may_pass(producer, each)), None)
                if reader is None:
                    break
                self._note_pair(RULE_WITH_READER, producer, reader)
                self._merge(producer, reader)

    def _note_pair(self, rule: str, first: str, second: str) -> None:
        numbers: Numbers = {"shape": "x".join(map(str, self._loop_shape(second)))}
        self.decisions.append(Decision(FUSE_STEP, rule, (first, second), True, numbers))

    def _are_siblings(self, first: str, second: str) -> bool:
        """Whether two readers of one result may be one kernel: neither needs the other."""
        is_apart = second not in self.fusions[first].readers | self.fusions[first].operands
        return is_apart and self._joins(first, second)

    def _may_pass(self, producer: str, reader: str) -> bool:
        """Whether a reader's loop may use each element of a producer where it is made."""
        made, reading = self.fusions[producer], self.fusions[reader]
        is_same_place = not self._is_reread(made, reading) and not any(
            self.rules.by_op[maker].is_reduction
            for op in reading.ops
            for maker in self._makers[op] & made.roots
        )
        return is_same_place and self._joins(producer, reader)

    def _joins(self, first: str, second: str) -> bool:
        """Whether two fusions may become one kernel with both results."""
        one, other = self.fusions[first], self.fusions[second]
        roots = one.roots | other.roots
        if any(self.rules.by_op[root].is_library_or_scatter for root in roots):
            return False
        if self._loop_shape(first) != self._loop_shape(second):
            return False
        rule, _ = self._budget(one.ops | other.ops, roots, {})
        is_between = reaches(self.fusions, first, second) or reaches(self.fusions, second, first)
        return not rule and not is_between

    def _loop_shape(self, name: str) -> tuple[int, ...]:
        """Shape of a fusion's loops: its result's, of a reduction its operand's."""
        return self.rules.by_op[name].shape

    def _merge(self, first: str, second: str) -> None:
        """The second fusion is named by the first: one kernel, the results of both."""
        one, other = self.fusions[first], self.fusions.pop(second)
        one.ops |= other.ops
        one.roots |= other.roots
        one.reread |= other.reread
        for operand in other.operands:
            self.fusions[operand].readers.discard(second)
            self.fusions[operand].readers.add(first)
        for reader in other.readers:
            self.fusions[reader].operands.discard(second)
            self.fusions[reader].operands.add(first)
        one.operands = (one.operands | other.operands) - {first, second}
        one.readers = (one.readers | other.readers) - {first, second}


def fused_kernels(
    semantics: GraphSemantics,
    number_format: str,
    *,
    may_repeat: bool = True,
    has_several_results: bool = True,
) -> OpKernels:
    """XLA's kernels; the flags choose fusion with repeats and multi-output fusion."""
    fuser = XlaFuser(semantics, XlaRules(semantics, number_format))
    fuser.fuse_producers(may_repeat=False)
    if may_repeat:
        fuser.fuse_producers(may_repeat=True)
    if has_several_results:
        fuser.fuse_siblings()
        fuser.fuse_with_readers()
    return fuser.result()
