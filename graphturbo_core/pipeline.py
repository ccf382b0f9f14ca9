"""The recipe: ONNX bytes and choices in, Reports out; the figure in ARCHITECTURE.md as code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from graphturbo_core.best_rounds import rounds_of
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.plan_io import emitted, origin_of, pinned_file, pinned_plan, plan_option
from graphturbo_core.recorder import OnProgress, OnStep, Progress, Recorder
from graphturbo_core.report.build import build_report
from graphturbo_core.report.outcome import Named, Outcome, shared_division
from graphturbo_core.report.report import Report
from graphturbo_core.rounds import Imports, Rounds
from graphturbo_core.run_request import RunRequest, check_request, own_options
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import StrategySpec, parse_strategy
from graphturbo_core.trial_cache import TrialCache, counted_cost
from graphturbo_core.verify.verify import VerifyTask, verify

__all__ = [
    "Imports",
    "OnProgress",
    "OnStep",
    "Progress",
    "RunRequest",
    "run_report",
    "run_reports",
    "run_shared",
    "warm_up",
]
"""Its functions, and the types that they take."""

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
    on_progress: OnProgress | None = None,
) -> Report:
    """Report of one run of a comparison; the next runs reuse `imports`, even after a refusal.

    Raises:
        GraphTurboError: the input is refused; InvariantError means a bug of ours.
    """
    check_request(request, imports.limits)
    return _run(imports, request, profile_bytes, Recorder(on_step, on_progress))


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
        check_request(request, limits)
    imports = Imports(model_bytes, limits)
    for request in requests:
        yield _run(imports, request, profile_bytes, Recorder(on_step))


def _run(
    imports: Imports, request: RunRequest, profile_bytes: bytes | None, recorder: Recorder
) -> Report:
    run = recorder.run
    spec = parse_strategy(request.strategy)
    hardware = run("profile", read_profile, request.profile, profile_bytes)
    if request.verify:
        imports = run("draw weights", imports.numbered)
    whole = run("import", imports.whole, request)
    chosen = rounds_of(imports, request, (whole, hardware, spec), recorder)
    request, spec = chosen.request, chosen.spec
    strategy, rounds = chosen.strategy, chosen.rounds
    options = own_options(request)
    origin, pinned = None, None
    if request.plan or request.emit:
        origin = origin_of(request, hardware, rounds.whole.graph, options)
    if request.plan and origin is not None:
        pinned = run("read the plan", pinned_file, request, origin)
    recorder.steps_total = len(recorder.steps) + _steps_ahead(request, rounds)
    is_one_size = len(rounds.semantics) == 1
    traces = {}
    for size, semantics in rounds.semantics.items():
        suffix = "" if is_one_size else f" (round of {size})"
        cache = chosen.caches.get(size) or TrialCache(
            imports.limits, request.max_instructions, imports.known,
            has_trace=not request.verify, kernels=imports.kernels,
        )  # fmt: skip
        progress = recorder.progress(f"search{suffix}")
        cost = counted_cost(cache, strategy, progress)
        task = PlanTask(
            semantics, hardware, request.dtype, request.options,
            chosen.plans.get(size) or pinned_plan(pinned, size),
            rounds.division.clusters_a_round, cost, chosen.decisions,
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
            {**options, **plan_option(request, pinned), **_named_length(request)}, request.dtype,
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


def _steps_ahead(request: RunRequest, rounds: Rounds) -> int:
    """Steps after the batch is divided: three per round size, replay, report, files."""
    return 3 * len(rounds.semantics) + request.verify + 1 + bool(request.emit)


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


def _named_length(request: RunRequest) -> dict[str, str]:
    """The cap on instructions as an option of the report, where one was asked for."""
    most = request.max_instructions
    return {} if most is None else {LENGTH_OPTION: str(most)}
