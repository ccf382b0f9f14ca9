"""A nest's axes -> Binding: the outermost axis alone, which a port of TVM may have done."""

from __future__ import annotations

from graphturbo_core.products.plan import Binding
from graphturbo_core.strategies.graphturbo.axes import AxisRank, NestAxes
from graphturbo_core.strategies.graphturbo.binding import largest_divisor, spread_binding


def plain_outermost(axes: NestAxes, cores: tuple[int, ...]) -> Binding:
    """The outermost axis that may be cut, and no other, by the largest divisor of the cores.

    An axis of one element is none: TVM drops a loop of one turn.
    """
    for axis, (size, rank) in enumerate(zip(axes.sizes, axes.ranks, strict=True)):
        if size > 1 and rank is not AxisRank.NEVER:
            return spread_binding([(axis, largest_divisor(len(cores), size))], cores)
    return spread_binding([], cores)
