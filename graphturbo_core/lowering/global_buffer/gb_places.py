"""StoredOutputs -> GbPlaces: which outputs are in GB, and at which bytes.

1. First fit in order of production. If all outputs fit, these are their places.
2. Else all outputs are packed again, with all lifetimes known: in order of production, by size
   (largest first) and by lifetime (shortest first).
3. Outputs without a place that are made and read within one kernel share scratch bytes: the largest
   gap of GB during that kernel. There, a lifetime is a range of stages, so they use bytes in turn.
   Each order of rule 2 is tried with and without these outputs: alone they need fewer bytes.

The packing that costs the fewest bytes of DRAM is chosen; ties: the first. An output without a
place is written once and read by each reader; weights that instances of a group share are refetched
as far as the outputs leave them no room. Outputs that must be in GB count first. Our choice: the
paper does not say how GB is packed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, Interval
from graphturbo_core.lowering.addresses.allocator import OffsetAllocator, aligned
from graphturbo_core.lowering.addresses.packing import Request, packed_in_order


class StoredOutput(NamedTuple):
    """A tensor's box that a kernel stores outside its LBs, and its last reader.

    `held`: the stored box; larger than `box` by the halo if this kernel reads it back.
    `size_bytes`: of `held`. `read_bytes`: all reads of it together. `stages`: first and last stage
    of the maker that use it.
    `is_held_once`: stored by an engine that the cores share; no two kernels store the same part.
    `is_remote_input`: other clusters read it. `is_fixed`: a plan file fixes its memory.
    """

    tensor: str
    box: Box
    maker: int
    last: int
    wants_gb: bool
    is_graph_output: bool
    is_spill: bool
    held: Box
    is_held_once: bool
    size_bytes: int
    read_bytes: int
    stages: Interval
    is_remote_input: bool
    is_fixed: bool

    @property
    def needs_gb(self) -> bool:
        """Whether it must be in GB: in DRAM, another kernel would write a part of `held` too."""
        return self.held != self.box and (self.is_held_once or self.is_remote_input)

    @property
    def may_take_turns(self) -> bool:
        """Whether only its kernel uses it."""
        return self.maker == self.last and not self.is_remote_input


class SharedWeights(NamedTuple):
    """Bytes of weights that each of the kernels from `first` to `last` reads."""

    first: int
    last: int
    size_bytes: int


class GbPlace(NamedTuple):
    """Offset of an output in GB; `scratch`: the part of it within its kernel's scratch bytes.

    `scratch` is None for an output with bytes of its own during whole kernels.
    """

    offset: int
    scratch: int | None = None


@dataclass(frozen=True)
class GbPlaces:
    """Place of each output (None: DRAM); `tops`: bytes of GB used from below, per kernel."""

    of_output: tuple[GbPlace | None, ...]
    tops: NDArray[np.int64]


def place_outputs(
    outputs: Sequence[StoredOutput],
    weights: Sequence[SharedWeights],
    kernels: int,
    free: Interval,
) -> GbPlaces:
    """Returns places within the `free` bytes of GB, by the rules above.

    `weights`: those that instances of a group share. O(outputs^2) in compiled code, if not all
    outputs fit.
    """
    base_bytes, gb_bytes = free
    wanted = tuple(o for o in outputs if o.wants_gb)
    task = _GbTask(wanted, tuple(weights), kernels, base_bytes, gb_bytes)
    found = task.first_fit()
    if None in found and base_bytes < gb_bytes:
        candidates = (found, *map(task.with_scratch, task.packings()))
        found = min(candidates, key=task.dram_bytes)
    placed = iter(found)
    of_output = tuple(next(placed) if output.wants_gb else None for output in outputs)
    return GbPlaces(of_output, task.tops(found))


@dataclass(frozen=True)
class _GbTask:
    """Outputs that want GB, in order of production, and the bytes that they may use."""

    wanted: tuple[StoredOutput, ...]
    weights: tuple[SharedWeights, ...]
    kernels: int
    base_bytes: int
    gb_bytes: int

    def first_fit(self) -> tuple[GbPlace | None, ...]:
        """Rule 1."""
        gb = OffsetAllocator(self.gb_bytes, self.base_bytes)
        offsets = (gb.place(each.size_bytes, each.maker, each.last) for each in self.wanted)
        return tuple(None if offset is None else GbPlace(offset) for offset in offsets)

    def dram_bytes(self, places: Sequence[GbPlace | None]) -> tuple[int, int]:
        """Bytes of outputs that lack a place they must have, and bytes that cross DRAM."""
        out = [each for each, place in zip(self.wanted, places, strict=True) if place is None]
        needed = (each.size_bytes for each in out if each.needs_gb or each.is_fixed)
        moved = sum(each.size_bytes + each.read_bytes for each in out)
        tops = self.tops(places)
        for first, last, size in self.weights:
            room = self.gb_bytes - int(tops[first : last + 1].max())
            moved += max(0, size - room) * (last - first)
        return sum(needed), moved

    def tops(self, places: Sequence[GbPlace | None]) -> NDArray[np.int64]:
        """Bytes of GB used from below, per kernel."""
        tops = np.full(self.kernels, self.base_bytes, np.int64)
        for output, place in zip(self.wanted, places, strict=True):
            if place is not None:
                while_live = tops[output.maker : output.last + 1]
                np.maximum(while_live, place.offset + aligned(output.size_bytes), out=while_live)
        return tops

    @cached_property
    def _orders(self) -> tuple[list[int], ...]:
        """Indices of outputs in the orders of rule 2."""
        by_size = sorted(range(len(self.wanted)), key=lambda at: -self.wanted[at].size_bytes)
        by_lifetime = sorted(
            range(len(self.wanted)), key=lambda at: self.wanted[at].last - self.wanted[at].maker
        )
        return list(range(len(self.wanted))), by_size, by_lifetime

    def packings(self) -> Iterator[list[int | None]]:
        """Offset by output, for each order of rule 2 with and without outputs of one kernel."""
        for has_all, order in product((True, False), self._orders):
            packed = [at for at in order if has_all or not self.wanted[at].may_take_turns]
            requests = [
                Request("", self.wanted[at].size_bytes, self.wanted[at].maker, self.wanted[at].last)
                for at in packed
            ]
            found = packed_in_order(requests, self.gb_bytes - self.base_bytes)
            offset_of = dict(zip(packed, found, strict=True))
            offsets = (offset_of.get(at) for at in range(len(self.wanted)))
            yield [None if offset is None else self.base_bytes + offset for offset in offsets]

    def with_scratch(self, offsets: Sequence[int | None]) -> tuple[GbPlace | None, ...]:
        """Rule 3: the places at `offsets`, and places in the scratch bytes of kernels."""
        found = [None if offset is None else GbPlace(offset) for offset in offsets]
        waiting: dict[int, list[int]] = {}
        for at, (output, place) in enumerate(zip(self.wanted, found, strict=True)):
            if place is None and output.may_take_turns:
                waiting.setdefault(output.maker, []).append(at)
        taken = self._taken(found) if waiting else []
        for kernel, turns in waiting.items():
            gaps = _gaps(taken[kernel], self.base_bytes, self.gb_bytes)
            for at, place in self._in_turn(turns, gaps):
                found[at] = place
        return tuple(found)

    def _taken(self, places: Sequence[GbPlace | None]) -> list[list[Interval]]:
        """Bytes in use during each kernel."""
        taken: list[list[Interval]] = [[] for _ in range(self.kernels)]
        for output, place in zip(self.wanted, places, strict=True):
            if place is None:
                continue
            end = place.offset + aligned(output.size_bytes)
            for kernel in range(output.maker, output.last + 1):
                taken[kernel].append((place.offset, end))
        return taken

    def _in_turn(
        self, turns: Sequence[int], gaps: Sequence[Interval]
    ) -> Iterator[tuple[int, GbPlace]]:
        """Places of outputs that use a gap in turn, the largest first.

        The gap is the lowest that holds all that the largest gap holds.
        """
        most = max((end - begin for begin, end in gaps), default=0)
        order = sorted(turns, key=lambda at: -self.wanted[at].size_bytes)
        requests = [
            Request("", self.wanted[at].size_bytes, *self.wanted[at].stages) for at in order
        ]
        found = packed_in_order(requests, most)
        placed = [
            (at, offset) for at, offset in zip(order, found, strict=True) if offset is not None
        ]
        used = max(
            (offset + aligned(self.wanted[at].size_bytes) for at, offset in placed), default=0
        )
        begin = next((begin for begin, end in gaps if end - begin >= used), self.base_bytes)
        return ((at, GbPlace(begin + offset, offset)) for at, offset in placed)


def _gaps(taken: Sequence[Interval], begin: int, end: int) -> list[Interval]:
    """The unused parts of [begin, end), the lowest first."""
    gaps = []
    for low, high in sorted(taken):
        if begin < low:
            gaps.append((begin, low))
        begin = max(begin, high)
    return [*gaps, (begin, end)] if begin < end else gaps
