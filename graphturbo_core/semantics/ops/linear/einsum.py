"""Semantics of Einsum: the equation's labels are rows, columns, batch or summed."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.semantics.access import (
    AxisMap,
    Contraction,
    FusionKind,
    InputAccess,
    OpSemantics,
)
from graphturbo_core.semantics.ops.maps import Entry, broadcast_axis, reduced
from graphturbo_core.semantics.ops.view import OpView

PAIR = 2
"""Operands of a product; more make the op opaque, since the runtime chooses their order."""


@dataclass(frozen=True, slots=True)
class _Equation:
    """Labels per operand and of the result; axes below "..." have the labels `.0`, `.1`, ..."""

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]


def _parsed(view: OpView) -> _Equation:
    text = view.text("equation", "").replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    ranks = [len(view.shape(place)) for place in range(len(terms))]
    operands = tuple(_labels(term, rank) for term, rank in zip(terms, ranks, strict=True))
    wide = max((sum(label[0] == "." for label in labels) for labels in operands), default=0)
    dots = tuple(f".{place}" for place in reversed(range(wide)))
    if arrow:
        head, dotted, tail = right.partition("...")
        return _Equation(operands, (*head, *(dots if dotted else ()), *tail))
    letters = [label for labels in operands for label in labels if label[0] != "."]
    once = sorted(label for label in set(letters) if letters.count(label) == 1)
    return _Equation(operands, (*dots, *once))


def _labels(term: str, rank: int) -> tuple[str, ...]:
    """Labels of a term; axes below "..." are aligned and counted from the last."""
    head, dotted, tail = term.partition("...")
    wide = rank - len(head) - len(tail) if dotted else 0
    return (*head, *(f".{place}" for place in reversed(range(wide))), *tail)


def einsum(view: OpView) -> OpSemantics | None:
    """Einsum of one operand moves or sums; of two it is a product; of more it is opaque."""
    equation = _parsed(view)
    reads = tuple(
        InputAccess(name, tuple(_axis(view, equation, pair) for pair in zip(labels, shape,
                                                                            strict=True)))
        for name, labels, shape in zip(
            view.op.inputs, equation.operands, map(view.shape, range(len(view.op.inputs))),
            strict=True,
        )
    )  # fmt: skip
    if len(reads) > PAIR or any(len(set(labels)) < len(labels) for labels in equation.operands):
        return None
    summed = {label for labels in equation.operands for label in labels} - {*equation.result}
    if len(reads) == 1:
        return _single(view, reads[0], bool(summed))
    if not summed:
        return _multiplied(view, reads)
    return _contracted(view, equation, reads)


def _axis(view: OpView, equation: _Equation, pair: tuple[str, int]) -> AxisMap:
    label, size = pair
    if label not in equation.result:
        return reduced(size)
    place = equation.result.index(label)
    return broadcast_axis(size, view.shape_out()[place], place)


def _single(view: OpView, read: InputAccess, is_summed: bool) -> OpSemantics:
    return OpSemantics(
        fusion=FusionKind.REDUCTION if is_summed else FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=((read,),),
        output_shapes=view.shapes_out,
        ops_per_element=0 if is_summed else 1,
        ops_per_input=1 if is_summed else 0,
    )


def _multiplied(view: OpView, reads: tuple[InputAccess, ...]) -> OpSemantics:
    """No sum: one product per element, operands broadcast."""
    return OpSemantics(
        fusion=FusionKind.INJECTIVE,
        engine=EngineKind.VECTOR,
        accesses=(reads,),
        output_shapes=view.shapes_out,
    )


def _contracted(view: OpView, equation: _Equation, reads: tuple[InputAccess, ...]) -> OpSemantics:
    """Summed labels of both operands are K; result labels of one operand are M or N.

    1. The operand with fewer exclusive axes is the weight: it gives the one N axis.
    2. A label of one operand alone that is not in the result is summed too: K is not cut then.
    3. The last of several N axes is N; the others are batch axes.
    """
    sizes = _sizes(view, equation)
    left, right = (set(labels) for labels in equation.operands)
    own = [[i for i, n in enumerate(equation.result) if n in a - b]
           for a, b in ((left, right), (right, left))]  # fmt: skip
    first, second = (0, 1) if len(own[1]) <= len(own[0]) else (1, 0)
    summed = [n for n in sizes if n not in equation.result]
    shared = [n for n in summed if n in left & right]
    is_cut = len(shared) == len(summed)
    k = prod(sizes[n] for n in summed)
    depth = sizes[shared[0]] if is_cut else 1
    return OpSemantics(
        fusion=FusionKind.CONTRACTION,
        engine=EngineKind.MATRIX,
        accesses=((reads[first], reads[second]),),
        output_shapes=view.shapes_out,
        ops_per_element=0,
        contraction=Contraction(
            m_axes=tuple(own[first]),
            n_axis=own[second][-1] if own[second] else -1,
            k=k,
            reduce_size=depth,
            k_inner=k // max(1, depth),
            groups=1,
            data=view.op.inputs[first],
            weight=view.op.inputs[second],
            data_reduce_axis=equation.operands[first].index(shared[0]) if is_cut else -1,
            weight_reduce_axis=equation.operands[second].index(shared[0]) if is_cut else -1,
        ),
    )


def _sizes(view: OpView, equation: _Equation) -> dict[str, int]:
    """Size by label, in the order of the equation; the larger size of a broadcast label."""
    found: dict[str, int] = {}
    for place, labels in enumerate(equation.operands):
        for label, size in zip(labels, view.shape(place), strict=True):
            found[label] = max(size, found.get(label, 1))
    return found


ENTRIES: dict[tuple[str, str], Entry] = {("", "Einsum"): einsum}
