"""Loop nests and shares -> live bytes in a core's LB: the closed form that strategies use.

Our choice (design, section 4): live boxes of the worst core, core halos included, plus two tiles
for a result that is streamed out while its nest runs. Inputs are in LB whole from the start to
their last use. An elementwise nest overwrites an operand of its size that dies there. A nest of an
engine that the cores share works in GB: its operands and results are not in LB.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from graphturbo_core.ir.boxes import Box, hull, is_empty, volume
from graphturbo_core.semantics.access import FusionKind
from graphturbo_core.semantics.kinds import by_place
from graphturbo_core.semantics.nests import LoopNest
from graphturbo_core.semantics.propagate import needed_boxes
from graphturbo_core.semantics.table import GraphSemantics

Shares = Mapping[str, Mapping[int, Box]]
"""Per tensor, box by core, for cores that have one."""


def nest_outputs(sem: GraphSemantics, nest: LoopNest) -> tuple[str, ...]:
    """Tensors that leave a nest: its output, or all used results of a single op."""
    if len(nest.ops) > 1:
        return (nest.output,)
    results = sem.graph.op_by_name[nest.ops[0]].outputs
    if results == (nest.output,):
        return results
    consumers = sem.graph.consumers
    return tuple(n for n in results if n and (consumers[n] or n == nest.output))


def nest_reads(sem: GraphSemantics, nest: LoopNest) -> tuple[str, ...]:
    """Activations that a nest reads from outside itself."""
    ops = [sem.graph.op_by_name[name] for name in nest.ops]
    own = {name for op in ops for name in op.outputs}
    reads = (name for op in ops for name in sem.graph.activations_in(op))
    return tuple(dict.fromkeys(name for name in reads if name not in own))


def core_needs(sem: GraphSemantics, nest: LoopNest, shares: Shares) -> dict[str, Mapping[int, Box]]:
    """Returns per activation the box that each core reads to compute its share of the nest.

    Memoised for equivalent nests, such as those of repeated layers.
    """
    known, key = sem.known_needs, _needs_key(sem, nest, shares)
    found = known.get(key)
    if found is None:
        found = tuple(_core_needs(sem, nest, shares).values())
        known.keep(key, found)
    return dict(zip(nest_reads(sem, nest), found, strict=True))


def _core_needs(sem: GraphSemantics, nest: LoopNest, shares: Shares) -> dict[str, dict[int, Box]]:
    ops = [sem.graph.op_by_name[name] for name in nest.ops]
    reads = nest_reads(sem, nest)
    outputs = [name for name in nest_outputs(sem, nest) if name in shares]
    needs: dict[str, dict[int, Box]] = {name: {} for name in reads}
    for core in dict.fromkeys(core for name in outputs for core in shares[name]):
        wanted = {name: shares[name][core] for name in outputs if core in shares[name]}
        boxes = needed_boxes(sem, ops, wanted)
        read = (name for name in reads if name in boxes and not is_empty(boxes[name]))
        for name in read:
            needs[name][core] = boxes[name]
    return needs


def holding_boxes(
    sem: GraphSemantics, nests: Sequence[LoopNest], shares: Shares
) -> dict[str, dict[int, Box]]:
    """Per tensor and core: hull of the core's share and of the boxes that its nests read."""
    held: dict[str, dict[int, Box]] = {}
    for nest in (nest for nest in nests if not nest.is_on_cluster(sem)):
        for name in nest_outputs(sem, nest):
            held.setdefault(name, {}).update(shares.get(name, {}))
        for name, needs in core_needs(sem, nest, shares).items():
            own = held.setdefault(name, {})
            for core, box in needs.items():
                own[core] = hull(own[core], box) if core in own else box
    return held


def _needs_key(sem: GraphSemantics, nest: LoopNest, shares: Shares) -> Hashable:
    """Memo key: equal for nests whose cores need the same boxes of their reads.

    A tensor is identified by its place among the nest's tensors.
    """
    place, ops = by_place(sem.kinds, [sem.graph.op_by_name[name] for name in nest.ops])
    return (
        ops,
        tuple(
            (place[name], tuple(shares[name].items()))
            for name in nest_outputs(sem, nest)
            if name in shares
        ),
    )


LiveBytes = Mapping[int, tuple[int, ...]]
"""Per core, the live bytes while each nest runs."""


@dataclass(frozen=True)
class KernelHold:
    """LB contents of a kernel's cores over time: `holding_boxes`, per nest in order.

    `ring_bytes`: most bytes of a result that is streamed out while its nest runs.
    """

    semantics: GraphSemantics
    nests: tuple[LoopNest, ...]
    boxes: Shares
    element_bytes: Mapping[str, int]
    ring_bytes: int

    def live_bytes(self, kept: Collection[str] = ()) -> LiveBytes:
        """Live bytes if `kept` tensors are live to the end and other results are streamed."""
        change: dict[int, list[int]] = defaultdict(lambda: [0] * (len(self.nests) + 1))
        for name, (first, last) in self._lifetimes(kept).items():
            is_streamed = self._is_streamed(name, kept)
            for core, box in self.boxes[name].items():
                steps = change[core]
                size = volume(box) * self.element_bytes[name]
                size = min(size, self.ring_bytes) if is_streamed else size
                steps[first] += size
                steps[last + 1] -= size
        return {core: tuple(accumulate(steps))[:-1] for core, steps in sorted(change.items())}

    def peak_bytes(self, kept: Collection[str] = ()) -> int:
        """Peak live bytes of the worst core."""
        return max((max(steps) for steps in self.live_bytes(kept).values()), default=0)

    def _is_streamed(self, name: str, kept: Collection[str]) -> bool:
        """Whether a tensor is computed here, read by no nest here, and not in `kept`."""
        return name in self._streamable and name not in kept

    @cached_property
    def _reads(self) -> Mapping[str, tuple[str, ...]]:
        return {nest.output: nest_reads(self.semantics, nest) for nest in self._core_nests}

    @cached_property
    def _computed(self) -> Mapping[str, tuple[str, ...]]:
        return {nest.output: nest_outputs(self.semantics, nest) for nest in self._core_nests}

    @cached_property
    def _core_nests(self) -> tuple[LoopNest, ...]:
        return tuple(nest for nest in self.nests if not nest.is_on_cluster(self.semantics))

    @cached_property
    def _streamable(self) -> frozenset[str]:
        """Computed here and read by no nest here."""
        read = {name for names in self._reads.values() for name in names}
        return frozenset(n for names in self._computed.values() for n in names if n not in read)

    def _lifetimes(self, kept: Collection[str]) -> dict[str, tuple[int, int]]:
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for step, nest in enumerate(self.nests):
            for name in self._reads.get(nest.output, ()):
                first.setdefault(name, step if name in self._in_gb else 0)
                last[name] = step
            for name in self._computed.get(nest.output, ()):
                first[name] = last[name] = step
        last.update({name: len(self.nests) - 1 for name in kept if name in first})
        for step, nest in enumerate(self.nests):
            if nest.is_on_cluster(self.semantics):
                continue
            reads = self._reads[nest.output]
            dying = self._overwritten(nest, [n for n in reads if last[n] == step and n not in kept])
            if dying is not None:
                last[dying] = step - 1
        return {n: (first[n], last[n]) for n in first if last[n] >= first[n]}

    @cached_property
    def _in_gb(self) -> frozenset[str]:
        """Tensors computed by a shared engine: loaded when a core first reads them."""
        return frozenset(nest.output for nest in self.nests if nest.is_on_cluster(self.semantics))

    def _overwritten(self, nest: LoopNest, dying: Sequence[str]) -> str | None:
        by_op = self.semantics.by_op
        tensors = self.semantics.graph.tensors
        is_elementwise = all(
            by_op[op].is_pointwise and by_op[op].fusion <= FusionKind.BROADCAST for op in nest.ops
        )
        if not is_elementwise:
            return None
        shape = tensors[nest.output].shape
        alike = (
            name
            for name in dying
            if tensors[name].shape == shape
            and self.element_bytes[name] == self.element_bytes[nest.output]
        )
        return next(alike, None)
