"""XLA's classes of instructions: which may be fused, and what a fusion of two would repeat.

Source: `instruction_fusion.cc` and `gpu_fusible.cc` (reference page on schedulers, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from graphturbo_core.ir.dtypes import element_bytes
from graphturbo_core.semantics.access import AxisKind, FusionKind, OpSemantics
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.baselines.stitch import is_compute_intensive

MOST_REPEATS = 10
"""A reduction of more elements than this per result is not computed again per reader."""
_EXPENSIVE_KINDS = (FusionKind.REDUCTION, FusionKind.CONTRACTION)
_LOOKUPS = frozenset({"Gather", "GatherElements", "GatherND"})
_SCATTERS = frozenset({"ScatterElements", "ScatterND", "TensorScatter"})


@dataclass(frozen=True)
class XlaOp:
    """One op as the rules see it.

    `is_library`: a product, a sort, or an op without entry: a call of a library, which takes part
    in no fusion. `is_reduction`: reduce or reduce-window. `ratio`: elements of a reduction's
    operand per element of its result. `shape`: of its loops: the result's, or such an operand's.
    """

    name: str
    is_library: bool
    is_producer: bool
    is_reduction: bool
    is_expensive: bool
    ratio: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class XlaRules:
    """The classes of all ops of a graph."""

    semantics: GraphSemantics = field(repr=False)
    number_format: str

    @cached_property
    def by_op(self) -> dict[str, XlaOp]:
        """Every op by name."""
        return {op.name: self._classify(op.name) for op in self.semantics.graph.ops}

    def _classify(self, name: str) -> XlaOp:
        graph, own = self.semantics.graph, self.semantics.by_op[name]
        op = graph.op_by_name[name]
        outputs = [tensor for tensor in op.outputs if tensor]
        is_library = is_library_call(own)
        is_reduction = not is_library and own.fusion in (
            FusionKind.REDUCTION,
            FusionKind.CONTRACTION,
        )
        result = graph.tensors[outputs[0]]
        first = graph.tensors[op.inputs[0]].elements if op.inputs and op.inputs[0] else 0
        is_variadic = is_reduction and len(outputs) > 1
        return XlaOp(
            name=name,
            is_library=is_library,
            is_producer=not (is_library or is_variadic or op.op_type in _SCATTERS),
            is_reduction=is_reduction,
            is_expensive=_is_expensive(own, op.op_type),
            ratio=first // max(1, result.elements) if is_reduction else 1,
            shape=graph.tensors[op.inputs[0]].shape if is_reduction else result.shape,
        )

    def bytes_of(self, tensor: str) -> int:
        """Bytes of a whole tensor on the chip."""
        found = self.semantics.graph.tensors[tensor]
        return found.elements * element_bytes(found.dtype, self.number_format)

    def rereads(self, consumer: str, tensor: str) -> bool:
        """Whether the op reads elements of a tensor more than once: it repeats them, or slides."""
        own = self.semantics.by_op[consumer]
        accesses = [access for reads in own.accesses for access in reads if access.tensor == tensor]
        shape = own.output_shapes[0]
        for access in accesses:
            followed = {axis.out_axis for axis in access.axes if axis.out_axis >= 0}
            is_spread = prod(n for at, n in enumerate(shape) if at not in followed) > 1
            if is_spread or any(
                axis.kind is AxisKind.WINDOW and axis.kernel > axis.stride for axis in access.axes
            ):
                return True
        return False


def is_library_call(own: OpSemantics) -> bool:
    """A product, a sort, or an op without entry in the table."""
    return is_compute_intensive(own) or own.fusion is FusionKind.OPAQUE


def _is_expensive(own: OpSemantics, op_type: str) -> bool:
    """A division or transcendental function, a reduction, a lookup, a product."""
    return bool(own.transcendentals or own.fusion in _EXPENSIVE_KINDS or op_type in _LOOKUPS)
