"""Plans of samples, made once a test run, and plans of small models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.layers.layer_graph import LayerGraph, layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.registry import parse_strategy
from tests.semantics.models import semantics
from tests.strategies.plans import make_plan

NO_OPTIONS: Mapping[str, str] = {}


@cache
def sample_semantics(model: str, batch: int) -> GraphSemantics:
    return analyse(import_model(load_sample(model), ImportOptions(model, batch=batch)))


@cache
def hardware(profile: str = "stcp920") -> Hardware:
    return load_profile(profile)


@cache
def sample_plan(
    model: str, batch: int, strategy: str = "graphturbo", profile: str = "stcp920"
) -> Plan:
    return plan_of(sample_semantics(model, batch), strategy, hardware(profile))


def plan_of(
    sem: GraphSemantics,
    strategy: str,
    chip: Hardware,
    options: Mapping[str, str] = NO_OPTIONS,
) -> Plan:
    plan = make_plan(parse_strategy(strategy), sem, chip, "fp16", options)
    plan.check()
    return plan


WEIGHTS = ("v", "w")


def weighted(text: str) -> GraphSemantics:
    """A model in ONNX's text form; inputs whose name starts with v or w are weights."""
    return with_weights(semantics(text))


def with_weights(sem: GraphSemantics) -> GraphSemantics:
    """The same with the inputs whose name starts with v or w as weights."""
    graph = sem.graph
    names = {name for name in graph.inputs if name.startswith(WEIGHTS)}
    tensors = {
        name: replace(tensor, kind=TensorKind.WEIGHT) if name in names else tensor
        for name, tensor in graph.tensors.items()
    }
    inputs = tuple(name for name in graph.inputs if name not in names)
    return analyse(replace(graph, tensors=tensors, inputs=inputs))


def layers_of(text: str) -> LayerGraph:
    """The layer graph of such a model, at two bytes an element."""
    sem = weighted(text)
    return layer_graph(sem, relay_layers(sem), "fp16")
