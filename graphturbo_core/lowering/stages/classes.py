"""CoreClasses: the simulated core of each core of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphturbo_core.hardware.hardware import CLUSTER_CORE


@dataclass(frozen=True)
class CoreClasses:
    """The simulated core per core of a cluster: the lowest with an equivalent program."""

    leaders: tuple[int, ...]

    @cached_property
    def sizes(self) -> Mapping[int, int]:
        """Number of cores per class, by its simulated core; 1 for the cluster itself."""
        cores, counts = np.unique(np.array(self.leaders, np.int64), return_counts=True)
        return {CLUSTER_CORE: 1, **dict(zip(cores.tolist(), counts.tolist(), strict=True))}

    @cached_property
    def simulated(self) -> tuple[int, ...]:
        """The simulated cores, rising."""
        return tuple(core for core in self.sizes if core >= 0)

    @cached_property
    def is_folded(self) -> bool:
        """Whether a core represents others."""
        return len(self.simulated) < len(self.leaders)

    def leader(self, core: int) -> int:
        """The simulated core of a core; the cluster represents itself."""
        return core if core < 0 else self.leaders[core]

    def size(self, core: int) -> int:
        """Number of cores in the class of a simulated core."""
        return self.sizes[core]


def every_core(cores: int) -> CoreClasses:
    """Classes in which each core of a cluster is simulated."""
    return CoreClasses(tuple(range(cores)))
