"""Small correct Programs that mutants are made from, with the numbers they are replayed on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from graphturbo_core.frontend.numbers import drawn, drawn_inputs
from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.replay.script import Script
from graphturbo_core.verify.single_op import Array, OpRunner, load_runtime
from graphturbo_core.verify.verify import whole_values
from tests.lowering.nets import analysed, chip, conv_net, plan_of, small_model, with_residency
from tests.lowering.small_plans import batches, halo, k_cut
from tests.strategies.samples import weighted

CONCAT = (
    "g (float[2,4,8,8] x, float[4,4,3,3] wa, float[8,4,1,1] wb, float[8,12,1,1] wc)"
    "=> (float[2,8,8,8] y) { a = Conv <pads = [1,1,1,1]> (x, wa) b = Conv (x, wb)"
    "c = Concat <axis = 1> (a, b) y = Conv (c, wc) }"
)
GROUPED = (
    "g (float[2,8,8,8] x, float[8,2,3,3] wa, float[8,1,3,3] wb, float[8] wbb)"
    "=> (float[2,8,8,8] y) { a = Conv <pads = [1,1,1,1], group = 4> (x, wa) b = Relu (a)"
    "c = Conv <pads = [1,1,1,1], group = 8> (b, wb, wbb) y = Add (c, x) }"
)
STEPS = [("conv", 8, 0), ("add", 0, 0), ("concat", 0, 1), ("depthwise", 0, 0), ("pool", 0, 0)]


@cache
def net() -> GraphSemantics:
    """Two samples of convolutions, a sum, a concat, a depthwise convolution and a pool."""
    return analysed(conv_net(STEPS, 8, 9), 2)


def _net(strategy: str, name: str) -> Plan:
    return plan_of(net(), strategy, chip(name))


def _teaching(strategy: str) -> Plan:
    return plan_of(small_model("teaching-resnet"), strategy, chip("generic-4x4"))


CASES: dict[str, Callable[[], Plan]] = {
    "halo over four cores": halo,
    "cuts of K": k_cut,
    "pieces of a batch": batches,
    "concat, order, tiny": lambda: plan_of(weighted(CONCAT), "graphturbo:order", chip("tiny")),
    "concat, full": lambda: plan_of(weighted(CONCAT), "graphturbo:full", chip("generic-4x4")),
    "groups, tvm, tiny": lambda: plan_of(weighted(GROUPED), "tvm", chip("tiny")),
    "net, streamed weights, tiny": lambda: with_residency(
        _net("layerwise", "tiny"), Residency.STREAM
    ),
    "net, tvm, tiny": lambda: _net("tvm", "tiny"),
    "net, order, tiny": lambda: _net("graphturbo:order", "tiny"),
    "net, full": lambda: _net("graphturbo:full", "generic-4x4"),
    "teaching-resnet, tvm": lambda: _teaching("tvm"),
    "teaching-resnet, full": lambda: _teaching("graphturbo:full"),
}


@dataclass(frozen=True)
class Case:
    """A correct Trace, its given numbers and its right outputs."""

    trace: Trace
    given: Mapping[str, Array]
    expected: Mapping[str, Array]


@cache
def runner() -> OpRunner:
    """One runner for all cases: it caches its sessions."""
    return OpRunner(load_runtime())


@cache
def make(name: str) -> Case:
    """The case; the right outputs are those of the unsplit ops."""
    trace = simulate(lower(CASES[name]()))
    script = Script(trace)
    given: dict[str, Array] = dict(drawn_inputs(script.graph, 0))
    for tensor in script.graph.tensors.values():
        if tensor.kind is TensorKind.WEIGHT:
            is_known = tensor.value is not None
            given[tensor.name] = (
                np.asarray(tensor.value)
                if is_known
                else drawn(tensor.name, tensor.shape, numpy_dtype(tensor.dtype), 0)
            )
    values = whole_values(script, given, runner())
    return Case(trace, given, {name: values[name] for name in script.graph.outputs})
