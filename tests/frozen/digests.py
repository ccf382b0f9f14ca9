"""Reports -> digests: one of values and structure, one of prose, for each run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.options import EVALUATIONS
from tests.lowering.nets import STRATEGIES
from tests.verify.small_samples import BATCH, SMALL, models_of, with_fewer_cores

FILE = Path(__file__).parent / "digests.json"
RUNS: Mapping[str, Mapping[str, str]] = {
    **{strategy: {} for strategy in STRATEGIES},
    "graphturbo:plus": {},
    "tuned": {EVALUATIONS: "3"},
}
"""Strategies with their options."""
LEFT_OUT = ("steps", "schedule_seconds", "version", "program_sha256")
"""Keys that depend on the clock, the version, or names of columns; `EMITTED` has the program."""
EMITTED = ("plan", "program")
DIGITS = 16


class Run(NamedTuple):
    """A small sample on a chip under a strategy."""

    model: str
    chip: str
    strategy: str

    @property
    def name(self) -> str:
        """As digests.json names it."""
        return " ".join(self)


class Digests(NamedTuple):
    """Of a run's values, and of its prose; of a refusal the code stands for values."""

    values: str
    prose: str


def runs() -> list[Run]:
    """Every small sample on every chip that has room for it, under every strategy."""
    return [
        Run(model, chip, strategy)
        for model in SMALL
        for chip in profile_names()
        if model in models_of(chip)
        for strategy in RUNS
    ]


def digests_of(run: Run) -> Digests:
    """Run it, and take the digests of its report, its plan and its program."""
    request = RunRequest(
        run.model, run.strategy, run.chip, BATCH, options=RUNS[run.strategy], emit=EMITTED
    )
    try:
        report = run_shared(_imports(run.model), request, with_fewer_cores(run.chip))
    except GraphTurboError as error:
        return Digests(error.code, _digest([str(error)]))
    return digests(report)


def digests_of_all(part: Sequence[Run]) -> list[Digests]:
    """Of several runs, in their order."""
    return [digests_of(run) for run in part]


@cache
def _imports(model: str) -> Imports:
    return Imports(bytes(SMALL[model]().SerializeToString(deterministic=True)))


def digests(report: Report) -> Digests:
    """Of a report: texts with a space in them are prose, and so are lines of comments in files."""
    contract = {key: value for key, value in report.contract.items() if key not in LEFT_OUT}
    values, prose = [], []
    for path, leaf in _leaves("", {"contract": contract, "tables": report.tables}):
        is_prose = isinstance(leaf, str) and " " in leaf
        (prose if is_prose else values).append(f"{path}={json.dumps(leaf)}")
    for name, array in sorted(report.arrays.items()):
        data = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        values.append(f"{name} {array.dtype.str} {array.shape} {data}")
    for name in EMITTED:
        for line in report.text(name).splitlines():
            (prose if line.startswith("#") or "notes" in line else values).append(line)
    return Digests(_digest(values), _digest(prose))


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Every scalar below a value, with the way to it; keys in order of the alphabet."""
    if isinstance(value, Mapping):
        yield path, sorted(map(str, value))
        for key in sorted(value):
            yield from _leaves(f"{path}/{key}", value[key])
    elif isinstance(value, list | tuple):
        yield path, len(value)
        for place, item in enumerate(value):
            yield from _leaves(f"{path}/{place}", item)
    else:
        yield path, value


def _digest(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:DIGITS]


def kept() -> dict[str, Digests]:
    """What digests.json holds, by the names of runs."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: Digests(*pair) for name, pair in found.items()}


def write(found: Mapping[str, Digests]) -> None:
    """Keep these, a line each."""
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(list(d))}" for name, d in found.items())
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
