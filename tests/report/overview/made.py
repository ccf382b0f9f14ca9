"""Hand-made reports for tests of the first screen: one op per layer, one engine per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphturbo_core.report.report import Report

MATRIX, VECTOR, MOVE, DMA = range(4)
"""Engines, one per kind; the cores together have eight of each but two DMAs."""
ENGINES = (("matrix", 8), ("vector", 8), ("move", 8), ("dma", 2))
WEIGHT, ACTIVATION = 0, 1
"""Tensors."""
CONTRACT: Mapping[str, Any] = {
    "model": "made",
    "profile": "chip",
    "batch": 16,
    "dtype": "fp16",
    "strategy": "graphturbo@4",
    "throughput_per_s": 100.0,
    "latency_s": 1e-6,
    "dram_read_bytes": 900,
    "dram_write_bytes": 100,
    "dram_ledger": {},
    "utilization": {"matrix": 0.5, "vector": 0.2, "move": 0.1, "dma": 0.05},
}


class Issued(NamedTuple):
    """One instruction; `dram_bytes` of `tensor` cross DRAM."""

    start: int
    hold: int
    engine: int
    layer: int
    tensor: int = -1
    dram_bytes: int = 0
    gb_bytes: int = 0
    kernel: int = 0


def in_turn(*cycles: int) -> list[Issued]:
    """A matrix instruction of so many cycles per layer, one after the other."""
    ends = np.cumsum(cycles).tolist()
    return [
        Issued(end - own, own, MATRIX, layer)
        for layer, (own, end) in enumerate(zip(cycles, ends, strict=True))
    ]


def made_report(
    groups: Sequence[Sequence[int]],
    window_s: Sequence[float] = (),
    issued: Sequence[Issued] = (),
    cycles: int = 1000,
    **more: Any,
) -> Report:
    """A report with these layers per sub-graph, seconds per layer and instructions.

    `more`: `stages` (title, first, last), `kernels` (sub-graph, start, end), `rounds`, `types` and
    `names` per layer, `pieces` and `along` per sub-graph, `clusters` that run pieces; everything
    else is the contract's.
    """
    layers = 1 + max(layer for group in groups for layer in group)
    seconds = [*window_s] or [1.0] * layers
    names = more.pop("names", [f"layer{n}" for n in range(layers)])
    types = more.pop("types", ["Conv"] * layers)
    pieces, along = more.pop("pieces", [1] * len(groups)), more.pop("along", [""] * len(groups))
    stages = more.pop("stages", ())
    tables: dict[str, tuple[dict[str, Any], ...]] = {
        "round": ({"cycles": cycles, "clusters": 4},),
        "rounds": tuple(more.pop("rounds", ({"count": 1, "samples": 4, "is_drawn": True},))),
        "kernels": tuple(
            {"group": f"g{group + 1}", "start_cycle": start, "end_cycle": end}
            for group, start, end in more.pop("kernels", ())
        ),
        "engines": tuple({"kind": kind, "cores": cores} for kind, cores in ENGINES),
        "layers": tuple(
            {"name": name, "op_types": kind, "window_s": time}
            for name, kind, time in zip(names, types, seconds, strict=True)
        ),
        "pieces": tuple({"cluster": cluster} for cluster in more.pop("clusters", (0,))),
        "groups": tuple(
            {"index": n, "name": f"g{n + 1}", "pieces": pieces[n], "along": along[n]}
            for n in range(len(groups))
        ),
        "graph_nodes": tuple(
            {"group": n, "layer": layer} for n, group in enumerate(groups) for layer in group
        ),
        "stages": tuple(
            {"title": title, "first_layer": first, "last_layer": last}
            for title, first, last in stages
        ),
        "tensors": ({"tensor": "w", "kind": "weight"}, {"tensor": "x", "kind": "activation"}),
    }
    return Report({**CONTRACT, **more}, tables, _arrays(issued))  # type: ignore[arg-type]


def _arrays(issued: Sequence[Issued]) -> dict[str, np.ndarray]:
    """The columns of instructions that the first screen reads, and what they move."""
    columns = np.array(issued, np.int64).reshape(-1, len(Issued._fields)).T
    found = dict(zip(Issued._fields, columns, strict=True))
    moved = [(found["dram_bytes"], 0), (found["gb_bytes"], 1)]
    booked = [(np.flatnonzero(size), memory, size[size > 0]) for size, memory in moved]
    return {
        "start": found["start"],
        "hold": found["hold"],
        "engine": found["engine"],
        "layer": found["layer"],
        "kernel": found["kernel"],
        "moved_tensor": found["tensor"],
        "booked_instruction": np.concatenate([rows for rows, _, _ in booked]),
        "booked_memory": np.concatenate([np.full(len(rows), kind) for rows, kind, _ in booked]),
        "booked_bytes": np.concatenate([size for _, _, size in booked]),
    }
