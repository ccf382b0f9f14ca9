"""Cache of the boxes that cores read, for equivalent nests; stored with the semantics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from graphturbo_core.ir.boxes import Box

MOST_BOXES = 200_000
"""Most cached boxes (our choice: about 50 MB); beyond this the cache is cleared."""

Needs = tuple[Mapping[int, Box], ...]
"""Per activation that a nest reads, in order: box by core."""


@dataclass
class KnownNeeds:
    """Cache of needs by key; callers must not modify the values."""

    _found: dict[Hashable, Needs] = field(default_factory=dict)
    _boxes: int = 0

    def get(self, key: Hashable) -> Needs | None:
        """The cached needs, or None."""
        return self._found.get(key)

    def keep(self, key: Hashable, needs: Needs) -> None:
        """Store needs under a key."""
        size = sum(map(len, needs))
        if self._boxes + size > MOST_BOXES:
            self._found.clear()
            self._boxes = 0
        self._found[key] = needs
        self._boxes += size
