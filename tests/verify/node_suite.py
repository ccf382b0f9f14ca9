"""The onnx package's node test suite, model by model: imported, scheduled, replayed and compared.

A model is right when every output of every strategy's replay agrees with the suite's own numbers.
Everything else is refused by a rule, or a bug of ours.
"""

from __future__ import annotations

import re
import signal
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from graphturbo_core.errors import GraphTurboError, ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.frontend.parse.structure import unique_names
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.lowering.lower import lower
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_core.strategies.steps.batching import undivided
from graphturbo_core.verify.replay.compare import compare
from graphturbo_core.verify.replay.reference import reference_outputs
from graphturbo_core.verify.single_op import load_runtime
from graphturbo_core.verify.verify import Verification, VerifyTask, verify
from tests.strategies.plans import make_plan

PROFILE = "generic-4x4"
STRATEGIES = ("layerwise", "tvm", "graphturbo")
SEED = 0
"""The suite draws some of its inputs from numpy's global generator."""
SECONDS_PER_MODEL = 60
RIGHT = ("exact", "opaque")
RUNTIME_DIFFERS = "RUNTIME_DIFFERS"
"""The replay gives what ONNX Runtime gives for the unsplit model; suite and reference agree."""
SUITE_DIFFERS = "SUITE_DIFFERS"
"""The same, and onnx's own reference does not give the suite's numbers either."""
BUGS = ("TRACEBACK", "WRONG", "TOO_SLOW")
MAX_BAKED_ELEMENTS = 4096

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A model of the suite with its numbers; `op` is the row of the table that it belongs to."""

    name: str
    op: str
    model: onnx.ModelProto = field(repr=False)
    feeds: Mapping[str, Array] = field(repr=False)
    expected: Mapping[str, Array] = field(repr=False)


@dataclass(frozen=True)
class Outcome:
    """What became of a model: `kind` is `exact`, `opaque`, the code of a refusal, or a bug."""

    name: str
    op: str
    kind: str
    reason: str = ""
    baked: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        return self.kind in RIGHT


@cache
def cases() -> tuple[Case, ...]:
    """All models, in the suite's order; some four seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases  # noqa: PLC0415 - slow

        np.random.seed(SEED)
        found = collect_testcases(None)
    ops = {case.name: case.model.graph.node[0].op_type for case in found}
    return tuple(_case(case, _row(case.name, ops)) for case in found)


def _row(name: str, ops: Mapping[str, str]) -> str:
    """The op type of a model; of one that spells an op as a function, that op's name and so."""
    base = re.sub(r"_expanded(_ver\d+)?$", "", name)
    return ops[name] if base == name or base not in ops else f"{ops[base]}, expanded"


def _case(found: Any, row: str) -> Case:
    inputs, outputs = found.data_sets[0]
    graph = found.model.graph
    return Case(
        found.name,
        row,
        found.model,
        dict(_named(graph.input, inputs)),
        dict(_named(graph.output, outputs)),
    )


def _named(
    values: Sequence[onnx.ValueInfoProto], numbers: Sequence[Any]
) -> Iterator[tuple[str, Array]]:
    """Tensors by name; what is a sequence or missing has no numbers, and import refuses it."""
    for value, number in zip(values, numbers, strict=False):
        if isinstance(number, onnx.TensorProto):
            yield value.name, numpy_helper.to_array(number)
        elif number is not None and not isinstance(number, list | dict):
            yield value.name, np.asarray(number)


def run_case(case: Case, strategies: Sequence[str] = STRATEGIES) -> Outcome:
    """The outcome under every strategy; the first that is not right counts."""
    outcome = Outcome(case.name, case.op, "exact")
    try:
        with _time_cap(SECONDS_PER_MODEL), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _run(case, outcome, strategies)
    except GraphTurboError as error:
        return replace(outcome, kind=_rule(error), reason=_reason(error))
    except _TooSlowError:
        return replace(outcome, kind="TOO_SLOW", reason=f"over {SECONDS_PER_MODEL} s")
    except Exception:
        lines = traceback.format_exc().strip().splitlines()
        return replace(outcome, kind="TRACEBACK", reason=" | ".join(lines[-4:]))


def _run(case: Case, outcome: Outcome, strategies: Sequence[str]) -> Outcome:
    model, graph, baked = imported(case)
    model = _without_unread_inputs(model)
    whole = analyse(graph)
    whole.check()
    feeds = {name: case.feeds[name] for name in graph.inputs}
    for strategy in strategies:
        task = VerifyTask(
            model.SerializeToString(),
            whole,
            undivided(1, 1, "one sample"),
            {1: traced(whole, strategy)},
            case=(feeds, case.expected),
        )
        found = verify(task)
        if not (found.is_right and {check.name for check in found.outputs} == set(graph.outputs)):
            return _differing(outcome, strategy, task, found)
    return replace(outcome, kind="opaque" if whole.opaque_ops else "exact", baked=baked)


def _differing(outcome: Outcome, strategy: str, task: VerifyTask, found: Verification) -> Outcome:
    """Ours, the runtime's or the suite's: what runtime and reference make of the whole model."""
    apart = ", ".join(
        f"output {check.name!r} differs" for check in found.outputs if not check.is_right
    )
    assert task.case is not None
    feeds, expected = task.case
    unsplit = _by_runtime(task, feeds) or _by_reference(task, feeds)
    if found.fault is not None or not verify(replace(task, case=(feeds, unsplit))).is_right:
        what = found.fault.what if found.fault is not None else "no instruction differs"
        return replace(outcome, kind="WRONG", reason=f"{strategy}: {what}; {apart}")
    checks = compare(task.whole, _by_reference(task, feeds), expected)
    is_suite = not all(check.is_right for check in checks)
    return replace(outcome, kind=SUITE_DIFFERS if is_suite else RUNTIME_DIFFERS, reason=apart)


def _by_runtime(task: VerifyTask, feeds: Mapping[str, Array]) -> Mapping[str, Array] | None:
    """The whole model by ONNX Runtime; None where it has no kernel for one of its ops."""
    try:
        return reference_outputs(task.data, task.whole.graph, feeds, load_runtime())
    except ModelError:
        return None


def _by_reference(task: VerifyTask, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    """The whole model by the evaluator that onnx ships."""
    names = [value.name for value in onnx.load_model_from_string(task.data).graph.output]
    results = ReferenceEvaluator(task.data).run(None, dict(feeds))
    return dict(zip(names, map(np.asarray, results), strict=True))


def traced(whole: GraphSemantics, strategy: str) -> Trace:
    """The model scheduled by a strategy, every product checked."""
    plan = make_plan(parse_strategy(strategy), whole, chip(), "fp16", {})
    plan.check()
    program = lower(plan)
    trace = simulate(program)
    trace.check()
    return trace


@cache
def chip() -> Hardware:
    """The chip that every model is scheduled for."""
    return load_profile(PROFILE)


def imported(case: Case) -> tuple[onnx.ModelProto, Graph, tuple[str, ...]]:
    """The model and its graph; inputs that a shape or a branch depends on become initializers.

    An op whose shape is not static names itself; of its inputs those beside the first are
    parameters, and are tried first.

    Raises:
        GraphTurboError: the model is refused in any case.
    """
    model, baked = case.model, ()
    while True:
        try:
            graph = import_model(model.SerializeToString(), ImportOptions(case.name))
        except GraphTurboError as error:
            more = _to_bake(model.graph, error, case)
            if not more:
                raise
            model, baked = _baked(model, more, case), (*baked, *more)
        else:
            graph.check()
            return model, graph, baked


def _to_bake(graph: onnx.GraphProto, error: GraphTurboError, case: Case) -> tuple[str, ...]:
    open_inputs = {value.name for value in graph.input} - {t.name for t in graph.initializer}
    for sources in _deciding(graph, error):
        wanted = _sources(graph, sources) & open_inputs & case.feeds.keys()
        small = tuple(sorted(n for n in wanted if case.feeds[n].size <= MAX_BAKED_ELEMENTS))
        if small:
            return small
    return ()


def _deciding(graph: onnx.GraphProto, error: GraphTurboError) -> Iterator[Sequence[str]]:
    """Values that may decide a shape or a branch, the likeliest first."""
    codes = _codes(error)
    if "SUB_GRAPH" in codes.values():
        yield [node.input[0] for node in graph.node if node.op_type == "If"]
    if "DYNAMIC_SHAPE" in codes.values():
        names = unique_names(graph.node, DEFAULT_LIMITS.max_name_length)
        for name, node in zip(names, graph.node, strict=True):
            if codes.get(name) == "DYNAMIC_SHAPE":
                yield from (node.input[1:], node.input[:1])
        yield [value.name for value in graph.input if _is_integer(value)]


def _rule(error: GraphTurboError) -> str:
    """The rule that refuses a model: of one unsupported op why it is that."""
    codes = list(_codes(error).values())
    return codes[0] if len(codes) == 1 else error.code


def _reason(error: GraphTurboError) -> str:
    """Its text in a line; of unsupported ops without what they stand for in such a model."""
    text = f"{error.what}, {error.change}" if error.code == "UNSUPPORTED_OPS" else str(error)
    return " ".join(text.split())


def _codes(error: GraphTurboError) -> dict[str, str]:
    """Why each op is refused, of one or of many."""
    if error.code == "UNSUPPORTED_OPS":
        return {name: code for name, _, code in error.fields["ops"]}  # type: ignore[attr-defined]
    return {str(error.fields.get("op", "")): error.code}


def _is_integer(value: onnx.ValueInfoProto) -> bool:
    """Whether it could be a size: what an inlined branch computes is not in the file's graph."""
    return value.type.tensor_type.elem_type in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)


def _sources(graph: onnx.GraphProto, names: Sequence[str]) -> set[str]:
    """Everything that the values are computed from, shapes apart."""
    producer = {name: node for node in graph.node for name in node.output}
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        node = producer.get(name)
        if name in found:
            continue
        found.add(name)
        if node is not None and node.op_type not in ("Shape", "Size"):
            waiting += node.input
    return found


def _baked(model: onnx.ModelProto, names: Sequence[str], case: Case) -> onnx.ModelProto:
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    changed.graph.initializer.extend(numpy_helper.from_array(case.feeds[n], n) for n in names)
    return changed


def _without_unread_inputs(model: onnx.ModelProto) -> onnx.ModelProto:
    """ONNX Runtime takes no numpy array of an 8-bit float, be it for an input that nobody reads."""
    if any(attribute.HasField("g") for node in model.graph.node for attribute in node.attribute):
        return model
    read = {name for node in model.graph.node for name in node.input}
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    del changed.graph.input[:]
    changed.graph.input.extend(value for value in model.graph.input if value.name in read)
    return changed


class _TooSlowError(Exception):
    """A model took longer than its cap."""


@contextmanager
def _time_cap(seconds: int) -> Iterator[None]:
    """Raises in this block after so many seconds; where there is no such signal, never."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooSlowError

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
