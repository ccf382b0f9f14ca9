"""Owner and reader shares -> cores of a kernel, chosen so that the fewest bytes move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.compiled import compiled
from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.arrays import pack_boxes
from graphturbo_core.products.plan import Binding
from graphturbo_core.products.program import MAX_RANK, IntArray

FREE = -1
"""Core of a part that has none yet."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A tensor that the kernel before left in LB.

    `owned`: box by core; `needed`: box by part of the next kernel.
    """

    owned: Mapping[int, Box]
    needed: Mapping[int, Box]
    element_bytes: int


Corners = NDArray[np.int32]
Boxes = tuple[IntArray, Corners, Corners]
"""Numbers of boxes, and their lower and upper corners, as `pack_boxes`."""


def choose_cores(arrivals: Sequence[Arrival], cores: int) -> tuple[int, ...]:
    """Returns, per core number of a kernel's bindings, the core that gets its part.

    Maximises the bytes that need not move (the vendor's manual, reference 3.4). Parts are assigned
    by falling gain; ties by the lowest part, then the part's own core, then the lowest core. Our
    choice: a greedy matching, since shares form a grid, where the largest overlaps do not compete.
    O(cores^2) per arrival, in compiled code.
    """
    gains = np.zeros((cores, cores), dtype=np.int64)
    for arrival in arrivals:
        _add_resident_bytes(gains, arrival)
    return tuple(_matched(gains).tolist())


def _add_resident_bytes(gains: IntArray, arrival: Arrival) -> None:
    """Add the bytes of each part that are already in each core's LB; `gains`: by part and core."""
    parts, needs = _numbered(arrival.needed)
    cores, shares = _numbered(arrival.owned)
    if len(parts) and len(cores):
        _add_meetings((parts, *needs), (cores, *shares), arrival.element_bytes, gains)


def _numbered(boxes: Mapping[int, Box]) -> tuple[IntArray, tuple[Corners, Corners]]:
    """The numbers, and the corners of their boxes."""
    return np.array(list(boxes), dtype=np.int64), pack_boxes(list(boxes.values()))


@compiled
def _add_meetings(readers: Boxes, owners: Boxes, element_bytes: int, gains: IntArray) -> None:
    """Add the bytes of every intersection of a need and a share.

    A pair ends at the first axis on which they have nothing in common: most pairs do.
    """
    parts, need_lo, need_hi = readers
    cores, share_lo, share_hi = owners
    for reader in range(len(parts)):
        for owner in range(len(cores)):
            size = np.int64(element_bytes)
            for axis in range(MAX_RANK):
                lo = max(need_lo[reader, axis], share_lo[owner, axis])
                size *= max(0, min(need_hi[reader, axis], share_hi[owner, axis]) - lo)
                if size == 0:
                    break
            gains[parts[reader], cores[owner]] += size


def _matched(gains: IntArray) -> IntArray:
    """The core of each part; parts that gain nothing get their own number, or the lowest free."""
    parts, cores = np.nonzero(gains)
    order = np.lexsort((cores, cores != parts, parts, -gains[parts, cores]))
    chosen = np.full(len(gains), FREE, dtype=np.int64)
    _match(parts[order], cores[order], chosen)
    return chosen


@compiled
def _match(parts: IntArray, cores: IntArray, chosen: IntArray) -> None:
    """Assign pairs in this order, as long as part and core are free; then the other parts."""
    is_taken = np.zeros(len(chosen), dtype=np.bool_)
    for row in range(len(parts)):
        if chosen[parts[row]] == FREE and not is_taken[cores[row]]:
            chosen[parts[row]] = cores[row]
            is_taken[cores[row]] = True
    lowest = 0
    for part in range(len(chosen)):
        if chosen[part] != FREE:
            continue
        core = part
        if is_taken[part]:
            while is_taken[lowest]:
                lowest += 1
            core = lowest
        chosen[part] = core
        is_taken[core] = True


def relabel(binding: Binding, chosen: Sequence[int]) -> Binding:
    """The binding on the chosen cores; a binding to a shared engine is unchanged."""
    if binding.cores == (CLUSTER_CORE,):
        return binding
    cores = tuple([chosen[core] for core in binding.cores])
    return binding if cores == binding.cores else binding._replace(cores=cores)
