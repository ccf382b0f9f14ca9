"""XLA's classes of instructions: which may be fused, and what a fusion of two would repeat.

Source: `instruction_fusion.cc` and `gpu_fusible.cc` (reference page on schedulers, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from graphturbo_core.ir.dtypes import FLOAT_DTYPES, element_bytes
from graphturbo_core.ir.graph import Graph, Op, TensorKind
from graphturbo_core.semantics.access import AxisKind, FusionKind, OpSemantics
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.baselines.stitch import is_compute_intensive

MOST_REPEATS = 10
"""A reduction of more elements than this per result is not computed again per reader."""
_EXPENSIVE_KINDS = (FusionKind.REDUCTION, FusionKind.CONTRACTION)
_DIVISIONS = frozenset({"Div", "Mod"})
_BROADCAST, _CONVERSIONS = "Expand", frozenset({"Cast", "CastLike"})
_LOOKUPS = frozenset({"Gather", "GatherElements", "GatherND"})
_SCATTERS = frozenset({"Scatter", "ScatterElements", "ScatterND", "TensorScatter"})


@dataclass(frozen=True)
class XlaOp:
    """One op as the rules see it.

    `is_library`: a product, a sort, or an op without entry: a call of a library, which takes part
    in no fusion. `is_library_or_scatter`: none in a kernel of several results. `is_reduction`:
    reduce or reduce-window. `is_always_repeated`: a broadcast or a widening conversion. `ratio`:
    elements read per element of a reduction's result. `shape`: of its loops: the result's, or the
    operand's of a reduction.
    """

    name: str
    is_library: bool
    is_library_or_scatter: bool
    is_producer: bool
    is_reduction: bool
    is_expensive: bool
    is_always_repeated: bool
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
        is_variadic = is_reduction and len(outputs) > 1
        is_scatter = op.op_type in _SCATTERS
        return XlaOp(
            name=name,
            is_library=is_library,
            is_library_or_scatter=is_library or is_scatter,
            is_producer=not (is_library or is_variadic or is_scatter),
            is_reduction=is_reduction,
            is_expensive=_is_expensive(graph, own, op),
            is_always_repeated=op.op_type == _BROADCAST or self._is_widening(op),
            ratio=_elements_per_result(graph, own, op) if is_reduction else 1,
            shape=graph.tensors[op.inputs[0]].shape if is_reduction else result.shape,
        )

    def _is_widening(self, op: Op) -> bool:
        """A conversion to more bytes per element, both as on the chip."""
        if op.op_type not in _CONVERSIONS:
            return False
        types = (self.semantics.graph.tensors[each].dtype for each in (op.inputs[0], op.outputs[0]))
        narrow, wide = (element_bytes(each, self.number_format) for each in types)
        return narrow < wide

    @cached_property
    def operands(self) -> dict[str, frozenset[str]]:
        """Per op the tensors whose elements it reads; parameters as axes or a shape are none."""
        return {
            name: frozenset(access.tensor for reads in own.accesses for access in reads)
            for name, own in self.semantics.by_op.items()
        }

    def true_rank(self, tensor: str) -> int:
        """Axes of more than one element."""
        return sum(size > 1 for size in self.semantics.graph.tensors[tensor].shape)

    def is_large(self, tensor: str, rank: int) -> bool:
        """Whether reading an operand counts beside a result of this rank.

        An operand of lower rank does not, nor a scalar constant. A broadcast is in the fusion that
        reads it, so what it reads counts.
        """
        found = self.semantics.graph.tensors[tensor]
        is_scalar = found.kind is TensorKind.WEIGHT and found.elements == 1
        return not is_scalar and self.true_rank(tensor) >= rank

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


def _is_expensive(graph: Graph, own: OpSemantics, op: Op) -> bool:
    """A division or transcendental function, a reduction, a lookup, a product.

    A division of integers by a scalar constant is cheap: products and shifts do it.
    """
    if op.op_type in _DIVISIONS and _is_of_integers_by_constant(graph, op):
        return False
    return bool(own.transcendentals or own.fusion in _EXPENSIVE_KINDS or op.op_type in _LOOKUPS)


def _is_of_integers_by_constant(graph: Graph, op: Op) -> bool:
    divided, by = (graph.tensors[name] for name in op.inputs)
    is_constant = by.kind is TensorKind.WEIGHT and by.elements == 1
    return is_constant and divided.dtype not in FLOAT_DTYPES


def _elements_per_result(graph: Graph, own: OpSemantics, op: Op) -> int:
    """Elements of a window, or else of a reduction's operand per element of its result."""
    axes = [axis for reads in own.accesses for access in reads for axis in access.axes]
    windows = {axis.out_axis: axis.kernel for axis in axes if axis.kind is AxisKind.WINDOW}
    if windows:
        return prod(windows.values())
    written = min(graph.tensors[name].elements for name in op.outputs if name)
    return graph.tensors[op.inputs[0]].elements // max(1, written)
