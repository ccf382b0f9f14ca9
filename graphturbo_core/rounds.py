"""Model bytes, choices -> Graphs and rounds; the runs of a comparison share imported graphs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model, read_input_dims
from graphturbo_core.frontend.numbers import with_numbers
from graphturbo_core.frontend.passes.clean_up import decomposed
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS, Limits
from graphturbo_core.lowering.known import KnownKernels
from graphturbo_core.run_request import RunRequest
from graphturbo_core.semantics.independence import dependence_on_batch, taken_as_sample_wise
from graphturbo_core.semantics.picks import picking_own, unknown_picks
from graphturbo_core.semantics.sample_axis import mixed_samples
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.options import chosen_strategy
from graphturbo_core.strategies.registry import StrategySpec, parse_strategy
from graphturbo_core.strategies.steps.batching import Division, divide_batch, undivided
from graphturbo_core.trial_cache import KnownTrial
from graphturbo_core.verify.verify import SEED


class Imports:
    """Graphs of one model by batch, dimensions and passes; the runs of a comparison share them."""

    def __init__(self, model_bytes: bytes, limits: Limits = DEFAULT_LIMITS) -> None:
        """Starts without a graph; each is imported at its first use."""
        self.data = model_bytes
        self.limits = limits
        self.drawn_weights = 0
        self.known: list[KnownTrial] = []
        self.kernels = KnownKernels()
        self._graphs: dict[tuple[object, ...], Graph] = {}
        self._semantics: dict[int, GraphSemantics] = {}
        self._dependence: dict[tuple[int, int], str | None] = {}
        self._numbered: Imports | None = None

    @property
    def graphs(self) -> int:
        """Number of graphs that were imported here and are kept."""
        return len(self._graphs)

    def numbered(self) -> Imports:
        """Imports of the same model with random numbers for weights without any, for replay."""
        if self._numbered is None:
            filled = with_numbers(self.data, SEED, self.limits)
            self._numbered = Imports(filled.data, self.limits)
            self._numbered.drawn_weights = filled.drawn
        return self._numbered

    def whole(self, request: RunRequest) -> Graph:
        """The model at the whole batch."""
        return self._import(request, request.batch, dict(request.dims))

    def semantics(self, graph: Graph) -> GraphSemantics:
        """GraphSemantics of a graph that was imported here.

        Cached by `id(graph)`. The cached value references the graph, so the id is not reused.
        """
        if id(graph) not in self._semantics:
            before = graph.undecomposed
            whole = None if before is None else self.semantics(before)
            self._semantics[id(graph)] = analyse(graph, whole)
        return self._semantics[id(graph)]

    def dependence(self, whole: GraphSemantics, part: GraphSemantics) -> str | None:
        """Reason why a sample may need others' numbers; None where one of two proofs excludes it.

        `dependence_on_batch` follows boxes, `mixed_samples` the axis of the samples.
        """
        key = id(whole.graph), id(part.graph)
        if key not in self._dependence:
            why = dependence_on_batch(whole, part)
            batches = self.batch(part.graph), self.batch(whole.graph)
            if why is not None and mixed_samples(part, whole, batches) is None:
                why = None
            self._dependence[key] = why
        return self._dependence[key]

    def batch(self, whole: Graph) -> int:
        """Samples of the whole model: the leading size of its batch input, 1 where none has one."""
        name = _batch_input(whole)
        return whole.tensors[name].shape[0] if name else 1

    def has_free_batch(self, whole: Graph) -> bool:
        """Whether the file leaves the size of the batch open."""
        dims = read_input_dims(self.data)
        return any(dim.axis == 0 and dim.input == _batch_input(whole) for dim in dims)

    def round(self, request: RunRequest, whole: Graph, size: int) -> Graph:
        """The model at the batch of one round; `size` overrides the request's batch symbol."""
        if size == self.batch(whole):
            return whole
        dims = dict(request.dims)
        for dim in read_input_dims(self.data) if dims else ():
            if dim.axis == 0 and dim.input == _batch_input(whole):
                dims.pop(dim.symbol, None)
        return self._import(request, size, dims)

    def _import(self, request: RunRequest, batch: int | None, dims: dict[str, int]) -> Graph:
        """The graph for these choices; extra passes start from the same graph without them."""
        passes, extra = tuple(request.skip_passes), extra_passes(request)
        base = (request.model_name, batch, tuple(sorted(dims.items())), passes, ())
        if base not in self._graphs:
            options = ImportOptions(request.model_name, batch, dims, passes, self.limits)
            self._graphs[base] = import_model(self.data, options)
        key = (*base[:-1], extra)
        if key not in self._graphs:
            self._graphs[key] = decomposed(self._graphs[base], extra)
        return self._graphs[key]


def extra_passes(request: RunRequest) -> tuple[str, ...]:
    """Import passes that only this run's strategy requires."""
    return chosen_strategy(parse_strategy(request.strategy), request.options).import_passes


def _batch_input(graph: Graph) -> str | None:
    """The input whose leading axis counts samples: the first with two or more axes."""
    return next((name for name in graph.inputs if len(graph.tensors[name].shape) > 1), None)


@dataclass(frozen=True)
class Rounds:
    """Division of the batch, and the model per distinct round size, the largest first."""

    whole: GraphSemantics
    division: Division
    semantics: Mapping[int, GraphSemantics]


def divide(
    imports: Imports, request: RunRequest, chosen: tuple[Graph, Hardware, StrategySpec]
) -> Rounds:
    """Rounds over the clusters; the whole batch is one round where samples may depend on others."""
    graph, hardware, spec = chosen
    whole, batch = imports.semantics(graph), imports.batch(graph)
    division = divide_batch(batch, hardware.clusters, spec.cluster_batch)
    rounds: dict[int, GraphSemantics] = {}
    notes: dict[str, None] = {}
    try:
        for size in division.round_sizes:
            rounds[size], assumptions = _round(imports, request, whole, size)
            notes |= dict.fromkeys(assumptions)
    except ModelError as error:
        if error.code not in UNDIVIDABLE:
            raise
        division = undivided(batch, hardware.clusters, error.what)
        return Rounds(whole, division, {batch: whole})
    division = replace(division, notes=(*division.notes, *notes))
    return Rounds(whole, division, rounds)


def _assumptions(whole: GraphSemantics, picks: Collection[str]) -> list[str]:
    """Notes on the ops whose samples are assumed independent."""
    counts = {
        "without semantics": len(whole.opaque_ops),
        "whose indices have no numbers": len(picks),
    }
    return [
        f"samples are assumed independent in {count} op(s) {reason}"
        for reason, count in counts.items()
        if count
    ]


def round_cycles(division: Division, cycles: Mapping[int, int]) -> int:
    """Cycles of the cluster that takes longest, by those of one round of each size."""
    return max(
        sum(cycles[size] * count for size, count in share.rounds) for share in division.shares
    )


def _round(
    imports: Imports, request: RunRequest, whole: GraphSemantics, size: int
) -> tuple[GraphSemantics, list[str]]:
    """The model for `size` samples, and notes on what their independence assumes.

    Opaque ops, and gathers by constants without numbers, are assumed to work sample by sample where
    the batch is free: by a symbol, or because the request names one.

    Raises:
        ModelError: BATCH_DEPENDENT where a sample may need others' numbers, or import's refusal of
            the model at this size.
    """
    graph = imports.round(request, whole.graph, size)
    if graph is whole.graph:
        return whole, []
    part = imports.semantics(graph)
    why = imports.dependence(whole, part)
    if why is None:
        return part, []
    is_free = request.batch is not None or imports.has_free_batch(whole.graph)
    batch = imports.batch(whole.graph)
    picks = unknown_picks(whole, batch) & unknown_picks(part, size)
    assumed = picking_own(taken_as_sample_wise(whole), picks, batch)
    if is_free and dependence_on_batch(assumed, part) is None:
        return part, _assumptions(whole, picks)
    raise ModelError("BATCH_DEPENDENT", why)


UNDIVIDABLE = frozenset(
    {"BATCH_DEPENDENT", "BATCH_RESHAPE", "BATCH_MISMATCH", "BATCH_FIXED", "SHAPE_MISMATCH"}
)
"""Refusals of a model for fewer samples after which the whole batch runs as one round."""
