"""ONNX bytes -> Graph: parsed, bound, typed, cleaned up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.branches import inline_branches
from graphturbo_core.frontend.options import ImportOptions
from graphturbo_core.frontend.parse.dimensions import (
    InputDim,
    bind,
    symbol_of,
    symbolic_dims,
    with_proposals,
)
from graphturbo_core.frontend.parse.functions import expand_functions
from graphturbo_core.frontend.parse.parsing import parse_model
from graphturbo_core.frontend.parse.proposals import proposed_sizes
from graphturbo_core.frontend.parse.reader import check_inputs, graph_inputs, read_draft
from graphturbo_core.frontend.parse.recorded import recorded_values
from graphturbo_core.frontend.passes.clean_up import clean_up
from graphturbo_core.frontend.shapes.infer import infer_graph
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS, Limits

__all__ = ["ImportOptions", "as_imported", "import_model", "read_input_dims"]


def import_model(data: bytes, options: ImportOptions) -> Graph:
    """Returns the model as a graph with static shapes.

    Raises:
        ModelError: the model is refused; the error has code, problem, place and change.
        OptionError: batch, a dimension or a pass name does not fit the model.
    """
    model = parse_model(data, options.limits)
    expand_functions(model, options.limits)
    inputs = graph_inputs(model.graph)
    check_inputs(inputs)
    binding = bind(inputs, recorded_values(model), options, proposed_sizes(model))
    inline_branches(model, binding, options.limits)
    draft = read_draft(model, binding, options.limits)
    graph = clean_up(infer_graph(draft, options.name, options.limits), options)
    if not graph.ops:
        raise ModelError(
            "NOTHING_TO_RUN",
            "no operator is left after clean-up",
            f"all {len(model.graph.node)} nodes are constant",
            "check the model's outputs",
        )
    _check_sizes(graph)
    return graph


def as_imported(
    data: bytes, shapes: Mapping[str, Sequence[int]], limits: Limits = DEFAULT_LIMITS
) -> onnx.ModelProto:
    """Returns the file's model with functions and branches expanded, with the import's names.

    Open sizes of the inputs are those of `shapes`, 1 for an input without an entry.

    Raises:
        ModelError: as `import_model`.
    """
    model = parse_model(data, limits)
    expand_functions(model, limits)
    inputs = graph_inputs(model.graph)
    for value in inputs:
        dims = value.type.tensor_type.shape.dim
        sizes = shapes.get(value.name, (1,) * len(dims))
        open_axes = [axis for axis, dim in enumerate(dims) if symbol_of(dim, value.name, axis)]
        for axis in open_axes:
            dims[axis].dim_value = sizes[axis]
    inline_branches(model, bind(inputs, (), ImportOptions(""), {}), limits)
    return model


def _check_sizes(graph: Graph) -> None:
    """Check that every tensor has elements.

    Raises:
        ModelError: EMPTY_TENSOR for a value without elements, such as a window past its input.
    """
    results = ((op, name) for op in graph.ops for name in op.outputs if name)
    for op, name in results:
        if not graph.tensors[name].elements:
            raise ModelError(
                "EMPTY_TENSOR",
                f"{name!r} has shape {list(graph.tensors[name].shape)}, no element",
                f"computed by {op.op_type} {op.name!r}",
                "use a larger input or correct the attributes",
            )


def read_input_dims(data: bytes) -> tuple[InputDim, ...]:
    """Returns the symbolic dimensions that a user may bind, with the file's proposed sizes.

    Raises:
        ModelError: the file is not a model, or an input is not a tensor of known rank.
    """
    model = parse_model(data, DEFAULT_LIMITS)
    inputs = graph_inputs(model.graph)
    check_inputs(inputs)
    return with_proposals(symbolic_dims(inputs), proposed_sizes(model))
