"""Owner and reader shares -> cores of a kernel, chosen so that the fewest bytes move."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, BoxIndex, intersect, volume
from graphturbo_core.products.plan import Binding


@dataclass(frozen=True, slots=True)
class Arrival:
    """A tensor that the kernel before left in LB.

    `owned`: box by core; `needed`: box by part of the next kernel.
    """

    owned: Mapping[int, Box]
    needed: Mapping[int, Box]
    element_bytes: int


def _meetings(arrival: Arrival) -> Iterator[tuple[int, int, int]]:
    """Reader, owner and bytes of every intersection of a share and a need."""
    owners, shares = list(arrival.owned), list(arrival.owned.values())
    index = BoxIndex(shares)
    for reader, need in arrival.needed.items():
        for place in index.meeting(need):
            size = volume(intersect(shares[place], need)) * arrival.element_bytes
            yield reader, owners[place], size


def choose_cores(arrivals: Sequence[Arrival], cores: int) -> tuple[int, ...]:
    """Returns, per core number of a kernel's bindings, the core that gets its part.

    Maximises the bytes that need not move (the vendor's manual, reference 3.4). Parts are assigned
    by falling gain; ties by the lowest part, then the part's own core, then the lowest core. Our
    choice: a greedy matching, since shares form a grid, where the largest overlaps do not compete.
    Near-linear in intersecting pairs of a share and a need.
    """
    gains = [
        (gain, part, core) for (part, core), gain in _resident_bytes(arrivals).items() if gain > 0
    ]
    gains.sort(key=lambda row: (-row[0], row[1], row[2] != row[1], row[2]))
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for _, part, core in gains:
        if part not in chosen and core not in taken:
            chosen[part] = core
            taken.add(core)
    free = (core for core in count() if core not in taken)
    for part in (part for part in range(cores) if part not in chosen):
        chosen[part] = part if part not in taken else next(free)
        taken.add(chosen[part])
    return tuple(chosen[part] for part in range(cores))


def _resident_bytes(arrivals: Sequence[Arrival]) -> dict[tuple[int, int], int]:
    """Bytes of each part that are already in each core's LB, by part and core."""
    gains: dict[tuple[int, int], int] = {}
    for arrival in arrivals:
        for part, core, size in _meetings(arrival):
            gains[part, core] = gains.get((part, core), 0) + size
    return gains


def relabel(binding: Binding, chosen: Sequence[int]) -> Binding:
    """The binding on the chosen cores; a binding to a shared engine is unchanged."""
    if binding.cores == (CLUSTER_CORE,):
        return binding
    cores = tuple([chosen[core] for core in binding.cores])
    return binding if cores == binding.cores else binding._replace(cores=cores)
