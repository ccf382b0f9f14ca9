"""Schema of a plan file: keys, types and ranges."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.plain_yaml import shown
from graphturbo_core.semantics.feeding import MOST_TILES

SCHEMA = 1
"""Version of the file; rises when a key changes its meaning."""
MAX_LISTED = 1000
"""Most sets of `merge` and `keep_apart`, and most members of a set (our choice)."""
MAX_EDITS = 100_000
"""Most entries of an edit by name: more than the ops of any model that is scheduled in minutes."""

Name = Annotated[str, Field(min_length=1, max_length=100_000)]
Label = Annotated[str, Field(max_length=1000)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
Axis = Annotated[int, Field(ge=0, lt=DEFAULT_LIMITS.max_rank)]
Parts = Annotated[int, Field(ge=1, le=4096)]
Core = Annotated[int, Field(ge=CLUSTER_CORE, le=4095)]
Pieces = Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.max_pieces)]
Batch = Annotated[int, Field(ge=1, le=DEFAULT_LIMITS.max_batch)]
ScopeWord = Literal["LB", "GB", "DRAM"]
ResidencyWord = Literal["LB", "GB", "stream", "sharded"]
Piece = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,6}$")]
NameSet = Annotated[list[Name], Field(min_length=2, max_length=MAX_LISTED)]


PieceScopes = Annotated[dict[Piece, ScopeWord], Field(min_length=1, max_length=MAX_LISTED)]
OF_ALL, BY_PIECE = "scope of all", "scope by piece"
AnyScope = Annotated[
    Annotated[ScopeWord, Tag(OF_ALL)] | Annotated[PieceScopes, Tag(BY_PIECE)],
    Discriminator(lambda scope: BY_PIECE if isinstance(scope, dict) else OF_ALL),
]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Made(_Strict):
    """A model or chip: its name, and the digest of everything that a plan depends on."""

    name: Label
    digest: Digest


class CutsSection(_Strict):
    """A binding: axis `axes[k]` in `grid[k]` parts; without `cores` they are spread evenly."""

    axes: Annotated[list[Axis], Field(max_length=DEFAULT_LIMITS.max_rank)]
    grid: Annotated[list[Parts], Field(max_length=DEFAULT_LIMITS.max_rank)]
    cores: Annotated[list[Core], Field(max_length=4096)] | None = None


class EditsSection(_Strict):
    """User constraints; each of `names` represents several ops."""

    names: Annotated[dict[Name, list[Name]], Field(max_length=MAX_EDITS)] = {}
    merge: Annotated[list[NameSet], Field(max_length=MAX_LISTED)] = []
    keep_apart: Annotated[list[NameSet], Field(max_length=MAX_LISTED)] = []
    pieces: Annotated[dict[Name, Pieces], Field(max_length=MAX_EDITS)] = {}
    axis: Annotated[dict[Name, Axis], Field(max_length=MAX_EDITS)] = {}
    binding: Annotated[dict[Name, CutsSection], Field(max_length=MAX_EDITS)] = {}
    scope: Annotated[dict[Name, AnyScope], Field(max_length=MAX_EDITS)] = {}
    residency: Annotated[dict[Name, ResidencyWord], Field(max_length=MAX_EDITS)] = {}


class FurtherSection(_Strict):
    """One further split axis of a group."""

    axis: Axis
    parts: Pieces


class GroupSection(_Strict):
    """A group; axis -1: not split. `pieces`: the product over the first axis and `further` ones."""

    name: Label
    axis: Annotated[int, Field(ge=-1, lt=DEFAULT_LIMITS.max_rank)]
    pieces: Pieces
    further: Annotated[list[FurtherSection], Field(max_length=DEFAULT_LIMITS.max_rank)] = []
    ops: Annotated[list[Name], Field(min_length=1)]


class PlanKernel(_Strict):
    """A kernel; a text instead of a mapping names an earlier kernel with the same mapping.

    `step`, `cluster`: when and where it runs; given only where clusters share the round.
    `branches`: the ops of each branch, section by section; given only where there are several.
    """

    run: Label
    step: Annotated[int, Field(ge=0)] | None = None
    cluster: Annotated[int, Field(ge=0)] | None = None
    bindings: dict[Name, CutsSection] | Label
    scopes: dict[Name, ScopeWord] | Label
    kept: list[Name] | Label
    residency: dict[Name, ResidencyWord] | Label
    branches: Annotated[list[list[list[Name]]], Field(max_length=MAX_LISTED)] = []


class StaySection(_Strict):
    """A weight retained in GB from kernel `first` to kernel `last`."""

    weight: Name
    first: Label
    last: Label
    bytes: Annotated[int, Field(ge=1, lt=2**63)]


class SharedSection(_Strict):
    """Clusters that share the round; `lent`: kernels also read weights from remote DRAM shares."""

    clusters: Annotated[int, Field(ge=1)]
    lent: bool


class DecisionSection(_Strict):
    """One merge or refusal, with the numbers that decided it."""

    step: Label
    rule: Label
    taken: bool
    subject: list[Name]
    numbers: dict[Label, int | float | str]


class RoundSection(_Strict):
    """The plan of one round size; kernels in the order in which they run.

    `across_layers`: given only where the strategy's name does not imply it. `stays`: weights
    and inputs that are retained in GB over several kernels. `shared`: given only where clusters
    share the round.
    `divides_depthwise`: given only if so. `tile_buffers`: given only if a search chose them.
    """

    size: Batch
    groups: Annotated[list[GroupSection], Field(min_length=1)]
    kernels: Annotated[list[PlanKernel], Field(min_length=1)]
    decisions: list[DecisionSection]
    notes: list[Label]
    across_layers: bool | None = None
    stays: Annotated[list[StaySection], Field(max_length=MAX_EDITS)] = []
    shared: SharedSection | None = None
    divides_depthwise: bool = False
    tile_buffers: Annotated[int, Field(ge=1, le=MOST_TILES)] | None = None


class RecordSection(_Strict):
    """The plan at the time of writing, with a digest against changes by hand."""

    digest: Digest
    rounds: Annotated[list[RoundSection], Field(min_length=1)]


class PlanSection(_Strict):
    """A whole plan file."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    version: Label
    model: Made
    profile: Made
    strategy: Label
    dtype: Label
    batch: Batch | None
    dims: dict[Label, int]
    options: dict[Label, Label]
    skip_passes: list[Label]
    edits: EditsSection = EditsSection()
    record: RecordSection | None = None


def schema_refusal(error: ValidationError, file_name: str) -> PlanError:
    """Refusal for one problem; unknown keys come first, as they often misspell a missing key."""
    problems = error.errors(include_url=False)
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    path = ".".join(str(part) for part in first["loc"] if part not in _BRANCHES)
    where = f"in {shown(file_name)}"
    if first["type"] == "missing":
        return PlanError("PLAN_INVALID", f"key {shown(path)} is missing", where, "add it")
    if first["type"] == "extra_forbidden":
        similar = get_close_matches(str(first["loc"][-1]), _known_keys(), n=1)
        meant = f" (did you mean {similar[0]}?)" if similar else ""
        what = f"key {shown(path)} is not known"
        return PlanError("PLAN_INVALID", what, where, f"remove or rename it{meant}")
    what = f"{shown(path)} is {shown(first['input'])}"
    change = first["msg"].replace("Input should be", "write").replace("String should", "it must")
    return PlanError("PLAN_INVALID", what, where, change)


_BRANCHES = frozenset(
    {"constrained-str", "dict[constrained-str,CutsSection]", OF_ALL, BY_PIECE, "[key]"}
)
"""Entries of a pydantic error path that are no keys: branches of a union."""


def _known_keys() -> list[str]:
    sections = (PlanSection, EditsSection, CutsSection, GroupSection, PlanKernel, RecordSection)
    return sorted({field.alias or name for s in sections for name, field in s.model_fields.items()})
