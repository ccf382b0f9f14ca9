"""Feeding: how the engines of a kernel get what they compute with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feeding:
    """Ways of a kernel's operands that a strategy chooses once for all of its kernels."""

    has_own_fetches: bool = False
    """Each core fetches the weights that it needs from DRAM itself; else what several cores need
    comes once, to GB where there is one, and is broadcast."""
    tiles: int = 2
    """Buffers of a streamed tensor that take turns, in LB and in GB: with one its next tile waits
    until the one that is there has been used."""
    has_square_passes: bool = False
    """A pass of the matrix array takes pixels of one square of a map, as an intrinsic of fixed
    shape does in a loop nest; else any pixels of a tile, one after the other."""

    @property
    def tiles_ahead(self) -> int:
        """Tiles that are fetched before the one that is computed."""
        return self.tiles - 1


DEFAULT_FEEDING = Feeding()
