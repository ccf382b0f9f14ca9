"""Runs -> what each column of the picture shows, on one scale: time and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.figures import RunFigures
from graphturbo_core.units import format_bytes, format_seconds


@dataclass(frozen=True, slots=True)
class Scales:
    """Right ends of the two columns. `is_per_sample`: runs of other batches compare so."""

    is_per_sample: bool
    most_s: float
    most_bytes: float

    @classmethod
    def of(cls, runs: Sequence[ComparedRun]) -> Scales:
        """The scales that hold all of these runs."""
        is_per_sample = len({run.figures.batch for run in runs}) > 1
        raw = cls(is_per_sample, 1.0, 1.0)
        return cls(
            is_per_sample,
            max((raw.seconds(run.figures) for run in runs), default=0.0) or 1.0,
            max((raw.dram_bytes(run.figures) for run in runs), default=0.0) or 1.0,
        )

    def seconds(self, figures: RunFigures, seconds: float | None = None) -> float:
        """The latency, or a part of it; of one sample where batches differ."""
        whole = figures.latency_s if seconds is None else seconds
        return whole / max(1, figures.batch) if self.is_per_sample else whole

    def dram_bytes(self, figures: RunFigures, size: float | None = None) -> float:
        """Bytes over DRAM, or a part of them; of one sample where batches differ."""
        whole = figures.dram_bytes if size is None else size
        return whole / max(1, figures.batch) if self.is_per_sample else whole

    @property
    def of_what(self) -> str:
        """What time and bytes are of."""
        return "of one sample" if self.is_per_sample else "of the whole batch"

    def time_text(self, figures: RunFigures) -> str:
        """The latency as text."""
        return format_seconds(self.seconds(figures))

    def bytes_text(self, figures: RunFigures) -> str:
        """The bytes over DRAM as text."""
        return format_bytes(self.dram_bytes(figures))
