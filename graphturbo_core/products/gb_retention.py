"""GbRetention: a weight or an input in GB over several kernels, and its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphturbo_core.hardware.hardware import Hardware


@dataclass(frozen=True, slots=True)
class GbRetention:
    """`size_bytes` of GB for a weight, from the start of kernel `first` to the end of `last`.

    `weight` may also be an input of the model (rule 4).

    1. Boxes of the weight are retained in the order in which these kernels fetch them, while
       `size_bytes` are free and lowering finds room. Other boxes are fetched by each kernel.
    2. A retained box is fetched once. If kernel `first` does not read the weight, it prefetches the
       box after all its own instructions. Otherwise the first kernel that reads the box fetches it.
    3. Of two retentions of one weight, the later one gets the boxes that the earlier one has not.
    4. Of an input, what kernel `last` reads is prefetched by kernel `first` after all its own
       instructions: all of it, or nothing without room.
    """

    weight: str
    first: int
    last: int
    size_bytes: int


@dataclass(frozen=True)
class RetentionLimits:
    """Data that constrain retentions.

    `reads`: bytes of the weights that each kernel reads, and of its part of inputs. `is_alone`: one
    cluster runs all kernels. `has_own_fetches`: each core fetches its own weights.
    """

    reads: Sequence[Mapping[str, int]]
    hardware: Hardware
    is_alone: bool
    has_own_fetches: bool


def retention_fault(retentions: Sequence[GbRetention], limits: RetentionLimits) -> str:
    """The constraint that these retentions violate; "": none."""
    if not retentions:
        return ""
    if not limits.hardware.has_gb:
        return "weights are retained in GB, and the chip has no GB"
    if limits.has_own_fetches or not limits.is_alone:
        why = "each core fetches its own" if limits.has_own_fetches else "several clusters run"
        return f"weights are retained in GB, and {why}"
    count = len(limits.reads)
    held = np.zeros(count + 1, dtype=np.int64)
    for each in retentions:
        name = f"the GB retention of {each.weight!r}"
        if not 0 <= each.first < each.last < count:
            return f"{name} goes from kernel {each.first} to {each.last} of {count}"
        if each.weight not in limits.reads[each.last]:
            return f"{name} ends in kernel {each.last}, which does not read it"
        size = limits.reads[each.last][each.weight]
        if not 0 < each.size_bytes <= size:
            return f"{name} is of {each.size_bytes} bytes of {size}"
        held[each.first] += each.size_bytes
        held[each.last + 1] -= each.size_bytes
    most = int(held.cumsum().max())
    if most > limits.hardware.gb_bytes:
        return f"{most} bytes of weights are retained in GB of {limits.hardware.gb_bytes} bytes"
    return ""
