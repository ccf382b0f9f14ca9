"""GbRetention: a weight's place in GB over several kernels, and which make no sense."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graphturbo_core.hardware.hardware import Hardware


@dataclass(frozen=True, slots=True)
class GbRetention:
    """A place in GB for a weight, from the start of kernel `first` to the end of kernel `last`.

    Boxes of the weight take it in the order in which those kernels fetch them, as far as
    `size_bytes` go and as lowering finds room; what is left is fetched as without a stay. Each of
    the boxes is fetched once: by kernel `first` where that does not read the weight itself, behind
    all that it does for itself, else by the first kernel that reads the box. Of two stays of one
    weight the later one has the boxes that the earlier one leaves.
    """

    weight: str
    first: int
    last: int
    size_bytes: int


@dataclass(frozen=True)
class Place:
    """What stays must go with: by kernel the weights that it reads, bytes of each, and the chip.

    `is_alone`: one cluster has all kernels. `has_own_fetches`: each core fetches its own weights.
    """

    reads: Sequence[Collection[str]]
    sizes: Mapping[str, int]
    hardware: Hardware
    is_alone: bool
    has_own_fetches: bool


def stay_fault(stays: Sequence[GbRetention], place: Place) -> str:
    """Why these stays cannot be, "" where they can."""
    if not stays:
        return ""
    if not place.hardware.has_gb:
        return "weights stay in GB, which the chip does not have"
    if place.has_own_fetches or not place.is_alone:
        why = "each core fetches its own" if place.has_own_fetches else "several clusters work"
        return f"weights stay in GB, and {why}"
    count = len(place.reads)
    held = np.zeros(count + 1, dtype=np.int64)
    for stay in stays:
        name = f"the stay of {stay.weight!r}"
        if not 0 <= stay.first < stay.last < count:
            return f"{name} goes from kernel {stay.first} to {stay.last} of {count}"
        if stay.weight not in place.reads[stay.last]:
            return f"{name} ends in kernel {stay.last}, which does not read it"
        if not 0 < stay.size_bytes <= place.sizes[stay.weight]:
            return f"{name} is of {stay.size_bytes} bytes of {place.sizes[stay.weight]}"
        held[stay.first] += stay.size_bytes
        held[stay.last + 1] -= stay.size_bytes
    most = int(held.cumsum().max())
    if most > place.hardware.gb_bytes:
        return f"{most} bytes of weights stay in GB at once, which has {place.hardware.gb_bytes}"
    return ""
