"""Outcome -> the tables of a report: rows by the name of their table."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from graphturbo_core.report.outcome import Outcome
from graphturbo_core.report.rows.buffer_rows import (
    Placed,
    SpaceRow,
    TensorRow,
    space_rows,
    tensor_rows,
)
from graphturbo_core.report.rows.graph_rows import (
    GraphEdgeRow,
    GraphNodeRow,
    edge_rows,
    node_rows,
)
from graphturbo_core.report.rows.group_rows import GroupRow, group_rows
from graphturbo_core.report.rows.layer_rows import LayerRow
from graphturbo_core.report.rows.overlap_rows import StretchRow, stretch_rows
from graphturbo_core.report.rows.partition.compared_batches import (
    ComparedBatchRow,
    compared_batch_rows,
)
from graphturbo_core.report.rows.partition.otherwise import OtherwiseRow, otherwise_rows
from graphturbo_core.report.rows.partition.pieces import PieceRow, piece_rows
from graphturbo_core.report.rows.partition.raised import RaisedRow, raised_rows
from graphturbo_core.report.rows.partition.reasons import (
    NextBestRow,
    ReasonRow,
    next_best_rows,
    reason_rows,
)
from graphturbo_core.report.rows.partition.stages import StageRow, stage_rows
from graphturbo_core.report.rows.roof_rows import RoofRow, roof_rows
from graphturbo_core.report.rows.run_rows import (
    BindingRow,
    ChipRow,
    DecisionRow,
    EngineRow,
    KernelRow,
    LedgerRow,
    ReadyRow,
    RoundRow,
    RoundSizeRow,
    StallCyclesRow,
    binding_rows,
    chip_rows,
    decision_rows,
    engine_rows,
    kernel_rows,
    ledger_rows,
    ready_rows,
    round_rows,
    rounds_rows,
    stall_rows,
)
from graphturbo_core.report.rows.split_rows import SplitRow, split_rows


class Tables(TypedDict):
    """Every table of a report; those that are not required exist only with `has_pictures`.

    `compared_batches` exists only if a search chose the cluster batch. `Report` describes the
    columns.
    """

    round: tuple[RoundRow, ...]
    rounds: tuple[RoundSizeRow, ...]
    engines: tuple[EngineRow, ...]
    layers: tuple[LayerRow, ...]
    groups: tuple[GroupRow, ...]
    kernels: tuple[KernelRow, ...]
    decisions: tuple[DecisionRow, ...]
    splits: tuple[SplitRow, ...]
    ready: tuple[ReadyRow, ...]
    bindings: tuple[BindingRow, ...]
    stalls: tuple[StallCyclesRow, ...]
    ledger: tuple[LedgerRow, ...]
    chip: tuple[ChipRow, ...]
    roofs: tuple[RoofRow, ...]
    compared_batches: NotRequired[tuple[ComparedBatchRow, ...]]
    graph_nodes: NotRequired[tuple[GraphNodeRow, ...]]
    graph_edges: NotRequired[tuple[GraphEdgeRow, ...]]
    spaces: NotRequired[tuple[SpaceRow, ...]]
    tensors: NotRequired[tuple[TensorRow, ...]]
    stretches: NotRequired[tuple[StretchRow, ...]]
    stages: NotRequired[tuple[StageRow, ...]]
    pieces: NotRequired[tuple[PieceRow, ...]]
    reasons: NotRequired[tuple[ReasonRow, ...]]
    raised: NotRequired[tuple[RaisedRow, ...]]
    next_best: NotRequired[tuple[NextBestRow, ...]]
    otherwise: NotRequired[tuple[OtherwiseRow, ...]]


def tables(outcome: Outcome, layers: tuple[LayerRow, ...], buffers: Placed | None) -> Tables:
    """Every table; without `buffers`, only those that are not made for pictures."""
    found: Tables = {
        "round": tuple(round_rows(outcome)),
        "rounds": tuple(rounds_rows(outcome)),
        "engines": tuple(engine_rows(outcome)),
        "layers": layers,
        "groups": tuple(group_rows(outcome)),
        "kernels": tuple(kernel_rows(outcome)),
        "decisions": tuple(decision_rows(outcome)),
        "splits": tuple(split_rows(outcome)),
        "ready": tuple(ready_rows(outcome)),
        "bindings": tuple(binding_rows(outcome)),
        "stalls": tuple(stall_rows(outcome)),
        "ledger": tuple(ledger_rows(outcome)),
        "chip": tuple(chip_rows(outcome)),
        "roofs": tuple(roof_rows(outcome)),
    }
    if compared := tuple(compared_batch_rows(outcome)):
        found["compared_batches"] = compared
    if buffers is None:
        return found
    return {
        **found,
        "graph_nodes": tuple(node_rows(outcome)),
        "graph_edges": tuple(edge_rows(outcome)),
        "spaces": tuple(space_rows(buffers)),
        "tensors": tuple(tensor_rows(outcome)),
        "stretches": tuple(stretch_rows(outcome)),
        "stages": tuple(stage_rows(outcome)),
        "pieces": tuple(piece_rows(outcome)),
        "reasons": tuple(reason_rows(outcome)),
        "raised": tuple(raised_rows(outcome)),
        "next_best": tuple(next_best_rows(outcome)),
        "otherwise": tuple(otherwise_rows(outcome)),
    }
