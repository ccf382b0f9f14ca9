"""results.json -> LectureResults: what the pictures and sentences of the lecture are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from graphturbo_core.errors import GraphTurboError

FILE = Path(__file__).with_name("results.json")
WRITE = "python -m benchmarks.lecture"
"""Command that writes the file."""
SCHEMA = 1
MAX_BYTES = 2**20
"""A larger file is refused."""
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
Way = Literal["read", "write"]
MoveKind = Literal["load", "store", "exchange", "broadcast", "prefetch", "copy", "compute"]


@dataclass(frozen=True, slots=True)
class LectureTensor:
    """A tensor for all images. `layer` computes it, or has it as a weight; "" for the image."""

    name: str
    kind: Literal["input", "activation", "output", "weight"]
    bytes: int
    layer: str
    readers: tuple[str, ...]
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureGroup:
    """A group of layers with its split; live bytes of the whole group and of one piece.

    `axis` of its last result: 0 are images, 2 are rows, -1: not split.
    """

    name: str
    layers: tuple[str, ...]
    axis: int
    pieces: int
    whole_peak_bytes: int
    piece_peak_bytes: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Parked:
    """Bytes of a tensor in GB or in the LB of a core.

    `first` to `last`: the images that it belongs to, from 1. `top`, `bottom`: its rows
    [top, bottom) of each image. `core`: -1 in GB.
    """

    tensor: str
    first: int
    last: int
    top: int
    bottom: int
    core: int
    bytes: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureTraffic:
    """Bytes of a tensor over DRAM in one kernel, by cause."""

    tensor: str
    way: Way
    cause: str
    bytes: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class CoreMove:
    """Bytes of a tensor from the LB of one core to that of another in one kernel.

    `image` counts from 1; `top`, `bottom`: its rows [top, bottom).
    """

    tensor: str
    image: int
    top: int
    bottom: int
    source: int
    target: int
    bytes: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureKernel:
    """One kernel: a piece of a group; `start` and `end` are cycles.

    `first` to `last`: its images, from 1. `axis`, `low`, `high`, `extent`: its part [low, high) of
    the split axis, from 0; axis -1 where its group is whole. `parked_bytes`: activations in GB when
    it has ended; `parked_peak_bytes`: the most while it runs. `parked`, `in_cores`: those in GB and
    in LBs when it has ended, for kernels to come.
    """

    name: str
    group: str
    layers: tuple[str, ...]
    first: int
    last: int
    axis: int
    low: int
    high: int
    extent: int
    start: int
    end: int
    dram_bytes: int
    parked_bytes: int
    parked_peak_bytes: int
    parked: tuple[Parked, ...]
    in_cores: tuple[Parked, ...]
    traffic: tuple[LectureTraffic, ...]
    moves: tuple[CoreMove, ...]
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Interval:
    """An instruction of the last kernel; cycles from that kernel's start."""

    engine: str
    layer: str
    kind: MoveKind
    start: int
    cycles: int
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureResult:
    """Totals of one run, its groups and kernels in order.

    `dram`, `gb`: bytes by cause. `busy`: share of the time per kind of engine. `plan`: the text of
    the plan file that it followed, "" without one. `refused`: why there is no such run; all numbers
    are 0 then. `kernels`: empty for runs that are not pictured. `last_kernel`: the intervals of the
    last kernel of a timed run.
    """

    cycles: int
    dram_bytes: int
    gb_bytes: int
    core_to_core_bytes: int
    dram: Mapping[str, int]
    gb: Mapping[str, int]
    halo_macs: int
    busy: Mapping[str, float]
    lower_bound_cycles: int
    gb_peak_bytes: int
    lb_peak_bytes: int
    notes: tuple[str, ...]
    groups: tuple[LectureGroup, ...]
    kernels: tuple[LectureKernel, ...]
    last_kernel: tuple[Interval, ...]
    plan: str
    refused: str
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Candidate:
    """A number of pieces of the first group, split by images: live bytes of one piece."""

    pieces: int
    peak_bytes: int
    fits: bool
    taken: bool
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureReady:
    """A row of Algorithm 3: what ran, and the stack of those ready after it (newest last)."""

    run: str
    ready: tuple[str, ...]
    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class LectureBinding:
    """Division of a tensor over cores in a kernel, as nested lists of cores in text."""

    kernel: str
    tensor: str
    cores: str
    axes: str
    scope: str
    __pydantic_config__ = STRICT


@dataclass(frozen=True)
class LectureResults:
    """Network, chip and every run by name; lists of the coarse run's decisions.

    `core_part_bytes`: of a piece of its first group, the live bytes of one core.
    """

    schema: int
    model: str
    chip: str
    images: int
    dtype: str
    lb_data_bytes: int
    lb_weight_bytes: int
    gb_bytes: int
    cores: int
    launch_cycles: int
    core_part_bytes: int
    compulsory_dram_bytes: int
    macs: int
    tensors: tuple[LectureTensor, ...]
    candidates: tuple[Candidate, ...]
    ready: tuple[LectureReady, ...]
    bindings: tuple[LectureBinding, ...]
    runs: Mapping[str, LectureResult]
    __pydantic_config__ = STRICT

    @cached_property
    def weight_bytes(self) -> int:
        """Bytes of all weights."""
        return sum(tensor.bytes for tensor in self.tensors if tensor.kind == "weight")

    def tensor(self, name: str) -> LectureTensor:
        """The tensor of a name."""
        return next(tensor for tensor in self.tensors if tensor.name == name)


@cache
def kept_results() -> LectureResults:
    """The kept results.

    Raises:
        GraphTurboError: LECTURE_FILE, the file is missing, too large or of another form.
    """
    try:
        data = FILE.read_bytes()
        if len(data) > MAX_BYTES:
            raise ValueError(f"{len(data)} bytes")
        found = TypeAdapter(LectureResults).validate_json(data)
    except (OSError, ValueError) as error:
        reason = str(error.errors()[0]["msg"]) if isinstance(error, ValidationError) else str(error)
        raise GraphTurboError(
            "LECTURE_FILE", "the kept results of the lecture cannot be read", reason, f"run {WRITE}"
        ) from error
    if found.schema != SCHEMA:
        what = f"the kept results of the lecture have schema {found.schema}, not {SCHEMA}"
        raise GraphTurboError("LECTURE_FILE", what, change=f"run {WRITE}")
    return found


def json_text(results: LectureResults) -> str:
    """The file's text: one line per value, per run's value, and per row of a list of rows."""
    tree = TypeAdapter(LectureResults).dump_python(results, mode="json")
    runs = tree.pop("runs")
    head = _entries(tree, " ")
    body = ",\n".join(
        f"  {json.dumps(name)}: {{\n{_entries(run, '   ')}\n  }}" for name, run in runs.items()
    )
    return f'{{\n{head},\n "runs": {{\n{body}\n }}\n}}\n'


def _entries(tree: Mapping[str, object], indent: str) -> str:
    return ",\n".join(f"{indent}{json.dumps(key)}: {_rows(tree[key], indent)}" for key in tree)


def _rows(value: object, indent: str) -> str:
    """JSON in one line, but a list of rows has a line per row."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = ",\n".join(f"{indent} {json.dumps(row)}" for row in value)
        return f"[\n{rows}\n{indent}]"
    return json.dumps(value)
