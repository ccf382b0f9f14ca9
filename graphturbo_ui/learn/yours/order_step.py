"""Step 4 on two reports: what waits in GB, depth first and breadth first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graphturbo_core.lecture.yours.waiting import YourOrder
from graphturbo_core.units import format_bytes, format_count
from graphturbo_ui.learn.yours.texts import YourKnob, YourQuestion, YourStep, YourValue, answers
from graphturbo_ui.text import safe_text

CLAIM = "Depth first uses a result before it makes the next one"
DEPTH, BREADTH = "depth", "breadth"


def order_step(orders: Mapping[str, YourOrder], hues: Mapping[str, Sequence[int]]) -> YourStep:
    """`orders` by `depth` and `breadth`; `hues`: of the sub-graphs of each."""
    depth, breadth = orders[DEPTH], orders[BREADTH]
    most = format_bytes(depth.peak_bytes)
    others = [breadth.peak_bytes, depth.peak_bytes // 2, depth.gb_bytes, depth.peak_bytes * 3 // 2]
    texts, right = answers(most, [(size, format_bytes(size)) for size in others], depth.peak_bytes)
    cycles = (
        f"Depth first takes {format_count(depth.cycles)} cycles, breadth first"
        f" {format_count(breadth.cycles)}."
    )
    return YourStep(
        claim=CLAIM,
        knob=YourKnob(
            "GB",
            [YourValue("own", format_bytes(depth.gb_bytes), cycles)],
            "own",
        ),
        question=YourQuestion(
            "Results that a later kernel reads wait in GB. Depth first, how much waits at most as"
            " a kernel ends?",
            texts,
            right,
            f"{most}; breadth first, {format_bytes(breadth.peak_bytes)}. {cycles}",
        ),
        takeaway=_takeaway(depth.peak_bytes, breadth.peak_bytes),
        data={
            "capacity": depth.gb_bytes,
            "lanes": {name: _lane(order, hues[name]) for name, order in orders.items()},
        },
        notes=("What waits in LB is not in this picture.",),
    )


def _takeaway(depth: int, breadth: int) -> str:
    sizes = format_bytes(depth), format_bytes(breadth)
    if sizes[0] == sizes[1]:
        return f"In either order {sizes[0]} wait: here the order makes no difference in GB."
    if depth < breadth:
        return f"Same pieces, another order: {sizes[0]} wait instead of {sizes[1]}."
    return f"Here depth first has more to wait: {sizes[0]} against {sizes[1]}."


def _lane(order: YourOrder, hues: Sequence[int]) -> Mapping[str, object]:
    return {
        "cycles": order.cycles,
        "peak": order.peak_bytes,
        "kernels": [
            {
                "name": safe_text(kernel.name, max_length=20),
                "hue": hues[kernel.group],
                "from": kernel.start,
                "to": kernel.end,
                "waiting": kernel.waiting_bytes,
            }
            for kernel in order.kernels
        ],
    }
