"""Plan -> memories in which a kernel's operands are expected while its tiles are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.lowering.stages.stage import Stage
from graphturbo_core.products.plan import KernelPlan, Plan, Residency, Scope


@dataclass(frozen=True, slots=True)
class OperandPlaces:
    """Expected memories of a kernel's operands.

    `in_dram`: tensors that are read from DRAM unless they are in LB. `weights`: residency of the
    weights that are streamed by tile.
    """

    in_dram: frozenset[str]
    weights: Mapping[str, Residency]


Spilled = frozenset[tuple[str, str]]
"""Tensors without room in GB, with the kernels that left them in DRAM, by name."""


class ExpectedPlaces:
    """Expected memories by the plan, and by the tensors that a division of GB left in DRAM.

    Tiles are chosen before lowering divides GB. If GB has no room for some tensors, tiles are
    chosen once more with these in DRAM. The division then may differ again (our choice).
    """

    def __init__(self, plan: Plan, spilled: Spilled) -> None:
        """Read the scopes of all outputs."""
        self._plan, self._spilled = plan, spilled
        self._in_gb = _outputs_in_gb(plan) - {tensor for tensor, _ in spilled}

    def of_kernel(self, kernel: KernelPlan, stages: Sequence[Stage]) -> OperandPlaces:
        """The expected memories of what these stages of a kernel read."""
        read = {operand.tensor for stage in stages for operand in stage.operands}
        tiled = [operand.tensor for stage in stages if (operand := stage.tile_weight())]
        return OperandPlaces(
            frozenset(name for name in read if self._is_in_dram(kernel, name)),
            {name: kernel.residency.get(name, Residency.STREAM) for name in tiled},
        )

    def _is_in_dram(self, kernel: KernelPlan, tensor: str) -> bool:
        """Whether a tensor is in DRAM; one that spills from LB goes to GB.

        Graph inputs and outputs, weights, and what another cluster computes are in DRAM.
        """
        if tensor in kernel.bindings and tensor not in kernel.outputs:
            is_planned = kernel.scopes.get(tensor, Scope.LB) is Scope.DRAM
            is_spilled = (tensor, kernel.name) in self._spilled
            return is_planned or is_spilled or not self._plan.hardware.has_gb
        return tensor not in self._in_gb


def _outputs_in_gb(plan: Plan) -> frozenset[str]:
    """Outputs of kernels that the plan has in GB, or that go there from LB."""
    if not plan.hardware.has_gb:
        return frozenset()
    outputs = {
        (tensor, kernel.scopes.get(tensor, Scope.LB) is Scope.DRAM)
        for kernel in plan.kernels
        for tensor in kernel.outputs
    }
    in_dram = {tensor for tensor, is_in_dram in outputs if is_in_dram}
    names = frozenset(tensor for tensor, _ in outputs)
    return names - in_dram - plan.semantics.graph.output_names
