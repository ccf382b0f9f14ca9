"""What the cores of nests that are alike read: worked out once, kept beside the semantics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from graphturbo_core.ir.boxes import Box

MOST_BOXES = 200_000
"""Boxes that are kept (our choice: some 50 MB; beyond them all is forgotten)."""

Needs = tuple[Mapping[int, Box], ...]
"""Of each activation that a nest reads, in order: the box of each core."""


@dataclass
class KnownNeeds:
    """Needs by what decides them; nobody changes what is found here."""

    _found: dict[Hashable, Needs] = field(default_factory=dict)
    _boxes: int = 0

    def get(self, key: Hashable) -> Needs | None:
        """None where they were not worked out, or forgotten."""
        return self._found.get(key)

    def keep(self, key: Hashable, needs: Needs) -> None:
        """Remember them."""
        size = sum(map(len, needs))
        if self._boxes + size > MOST_BOXES:
            self._found.clear()
            self._boxes = 0
        self._found[key] = needs
        self._boxes += size
