"""The recipe: ONNX bytes and choices in, Reports out; the figure in ARCHITECTURE.md as code."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

from graphturbo_core.errors import GraphTurboError, OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_core.frontend.passes.clean_up import pass_names
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile, parse_profile, profile_names
from graphturbo_core.ir.dtypes import NUMBER_FORMATS
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.option_fields import StrategyOption
from graphturbo_core.plan_io import check_emit, emitted, origin_of, pinned_file, plan_option
from graphturbo_core.products.plan import Plan
from graphturbo_core.report.build import build_report
from graphturbo_core.report.outcome import Named, Outcome, Step
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import Imports, RunRequest, divide
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.options import (
    LOWERING,
    chosen_strategy,
    resolve_options,
    strategy_options,
)
from graphturbo_core.strategies.plan_files.held import NO_PINNED_PLAN
from graphturbo_core.strategies.plan_files.record import SEARCHED
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import STRATEGIES, StrategySpec, parse_strategy
from graphturbo_core.strategies.steps.batching import Division
from graphturbo_core.strategies.steps.kernels import Cost, Spent
from graphturbo_core.trial_cache import TrialCache
from graphturbo_core.verify.verify import VerifyTask, verify

__all__ = [
    "NUMBER_FORMATS", "STRATEGIES", "Imports", "Recorder", "RunRequest", "StrategyOption",
    "options_of_strategy", "own_options", "parse_strategy", "pass_names", "profile_names",
    "read_input_dims", "run_report", "run_reports", "run_shared", "strategy_options", "warm_up",
]  # fmt: skip

OnStep = Callable[[str, float], None]
P = ParamSpec("P")
T = TypeVar("T")


@runtime_checkable
class _Checked(Protocol):
    """A product that checks its own invariants."""

    def check(self) -> None:
        """Raises InvariantError where one is broken."""


@contextmanager
def _without_gc() -> Iterator[None]:
    """Disables the garbage collector within the block.

    Steps make millions of small objects and almost no reference cycles. The collector's passes use
    a third of the time of lowering and free nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@dataclass
class Recorder:
    """The only instrumentation: times each step, checks its product, calls `on_step`."""

    on_step: OnStep | None = None
    steps: list[Step] = field(default_factory=list)

    def run(self, name: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the function's product after its check; the step's seconds include the check.

        Raises:
            GraphTurboError: what the step raised, with a note that names the step.
        """
        began = perf_counter()
        try:
            with _without_gc():
                product = function(*args, **kwargs)
                if isinstance(product, _Checked):
                    product.check()
        except GraphTurboError as error:
            error.add_note(f"in step '{name}'")
            raise
        self.steps.append(Step(name, perf_counter() - began))
        if self.on_step is not None:
            self.on_step(name, self.steps[-1].seconds)
        return product

    def progress(self, name: str) -> Callable[[int, int], None]:
        """Callback of a long step, called with (done, total).

        It passes every tenth to `on_step`, with an estimate of the seconds left.
        """
        began, reported = perf_counter(), 0

        def report_progress(done: int, total: int) -> None:
            nonlocal reported
            tenth = TENTHS * done // max(1, total)
            if self.on_step is None or tenth <= reported:
                return
            reported, elapsed = tenth, perf_counter() - began
            left = elapsed * (total - done) / max(1, done)
            self.on_step(f"{name}: {tenth * 10} % done, about {left:.0f} s left", elapsed)

        return report_progress


TENTHS = 10
"""Progress reports of a long step."""
LENGTH_OPTION = "max_instructions"
"""Option key of a report for the value of `--max-instructions`."""
WARM_UP_SAMPLE = "teaching-resnet"
WARM_UP_STRATEGIES = ("tvm", "graphturbo")


def warm_up(on_step: OnStep | None = None) -> None:
    """Compiles the hot loops, or loads them from numba's cache on disk.

    Needs some 40 s once after installation, and some seconds in each new process. It runs before a
    job, so the job's step times do not contain it.
    """
    model = load_sample(WARM_UP_SAMPLE)
    requests = [RunRequest(WARM_UP_SAMPLE, strategy, batch=8) for strategy in WARM_UP_STRATEGIES]
    Recorder(on_step).run("warm-up", lambda: list(run_reports(model, requests)))


def run_report(
    model_bytes: bytes,
    request: RunRequest,
    profile_bytes: bytes | None = None,
    on_step: OnStep | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """Report of one run.

    Raises:
        GraphTurboError: the input is refused; InvariantError means a bug of ours.
    """
    return run_shared(Imports(model_bytes, limits), request, profile_bytes, on_step)


def run_shared(
    imports: Imports,
    request: RunRequest,
    profile_bytes: bytes | None = None,
    on_step: OnStep | None = None,
) -> Report:
    """Report of one run of a comparison; the next runs reuse `imports`, even after a refusal.

    Raises:
        GraphTurboError: the input is refused; InvariantError means a bug of ours.
    """
    _check_choices(request, imports.limits)
    return _run(imports, request, profile_bytes, Recorder(on_step))


def run_reports(
    model_bytes: bytes,
    requests: Sequence[RunRequest],
    profile_bytes: bytes | None = None,
    on_step: OnStep | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Report]:
    """Yields the Reports in order, each when it is ready; runs share imported graphs.

    Raises:
        GraphTurboError: the input is refused; every strategy and option is checked first.
    """
    for request in requests:
        _check_choices(request, limits)
    imports = Imports(model_bytes, limits)
    for request in requests:
        yield _run(imports, request, profile_bytes, Recorder(on_step))


def _check_choices(request: RunRequest, limits: Limits) -> None:
    if request.batch is not None and request.batch > limits.max_batch:
        raise OptionError(
            "BATCH_TOO_LARGE",
            f"a batch of {request.batch} is more than {limits.max_batch}",
            change="choose a smaller batch; throughput does not depend on it at this size",
        )
    parse_strategy(request.strategy)
    check_emit(request.emit)
    resolve_options(request.options)
    _check_length(request.max_instructions, limits)
    if request.dtype not in NUMBER_FORMATS:
        raise OptionError(
            "UNKNOWN_DTYPE",
            f"number format {request.dtype!r} is not known",
            "--dtype",
            f"choose one of {', '.join(NUMBER_FORMATS)}",
        )


def _check_length(max_instructions: int | None, limits: Limits) -> None:
    low, high = limits.max_instructions_coarsest, limits.max_instructions_longest
    if max_instructions is not None and not low <= max_instructions <= high:
        raise OptionError(
            "BAD_MAX_INSTRUCTIONS",
            f"{max_instructions} instructions cannot be allowed",
            "--max-instructions",
            f"choose {low} (the default) to {high}",
        )


def _run(
    imports: Imports, request: RunRequest, profile_bytes: bytes | None, recorder: Recorder
) -> Report:
    run = recorder.run
    spec = parse_strategy(request.strategy)
    hardware = run("profile", _read_profile, request.profile, profile_bytes)
    if request.verify:
        imports = run("draw weights", imports.numbered)
    whole = run("import", imports.whole, request)
    rounds = run("divide the batch", divide, imports, request, (whole, hardware, spec))
    options = own_options(request)
    origin, pinned = None, None
    if request.plan or request.emit:
        origin = origin_of(request, hardware, whole, options)
    if request.plan and origin is not None:
        pinned = run("read the plan", pinned_file, request, origin)
    is_one_size = len(rounds.semantics) == 1
    traces = {}
    for size, semantics in rounds.semantics.items():
        suffix = "" if is_one_size else f" (round of {size})"
        cache = TrialCache(
            imports.limits, request.max_instructions, imports.known,
            has_trace=not request.verify, kernels=imports.kernels,
        )  # fmt: skip
        task = PlanTask(
            semantics, hardware, request.dtype, request.options,
            pinned.pinned_plan(size) if pinned is not None else NO_PINNED_PLAN,
            rounds.division.clusters_a_round, _cost(recorder, suffix, request, cache),
        )  # fmt: skip
        traces[size] = _schedule(recorder, suffix, spec, (task, cache), request)
        if not request.verify:
            cache.note(traces[size])
    checked = None
    if request.verify:
        drawn = imports.drawn_weights
        replay = VerifyTask(imports.data, rounds.whole, rounds.division, traces, drawn)
        checked = run("verify", verify, replay, recorder.progress("verify"))
    outcome = Outcome(
        named=Named(
            request.model_name, hardware.name, request.strategy,
            {**options, **plan_option(request, pinned), **_length_option(request)}, request.dtype,
        ),
        hardware=hardware,
        whole=rounds.whole,
        division=shared_division(rounds.division, traces),
        traces=traces,
        steps=tuple(recorder.steps),
        verification=checked,
    )  # fmt: skip
    report = run("report", build_report, outcome, has_pictures=request.has_pictures)
    if origin is None or not request.emit:
        return report
    return report.with_files(run("emit", emitted, request, origin, pinned, outcome))


def _schedule(
    recorder: Recorder,
    suffix: str,
    spec: StrategySpec,
    planned: tuple[PlanTask, TrialCache],
    request: RunRequest,
) -> Trace:
    """The steps of one round size: GraphSemantics -> Plan -> Program -> Trace.

    A replay needs every core simulated, so it uses no cached Program or Trace.
    """
    run, (task, cache) = recorder.run, planned
    plan = run(f"plan{suffix}", plan_for, spec, task)
    if not request.verify:
        program = run(f"lower{suffix}", cache.lowered, plan)
        return run(f"simulate{suffix}", cache.simulated, program)
    program = run(
        f"lower{suffix}", lower, plan, cache.limits,
        is_each_core_simulated=True, max_instructions=request.max_instructions,
    )  # fmt: skip
    return run(f"simulate{suffix}", simulate, program)


def shared_division(division: Division, traces: Mapping[int, Trace]) -> Division:
    """The division of the batch, with the number of clusters that share one round in the plans."""
    clusters = max(trace.program.plan.clusters for trace in traces.values())
    return division if clusters == 1 else division.shared(clusters)


def _cost(recorder: Recorder, suffix: str, request: RunRequest, cache: TrialCache) -> Cost:
    """Cost function of a strategy that evaluates plans: cycles of a round and of its kernels.

    A search reports progress against its maximum number of evaluations. Evaluations by the
    strategy whose plans it starts from do not count.
    """
    strategy = chosen_strategy(parse_strategy(request.strategy), request.options)
    is_search, total = strategy.is_search, strategy.evaluations
    report_progress = recorder.progress(f"search{suffix}")
    numbers = count(1)

    def cost(plan: Plan) -> Spent | None:
        try:
            return cache.cost(plan)
        finally:
            if is_search:
                gc.collect()
            if plan.strategy == SEARCHED:
                report_progress(next(numbers), total)

    return cost


def _length_option(request: RunRequest) -> dict[str, str]:
    """The cap on instructions as an option of the report, where the request has one."""
    most = request.max_instructions
    return {} if most is None else {LENGTH_OPTION: str(most)}


def _read_profile(name: str, profile_bytes: bytes | None) -> Hardware:
    return load_profile(name) if profile_bytes is None else parse_profile(profile_bytes, name)


def options_of_strategy(strategy: str) -> dict[str, StrategyOption]:
    """Options that change a strategy's runs: its own, and those of lowering.

    Raises:
        OptionError: an unknown strategy.
    """
    spec = parse_strategy(strategy)
    own = (spec.name, spec.level, LOWERING)
    return {n: option for n, option in strategy_options().items() if n.split(".")[0] in own}


def own_options(request: RunRequest) -> dict[str, str]:
    """Options of this strategy and of lowering with defaults filled in; no other changes the run.

    Raises:
        OptionError: an unknown strategy, option or value.
    """
    resolved = resolve_options(request.options)
    return {name: resolved[name] for name in options_of_strategy(request.strategy)}
