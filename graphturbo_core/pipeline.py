"""The recipe: ONNX bytes and choices in, Reports out; the figure in ARCHITECTURE.md as code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from types import MappingProxyType
from typing import ParamSpec, Protocol, TypeVar, runtime_checkable

from graphturbo_core.errors import GraphTurboError, ModelError, OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions, import_model, read_input_dims
from graphturbo_core.frontend.numbers import with_numbers
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile, parse_profile, profile_names
from graphturbo_core.ir.dtypes import NUMBER_FORMATS
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.lower import lower
from graphturbo_core.report.build import build_report
from graphturbo_core.report.outcome import Named, Outcome, Step
from graphturbo_core.report.report import Report
from graphturbo_core.semantics.independence import dependence_on_batch, taken_as_sample_wise
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.batching import Division, divide_batch, undivided
from graphturbo_core.strategies.options import LOWERING, resolve_options, strategy_options
from graphturbo_core.strategies.registry import (
    StrategyInfo,
    StrategySpec,
    make_plan,
    parse_strategy,
    strategies,
)
from graphturbo_core.verify.verify import SEED, VerifyTask, verify

__all__ = [
    "NUMBER_FORMATS", "Imports", "Recorder", "RunRequest", "StrategyInfo", "own_options",
    "profile_names", "read_input_dims", "run_report", "run_reports", "run_shared", "strategies",
    "strategy_names", "strategy_options", "warm_up",
]  # fmt: skip

OnStep = Callable[[str, float], None]
P = ParamSpec("P")
T = TypeVar("T")


@runtime_checkable
class _Checked(Protocol):
    """A product that can say whether it breaks one of its own invariants."""

    def check(self) -> None:
        """Raise InvariantError if so."""


@dataclass
class Recorder:
    """The only instrumentation: times each step, checks its product, tells `on_step`."""

    on_step: OnStep | None = None
    steps: list[Step] = field(default_factory=list)

    def run(self, name: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The function's product, checked; its seconds include the check.

        Raises:
            GraphTurboError: what the step raised, with a note that names the step.
        """
        began = perf_counter()
        try:
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
        """Takes (done, in all) of a long step and tells every tenth, with an estimate."""
        began, told = perf_counter(), 0

        def tell(done: int, total: int) -> None:
            nonlocal told
            tenth = TENTHS * done // max(1, total)
            if self.on_step is None or tenth <= told:
                return
            told, elapsed = tenth, perf_counter() - began
            left = elapsed * (total - done) / max(1, done)
            self.on_step(f"{name}: {tenth * 10} % done, about {left:.0f} s left", elapsed)

        return tell


@dataclass(frozen=True)
class RunRequest:
    """All choices of one run; the model's and an own profile's bytes travel beside it."""

    model_name: str
    strategy: str = "graphturbo"
    profile: str = "stcp920"
    batch: int | None = None
    dims: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    dtype: str = "fp16"
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    skip_passes: Sequence[str] = ()
    verify: bool = False


TENTHS = 10
"""How often a long step tells how far it is."""
WARM_UP_SAMPLE = "teaching-resnet"
WARM_UP_STRATEGIES = ("tvm", "graphturbo")


def warm_up(on_step: OnStep | None = None) -> None:
    """Compile the hot loops, or load them where a run before has left them on disk.

    Costs some seconds once after installation, half a second in a new process; done before a job so
    that no job's steps contain it.
    """
    model = load_sample(WARM_UP_SAMPLE)
    requests = [RunRequest(WARM_UP_SAMPLE, strategy, batch=8) for strategy in WARM_UP_STRATEGIES]
    Recorder(on_step).run("warm-up", lambda: list(run_reports(model, requests)))


def strategy_names() -> tuple[str, ...]:
    """The strategies, the plainest first."""
    return tuple(strategies())


def run_report(
    model_bytes: bytes,
    request: RunRequest,
    profile_bytes: bytes | None = None,
    on_step: OnStep | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Report:
    """One run.

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
    """One run of a comparison that goes on when this run is refused: `imports` serve the next.

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
    """The runs one after the other, each as it is ready; an import serves all that can share it.

    Raises:
        GraphTurboError: the input is refused; every strategy and option is looked at first.
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
            change="choose a smaller batch; throughput no longer depends on it",
        )
    parse_strategy(request.strategy)
    resolve_options(request.options)
    if request.dtype not in NUMBER_FORMATS:
        raise OptionError(
            "UNKNOWN_DTYPE",
            f"number format {request.dtype!r} is not known",
            "--dtype",
            f"choose one of {', '.join(NUMBER_FORMATS)}",
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
    rounds = run("divide the batch", _divide, imports, request, (whole, hardware, spec))
    is_one_size = len(rounds.semantics) == 1
    traces = {}
    for size, semantics in rounds.semantics.items():
        suffix = "" if is_one_size else f" (round of {size})"
        traces[size] = _schedule(recorder, suffix, semantics, (spec, hardware, request))
    checked = None
    if request.verify:
        drawn = imports.drawn_weights
        task = VerifyTask(imports.data, rounds.whole, rounds.division, traces, drawn)
        checked = run("verify", verify, task, recorder.progress("verify"))
    outcome = Outcome(
        named=Named(
            request.model_name, hardware.name, request.strategy, own_options(request),
            request.dtype,
        ),
        hardware=hardware,
        whole=rounds.whole,
        division=rounds.division,
        traces=traces,
        steps=tuple(recorder.steps),
        verification=checked,
    )  # fmt: skip
    return run("report", build_report, outcome)


@dataclass(frozen=True)
class _Rounds:
    """How the batch is divided, and the model for each distinct round size, the largest first."""

    whole: GraphSemantics
    division: Division
    semantics: Mapping[int, GraphSemantics]


def _divide(
    imports: Imports, request: RunRequest, chosen: tuple[Graph, Hardware, StrategySpec]
) -> _Rounds:
    """Rounds over the clusters, as long as samples do not depend on each other."""
    graph, hardware, spec = chosen
    whole, batch = analyse(graph), imports.batch(graph)
    division = divide_batch(batch, hardware.clusters, spec.cluster_batch)
    rounds: dict[int, GraphSemantics] = {}
    is_assumed = False
    try:
        for size in division.round_sizes:
            rounds[size], by_assumption = _round(imports, request, whole, size)
            is_assumed |= by_assumption
    except ModelError as error:
        if error.code not in UNDIVIDABLE:
            raise
        division = undivided(batch, hardware.clusters, error.what)
        return _Rounds(whole, division, {batch: whole})
    if is_assumed:
        count = len(whole.opaque_ops)
        note = f"samples are taken as independent in {count} op(s) without semantics"
        division = replace(division, notes=(*division.notes, note))
    return _Rounds(whole, division, rounds)


def _round(
    imports: Imports, request: RunRequest, whole: GraphSemantics, size: int
) -> tuple[GraphSemantics, bool]:
    """The model for so many samples; whether it is a piece of the whole only by assumption.

    Where the batch is free, by a symbol or because the request names one, opaque ops are taken as
    working sample by sample.

    Raises:
        ModelError: BATCH_DEPENDENT where a sample may need others' numbers, or why import refuses
            the model for so many.
    """
    graph = imports.round(request, whole.graph, size)
    if graph is whole.graph:
        return whole, False
    part = analyse(graph)
    why = dependence_on_batch(whole, part)
    if why is None:
        return part, False
    is_free = request.batch is not None or imports.has_free_batch(whole.graph)
    if is_free and dependence_on_batch(taken_as_sample_wise(whole), part) is None:
        return part, True
    raise ModelError("BATCH_DEPENDENT", why)


UNDIVIDABLE = frozenset(
    {"BATCH_DEPENDENT", "BATCH_RESHAPE", "BATCH_MISMATCH", "BATCH_FIXED", "SHAPE_MISMATCH"}
)
"""Refusals of a model for fewer samples that leave the whole batch as it is."""


def _schedule(
    recorder: Recorder,
    suffix: str,
    semantics: GraphSemantics,
    choices: tuple[StrategySpec, Hardware, RunRequest],
) -> Trace:
    """The steps of one round size: GraphSemantics -> Plan -> Program -> Trace."""
    run, (spec, hardware, request) = recorder.run, choices
    plan = run(
        f"plan{suffix}", make_plan, spec, semantics, hardware, request.dtype, request.options
    )
    program = run(f"lower{suffix}", lower, plan)
    return run(f"simulate{suffix}", simulate, program)


def _read_profile(name: str, profile_bytes: bytes | None) -> Hardware:
    return load_profile(name) if profile_bytes is None else parse_profile(profile_bytes, name)


def own_options(request: RunRequest) -> dict[str, str]:
    """Options of this strategy and of lowering, defaults filled in; others change nothing here.

    Raises:
        OptionError: an unknown strategy, option or value.
    """
    resolved = resolve_options(request.options)
    own = (parse_strategy(request.strategy).name, LOWERING)
    return {key: value for key, value in resolved.items() if key.split(".")[0] in own}


class Imports:
    """Graphs of one model by batch, dimensions and passes: what runs of a comparison share."""

    def __init__(self, model_bytes: bytes, limits: Limits = DEFAULT_LIMITS) -> None:
        """Nothing is imported yet."""
        self.data = model_bytes
        self.limits = limits
        self.drawn_weights = 0
        self._graphs: dict[tuple[object, ...], Graph] = {}
        self._numbered: Imports | None = None

    def numbered(self) -> Imports:
        """Imports of the same model with a number for every weight, for replay."""
        if self._numbered is None:
            filled = with_numbers(self.data, SEED, self.limits)
            self._numbered = Imports(filled.data, self.limits)
            self._numbered.drawn_weights = filled.drawn
        return self._numbered

    def whole(self, request: RunRequest) -> Graph:
        """The model at the whole batch."""
        return self._import(request, request.batch, dict(request.dims))

    def batch(self, whole: Graph) -> int:
        """Samples of the whole model: the leading size of its batch input, 1 where none has one."""
        name = _batch_input(whole)
        return whole.tensors[name].shape[0] if name else 1

    def has_free_batch(self, whole: Graph) -> bool:
        """Whether the file leaves the size of the batch open."""
        dims = read_input_dims(self.data)
        return any(dim.axis == 0 and dim.input == _batch_input(whole) for dim in dims)

    def round(self, request: RunRequest, whole: Graph, size: int) -> Graph:
        """The model at the batch of one round; the batch's own symbol is bound by it alone."""
        if size == self.batch(whole):
            return whole
        dims = dict(request.dims)
        for dim in read_input_dims(self.data) if dims else ():
            if dim.axis == 0 and dim.input == _batch_input(whole):
                dims.pop(dim.symbol, None)
        return self._import(request, size, dims)

    def _import(self, request: RunRequest, batch: int | None, dims: dict[str, int]) -> Graph:
        passes = tuple(request.skip_passes)
        key = (request.model_name, batch, tuple(sorted(dims.items())), passes)
        if key not in self._graphs:
            options = ImportOptions(request.model_name, batch, dims, passes, self.limits)
            self._graphs[key] = import_model(self.data, options)
        return self._graphs[key]


def _batch_input(graph: Graph) -> str | None:
    """The input whose leading axis counts samples: the first with two or more axes."""
    return next((name for name in graph.inputs if len(graph.tensors[name].shape) > 1), None)
