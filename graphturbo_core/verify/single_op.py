"""One op on arrays: ONNX Runtime on a model of that op alone, else onnx's reference evaluator."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from graphturbo_core.errors import ModelError, OptionError
from graphturbo_core.frontend.parse.attributes import node_of
from graphturbo_core.frontend.parse.schemas import schema_of
from graphturbo_core.ir.graph import AttributeValue, Op
from graphturbo_core.semantics.ops.own_ops import OWN_OPS

Array = np.ndarray[Any, Any]
Arrays = Sequence[Array | None]
"""Inputs in order; None where an optional one is missing."""
Run = Callable[[list[Array]], Sequence[Array]]
"""Function from the present inputs to the named outputs."""

MAX_SESSIONS = 2048
"""Most cached single-op models; the least recently used one is dropped (our choice)."""
IR_VERSION = 10
"""ONNX IR version: old enough for every runtime in use, new enough for every tensor type."""
THREADS = 1
"""Threads per op: tiles are small, and a second thread was measured five times slower."""


@dataclass
class OpRunner:
    """Runs single ops; caches a model per op type, attributes and shapes."""

    runtime: Any
    """The module onnxruntime, from `load_runtime`."""
    _cache: OrderedDict[Hashable, Run] = field(default_factory=OrderedDict)

    def run(
        self, op: Op, inputs: Arrays, attributes: Mapping[str, AttributeValue]
    ) -> dict[str, Array]:
        """Every named output of the op with these attributes on these inputs.

        Raises:
            ModelError: NO_KERNEL, with the message of ONNX Runtime or the reference.
        """
        own = OWN_OPS.get((op.domain, op.op_type))
        if own is not None:
            present = (array for array in inputs if array is not None)
            return {op.outputs[0]: own(attributes, *present)}
        key = (
            op.domain, op.op_type, op.opset, tuple(sorted(attributes.items())),
            tuple(bool(name) for name in op.outputs),
            tuple(None if array is None else (array.dtype.str, array.shape) for array in inputs),
        )  # fmt: skip
        if key not in self._cache:
            self._cache[key] = self._prepared(op, inputs, attributes)
            if len(self._cache) > MAX_SESSIONS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        results = self._cache[key]([array for array in inputs if array is not None])
        return dict(zip((name for name in op.outputs if name), results, strict=True))

    def _prepared(self, op: Op, inputs: Arrays, attributes: Mapping[str, AttributeValue]) -> Run:
        model = _single_op_model(op, inputs, attributes)
        present = [array for array in inputs if array is not None]
        try:
            session = _session(self.runtime, model)
            session(present)
        except errors_of(self.runtime) as failure:
            if schema_of(op.op_type, op.opset, op.domain) is None:
                raise _foreign(op, failure) from failure
            return _reference(op, model, present, failure)
        return session


def load_runtime() -> Any:
    """The module onnxruntime; only replay needs it.

    Raises:
        OptionError: NO_RUNTIME where it is not installed.
    """
    try:
        import onnxruntime  # noqa: PLC0415 - optional, and 0.2 s to load
    except ImportError as error:
        raise OptionError(
            "NO_RUNTIME",
            "replay needs ONNX Runtime, which is not installed",
            "--verify",
            "install onnxruntime (pip install -r requirements.txt)",
        ) from error
    return onnxruntime


def errors_of(runtime: Any) -> tuple[type[Exception], ...]:
    """Exceptions that ONNX Runtime raises for a model or input that it does not support."""
    state = runtime.capi.onnxruntime_pybind11_state
    return (
        state.Fail, state.InvalidArgument, state.InvalidGraph, state.NotImplemented,
        state.RuntimeException, state.InvalidProtobuf, RuntimeError, ValueError, TypeError,
    )  # fmt: skip


def session_options(runtime: Any, is_optimised: bool = False) -> Any:
    """Session options: no logging, one thread, and no graph optimisation by default."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    levels = runtime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_BASIC if is_optimised else levels.ORT_DISABLE_ALL
    )
    return options


def _session(runtime: Any, model: onnx.ModelProto) -> Run:
    names = [value.name for value in model.graph.input]
    session = runtime.InferenceSession(
        model.SerializeToString(), session_options(runtime), providers=["CPUExecutionProvider"]
    )

    def run(arrays: list[Array]) -> Sequence[Array]:
        results = session.run(None, dict(zip(names, arrays, strict=True)))
        return [np.asarray(result) for result in results]

    return run


def _reference(op: Op, model: onnx.ModelProto, inputs: list[Array], failure: Exception) -> Run:
    """The reference evaluator of onnx, for ops and types that ONNX Runtime does not support."""
    names = [value.name for value in model.graph.input]

    def run(arrays: list[Array]) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            results = evaluator.run(None, dict(zip(names, arrays, strict=True)))
        return [np.asarray(result) for result in results]

    try:
        evaluator = ReferenceEvaluator(model)
        run(inputs)
    except Exception as error:  # the evaluator is plain Python and may raise any exception
        raise ModelError(
            "NO_KERNEL",
            f"{op.op_type} {op.name!r} cannot be run by itself: {_first_line(failure)}",
            f"onnx's reference raises: {_first_line(error)}",
            "run without --verify",
        ) from error
    return run


def _foreign(op: Op, failure: Exception) -> ModelError:
    return ModelError(
        "NO_KERNEL",
        f"{op.op_type} {op.name!r} is no ONNX operator, and ONNX Runtime does not run it: "
        f"{_first_line(failure)}",
        f"domain {op.domain!r}",
        "run without --verify",
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _single_op_model(
    op: Op, inputs: Arrays, attributes: Mapping[str, AttributeValue]
) -> onnx.ModelProto:
    """A model whose inputs are `i0`, `i1` ... and whose outputs are `o0`, `o1` ..."""
    names = tuple("" if array is None else f"i{place}" for place, array in enumerate(inputs))
    outputs = tuple(f"o{place}" if name else "" for place, name in enumerate(op.outputs))
    alone = replace(op, inputs=names, outputs=outputs, attributes=attributes, name="op")
    graph = helper.make_graph(
        [node_of(alone, schema_of(op.op_type, op.opset, op.domain))],
        "single",
        [
            helper.make_tensor_value_info(name, _element_type(array), array.shape)
            for name, array in zip(names, inputs, strict=True)
            if array is not None
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs if name],
    )
    opsets = [helper.make_opsetid(op.domain, op.opset)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)


def _element_type(array: Array) -> int:
    return int(helper.np_dtype_to_tensor_dtype(array.dtype))
