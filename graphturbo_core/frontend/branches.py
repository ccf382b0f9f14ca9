"""ModelProto: an If whose condition import can compute becomes the branch that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import onnx
from onnx import helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.dimensions import Binding
from graphturbo_core.frontend.functions import expand_functions
from graphturbo_core.frontend.reader import read_draft
from graphturbo_core.frontend.rewrite import fresh_name
from graphturbo_core.frontend.schemas import DEFAULT_DOMAINS
from graphturbo_core.frontend.shapes import infer_graph
from graphturbo_core.frontend.unsupported import REASONS
from graphturbo_core.limits import Limits


def inline_branches(model: onnx.ModelProto, binding: Binding, limits: Limits) -> None:
    """Replace every such If in the model, those inside a branch taken included.

    An If whose condition is computed from data stays, and the reader refuses it by name.

    Raises:
        ModelError: what the condition is computed from cannot be imported.
    """
    undecided: set[str] = set()
    while True:
        waiting = (node for node in model.graph.node if _is_if(node))
        branching = next((node for node in waiting if node.input[0] not in undecided), None)
        if branching is None:
            return
        value = _condition(model, branching.input[0], binding, limits)
        if value is None:
            undecided.add(branching.input[0])
        else:
            _take(model.graph, branching, bool(value.any()))
            expand_functions(model, limits)
            undecided.clear()


def _is_if(node: onnx.NodeProto) -> bool:
    return node.op_type == "If" and node.domain in DEFAULT_DOMAINS and len(node.input) == 1


def _condition(
    model: onnx.ModelProto, name: str, binding: Binding, limits: Limits
) -> np.ndarray | None:
    """The value of a tensor, where shapes and small constants decide it."""
    graph = model.graph
    producer = {output: node for node in graph.node for output in node.output if output}
    nodes: dict[str, onnx.NodeProto] = {}
    waiting, read = [name], set()
    while waiting:
        value = waiting.pop()
        if not value or value in read:
            continue
        read.add(value)
        node = producer.get(value)
        if node is not None:
            nodes[value] = node
            waiting += node.input
    if any(attribute.HasField("g") for node in nodes.values() for attribute in node.attribute):
        return None
    part = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    part.graph.node.extend(node for node in graph.node if any(out in nodes for out in node.output))
    part.graph.initializer.extend(proto for proto in graph.initializer if proto.name in read)
    part.graph.input.extend(value for value in graph.input if value.name in read)
    part.graph.value_info.extend(value for value in graph.value_info if value.name in read)
    part.graph.output.extend([onnx.ValueInfoProto(name=name)])
    try:
        return infer_graph(read_draft(part, binding, limits), name, limits).tensors[name].value
    except ModelError as error:
        if error.code in (*REASONS, "UNSUPPORTED_OPS"):
            return None
        raise


def _take(graph: onnx.GraphProto, branching: onnx.NodeProto, is_then: bool) -> None:
    """Put the nodes and weights of one branch in the place of the If."""
    wanted = "then_branch" if is_then else "else_branch"
    branch = next(attribute.g for attribute in branching.attribute if attribute.name == wanted)
    names, copies = _new_names(graph, branching, branch)
    taken = [*(_renamed(node, names) for node in branch.node), *copies]
    weights = [_renamed_weight(proto, names) for proto in branch.initializer]
    nodes = [n for node in graph.node for n in (taken if node == branching else [node])]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(weights)


def _new_names(
    graph: onnx.GraphProto, branching: onnx.NodeProto, branch: onnx.GraphProto
) -> tuple[dict[str, str], list[onnx.NodeProto]]:
    """A name outside for every value of the branch; copies of what it hands on from outside."""
    own = list(_own_values(branch))
    names: dict[str, str] = {}
    copies = []
    for value, output in zip(branch.output, branching.output, strict=True):
        if value.name in own and value.name not in names:
            names[value.name] = output
        elif output:
            copies.append(helper.make_node("Identity", [value.name], [output]))
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    taken.update(proto.name for proto in (*graph.initializer, *graph.input))
    for name in own:
        if not names.get(name):
            names[name] = fresh_name(f"{branching.output[0]}/{name}", taken)
            taken.add(names[name])
    return names, [_renamed(node, names) for node in copies]


def _own_values(branch: onnx.GraphProto) -> Iterator[str]:
    yield from (proto.name for proto in branch.initializer)
    yield from (name for node in branch.node for name in node.output if name)


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    """The node with other names, also where its own sub-graphs look outside."""
    changed = onnx.NodeProto()
    changed.CopyFrom(node)
    changed.input[:] = _all(node.input, names)
    changed.output[:] = _all(node.output, names)
    for attribute in changed.attribute:
        if attribute.HasField("g"):
            inner = [_renamed(n, names) for n in attribute.g.node]
            del attribute.g.node[:]
            attribute.g.node.extend(inner)
            for value in attribute.g.output:
                value.name = names.get(value.name, value.name)
    return changed


def _renamed_weight(proto: onnx.TensorProto, names: Mapping[str, str]) -> onnx.TensorProto:
    changed = onnx.TensorProto()
    changed.CopyFrom(proto)
    changed.name = names[proto.name]
    return changed


def _all(values: Iterable[str], names: Mapping[str, str]) -> list[str]:
    return [names.get(name, name) for name in values]
