"""The ordered list of clean-up passes; each has a name and can be skipped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.options import ImportOptions
from graphturbo_core.frontend.passes.batch_norm import batch_norm_to_scale_shift, fold_batch_norm
from graphturbo_core.frontend.passes.decompose import decompose_layer_norm, decompose_softmax
from graphturbo_core.frontend.passes.dynamic_product import split_dynamic_product
from graphturbo_core.frontend.passes.horizontal import merge_horizontal
from graphturbo_core.frontend.passes.quantised import fuse_quantised
from graphturbo_core.frontend.passes.rescale import (
    Rescaling,
    check_repeated,
    fixed_batch,
    has_repeated,
    rescale_batch,
)
from graphturbo_core.frontend.passes.structural import (
    fold_constant_of_shape,
    fold_shape_arithmetic,
    fold_weight_ops,
    remove_dead_ops,
    remove_dropout,
    remove_identity,
    remove_same_cast,
)
from graphturbo_core.frontend.passes.substitutions.convolution_sets import merged_sets
from graphturbo_core.frontend.passes.substitutions.graph_steps import substituted
from graphturbo_core.frontend.passes.unroll import unroll_recurrent
from graphturbo_core.ir.graph import Graph

GraphPass = Callable[[Graph], Graph]


@dataclass(frozen=True, slots=True)
class NamedPass:
    """A pass, its name for --skip-pass, and a one-line summary."""

    name: str
    summary: str
    apply: GraphPass


PASSES: tuple[NamedPass, ...] = (
    NamedPass("remove-identity", "Identity is removed", remove_identity),
    NamedPass("remove-dropout", "Dropout in inference mode is removed", remove_dropout),
    NamedPass("remove-same-cast", "a cast to its input's type is removed", remove_same_cast),
    NamedPass("fold-constant-of-shape", "ConstantOfShape becomes a weight", fold_constant_of_shape),
    NamedPass("fold-shapes", "results known at import become weights", fold_shape_arithmetic),
    NamedPass("fold-weights", "ops on weights alone become weights", fold_weight_ops),
    NamedPass("unroll-recurrent", "RNN, GRU, LSTM become ops per time step", unroll_recurrent),
    NamedPass("fold-batch-norm", "batch norm folds into the Conv before it", fold_batch_norm),
    NamedPass("scale-shift", "a lone batch norm becomes ScaleShift", batch_norm_to_scale_shift),
    NamedPass("fuse-quantised", "a layer on 8-bit numbers becomes one op", fuse_quantised),
    NamedPass("split-dynamic", "a dynamically quantised product is two ops", split_dynamic_product),
    NamedPass("remove-dead-ops", "ops that no output needs are removed", remove_dead_ops),
)
"""Passes in running order. `rescale-batch`, which needs the batch, comes before all of them."""

LAYER_NORM, SOFTMAX = "decompose-layer-norm", "decompose-softmax"
HORIZONTAL = "merge-horizontal"
EXTRA_PASSES = MappingProxyType(
    {
        LAYER_NORM: decompose_layer_norm,
        SOFTMAX: decompose_softmax,
        HORIZONTAL: merge_horizontal,
    }
)
"""Passes that run only if a strategy requires them: their graph is equivalent, but not smaller."""
SUBSTITUTE, MERGE_SETS = "substitute", "merge-sets"
"""Extra passes with steps as argument, as in `substitute:3.0` (`substitutions/graph_steps.py`)."""
PASSES_WITH_STEPS = MappingProxyType({SUBSTITUTE: substituted, MERGE_SETS: merged_sets})

RESCALE_BATCH = "rescale-batch"


def pass_names() -> tuple[str, ...]:
    """Names for --skip-pass, in running order."""
    return (RESCALE_BATCH, *(entry.name for entry in PASSES))


def clean_up(graph: Graph, options: ImportOptions) -> Graph:
    """Returns the graph after every pass that is not skipped.

    Raises:
        OptionError: UNKNOWN_PASS.
        ModelError: the model cannot be rescaled to the batch.
    """
    for name in options.skip_passes:
        if name not in pass_names():
            raise OptionError(
                "UNKNOWN_PASS",
                f"there is no pass {name!r}",
                change=f"choose from {', '.join(pass_names())}",
            )
    if options.batch is None or options.batch == fixed_batch(graph):
        return _cleaned(graph, options)
    has_reshapes = RESCALE_BATCH not in options.skip_passes
    change = Rescaling(graph, fixed_batch(graph), options.batch, has_reshapes)
    rescaled = _cleaned(rescale_batch(change, options.limits), options)
    if has_repeated(rescaled):
        check_repeated(replace(change, graph=_cleaned(graph, options)), rescaled)
    return rescaled


def _cleaned(graph: Graph, options: ImportOptions) -> Graph:
    for entry in PASSES:
        if entry.name not in options.skip_passes:
            graph = entry.apply(graph)
    return graph


def decomposed(graph: Graph, names: Sequence[str]) -> Graph:
    """Returns the graph after the named extra passes, with `graph` as its `undecomposed`.

    Its ops have their `origin` there. Returns `graph` itself if no pass decomposes an op.
    """
    found = graph
    for name in names:
        kind, has_argument, argument = name.partition(":")
        if has_argument:
            found = PASSES_WITH_STEPS[kind](found, argument)
        else:
            found = EXTRA_PASSES[kind](found)
    if any(op.origin for op in found.ops):
        return replace(found, undecomposed=graph)
    return graph if found.notes == graph.notes else found
