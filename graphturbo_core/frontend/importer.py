"""ONNX bytes -> Graph: parsed, bound, typed, cleaned up."""

from __future__ import annotations

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.branches import inline_branches
from graphturbo_core.frontend.clean_up import clean_up
from graphturbo_core.frontend.dimensions import InputDim, bind, symbolic_dims, with_proposals
from graphturbo_core.frontend.functions import expand_functions
from graphturbo_core.frontend.options import ImportOptions
from graphturbo_core.frontend.parsing import parse_model
from graphturbo_core.frontend.proposals import proposed_sizes
from graphturbo_core.frontend.reader import check_inputs, graph_inputs, read_draft
from graphturbo_core.frontend.recorded import recorded_values
from graphturbo_core.frontend.shapes import infer_graph
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS

__all__ = ["ImportOptions", "import_model", "read_input_dims"]


def import_model(data: bytes, options: ImportOptions) -> Graph:
    """The model in the bytes as a graph with static shapes.

    Raises:
        ModelError: the model is refused; code, what, where and what to change are in it.
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


def _check_sizes(graph: Graph) -> None:
    """Every op has something to compute.

    Raises:
        ModelError: EMPTY_TENSOR for a value without elements, such as a window past its input.
    """
    for op in graph.ops:
        for name in op.outputs:
            if name and not graph.tensors[name].elements:
                raise ModelError(
                    "EMPTY_TENSOR",
                    f"{name!r} has shape {list(graph.tensors[name].shape)}, no element",
                    f"computed by {op.op_type} {op.name!r}",
                    "use a larger input or correct the attributes",
                )


def read_input_dims(data: bytes) -> tuple[InputDim, ...]:
    """The symbolic dimensions a user may bind, each with the size that the file proposes: a form.

    Raises:
        ModelError: the file is not a model, or an input is not a tensor of known rank.
    """
    model = parse_model(data, DEFAULT_LIMITS)
    inputs = graph_inputs(model.graph)
    check_inputs(inputs)
    return with_proposals(symbolic_dims(inputs), proposed_sizes(model))
