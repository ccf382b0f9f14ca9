"""Axes, strategies -> tasks: a run per point and strategy, as bytes; bytes -> the row of a run."""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, get_type_hints

from graphturbo_core.errors import GraphTurboError, InvariantError, OptionError
from graphturbo_core.hardware.profile import profile_tree
from graphturbo_core.hardware.variation import varied_tree
from graphturbo_core.pipeline import run_shared
from graphturbo_core.plain_yaml import Plain
from graphturbo_core.report.contract import Contract
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.sweep.axes import (
    BATCH,
    CLUSTER_BATCH,
    RUN_KEYS,
    Axis,
    Value,
    numbers_at,
)
from graphturbo_core.units import counted

LIBRARY = Path(__file__).resolve().parents[1]
OK, REFUSED, FAULT, OTHER = "ok", "refused", "fault", "other version"
TRACEBACK = "traceback"
OUT_OF_MEMORY = "error: OUT_OF_MEMORY"
LEFT_OUT = ("schema", "strategy", "schedule_seconds")
"""Scalars of the contract that are no column: the table's own, and one of the clock."""
FIGURES = tuple(
    name
    for name, kind in get_type_hints(Contract).items()
    if kind in (str, int, float) and name not in LEFT_OUT
)
"""Scalars of the contract that are columns of the table, in its order."""
Row = Mapping[str, Value | None]


@dataclass(frozen=True, slots=True)
class Point:
    """A value per varied key, and the strategy as the user named it."""

    values: tuple[tuple[str, Value], ...]
    strategy: str


def points_of(axes: Sequence[Axis], strategies: Sequence[str]) -> tuple[Point, ...]:
    """Every combination, the last axis fastest; the strategies of one point are neighbours.

    Raises:
        OptionError: a strategy is unknown, or fixes the cluster batch that is varied.
    """
    for strategy in strategies:
        is_fixed = parse_strategy(strategy).cluster_batch is not None
        if is_fixed and any(axis.key == CLUSTER_BATCH for axis in axes):
            what = f"{strategy!r} fixes the cluster batch, which is varied"
            raise OptionError("TWO_CLUSTER_BATCHES", what, "--strategies", "leave out its @N")
    keys = [axis.key for axis in axes]
    return tuple(
        Point(tuple(zip(keys, values, strict=True)), strategy)
        for values in product(*(axis.values for axis in axes))
        for strategy in strategies
    )


def tasks_of(request: RunRequest, points: Sequence[Point]) -> list[bytes]:
    """All that each run needs except the model, as canonical JSON: with the profile's text.

    Raises:
        ProfileError: the profile is not a readable file.
    """
    tree = profile_tree(request.profile)
    return [_task(request, point, tree) for point in points]


def run_at(
    request: RunRequest, point: Point, tree: Mapping[str, Plain]
) -> tuple[RunRequest, bytes]:
    """The run of a point: its request, and the profile with the varied numbers; `tree`: the chip.

    The report of the run has no tables and arrays for pictures.
    """
    values = {
        name: number for key, value in point.values
        for name, number in numbers_at(tree, key, value).items()
    }  # fmt: skip
    numbers = {key: value for key, value in values.items() if key not in RUN_KEYS}
    strategy = point.strategy
    if CLUSTER_BATCH in values:
        strategy = f"{strategy}@{values[CLUSTER_BATCH]}"
    batch = int(values[BATCH]) if BATCH in values else request.batch
    asked = replace(request, strategy=strategy, batch=batch, has_pictures=False)
    return asked, json.dumps(varied_tree(tree, numbers)).encode()  # JSON is YAML too


def _task(request: RunRequest, point: Point, tree: Mapping[str, Plain]) -> bytes:
    asked, profile = run_at(request, point, tree)
    fields = {
        "model_name": asked.model_name,
        "strategy": asked.strategy,
        "profile": asked.profile,
        "batch": asked.batch,
        "dims": dict(asked.dims),
        "dtype": asked.dtype,
        "options": dict(asked.options),
        "skip_passes": list(asked.skip_passes),
        "max_instructions": asked.max_instructions,
    }
    task = {"request": fields, "profile": profile.decode(), "source": source_digest()}
    return json.dumps(task, sort_keys=True).encode()


@cache
def source_digest() -> str:
    """Digest of this library's sources: another one may give other figures."""
    digest = hashlib.sha256()
    for path in sorted(LIBRARY.rglob("*.py")):
        digest.update(path.relative_to(LIBRARY).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def task_key(model_bytes: bytes, task: bytes) -> str:
    """Name of a finished run: a digest of the model and the task."""
    return hashlib.sha256(hashlib.sha256(model_bytes).digest() + task).hexdigest()


def result_of(imports: Imports, task: bytes) -> bytes:
    """The figures of a run, or why it has none, as JSON.

    - REFUSED: the input is refused.
    - FAULT: a bug of ours, with its traceback as text: a process may send nothing else.
    - OTHER: another source made the task.
    """
    given = json.loads(task)
    if given["source"] != source_digest():
        what = "the task is of other sources of this library than those here"
        return json.dumps({"status": OTHER, "error": what}).encode()
    request = replace(RunRequest(**given["request"]), has_pictures=False)
    try:
        contract: Mapping[str, Any] = run_shared(
            imports, request, given["profile"].encode()
        ).contract
    except MemoryError:
        line = f"{OUT_OF_MEMORY}: the run needs more memory than there is"
        return json.dumps({"status": REFUSED, "error": line}).encode()
    except Exception as error:
        if isinstance(error, GraphTurboError) and not isinstance(error, InvariantError):
            return json.dumps({"status": REFUSED, "error": error.line()}).encode()
        fault = {"status": FAULT, "error": fault_line(error)}
        trace = "".join(traceback.format_exception(error))
        return json.dumps({**fault, TRACEBACK: trace}).encode()
    return json.dumps({"status": OK, "error": "", **figures_of(contract)}).encode()


def fault_line(error: Exception) -> str:
    """One line about a bug of ours: `error: KeyError: 'x'`."""
    if isinstance(error, GraphTurboError):
        return error.line()
    return f"error: {type(error).__name__}: {' '.join(str(error).split())}"


def figures_of(contract: Mapping[str, Any]) -> dict[str, Value]:
    """The figures of a finished run that are columns of the table."""
    return {name: contract[name] for name in FIGURES}


def is_lasting(result: bytes) -> bool:
    """Whether a result is kept: neither a bug of ours, nor where this machine lacked memory."""
    found = json.loads(result)
    return found["status"] != FAULT and not found["error"].startswith(OUT_OF_MEMORY)


def check_result(result: bytes) -> None:
    """Check that a run was of these sources.

    Raises:
        OptionError: OTHER_SOURCE.
    """
    found = json.loads(result)
    if found["status"] == OTHER:
        change = "use the same sources on all machines"
        raise OptionError("OTHER_SOURCE", found["error"], change=change)


def check_faults(results: Sequence[bytes]) -> None:
    """Check that no run met a bug of ours.

    Raises:
        InvariantError: SWEEP_FAULT, with the traceback of the first one.
    """
    found = [json.loads(result) for result in results]
    faults = [each for each in found if each["status"] == FAULT]
    if faults:
        what = f"{len(faults)} of {counted(len(found), 'run')} met a bug of ours"
        raise InvariantError("SWEEP_FAULT", f"{what}, the first:\n{faults[0][TRACEBACK]}")


def row_of(point: Point, result: bytes) -> Row:
    """A row of the table; a figure that a run lacks, or that is varied, is left out."""
    found: Mapping[str, Value] = json.loads(result)
    return row_of_figures(point, found, str(found["status"]), str(found["error"]))


def row_of_figures(
    point: Point, figures: Mapping[str, Value], status: str = OK, error: str = ""
) -> Row:
    """The same of figures, or of the line that says why there are none."""
    values = dict(point.values)
    known = {name: figures.get(name) for name in FIGURES if name not in values}
    return {**values, "strategy": point.strategy, "status": status, "error": error, **known}
