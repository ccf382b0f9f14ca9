"""docs/paper-rows.json -> PaperData: the ten configurations, published and simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from graphturbo_core.errors import GraphTurboError

FILE = Path(__file__).resolve().parents[3] / "docs" / "paper-rows.json"
WRITE = "python -m benchmarks.paper.app_rows"
"""Command that writes it from docs/paper.json."""
SCHEMA = 1
MAX_BYTES = 2**20
"""A larger file is refused."""
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
Mark = Literal["known", "derived", "assumed"]
"""How sure it is that the paper ran this model: docs/paper-assumptions.md has the reasons."""
Kind = Literal["assumption", "option", "model", "chip"]
"""What a mover changes: one assumption on TVM, one option of `graphturbo`, the row's model, or the
reading of Algorithm 1's capacity."""


@dataclass(frozen=True, slots=True)
class PaperStep:
    """A strategy of one configuration; rates are samples per second on the whole chip.

    - `published_over_tvm`: as published, None where the paper has no number; 1 for TVM itself.
    - `is_read_off`: it was read off a bar chart, to within 0.05.
    - `bound_per_s`: no schedule of this model on this chip is faster.
    - `options`: those of the strategy that are not at their defaults.
    - `limit`: what limits our run. `reason`: why it differs from the paper's by more than the
      factor; "" where it does not.
    """

    level: str
    strategy: str
    options: Mapping[str, str]
    published_per_s: float | None
    published_over_tvm: float | None
    is_read_off: bool
    per_s: float | None
    refused: str
    bound_per_s: float
    limit: str
    reason: str
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class PaperMover:
    """The rate of one step with one thing changed; everything else is as taken.

    `has_run`: Explore can compute this run; a changed number of the chip needs a profile file.
    """

    level: str
    kind: Kind
    name: str
    value: str
    sample: str
    chip: str
    strategy: str
    options: Mapping[str, str]
    per_s: float | None
    refused: str
    has_run: bool
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class PaperStage:
    """Fill of the matrix array in one stage of ResNet-50, in percent.

    `options`: those of the run that are not as taken.
    """

    stage: int
    series: str
    level: str
    strategy: str
    options: Mapping[str, str]
    published: float
    fill: float
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class PaperConfiguration:
    """A row of the paper's evaluation: its model, batch, steps and what moves them.

    `notes`: reasons that are about two steps. `most_by_order`: the largest gain of instruction
    scheduling by any order of the same instructions; None where kernels do not run in sequence.
    `vendor_plan_per_s`: the vendor's own schedule as a plan file, where there is one. The step
    `vendor` is the paper's bar of hand-written code, which is not public, beside our search.
    """

    letter: str
    title: str
    family: str
    batch: int
    sample: str
    dims: Mapping[str, int]
    remark: str
    mark: Mark
    is_in_order: bool
    steps: tuple[PaperStep, ...]
    notes: tuple[str, ...]
    most_by_order: float | None
    vendor_plan_per_s: float | None
    movers: tuple[PaperMover, ...]
    stages: tuple[PaperStage, ...]
    __pydantic_config__ = STRICT

    def step(self, level: str) -> PaperStep | None:
        """The step of this level; None where the paper has none."""
        return next((step for step in self.steps if step.level == level), None)


@dataclass(frozen=True, slots=True)
class PaperRequirement:
    """A requirement on the ten rows, with the value of each row that was run.

    `asked`: the number of rows that must meet it, None for all. `short`: rows that do not.
    """

    words: str
    is_met: bool
    asked: int | None
    short: tuple[str, ...]
    values: Mapping[str, float]
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class PaperMean:
    """Arithmetic mean of `full` over another compiler: the paper's abstract, its bars, and ours."""

    over: str
    abstract: float
    bars: float
    ours: float
    rows: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class PaperData:
    """The whole file. `factor`: a rate that differs by more is explained; likewise a gain."""

    schema: int
    chip: str
    dtype: str
    factor: float
    gain_factor: float
    means: tuple[PaperMean, ...]
    requirements: tuple[PaperRequirement, ...]
    configurations: tuple[PaperConfiguration, ...]
    __pydantic_config__ = STRICT

    def configuration(self, letter: str) -> PaperConfiguration:
        """The configuration of a letter."""
        return next(each for each in self.configurations if each.letter == letter)


def read_paper(data: bytes, where: str) -> PaperData:
    """The file's content.

    Raises:
        GraphTurboError: too large, of another form, or of another schema.
    """
    change = f"write it again: {WRITE}"
    if len(data) > MAX_BYTES:
        what = f"the file has {len(data):,} bytes, more than {MAX_BYTES:,}"
        raise GraphTurboError("PAPER_DATA", what, where, change)
    try:
        found = TypeAdapter(PaperData).validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        what = f"the file has another form: {first['msg']} at '{place}'"
        raise GraphTurboError("PAPER_DATA", what, where, change) from error
    if found.schema != SCHEMA:
        what = f"the file has schema {found.schema}, this version reads {SCHEMA}"
        raise GraphTurboError("PAPER_DATA", what, where, change)
    return found


@cache
def kept_paper(path: Path = FILE) -> PaperData | None:
    """The file that is shipped; None where there is none.

    Raises:
        GraphTurboError: it cannot be read as such a file.
    """
    if not path.is_file():
        return None
    return read_paper(path.read_bytes(), path.name)
