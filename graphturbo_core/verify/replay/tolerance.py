"""GraphSemantics -> allowed difference of two evaluations, from reduction lengths and types.

First-order error analysis (Higham, Accuracy and Stability of Numerical Algorithms, chapter 3): the
error of a sum of n terms is at most n unit roundoffs of the sum of their magnitudes. Errors of a
chain of ops add. Ours and the reference may both have that error, in opposite directions.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from graphturbo_core.ir.graph import Graph, Op
from graphturbo_core.semantics.access import AxisKind, AxisMap, FusionKind, OpSemantics
from graphturbo_core.semantics.table import GraphSemantics

UNIT_ROUNDOFF = {
    "float64": 2.0**-53, "double": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11,
    "bfloat16": 2.0**-8, "complex64": 2.0**-24, "complex128": 2.0**-53,
}  # fmt: skip
COARSE_ROUNDOFF = 2.0**-3
"""Roundoff of floating types with fewer bits: 8-bit floats have 3 or 2 fraction bits (our choice: 3
for all)."""
TRANSCENDENTAL_ROUNDOFFS = 8
"""Error of a function: 4 units in the last place, which are 8 roundoffs (our choice: the documented
accuracy of vector libraries' fast variants)."""
QUANTISED = frozenset({"int8", "uint8", "int4", "uint4", "int2", "uint2"})
QUANTISED_STEP = 1 / 127
"""One step of an 8-bit number relative to its full range."""


def roundoff(dtype: str) -> float:
    """Largest relative error of one rounding; 0 for exact types."""
    if dtype in UNIT_ROUNDOFF:
        return UNIT_ROUNDOFF[dtype]
    return COARSE_ROUNDOFF if is_coarse(dtype) else 0.0


def is_coarse(dtype: str) -> bool:
    """Whether it is a floating type of at most one byte."""
    return dtype.startswith("float") and dtype not in UNIT_ROUNDOFF


def in_steps(dtype: str) -> bool:
    """Whether results of this type are compared by the number of its values between them.

    A tolerance relative to a tensor's largest number would hide whole steps of small numbers.
    """
    return dtype in QUANTISED or is_coarse(dtype)


def relative_tolerances(semantics: GraphSemantics) -> dict[str, float]:
    """Per tensor, the allowed difference of two evaluations relative to its largest magnitude.

    An op adds its terms times the roundoff to the largest error of its inputs. Integers and
    booleans are exact, except 8-bit numbers rounded from floats, which may differ by one step.
    """
    graph = semantics.graph
    found: dict[str, float] = {}
    for op in graph.ops:
        before = max((found.get(name, 0.0) for name in op.inputs if name), default=0.0)
        terms = rounded_terms(semantics.by_op[op.name], graph, op)
        for name in filter(None, op.outputs):
            found[name] = _of_output(graph, op, name, (before, terms))
    return {name: 2.0 * tolerance for name, tolerance in found.items()}


def _of_output(graph: Graph, op: Op, name: str, known: tuple[float, int]) -> float:
    """Error of one output; inputs of one-byte floats add no roundoff, as they are widened first."""
    before, terms = known
    dtype = graph.tensors[name].dtype
    read = [graph.tensors[n].dtype for n in op.inputs if n]
    if roundoff(dtype):
        wide = (roundoff(n) for n in read if not is_coarse(n))
        return before + terms * max(roundoff(dtype), max(wide, default=0.0))
    is_rounded = before > 0 or any(roundoff(n) for n in read)
    return max(before, QUANTISED_STEP) if dtype in QUANTISED and is_rounded else 0.0


def least_magnitudes(semantics: GraphSemantics) -> dict[str, float]:
    """Per tensor, the least magnitude to which its tolerance is relative.

    The error of a function of floats (sigmoid, tanh, exp ...) is relative to 1, the largest value
    of the bounded ones, even where its result is close to 0. Ops that only move numbers inherit it.
    """
    found: dict[str, float] = {}
    for op in semantics.graph.ops:
        known = semantics.by_op[op.name]
        least = max((found.get(name, 0.0) for name in op.inputs if name), default=0.0)
        moves = known.fusion is FusionKind.INJECTIVE
        own = 1.0 if known.transcendentals else least if moves else 0.0
        found.update(dict.fromkeys(filter(None, op.outputs), own))
    return found


def rounded_terms(semantics: OpSemantics, graph: Graph, op: Op) -> int:
    """Number of roundings per element of the op's result.

    1. A contraction sums K products and its bias.
    2. An op that reads axes whole, reduces them or reads windows sums that many elements; they
       count twice, since it may also normalise by the sum.
    3. Other ops round once per operation, a function several times.
    4. An op without an entry may sum all elements that it reads.
    """
    if semantics.contraction is not None:
        return semantics.contraction.k + 1
    if semantics.is_opaque:
        read = [graph.tensors[name].elements for name in op.inputs if name]
        return 2 * max(read, default=1) + TRANSCENDENTAL_ROUNDOFFS
    summed = [_summed(access.axes) for reads in semantics.accesses for access in reads]
    length = max(summed, default=1)
    plain = semantics.ops_per_element + semantics.ops_per_input
    own = plain + TRANSCENDENTAL_ROUNDOFFS * semantics.transcendentals
    return own + (2 * length if length > 1 else 0)


def _summed(axes: Iterable[AxisMap]) -> int:
    """Elements of a read that are combined in one element of the result."""
    sizes = {AxisKind.WHOLE: "size", AxisKind.REDUCE: "size", AxisKind.WINDOW: "kernel"}
    return prod(int(getattr(axis, sizes[axis.kind])) for axis in axes if axis.kind in sizes)
