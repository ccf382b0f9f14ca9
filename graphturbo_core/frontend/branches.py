"""ModelProto: an If whose condition import can compute is replaced by the chosen branch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import numpy as np
import onnx
from onnx import helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.dimensions import DimBinding
from graphturbo_core.frontend.parse.functions import expand_functions
from graphturbo_core.frontend.parse.reader import read_draft
from graphturbo_core.frontend.parse.schemas import DEFAULT_DOMAINS
from graphturbo_core.frontend.passes.rewrite import fresh_name
from graphturbo_core.frontend.shapes.infer import typed_tensors
from graphturbo_core.limits import Limits

_MAX_LEVELS = 64
"""Levels of nested branches, and of conditions that depend on earlier branches; deeper Ifs are
not replaced (our choice: each level reads the graph once more)."""


def inline_branches(model: onnx.ModelProto, binding: DimBinding, limits: Limits) -> None:
    """Replace every such If in the model, those inside a chosen branch included.

    An If whose condition is computed from data is not replaced; the reader refuses it by name.
    Linear in the graph per level, up to `_MAX_LEVELS`.

    Raises:
        ModelError: the inputs of a condition cannot be imported; BAD_NODE: an If without its
            branches.
    """
    for _ in range(_MAX_LEVELS):
        waiting = {index: node for index, node in enumerate(model.graph.node) if _is_if(node)}
        if not waiting:
            return
        known = _conditions(model, {node.input[0] for node in waiting.values()}, binding, limits)
        chosen = {
            index: bool(value.any())
            for index, node in waiting.items()
            if (value := known[node.input[0]]) is not None
        }
        if not chosen:
            return
        _take(model.graph, chosen)
        expand_functions(model, limits)


def _is_if(node: onnx.NodeProto) -> bool:
    return node.op_type == "If" and node.domain in DEFAULT_DOMAINS and len(node.input) == 1


def _conditions(
    model: onnx.ModelProto, names: Collection[str], binding: DimBinding, limits: Limits
) -> Mapping[str, np.ndarray | None]:
    """Values of tensors that follow from shapes and small constants; else None."""
    graph = model.graph
    producer = {output: node for node in graph.node for output in node.output if output}
    made: set[str] = set()
    waiting, read = list(names), set()
    while waiting:
        value = waiting.pop()
        if not value or value in read:
            continue
        read.add(value)
        node = producer.get(value)
        if node is not None:
            made.add(value)
            waiting += node.input
    part = onnx.ModelProto(ir_version=model.ir_version, opset_import=model.opset_import)
    part.graph.node.extend(node for node in graph.node if any(out in made for out in node.output))
    part.graph.initializer.extend(proto for proto in graph.initializer if proto.name in read)
    part.graph.input.extend(value for value in graph.input if value.name in read)
    part.graph.value_info.extend(value for value in graph.value_info if value.name in read)
    part.graph.output.extend(onnx.ValueInfoProto(name=name) for name in sorted(names))
    tensors = typed_tensors(read_draft(part, binding, limits), limits)
    return {name: tensors[name].value if name in tensors else None for name in names}


def _take(graph: onnx.GraphProto, chosen: Mapping[int, bool]) -> None:
    """Replace each chosen If by the nodes and weights of one branch."""
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    taken.update(proto.name for proto in (*graph.initializer, *graph.input))
    nodes: list[onnx.NodeProto] = []
    for index, node in enumerate(graph.node):
        if index not in chosen:
            nodes.append(node)
            continue
        branch = _branch(node, chosen[index])
        names, copies = _new_names(node, branch, taken)
        nodes += [*(_renamed(inner, names) for inner in branch.node), *copies]
        graph.initializer.extend(_renamed_weight(proto, names) for proto in branch.initializer)
    del graph.node[:]
    graph.node.extend(nodes)


def _branch(branching: onnx.NodeProto, is_then: bool) -> onnx.GraphProto:
    wanted = "then_branch" if is_then else "else_branch"
    branches = (a.g for a in branching.attribute if a.name == wanted and a.HasField("g"))
    branch: onnx.GraphProto | None = next(branches, None)
    if branch is None or len(branch.output) != len(branching.output):
        raise ModelError(
            "BAD_NODE",
            f"If {branching.name!r} has no {wanted} with {len(branching.output)} outputs",
            change="export the model again; the file may be damaged",
        )
    return branch


def _new_names(
    branching: onnx.NodeProto, branch: onnx.GraphProto, taken: set[str]
) -> tuple[dict[str, str], list[onnx.NodeProto]]:
    """New names for the branch's values; Identity nodes for outside values that it returns."""
    own = list(_own_values(branch))
    inside = set(own)
    names: dict[str, str] = {}
    copies = []
    for value, output in zip(branch.output, branching.output, strict=True):
        if value.name in inside and value.name not in names:
            names[value.name] = output
        elif output:
            copies.append(helper.make_node("Identity", [value.name], [output]))
    for name in own:
        if not names.get(name):
            names[name] = fresh_name(f"{branching.output[0]}/{name}", taken)
            taken.add(names[name])
    return names, [_renamed(node, names) for node in copies]


def _own_values(branch: onnx.GraphProto) -> Iterator[str]:
    yield from (proto.name for proto in branch.initializer)
    yield from (name for node in branch.node for name in node.output if name)


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    """The node with new names, also for outside values that its sub-graphs read."""
    changed = onnx.NodeProto()
    changed.CopyFrom(node)
    changed.input[:] = _all(node.input, names)
    changed.output[:] = _all(node.output, names)
    for attribute in changed.attribute:
        if not attribute.HasField("g"):
            continue
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
