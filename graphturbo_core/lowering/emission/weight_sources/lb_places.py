"""LbPlaces: offset of an item in an LB's weight part."""

from __future__ import annotations

from graphturbo_core.lowering.local_buffer.weight_part import WeightPart
from graphturbo_core.lowering.tiling.weight_items import WeightItems
from graphturbo_core.semantics.feeding import Feeding


class LbPlaces:
    """Resident weights have separate bytes; streamed tiles use slots in turn."""

    def __init__(self, part: WeightPart, feeding: Feeding) -> None:
        """Create the state for all stages of a kernel."""
        self._part = part
        self._is_ahead = feeding.tiles_ahead > 0
        self._start = 0
        self._end = 0

    def begin(self, items: WeightItems | None) -> None:
        """Reserve the bytes of a stage's resident weight."""
        if items is not None and items.is_resident:
            self._start = self._take(items.size_bytes)

    def offset(self, items: WeightItems, number: int) -> int:
        """Offset of an item: its own bytes, or the next slot."""
        if items.is_resident:
            return self._part.base + self._start + items.offsets[number]
        slot = self._part.slot_bytes
        self._end = -(-self._end // slot) * slot
        return self._part.base + self._take(slot)

    def _take(self, size_bytes: int) -> int:
        """Offset after the last used bytes, so that prefetched items need not wait for them.

        The same bytes each time if nothing is fetched ahead.
        """
        if not self._is_ahead or self._end + size_bytes > self._part.tile_bytes:
            self._end = 0
        self._end += size_bytes
        return self._end - size_bytes
