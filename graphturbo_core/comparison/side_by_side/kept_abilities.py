"""docs/scheduler-abilities.json -> what each strategy may do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from graphturbo_core.errors import GraphTurboError

FILE = Path(__file__).resolve().parents[3] / "docs" / "scheduler-abilities.json"
WRITE = "python -m benchmarks.schedulers --page"
"""Command that writes it."""
MAX_BYTES = 2**16
"""A larger file is refused."""
Words = Annotated[str, Field(max_length=80)]


@dataclass(frozen=True, slots=True)
class SchedulerAbilities:
    """`questions`, and per strategy whether its plans of small models say yes to each."""

    questions: tuple[Words, ...]
    answers: dict[Words, tuple[bool, ...]]
    __pydantic_config__ = ConfigDict(extra="forbid")


_ADAPTER = TypeAdapter(SchedulerAbilities)


def abilities_text(found: SchedulerAbilities) -> str:
    """The file's text."""
    return f"{json.dumps(_ADAPTER.dump_python(found, mode='json'), indent=1)}\n"


@cache
def kept_abilities() -> SchedulerAbilities | None:
    """What is kept; None where the file is not here."""
    return read_abilities(FILE)


def read_abilities(path: Path) -> SchedulerAbilities | None:
    """The file's content; None where it is not there.

    Raises:
        GraphTurboError: it is not as the command writes it.
    """
    if not path.is_file():
        return None
    refusal = GraphTurboError(
        "SCHEDULER_DATA", "the file has another form", path.name, f"write it again: {WRITE}"
    )
    if path.stat().st_size > MAX_BYTES:
        raise refusal
    try:
        found = _ADAPTER.validate_json(path.read_bytes())
    except ValidationError as error:
        raise refusal from error
    if any(len(row) != len(found.questions) for row in found.answers.values()):
        raise refusal
    return found
