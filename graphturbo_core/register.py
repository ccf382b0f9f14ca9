"""The assumption register: every assumed number and rule of a run, and its effect on latency."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from multiprocessing import get_context
from time import perf_counter

from graphturbo_core.errors import GraphTurboError, InvariantError, OptionError
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.hardware.variation import DOUBLE, HALF, TWICE, changed_profile, other_values
from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.pipeline import Imports, OnStep, RunRequest, run_shared, warm_up
from graphturbo_core.report.rows.assumed_rules import ASSUMED_RULES, NO_ALTERNATIVE
from graphturbo_core.run_request import own_options
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import STRATEGIES, parse_strategy

MAX_PROCESSES = 8
"""Each process has a model and a Trace in memory: some 400 MiB for ResNet-50."""
PROGRESS_REPORTS = 10
"""Progress reports of a register."""


@dataclass(frozen=True, slots=True)
class AssumptionTrial:
    """Result of a run with one assumption changed.

    `change`: `half`, `double` or the other choice. `latency_s`: None where the run is refused;
    `refusal` is then the code.
    """

    change: str
    value: str
    latency_s: float | None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class RegisterRow:
    """One assumption: its key, value and source, and the trials with other values."""

    key: str
    value: str
    source: str
    trials: tuple[AssumptionTrial, ...] = ()


@dataclass(frozen=True)
class _Task:
    """One trial to run; `profile`: the changed chip's bytes, None where an option changes."""

    change: str
    value: str
    request: RunRequest
    profile: bytes | None = None


@dataclass(frozen=True)
class _Entry:
    """One row of the register with the tasks that compute its trials."""

    row: RegisterRow
    tasks: tuple[_Task, ...] = ()


def assumption_register(
    model_bytes: bytes, request: RunRequest, on_step: OnStep
) -> tuple[RegisterRow, ...]:
    """Rows for every assumption of a run: chip, strategy, lowering, rules without alternative.

    Each assumed number is halved and doubled, and each choice is replaced by every other, one at a
    time. Each trial runs all steps from import to report. Trials run in one process per core, at
    most `MAX_PROCESSES`. `model_bytes` must be a model that this request runs on.

    Raises:
        GraphTurboError: the profile or an option is refused as it stands.
        RuntimeError: a trial met a bug of ours.
    """
    check_register(request)
    request = replace(
        request,
        verify=False,
        has_pictures=False,
        dims=dict(request.dims),
        options=dict(request.options),
    )  # plain mappings can be pickled for a process
    entries = (*_chip_entries(request), *_option_entries(request), *_rule_entries())
    tasks = [task for entry in entries for task in entry.tasks]
    trials = iter(_trials(model_bytes, tasks, on_step))
    return tuple(
        replace(entry.row, trials=tuple(next(trials) for _ in entry.tasks)) for entry in entries
    )


def check_register(request: RunRequest) -> None:
    """Refuses the register of a search: each trial would search again and find another plan.

    Raises:
        OptionError: SEARCH_AND_ASSUMPTIONS.
    """
    if STRATEGIES[parse_strategy(request.strategy).name].is_search:
        raise OptionError(
            "SEARCH_AND_ASSUMPTIONS",
            "--assumptions would search once for each assumption",
            f"--strategy {request.strategy}",
            "use graphturbo:full; the search varies its choices",
        )


def _chip_entries(request: RunRequest) -> Iterator[_Entry]:
    """The profile's assumed numbers."""
    for number in load_profile(request.profile).numbers:
        if not number.is_assumption:
            continue
        tasks = tuple(
            _Task(change, str(value), request, changed_profile(request.profile, number.key, value))
            for change, value in other_values(number)
        )
        yield _Entry(RegisterRow(number.key, str(number.value), number.source), tasks)


def _option_entries(request: RunRequest) -> Iterator[_Entry]:
    """Choices that the paper leaves open; `--set` selects them."""
    for key, value in own_options(request).items():
        option = strategy_options()[key]
        tasks = tuple(
            _Task(change, other, replace(request, options={**request.options, key: other}))
            for change, other in _other_choices(option, value)
        )
        yield _Entry(RegisterRow(key, value, option.doc), tasks)


def _other_choices(option: StrategyOption, value: str) -> tuple[tuple[str, str], ...]:
    if option.bounds is None:
        return tuple((other, other) for other in option.values if other != value)
    return ((HALF, str(int(value) // TWICE)), (DOUBLE, str(int(value) * TWICE)))


def _rule_entries() -> Iterator[_Entry]:
    for rule in ASSUMED_RULES:
        yield _Entry(RegisterRow(rule.decides, rule.rule, NO_ALTERNATIVE))


def _trials(model_bytes: bytes, tasks: Sequence[_Task], on_step: OnStep) -> list[AssumptionTrial]:
    """Trials in the order of the tasks; reports every tenth with an estimate of the time left."""
    began = perf_counter()
    processes = max(1, min(MAX_PROCESSES, os.cpu_count() or 1, len(tasks)))
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin, (model_bytes,)) as pool:
        futures = [pool.submit(_trial, task) for task in tasks]
        try:
            for done, _ in enumerate(as_completed(futures), 1):
                if done % max(1, len(tasks) // PROGRESS_REPORTS) == 0:
                    seconds = perf_counter() - began
                    left = seconds * (len(tasks) - done) / done
                    on_step(
                        f"assumptions: {done} of {len(tasks)} evaluated, about {left:.0f} s left",
                        seconds,
                    )
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in futures]


_imports: list[Imports] = []
"""The imported model, shared by the trials of one process."""


def _begin(model_bytes: bytes) -> None:
    warm_up()
    _imports.append(Imports(model_bytes))


def _trial(task: _Task) -> AssumptionTrial:
    """Runs one task in a process of the pool.

    Raises:
        RuntimeError: a bug of ours; GraphTurboError cannot be pickled.
    """
    try:
        report = run_shared(_imports[0], task.request, task.profile)
    except InvariantError as error:
        raise RuntimeError(f"{task.change} {task.value}: {error.line()}") from error
    except GraphTurboError as error:
        return AssumptionTrial(task.change, task.value, None, error.code)
    return AssumptionTrial(task.change, task.value, report.contract["latency_s"])
