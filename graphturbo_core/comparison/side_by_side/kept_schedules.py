"""docs/schedulers.json -> the kept runs of the compared strategies: models, chips and figures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf, log2
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from graphturbo_core.errors import GraphTurboError

FILE = Path(__file__).resolve().parents[3] / "docs" / "schedulers.json"
COMMAND = "python -m benchmarks.schedulers"
"""Command that runs them and writes the file."""
MAX_BYTES = 2**20
"""A larger file is refused."""
LEAST_CPU_SHARE = 0.9
"""CPU seconds per second; a run that had less shared its core with other work (our choice)."""
NOT_RUN = "not run"
SETTING = re.compile(r"(?P<model>[^,]+), batch (?P<batch>[0-9]+), (?P<cluster>[0-9]+) per cluster")
Words = Annotated[str, Field(max_length=80)]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """Figures of one run of the whole batch, or why there are none.

    `share`: of the lower bound. `critical_path`: seconds by resource. `seconds`: to schedule, from
    import to trace. `cpu_share`: CPU seconds per second, None where it is not recorded. `refused`:
    code of a refusal. `over_seconds`: a search takes more CPU time.
    """

    latency_s: float = inf
    dram_bytes: int = 0
    kernels: int = 0
    share: float = 0.0
    critical_path: Mapping[Words, float] = field(default_factory=dict)
    seconds: float = 0.0
    cpu_share: float | None = None
    refused: Words = ""
    over_seconds: float | None = None
    __pydantic_config__ = ConfigDict(extra="forbid")

    @property
    def has_figures(self) -> bool:
        """Whether it ran to its end."""
        return self.latency_s < inf

    @property
    def launches(self) -> int:
        """Kernels that one cluster launches for the whole batch."""
        return self.kernels

    @property
    def is_busy(self) -> bool:
        """Whether other work may have slowed it down."""
        return self.cpu_share is None or self.cpu_share < LEAST_CPU_SHARE

    @property
    def reason(self) -> str:
        """Why it has no figures; empty where it has some."""
        if self.has_figures:
            return ""
        if self.over_seconds is not None:
            return f"over {self.over_seconds:g} s"
        return self.refused or NOT_RUN

    @property
    def seconds_text(self) -> str:
        """Seconds to schedule; `~` where the machine may have been busy, and CPU seconds."""
        if not self.is_busy:
            return f"{self.seconds:.1f}"
        share = self.cpu_share
        own = "" if share is None else f" (CPU {self.seconds * share:.1f})"
        return f"~{self.seconds:.1f}{own}"


@dataclass(frozen=True, slots=True)
class KeptSchedule:
    """One run: its model and batch as `setting` names them, chip and strategy."""

    setting: Words
    chip: Words
    strategy: Words
    run: KeptRun
    __pydantic_config__ = ConfigDict(extra="forbid")


_ADAPTER = TypeAdapter(tuple[KeptSchedule, ...])


@cache
def kept_schedules() -> tuple[KeptSchedule, ...]:
    """What is kept; empty where the file is not here."""
    return read_schedules(FILE)


def read_schedules(path: Path) -> tuple[KeptSchedule, ...]:
    """The file's content; empty where it is not there.

    Raises:
        GraphTurboError: it is not as the command writes it.
    """
    if not path.is_file():
        return ()
    refusal = GraphTurboError(
        "SCHEDULER_DATA", "the file has another form", path.name, f"write it again: {COMMAND}"
    )
    if path.stat().st_size > MAX_BYTES:
        raise refusal
    try:
        return _ADAPTER.validate_json(path.read_bytes())
    except ValidationError as error:
        raise refusal from error


def nearest_setting(settings: Sequence[str], model: str, batch: int) -> int:
    """Place of the setting of this model; then the one whose batch is the nearest by ratio.

    Ties: the first. Without a setting of the model, batches alone decide.
    """

    def distance(place: int) -> tuple[bool, float]:
        named = SETTING.fullmatch(settings[place])
        if named is None:
            return True, inf
        return named["model"] != model, abs(log2(int(named["batch"]) / batch))

    return min(range(len(settings)), key=distance, default=0)
