"""Traces of all rounds -> Verification: their replayed outputs against ONNX Runtime's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.numbers import BYTES, INTEGERS, drawn_inputs
from graphturbo_core.frontend.passes.structural import draws_numbers
from graphturbo_core.ir.boxes import full_box
from graphturbo_core.ir.graph import Graph, Tensor, TensorKind
from graphturbo_core.ir.weight_parts import numbers_of, sources_of
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.steps.batching import Division
from graphturbo_core.verify.faults import Fault, ReplayFaultError
from graphturbo_core.verify.local import LocalOperand, TileTask, slices, tile_result
from graphturbo_core.verify.replay.compare import (
    OutputCheck,
    compare,
    distances,
    limit_of,
    number_at,
)
from graphturbo_core.verify.replay.reference import computed_weights, reference_outputs
from graphturbo_core.verify.replay.replay import Watch, replay
from graphturbo_core.verify.replay.script import Script, Touched
from graphturbo_core.verify.replay.tolerance import least_magnitudes, relative_tolerances
from graphturbo_core.verify.single_op import Array, OpRunner, load_runtime

SEED = 0
"""Seed of all drawn numbers: equal runs verify equal numbers."""

OnProgress = Callable[[int, int], None]
"""Callback with the numbers of replayed instructions and of all instructions."""


@dataclass(frozen=True)
class Verification:
    """Result of a replay: a check per output, and the first wrong instruction as `fault`."""

    outputs: tuple[OutputCheck, ...]
    fault: Fault | None
    instructions: int
    replays: int
    drawn_weights: int

    @property
    def is_right(self) -> bool:
        """Whether every output agrees and no instruction broke a rule."""
        return self.fault is None and all(check.is_right for check in self.outputs)

    @property
    def max_abs_error(self) -> float:
        """Largest absolute error of all outputs; infinite where NaN replaces a number."""
        return max((check.max_abs_error for check in self.outputs), default=0.0)

    @property
    def max_rel_error(self) -> float:
        """Largest error of all outputs, relative to the largest magnitude of each."""
        return max((check.max_rel_error for check in self.outputs), default=0.0)


@dataclass(frozen=True)
class VerifyTask:
    """Input of `verify`: the file with all weights, the model at the whole batch, every round."""

    data: bytes = field(repr=False)
    whole: GraphSemantics = field(repr=False)
    division: Division
    traces: Mapping[int, Trace] = field(repr=False)
    drawn_weights: int = 0
    case: tuple[Mapping[str, Array], Mapping[str, Array]] | None = field(default=None, repr=False)
    """Numbers of the graph's inputs and the expected outputs. Without them inputs are drawn, and
    ONNX Runtime computes the expected outputs on the unsplit model."""


def verify(task: VerifyTask, on_progress: OnProgress | None = None) -> Verification:
    """Replays every round of every cluster, joins the outputs, and compares them.

    Where an output differs, the rounds are replayed again beside the unsplit ops, to find the first
    instruction whose result differs.

    Raises:
        OptionError: NO_RUNTIME without ONNX Runtime.
        ModelError: NOT_DETERMINISTIC, NO_KERNEL, NO_REFERENCE, BATCH_PARTS.
    """
    runtime = load_runtime()
    _check_deterministic(task.whole.graph)
    feeds, expected = _feeds_and_outputs(task, runtime)
    lost = _lost_weights(task.traces)
    sources = tuple(dict.fromkeys(name for weight in lost for name in sources_of(weight)))
    known = computed_weights(task.data, sources, feeds, runtime) if lost else {}
    computed = {weight.name: numbers_of(weight, known) for weight in lost}
    rounds = _Rounds(task, OpRunner(runtime), feeds, computed)
    found, fault = rounds.run(on_progress)
    checks = () if fault is not None else compare(task.whole, found, expected)
    wrong = next((check.name for check in checks if not check.is_right), None)
    if wrong is not None:
        fault = rounds.first_difference()
    return Verification(checks, fault, rounds.total, rounds.count, task.drawn_weights)


def _feeds_and_outputs(
    task: VerifyTask, runtime: Any
) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
    """Inputs, and the unsplit model's outputs for them.

    Integers are drawn as bytes. If ONNX Runtime refuses these, they are zeros and ones: larger
    table indices or counts may be invalid.
    """
    graph = task.whole.graph
    if task.case is not None:
        return task.case
    feeds = drawn_inputs(graph, SEED, BYTES)
    try:
        return feeds, reference_outputs(task.data, graph, feeds, runtime)
    except ModelError as error:
        narrow = drawn_inputs(graph, SEED, INTEGERS)
        is_same = all(np.array_equal(narrow[name], feeds[name]) for name in feeds)
        if error.code != "NO_REFERENCE" or is_same:
            raise
        return narrow, reference_outputs(task.data, graph, narrow, runtime)


def _check_deterministic(graph: Graph) -> None:
    """Refuses a model that draws random numbers: its outputs have no reference."""
    for op in graph.ops:
        if draws_numbers(graph, op):
            raise ModelError(
                "NOT_DETERMINISTIC",
                f"{op.op_type} {op.name!r} draws random numbers, so no two runs agree",
                "--verify",
                "export the model for inference, or run without --verify",
            )


def _lost_weights(traces: Mapping[int, Trace]) -> tuple[Tensor, ...]:
    """Weights that ops compute from weights, and that were too large to compute at import."""
    tensors = [
        tensor
        for trace in traces.values()
        for tensor in trace.program.plan.semantics.graph.tensors.values()
    ]
    lost = {t.name: t for t in tensors if t.kind is TensorKind.WEIGHT and t.value is None}
    return tuple(lost.values())


class _Rounds:
    """The rounds of all clusters, in the order of their samples."""

    def __init__(
        self,
        task: VerifyTask,
        runner: OpRunner,
        feeds: Mapping[str, Array],
        computed: Mapping[str, Array],
    ) -> None:
        self.task = task
        self.computed = computed
        self.runner = runner
        self.feeds = feeds
        self.scripts = {size: Script(trace) for size, trace in task.traces.items()}
        self.sizes = [
            size
            for share in task.division.shares
            for _ in range(share.clusters)
            for size, count in share.rounds
            for _ in range(count)
        ]
        self.count = len(self.sizes)
        self.total = sum(self.scripts[size].program.size for size in self.sizes)

    def run(self, on_progress: OnProgress | None) -> tuple[dict[str, Array], Fault | None]:
        """The whole outputs, or the fault that stops a round."""
        parts: dict[str, list[Array]] = {}
        done = first = 0
        if on_progress is not None:
            on_progress(0, self.total)
        for size in self.sizes:
            script = self.scripts[size]
            report = None if on_progress is None else _shifted(on_progress, done, self.total)
            try:
                found = replay(script, self._given(script, first), self.runner, None, report)
            except ReplayFaultError as error:
                return {}, error.fault
            for name, numbers in found.items():
                parts.setdefault(name, []).append(numbers)
            first, done = first + size, done + script.program.size
        return {**self._unwritten(), **self._joined(parts)}, None

    def first_difference(self) -> Fault | None:
        """The first instruction in time whose result differs from the unsplit op's."""
        first = 0
        for size in self.sizes:
            script = self.scripts[size]
            given = self._given(script, first)
            watch = _watch(script, whole_values(script, given, self.runner))
            try:
                replay(script, given, self.runner, watch)
            except ReplayFaultError as error:
                return error.fault
            first += size
        return None

    def _given(self, script: Script, first: int) -> dict[str, Array]:
        """Weights, and this round's part of each input."""
        batch = self.task.division.batch
        given = dict(self.computed)
        for name, tensor in script.graph.tensors.items():
            if tensor.kind is TensorKind.WEIGHT and tensor.value is not None:
                given[name] = np.asarray(tensor.value)
        for name in script.graph.inputs:
            numbers, shape = self.feeds[name], script.graph.tensors[name].shape
            if shape and numbers.shape != shape:
                begin = first * numbers.shape[0] // batch
                numbers = numbers[begin : begin + shape[0]]
            given[name] = numbers
        return given

    def _unwritten(self) -> dict[str, Array]:
        """Outputs that no op writes: weights and inputs."""
        graph = self.task.whole.graph
        known: dict[str, Array | None] = {
            **{name: tensor.value for name, tensor in graph.tensors.items()},
            **self.computed,
            **self.feeds,
        }
        kinds = {name: graph.tensors[name].kind for name in graph.outputs}
        return {
            name: np.asarray(known[name])
            for name, kind in kinds.items()
            if kind is not TensorKind.ACTIVATION
        }

    def _joined(self, parts: Mapping[str, list[Array]]) -> dict[str, Array]:
        tensors = self.task.whole.graph.tensors
        return {
            name: found[0] if found[0].shape == tensors[name].shape else np.concatenate(found)
            for name, found in parts.items()
        }


def _shifted(on_progress: OnProgress, done: int, total: int) -> OnProgress:
    return lambda count, _: on_progress(done + count, total)


def whole_values(script: Script, given: Mapping[str, Array], runner: OpRunner) -> dict[str, Array]:
    """Numbers of every tensor of the round, from one run of each op on its whole inputs."""
    values = dict(given)
    for op in script.graph.ops:
        semantics = script.semantics.by_op[op.name]
        for index, name in ((index, name) for index, name in enumerate(op.outputs) if name):
            box = full_box(script.graph.tensors[name].shape)
            task = TileTask(script.graph, op, semantics, index, box, None)
            operands = [
                LocalOperand(access, part, np.asarray(values[access.tensor][slices(part)]))
                for access, part in task.reads()
            ]
            values[name] = tile_result(task, operands, runner)
    return values


def _watch(script: Script, values: Mapping[str, Array]) -> Watch:
    least, tensors = least_magnitudes(script.semantics), script.graph.tensors
    limits = {
        name: limit_of(tensors[name].dtype, values[name], (tolerance, least[name]))
        for name, tolerance in relative_tolerances(script.semantics).items()
    }

    def look(touched: Touched, result: Array) -> tuple[float, float] | None:
        expected = values[touched.tensor][slices(touched.box)].reshape(result.shape)
        apart = distances(result, expected, tensors[touched.tensor].dtype)
        if not apart.size or float(apart.max()) <= limits[touched.tensor]:
            return None
        place = int(apart.argmax())
        return number_at(expected, place), number_at(result, place)

    return look
