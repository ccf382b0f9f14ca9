"""Section -> cycles: closed form for a group cut into pieces (our choice)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from graphturbo_core.ir.boxes import volume
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut, carry_of, further_carries
from graphturbo_core.strategies.plus.piece_work import Boxes, piece_work
from graphturbo_core.strategies.steps.instances import Section
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph

NOTHING: frozenset[str] = frozenset()


def handed_in_lb(plan: Plan) -> frozenset[str]:
    """Tensors that every producing kernel hands on in LB alone."""
    scopes = [
        (tensor, kernel.scopes[tensor]) for kernel in plan.kernels for tensor in kernel.outputs
    ]
    away = {tensor for tensor, scope in scopes if scope is not Scope.LB}
    return frozenset(tensor for tensor, _ in scopes) - away


@dataclass(frozen=True)
class SectionCycles:
    """The closed form for one chip and model."""

    target: Target

    def of_cut(self, graph: LayerGraph, cut: GroupCut, handed: frozenset[str] = NOTHING) -> int:
        """Closed-form cycles of a cut."""
        part = SubGraph(graph, cut.layers)
        carry = carry_of(part, cut) if cut.axis >= 0 else None
        further = further_carries(part, cut.further)
        return self(section_of(part, "", carry, cut.pieces, further), handed)

    def __call__(self, section: Section, handed: frozenset[str] = NOTHING) -> int:
        """Returns the piece count times the cycles of the middle piece.

        A piece takes launch, barrier, and the longest of its work, DRAM moves and GB moves.
        Tensors between groups, except `handed`, wait in GB if that fits the whole tensor, else in
        DRAM. Weights are fetched once if they fit GB beside two tiles, else by each piece. Each
        piece reads them from GB.
        """
        chip, sem = self.target.hardware, self.target.semantics
        work = piece_work(self.target, section, section.middle)
        moved = dict.fromkeys(Scope, 0)
        for boxes in (work.activations, section.piece_outputs(sem, section.middle)):
            for tensor, size_bytes in self._sizes(boxes):
                moved[Scope.LB if tensor in handed else self._waits_in(tensor)] += size_bytes
        weights = work.weight_bytes(self.target)
        whole = work.weight_bytes(self.target, section.pieces)
        is_held = whole <= self.target.budget.gb_data_bytes
        moved[Scope.DRAM] += 0 if is_held else weights
        moved[Scope.GB] += weights
        dram = chip.transfer_cycles(moved[Scope.DRAM], chip.dram_bandwidth)
        gb = chip.transfer_cycles(moved[Scope.GB], chip.gb_bandwidth) if chip.gb_bytes else 0
        once = chip.transfer_cycles(whole, chip.dram_bandwidth) if is_held else 0
        longest = max(work.cycles(chip.cores), dram, gb)
        return section.pieces * (chip.launch_cycles + chip.barrier_cycles + longest) + once

    def _sizes(self, boxes: Boxes) -> Iterator[tuple[str, int]]:
        width = self.target.element_bytes
        return ((name, volume(box) * width[name]) for name, box in boxes.items())

    def _whole_bytes(self, name: str) -> int:
        return self.target.semantics.graph.tensors[name].elements * self.target.element_bytes[name]

    def _waits_in(self, tensor: str) -> Scope:
        """Memory of a tensor between groups; the graph's inputs and outputs are in DRAM."""
        graph = self.target.semantics.graph
        is_outside = tensor in graph.output_names or tensor in graph.inputs
        holds = self._whole_bytes(tensor) <= self.target.hardware.gb_bytes
        return Scope.GB if holds and not is_outside else Scope.DRAM
