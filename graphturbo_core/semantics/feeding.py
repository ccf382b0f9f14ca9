"""Feeding: how the engines of a kernel get their operands."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TILES = 3
"""Most tile buffers per streamed tensor that a plan has (our choice: with four, no plan of `best`
for six models on ascend910 is 0.5 % faster than with three)."""


@dataclass(frozen=True, slots=True)
class Feeding:
    """Operand settings that a strategy chooses once for all of its kernels."""

    has_own_fetches: bool = False
    """Each core fetches its weights from DRAM itself; else a box that several cores need is fetched
    once, to GB if there is one, and is broadcast."""
    tiles: int = 2
    """Tile buffers per streamed tensor, in LB and in GB. With one, the next tile waits until the
    present one has been used."""
    has_square_passes: bool = False
    """A pass of the matrix array covers pixels of one square of a map, like an intrinsic of fixed
    shape in a loop nest; else any pixels of a tile in order."""
    divides_depthwise: bool = False
    """The tiles of products in groups, such as depthwise convolutions, are divided over the two
    engines of a core; else each runs on the engine that is cheaper for it."""

    @property
    def tiles_ahead(self) -> int:
        """Number of tiles that are fetched ahead of the computed one."""
        return self.tiles - 1


DEFAULT_FEEDING = Feeding()
