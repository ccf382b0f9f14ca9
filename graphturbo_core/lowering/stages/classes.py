"""CoreClasses: which core is simulated for which others of its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphturbo_core.hardware.hardware import CLUSTER_CORE


@dataclass(frozen=True)
class CoreClasses:
    """The core that stands for each core of a cluster: the lowest of those with like programs."""

    leaders: tuple[int, ...]

    @cached_property
    def sizes(self) -> Mapping[int, int]:
        """Cores of each class by the core that stands for it; what the cluster shares is one."""
        cores, counts = np.unique(np.array(self.leaders, np.int64), return_counts=True)
        return {CLUSTER_CORE: 1, **dict(zip(cores.tolist(), counts.tolist(), strict=True))}

    @cached_property
    def simulated(self) -> tuple[int, ...]:
        """The cores that stand for a class, rising."""
        return tuple(core for core in self.sizes if core >= 0)

    @cached_property
    def is_folded(self) -> bool:
        """Whether a core stands for others."""
        return len(self.simulated) < len(self.leaders)

    def leader(self, core: int) -> int:
        """Who stands for the core; the cluster for itself."""
        return core if core < 0 else self.leaders[core]

    def size(self, core: int) -> int:
        """Of how many cores the one named, which must stand for its class, is one."""
        return self.sizes[core]


def every_core(cores: int) -> CoreClasses:
    """Each core of a cluster stands for itself."""
    return CoreClasses(tuple(range(cores)))
