"""KernelPlan -> the part of each tensor that it owns; computed elements beyond it are halo."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from graphturbo_core.ir.boxes import Box, Interval, hull, intersect
from graphturbo_core.ir.graph import Op
from graphturbo_core.products.plan import KernelPlan, Plan
from graphturbo_core.semantics.access import AxisKind, InputAccess


def own_box(access: InputAccess, shape: tuple[int, ...], out_box: Box) -> Box:
    """Returns the part of an input that an output box owns, if inputs are divided without overlap.

    Needed elements beyond it are halo. On an axis that follows output axis `o`, [lo, hi) of O owns
    [lo*I//O, hi*I//O) of I; of a reshape's inner axis all, as its first axis is divided. Slices and
    joins do not overlap; along an undivided axis they own the input's whole axis. `shape`: of the
    whole output.
    """
    owned: list[Interval] = []
    for axis in access.axes:
        if axis.out_axis < 0 or axis.kind is AxisKind.INNER:
            owned.append((0, axis.size))
            continue
        lo, hi = out_box[axis.out_axis]
        whole = max(1, shape[axis.out_axis])
        if axis.kind is AxisKind.OFFSET:
            is_divided = (lo, hi) != (0, shape[axis.out_axis])
            owned.append(axis.interval(out_box) if is_divided else (0, axis.size))
            continue
        owned.append((lo * axis.size // whole, hi * axis.size // whole))
    return tuple(owned)


def owned_boxes(plan: Plan, kernel: KernelPlan) -> dict[str, Box]:
    """Returns the part of every computed tensor that the kernel owns among its group's pieces.

    1. For outputs, the part that no other piece outputs.
    2. For other tensors, the input part of its readers' parts, divided without overlap.

    A group of one piece owns everything that it computes. Readers of one kind that own equal parts
    own equal inputs, so that one of them counts.
    """
    if plan.groups[kernel.group].pieces == 1:
        return dict(kernel.boxes)
    owned: dict[str, Box] = dict(kernel.outputs)
    inner = kernel.bindings.keys() - kernel.outputs.keys()
    kinds = plan.semantics.kinds
    seen: set[Hashable] = set()
    for op, index, accesses in _computed_outputs(plan, kernel):
        output = op.outputs[index]
        own = owned.setdefault(output, kernel.boxes[output])
        key = kinds[op.name], op.inputs, index, own
        if key in seen:
            continue
        seen.add(key)
        shape = plan.semantics.graph.tensors[output].shape
        for access in [access for access in accesses if access.tensor in inner]:
            source = access.tensor
            part = intersect(own_box(access, shape, own), kernel.boxes[source])
            owned[source] = hull(owned[source], part) if source in owned else part
    return owned


def _computed_outputs(
    plan: Plan, kernel: KernelPlan
) -> Iterator[tuple[Op, int, Sequence[InputAccess]]]:
    """The op and the number of each tensor that a kernel computes, last op first, and its reads."""
    graph, by_op = plan.semantics.graph, plan.semantics.by_op
    for name in reversed(kernel.ops):
        op = graph.op_by_name[name]
        for index, (output, accesses) in enumerate(
            zip(op.outputs, by_op[name].accesses, strict=False)
        ):
            if output in kernel.boxes:
                yield op, index, accesses
