"""ModelProto: expansion of calls of functions that the file defines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import onnx
from onnx import AttributeProto, helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.schemas import DEFAULT_DOMAINS, schema_of
from graphturbo_core.limits import Limits

Key = tuple[str, str, str]
Functions = Mapping[Key, onnx.FunctionProto]


def expand_functions(model: onnx.ModelProto, limits: Limits) -> None:
    """Expand every call in the model's graph, those in a function's body included.

    The resulting nodes and bytes are counted first: a body of calls multiplies. Calls in sub-graphs
    (of an If) are counted too, but expanded only when their branch is chosen.

    Raises:
        ModelError: RECURSIVE_FUNCTION, TOO_MANY_OPS, TOO_LARGE, DUPLICATE_FUNCTION,
            FUNCTION_OPSET, BAD_NODE.
    """
    if not model.functions:
        return
    functions = _by_key(model)
    calls = [node for node in model.graph.node if _key(node) in functions]
    if not calls:
        return
    _check_sizes(model, functions, limits)
    for function in functions.values():
        _check_versions(model, function)
    nodes = _expanded(model.graph, functions)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _key(node: onnx.NodeProto) -> Key:
    return ("" if node.domain in DEFAULT_DOMAINS else node.domain, node.op_type, node.overload)


def _by_key(model: onnx.ModelProto) -> Functions:
    functions: dict[Key, onnx.FunctionProto] = {}
    for function in model.functions:
        domain = "" if function.domain in DEFAULT_DOMAINS else function.domain
        key = (domain, function.name, function.overload)
        if key in functions:
            raise ModelError(
                "DUPLICATE_FUNCTION",
                f"function {function.name!r} of domain {domain!r} is defined twice",
                change="remove one of the two",
            )
        functions[key] = function
    return functions


@dataclass(frozen=True, slots=True)
class _Size:
    """Nodes and bytes of a fully expanded function."""

    nodes: int
    size_bytes: int


def _check_sizes(model: onnx.ModelProto, functions: Functions, limits: Limits) -> None:
    sizes: dict[Key, _Size] = {}
    for key in _callees_first(functions):
        sizes[key] = _size(functions[key].node, sizes)
    whole = _size(model.graph.node, sizes)
    if whole.nodes > limits.max_ops:
        raise ModelError(
            "TOO_MANY_OPS",
            f"the graph has {whole.nodes} nodes once its functions are expanded",
            f"the limit is {limits.max_ops}",
            "import a part of the model",
        )
    if whole.size_bytes > limits.max_model_bytes:
        raise ModelError(
            "TOO_LARGE",
            f"the graph has {whole.size_bytes} bytes once its functions are expanded",
            f"the limit is {limits.max_model_bytes}",
            "hand large tensors to the functions as inputs",
        )


def _size(nodes: Iterable[onnx.NodeProto], sizes: Mapping[Key, _Size]) -> _Size:
    """Size of expanded nodes; exact at any depth, since Python's integers do not overflow."""
    count = size_bytes = 0
    for node in _with_inner(nodes):
        called = sizes.get(_key(node), _Size(1, 0))
        prefixes = 2 * _PREFIX_LENGTH * (1 + len(node.input) + len(node.output))
        count += called.nodes
        size_bytes += called.size_bytes + node.ByteSize() + prefixes
    return _Size(count, size_bytes)


def _with_inner(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """The nodes and those of their sub-graphs."""
    waiting = [iter(nodes)]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            continue
        yield node
        waiting += [iter(attribute.g.node) for attribute in node.attribute]


def _callees_first(functions: Functions) -> Iterator[Key]:
    """Yields every function after its callees, with an explicit stack; linear in the calls.

    Raises:
        ModelError: RECURSIVE_FUNCTION with the path from a function back to itself.
    """
    done: set[Key] = set()
    for start in functions:
        if start not in done:
            yield from _with_callees(functions, start, done)


def _with_callees(functions: Functions, start: Key, done: set[Key]) -> Iterator[Key]:
    """Callees of `start` that are not done, then `start`; adds them to `done`."""
    path, on_path = [start], {start}
    waiting = [_callees(functions, start)]
    while path:
        callee = next((key for key in waiting[-1] if key not in done), None)
        if callee in on_path:
            raise _recursive([*path[path.index(callee) :], callee])
        if callee is not None:
            path.append(callee)
            on_path.add(callee)
            waiting.append(_callees(functions, callee))
            continue
        waiting.pop()
        finished = path.pop()
        on_path.remove(finished)
        done.add(finished)
        yield finished


def _callees(functions: Functions, key: Key) -> Iterator[Key]:
    nodes = _with_inner(functions[key].node)
    return iter([_key(node) for node in nodes if _key(node) in functions])


def _recursive(path: list[Key]) -> ModelError:
    return ModelError(
        "RECURSIVE_FUNCTION",
        f"function {path[0][1]!r} calls itself",
        " -> ".join(name for _, name, _ in path[:_SHOWN_CALLS]),
        "export the model without recursion",
    )


_SHOWN_CALLS = 10
"""Most calls of a recursion that a refusal names (our choice)."""


def _check_versions(model: onnx.ModelProto, function: onnx.FunctionProto) -> None:
    """Check that the body means the same in the model's operator sets; adds missing sets.

    Raises:
        ModelError: FUNCTION_OPSET naming the op that changed between the two versions.
    """
    versions = {_domain(entry.domain): entry.version for entry in model.opset_import}
    own = {_domain(entry.domain): entry.version for entry in function.opset_import}
    for domain, version in own.items():
        if domain not in versions:
            model.opset_import.append(helper.make_opsetid(domain, version))
    for node in function.node:
        domain = _domain(node.domain)
        old, new = own.get(domain), versions.get(domain)
        if old is None or new is None or old == new:
            continue
        if _since(node, old) != _since(node, new):
            raise ModelError(
                "FUNCTION_OPSET",
                f"{node.op_type} {node.name!r} in function {function.name!r} is of operator set "
                f"{old}, the model's is {new}, and it changed in between",
                change="export the model again with one operator set",
            )


def _domain(name: str) -> str:
    return "" if name in DEFAULT_DOMAINS else name


def _since(node: onnx.NodeProto, version: int) -> int | None:
    schema = schema_of(node.op_type, version, _domain(node.domain))
    return None if schema is None else int(schema.since_version)


def _expanded(graph: onnx.GraphProto, functions: Functions) -> list[onnx.NodeProto]:
    taken = {name for node in graph.node for name in node.output}
    taken.update(value.name for value in (*graph.initializer, *graph.input))
    found = []
    waiting = list(reversed(graph.node))
    count = 0
    while waiting:
        node = waiting.pop()
        function = functions.get(_key(node))
        if function is None:
            found.append(node)
            continue
        prefix = f"{node.name or node.op_type}"[-_PREFIX_LENGTH:]
        while f"{prefix}.{count}" in taken:
            count += 1
        taken.add(f"{prefix}.{count}")
        waiting.extend(reversed(_body(function, node, f"{prefix}.{count}")))
        count += 1
    return found


_PREFIX_LENGTH = 100
"""Characters of a call's name that prefix its values' names; a number makes it unique."""


def _body(function: onnx.FunctionProto, call: onnx.NodeProto, prefix: str) -> list[onnx.NodeProto]:
    """The function's nodes with the call's values and attributes."""
    if len(call.input) > len(function.input) or len(call.output) > len(function.output):
        raise ModelError(
            "BAD_NODE",
            f"{call.op_type} {call.name!r} has {len(call.input)} inputs and {len(call.output)} "
            f"outputs, the function takes {len(function.input)} and gives {len(function.output)}",
            change="correct the node",
        )
    names = {"": "", **dict.fromkeys(function.input, "")}
    names.update(zip(function.input, call.input, strict=False))
    copies = []
    for inner, outer in zip(function.output, call.output, strict=False):
        if inner in names or not outer:
            copies += [(inner, outer)] if outer else []
        else:
            names[inner] = outer
    given = {attribute.name: attribute for attribute in function.attribute_proto}
    given |= {attribute.name: attribute for attribute in call.attribute}
    rename = _Renaming(names, prefix, given)
    nodes = [rename.node(node) for node in function.node]
    return nodes + [
        helper.make_node("Identity", [rename.value(inner)], [outer]) for inner, outer in copies
    ]


@dataclass(frozen=True, slots=True)
class _Renaming:
    """Maps a body's names to the outer graph; new names get the prefix."""

    names: dict[str, str]
    prefix: str
    given: Mapping[str, AttributeProto]

    def value(self, name: str) -> str:
        """A value's name in the outer graph."""
        return self.names.setdefault(name, f"{self.prefix}/{name}")

    def node(self, node: onnx.NodeProto) -> onnx.NodeProto:
        """Returns the node with names and attributes of the call, sub-graphs included.

        Sub-graphs are nested at most 100 levels, protobuf's limit.
        """
        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        changed.name = f"{self.prefix}/{node.name or node.op_type}"
        changed.input[:] = [self.value(name) for name in node.input]
        changed.output[:] = [self.value(name) for name in node.output]
        del changed.attribute[:]
        changed.attribute.extend(filter(None, map(self._attribute, node.attribute)))
        return changed

    def _attribute(self, attribute: AttributeProto) -> AttributeProto | None:
        """The attribute, or the call's attribute that it refers to; None if that is missing."""
        source = attribute
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in self.given:
                return None
            source = self.given[attribute.ref_attr_name]
        changed = AttributeProto()
        changed.CopyFrom(source)
        changed.name = attribute.name
        if changed.HasField("g") and source is attribute:
            self._rename_graph(changed.g)
        return changed

    def _rename_graph(self, graph: onnx.GraphProto) -> None:
        nodes = [self.node(node) for node in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)
        for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
            value.name = self.value(value.name)
