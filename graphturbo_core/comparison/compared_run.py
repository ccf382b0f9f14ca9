"""A run of a comparison: choices that compute it again, figures, and a person's words on it."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, FailFast, Field

from graphturbo_core import __version__
from graphturbo_core.comparison.figures import MAX_KEYS, Count, Exact, Label, Options, RunFigures
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.run_request import RunRequest

MAX_NAME, MAX_NOTE = 80, 500
"""Characters of a run's name, and of a note on it."""
KEY_DIGITS = 16

Name = Annotated[str, Field(max_length=MAX_NAME)]
Note = Annotated[str, Field(max_length=MAX_NOTE)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
ProfileText = Annotated[str, Field(max_length=DEFAULT_LIMITS.max_profile_bytes)]
PlanText = Annotated[str, Field(max_length=DEFAULT_LIMITS.max_plan_bytes)]


class RunChoices(Exact):
    """Fields of a request, and what its files were.

    `profile_text`: YAML of a profile that is not shipped, otherwise empty. `plan`: a plan file's
    text, otherwise empty.
    """

    model_name: Label
    model_sha256: Digest
    strategy: Label
    profile: Label
    profile_text: ProfileText = ""
    batch: Count | None = None
    dims: Annotated[dict[Label, Count], Field(max_length=MAX_KEYS)] = Field(default_factory=dict)
    dtype: Label = "fp16"
    options: Options = Field(default_factory=dict)
    skip_passes: Annotated[tuple[Label, ...], FailFast(), Field(max_length=MAX_KEYS)] = ()
    max_instructions: Count | None = None
    plan: PlanText = ""

    @cached_property
    def key(self) -> str:
        """Digest of the choices."""
        return _digest(self)

    @classmethod
    def of(cls, request: RunRequest, model_sha256: str, profile_text: str = "") -> RunChoices:
        """The choices of a request; what it reports, draws or replays is none of them."""
        return cls(
            model_name=request.model_name,
            model_sha256=model_sha256,
            strategy=request.strategy,
            profile=request.profile,
            profile_text=profile_text,
            batch=request.batch,
            dims=dict(sorted(request.dims.items())),
            dtype=request.dtype,
            options=dict(sorted(request.options.items())),
            skip_passes=tuple(request.skip_passes),
            max_instructions=request.max_instructions,
            plan=request.plan,
        )

    def request(self) -> RunRequest:
        """The request of which these are the choices."""
        return RunRequest(
            model_name=self.model_name,
            strategy=self.strategy,
            profile=self.profile,
            batch=self.batch,
            dims=dict(self.dims),
            dtype=self.dtype,
            options=dict(self.options),
            skip_passes=self.skip_passes,
            max_instructions=self.max_instructions,
            plan=self.plan,
        )


class ComparedRun(Exact):
    """One run. `choices`: None of a saved report, which does not have all of them."""

    name: Name
    note: Note = ""
    is_pinned: bool = False
    choices: RunChoices | None
    figures: RunFigures

    @cached_property
    def key(self) -> str:
        """Digest of the choices; of the figures where there are none."""
        return _digest(self.figures) if self.choices is None else self.choices.key

    @property
    def is_of_other_version(self) -> bool:
        """Whether another version of this library computed the figures."""
        return self.figures.version != __version__


def _digest(values: BaseModel) -> str:
    text = json.dumps(values.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def default_name(figures: RunFigures, is_from_plan: bool = False) -> str:
    """A name: the strategy, marked where the run follows a plan file."""
    mark = " from a plan" if is_from_plan else ""
    return f"{figures.strategy}{mark}"[:MAX_NAME]
