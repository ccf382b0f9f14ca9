"""Strategies -> what each may do, found by planning small models, not by what we say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import onnx

from graphturbo_core.best_rounds import rounds_of
from graphturbo_core.comparison.side_by_side.rewrite_searches import compared_strategies
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.pipeline import Imports, RunRequest
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.recorder import Recorder
from graphturbo_core.strategies.plan_files.pinned import NO_PINNED_PLAN
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.kernels import PlanCost
from graphturbo_core.trial_cache import TrialCache

CHIP = "generic-4x4"
CONVOLUTION = "Conv <pads = [1,1,1,1]>"
"""Keeps the size of a map."""


@dataclass(frozen=True)
class Probe:
    """A question, a model's body from `x` to `z`, and whether a plan of it says yes."""

    question: str
    body: str
    is_met: Callable[[Plan], bool]
    samples: int = 4
    result: str = "16,16,16"


def _share(first: str, second: str) -> Callable[[Plan], bool]:
    """Whether the ops of two results are in one kernel."""

    def is_met(plan: Plan) -> bool:
        makers = {t: op.name for op in plan.semantics.graph.ops for t in op.outputs}
        return any({makers[first], makers[second]} <= set(kernel.ops) for kernel in plan.kernels)

    return is_met


def _repeats(plan: Plan) -> bool:
    """Whether two kernels of different groups run one op."""
    groups: dict[str, set[int]] = {}
    for kernel in plan.kernels:
        for op in kernel.ops:
            groups.setdefault(op, set()).add(kernel.group)
    return any(len(found) > 1 for found in groups.values())


def _is_split(plan: Plan) -> bool:
    return any(group.pieces > 1 for group in plan.groups)


def _waits_in(scope: Scope) -> Callable[[Plan], bool]:
    """Whether a product's result waits in a memory for another product."""

    def is_met(plan: Plan) -> bool:
        by_op, graph = plan.semantics.by_op, plan.semantics.graph
        between = {
            tensor
            for op in graph.ops
            if by_op[op.name].contraction
            for tensor in op.outputs
            if any(by_op[reader.name].contraction for reader in graph.consumers[tensor])
        }
        found = ((kernel, name) for kernel in plan.kernels for name in between & set(kernel.scopes))
        return any(
            kernel.scopes[name] is scope or (scope is Scope.LB and name in kernel.kept)
            for kernel, name in found
        )

    return is_met


def _runs_at_once(plan: Plan) -> bool:
    """Whether clusters run different layers in one step."""
    steps = [plan.step_of(kernel) for kernel in range(len(plan.kernels))]
    groups = {(step, kernel.group) for step, kernel in zip(steps, plan.kernels, strict=True)}
    return len(groups) > len(set(steps))


def _rewrites_weights(plan: Plan) -> bool:
    """Whether a weight of the plan is none of the model's, though it has no part of one."""
    graph = plan.semantics.graph
    new = [t for t in graph.tensors.values() if t.kind is TensorKind.WEIGHT]
    return any(t.name not in graph.whole.tensors and not t.source for t in new)


TWO = f"a = {CONVOLUTION} (x, w) z = {CONVOLUTION} (a, w)"
LONG = "a0 = Relu (x) " + " ".join(f"a{n + 1} = {CONVOLUTION} (a{n}, w)" for n in range(6))
SMALLER = f"""b0 = Conv <strides = [4,4], pads = [1,1,1,1]> (a6, w)
    {" ".join(f"b{n + 1} = {CONVOLUTION} (b{n}, w)" for n in range(3))} z = Relu (b3)"""
"""A sixteenth of the map: it needs fewer pieces."""
BRANCHES = f"a = {CONVOLUTION} (x, w) b = {CONVOLUTION} (x, w) z = Concat <axis = 1> (a, b)"
PROBES = (
    Probe("epilogue of a product", f"a = {CONVOLUTION} (x, w) z = Relu (a)", _share("a", "z")),
    Probe("producer of a product", f"a = Relu (x) z = {CONVOLUTION} (a, w)", _share("a", "z")),
    Probe("elementwise runs", f"c = {CONVOLUTION} (x, w) p = GlobalMaxPool (c) a = Exp (p)"
          " b = Sqrt (a) z = Add (c, b)", _share("a", "b")),
    Probe("producer of a reduction", "a = Relu (x) r = ReduceSum (a, axes) z = Add (x, r)",
          _share("a", "r")),
    Probe("across a reduction", "r = ReduceSum (x, axes) z = Sub (x, r)", _share("r", "z")),
    Probe("across products", TWO, _share("a", "z")),
    Probe("an op in two kernels", f"s = Neg (x) c = {CONVOLUTION} (s, w) z = Add (c, s)", _repeats),
    Probe("pieces", f"{LONG} z = Relu (a6)", _is_split, samples=64),
    Probe("layers at once", BRANCHES, _runs_at_once, samples=1, result="32,16,16"),
    Probe("results in LB", TWO, _waits_in(Scope.LB)),
    Probe("results in GB", f"{LONG} {SMALLER}", _waits_in(Scope.GB), samples=64,
          result="16,4,4"),
    Probe("rewrites weights", BRANCHES, _rewrites_weights, result="32,16,16"),
)  # fmt: skip
"""Columns of the page, the smallest model that shows each."""
QUESTIONS = (*(probe.question for probe in PROBES), "simulates schedules")
"""The last one is answered by the number of plans that a strategy simulates."""
PROBED = (*compared_strategies(), "graphturbo:plus")


def model_of(probe: Probe) -> bytes:
    """The probe's ONNX file; the weight is a constant."""
    text = f"""<ir_version: 9, opset_import: ["": 17]>
        g (float[N,16,16,16] x) => (float[N,{probe.result}] z) {{
            s4 = Constant <value = int64[4] {{16,16,3,3}}> ()
            w = ConstantOfShape <value = float[1] {{0.1}}> (s4)
            axes = Constant <value = int64[2] {{2,3}}> () {probe.body} }}"""
    return bytes(onnx.parser.parse_model(text).SerializeToString(deterministic=True))


@cache
def _chip() -> Hardware:
    return load_profile(CHIP)


@dataclass
class CountedCost:
    """Cost of plans by simulation, which counts the plans."""

    cache: TrialCache
    plans: int = 0

    def __call__(self, plan: Plan) -> PlanCost | None:
        """Cycles of a plan; None where it is refused."""
        self.plans += 1
        return self.cache.cost(plan)


def plan_of(strategy: str, probe: Probe) -> tuple[Plan, bool]:
    """The plan of a probe, and whether others were simulated.

    Each cluster has the probe's samples. With one sample, all clusters share the round. A rewrite
    search chooses the graph first.
    """
    imports, size, counted = Imports(model_of(probe)), probe.samples, [0]
    batch = 1 if size == 1 else size * _chip().clusters
    request = RunRequest("probe", f"{strategy}@{size}", CHIP, batch)
    spec = parse_strategy(request.strategy)
    recorder = Recorder(on_progress=lambda progress: counted.append(progress.done))
    chosen = rounds_of(imports, request, (imports.whole(request), _chip(), spec), recorder)
    cost = CountedCost(TrialCache(imports.limits, None))
    rounds = chosen.rounds
    task = PlanTask(
        rounds.semantics[size], _chip(), "fp16", chosen.request.options,
        chosen.plans.get(size, NO_PINNED_PLAN), rounds.division.clusters_a_round, cost,
    )  # fmt: skip
    return plan_for(spec, task), max(cost.plans, *counted) > 1


@cache
def answers() -> Mapping[str, tuple[bool, ...]]:
    """Per compared strategy and for `graphturbo:plus`, the answers to `QUESTIONS`."""
    return {name: _answers(name) for name in PROBED}


def _answers(strategy: str) -> tuple[bool, ...]:
    found = [plan_of(strategy, probe) for probe in PROBES]
    met = (probe.is_met(plan) for probe, (plan, _) in zip(PROBES, found, strict=True))
    return *met, any(is_simulated for _, is_simulated in found)
