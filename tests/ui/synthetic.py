"""A made-up report for tests of views alone: shaped like a real one, its numbers mean nothing.

A report of `graphturbo` differs from one of `tvm` in its numbers: a view that exchanges two runs
shows it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.report.report import Report
from tests.ui.synthetic_buffers import HELD_BYTES, LANE_BYTES, with_buffers

ENGINE_KINDS = ("matrix", "vector", "move")
OPS_PER_LAYER = 3
LAYERS_PER_STAGE = 4
BUFFERS = 64
"""In GB and in each part of a core's LB."""
ROOFS = {
    "matrix_macs_per_s": 8 * 10**12,
    "vector_macs_per_s": 10**11,
    "dram_bytes_per_s": 10**11,
    "gb_bytes_per_s": 4 * 10**11,
}
OP_TYPES = ("Conv", "Relu", "Add")
CAUSES = ("input", "output", "weight_first", "weight_again", "activation", "halo", "spill")


def synthetic_report(
    strategy: str = "tvm@2",
    layers: int = 12,
    layers_per_group: int = 1,
    cores: int = 2,
    instructions: int = 400,
) -> Report:
    """A chain of `layers` layers of three ops; instructions are dealt to engines at random."""
    is_coarse = _is_coarse(strategy)
    rng = np.random.default_rng(8 if is_coarse else 7)
    engines = _engines(cores)
    arrays = _instructions(rng, engines, layers, layers_per_group, instructions)
    cycles = int((arrays["start"] + arrays["hold"]).max())
    groups = -(-layers // layers_per_group)
    tables = {
        "round": (_round(cycles, arrays, cores),),
        "rounds": (_rounds(strategy, cycles),),
        "stretches": (_stretch(arrays),),
        "engines": tuple(engines),
        "layers": tuple(
            _layer(i, layers_per_group, cycles / layers, is_coarse) for i in range(layers)
        ),
        "groups": tuple(_group(g, layers, layers_per_group) for g in range(groups)),
        "kernels": (),
        "decisions": (),
        "ready": (),
        "bindings": (),
        "stalls": (),
        "ledger": _ledger(is_coarse),
        "graph_nodes": tuple(_node(i, layers_per_group) for i in range(layers * OPS_PER_LAYER)),
        "graph_edges": tuple(_edge(i) for i in range(layers * OPS_PER_LAYER)),
        "chip": (),
        "roofs": (ROOFS,),
        "splits": (),
        "stages": tuple(_stage(index, layers) for index in range(-(-layers // LAYERS_PER_STAGE))),
        "pieces": (),
        "reasons": (),
        "raised": (),
        "next_best": (),
        "otherwise": (),
    }
    report = Report(_contract(strategy, cycles, tables, instructions), tables, arrays)
    return with_buffers(report, BUFFERS, cores, LANE_BYTES // 2 if is_coarse else HELD_BYTES)


def _is_coarse(strategy):
    return strategy.startswith("graphturbo")


def with_rounds(report: Report, *rounds: tuple[int, int, int]) -> Report:
    """The report with these rounds: samples, count and cycles; the first ones are drawn."""
    rows = [
        {"samples": samples, "count": count, "cycles": cycles, "is_drawn": not number}
        for number, (samples, count, cycles) in enumerate(rounds)
    ]
    return replace(report, tables={**report.tables, "rounds": tuple(rows)})


def _engines(cores: int) -> list[dict[str, object]]:
    rows = [
        {"kind": kind, "core": core, "cores": 1, "label": f"core {core} {kind}"}
        for core in range(cores)
        for kind in ENGINE_KINDS
    ]
    rows.append({"kind": "dma", "core": -1, "cores": 1, "label": "dma 0"})
    return [{"index": index, **row} for index, row in enumerate(rows)]


def _instructions(rng, engines, layers, layers_per_group, count):
    engine = rng.integers(0, len(engines), count)
    kinds = {"matrix": 0, "vector": 0, "move": 1, "dma": 5}
    free = np.zeros(len(engines), dtype=np.int64)
    start, hold = np.zeros(count, np.int64), rng.integers(5, 60, count)
    for i in range(count):
        start[i] = free[engine[i]] + rng.integers(0, 25)
        free[engine[i]] = start[i] + hold[i]
    move = np.flatnonzero(engine % 3 == 2)
    op = np.sort(rng.integers(0, layers * OPS_PER_LAYER, count))
    layer = op // OPS_PER_LAYER
    end = int((start + hold).max())
    return {
        "start": start,
        "hold": hold,
        "visible": start + hold,
        "engine": engine.astype(np.int16),
        "kind": np.array([kinds[str(engines[e]["kind"])] for e in engine], np.int8),
        "layer": layer.astype(np.int32),
        "group": (layer // layers_per_group).astype(np.int32),
        "kernel": (layer // layers_per_group).astype(np.int32),
        "op": op.astype(np.int32),
        "tile": (np.arange(count) % 4).astype(np.int32),
        "wait": rng.integers(0, 5, count).astype(np.int8),
        "wait_on": (np.arange(count) - 1).astype(np.int32),
        "size_bytes": np.where(engine % 3 == 2, 4096, 0).astype(np.int64),
        "busy": hold,
        "moved_tensor": np.where(engine % 3 == 2, np.arange(count) % 3, -1).astype(np.int32),
        "box_axes": np.full(count, 2, np.int8),
        "box_lo": np.stack((np.arange(count) % 64, np.zeros(count, int)), 1).astype(np.int32),
        "box_hi": np.stack((np.arange(count) % 64 + 1, np.full(count, 64)), 1).astype(np.int32),
        "chain": np.arange(0, count, max(1, count // 40)),
        "path_instruction": np.array([-1, 0, count - 1], np.int32),
        "path_start": np.array([0, end // 10, end // 2]),
        "path_end": np.array([end // 10, end // 2, end]),
        "path_resource": np.array([8, 3, 0], np.int8),
        "path_holds_up": np.array([4, 1, 4], np.int8),
        "flight_cycle": np.array([0, end // 4, end // 2, end * 9 // 10]),
        "flight_layers": np.array([1, 3, 1, 0], np.int32),
        "under_start": np.array([end // 4]),
        "under_end": np.array([end // 2]),
        "booked_instruction": np.repeat(move, 2),
        "booked_memory": np.tile(np.array([0, 1], np.int8), len(move)),
        "booked_cause": np.repeat(1 + move % len(CAUSES), 2).astype(np.int8),
        "booked_bytes": np.full(2 * len(move), 4096),
        "gb_cycle": np.linspace(0, end, 9).astype(np.int64),
        "gb_bytes": np.array([0, 1, 3, 4, 4, 2, 3, 1, 0]) << 20,
        "lb_cycle": np.linspace(0, end, 9).astype(np.int64),
        "lb_bytes": np.array([0, 9, 7, 9, 5, 9, 8, 2, 0]) * 100_000,
        "overlap_start": np.array([end // 4, end // 2]),
        "overlap_end": np.array([end // 3, end * 3 // 4]),
        "overlap_core": np.array([0, 1], np.int16),
    }


def _round(cycles, arrays, cores):
    shared = int((arrays["overlap_end"] - arrays["overlap_start"]).sum())
    path = arrays["chain"]
    return {
        "cycles": cycles,
        "longest_chain_cycles": int(arrays["hold"][path].sum()) + 100,
        "cross_layer_overlap": shared / (cycles * cores),
        "layers_in_flight": 0.25,
        "memory_under_compute": 0.25,
        "repeats": 32,
        "clusters": 4,
    }


def _rounds(strategy, cycles):
    samples = int(strategy.partition("@")[2] or 16)
    return {"samples": samples, "count": 16 // samples, "cycles": cycles, "is_drawn": True}


def _ledger(is_coarse):
    size_bytes = (1 if is_coarse else 4) << 20
    return tuple({"memory": "DRAM", "cause": cause, "bytes": size_bytes} for cause in CAUSES)


def _stretch(arrays):
    return {
        "start_cycle": int(arrays["under_start"][0]),
        "end_cycle": int(arrays["under_end"][0]),
        "moved": "weights arrive",
        "memory_layers": "9",
        "compute_layers": "4-6",
    }


def _overlap(is_coarse):
    share = 0.3 if is_coarse else 0.0
    return {
        "layers_in_flight": {
            "share": share,
            "mean": 0.9 + share,
            "histogram": {"0": 0.1, "1": 0.9 - share, "2": share},
        },
        "memory_under_compute": 0.28 if is_coarse else 0.0,
        "vector_under_matrix": 0.02 if is_coarse else 0.0,
        "within_core": 0.17 if is_coarse else 0.0,
    }


def _steps(bound_s, latency_s, is_coarse):
    """Steps from the lower bound: A is bound by its matrix engines, B by DRAM."""
    rest = latency_s - bound_s
    if is_coarse:
        return {
            "resource": "dram",
            "steps": {"bound": bound_s, "spill": 0.25 * rest, "dram_idle": 0.75 * rest},
        }
    steps = {"unfilled": 0.25, "data_dram": 0.5, "data_gb": 0.125, "barrier": 0.125}
    return {
        "resource": "matrix",
        "steps": {"bound": bound_s, **{step: part * rest for step, part in steps.items()}},
    }


def _path(latency_s, is_coarse):
    dram = 0.3 if is_coarse else 0.9
    keys = ("matrix", "vector", "move", "dram", "gb", "lb", "link", "latency", "launch", "barrier")
    seconds = dict.fromkeys(keys, 0.0)
    return {**seconds, "matrix": (1 - dram) * latency_s, "dram": dram * latency_s}


def _layer(index, layers_per_group, cycles, is_coarse):
    seconds = cycles * 1e-9
    times = 2 if is_coarse else 1
    return {
        "index": index,
        "name": f"layer{index}",
        "op_types": "Conv+Relu+Add",
        "group": f"g{index // layers_per_group + 1}",
        "lb_peak_bytes": times * (100_000 + 40_000 * (index % 5)),
        "lb_mean_bytes": times * (60_000 + 30_000 * (index % 5)),
        "gb_peak_bytes": times * 2**20 * (1 + index % 4),
        "start_s": seconds * index,
        "end_s": seconds * (index + 1),
        "macs": times * 10**6,
        "model_macs": times * 10**6,
        "dram_bytes": 2**20 // times,
        "gb_bytes": 2**21 * times,
        "matrix_cycles": 100 * times,
        "vector_cycles": 50 * times,
        "move_cycles": 70 * times,
        "dma_cycles": 20 * times,
        "matrix_utilization": 0.4 * times,
        "window_s": seconds,
    }


def _group(index, layers, layers_per_group):
    inside = min(layers_per_group, layers - index * layers_per_group)
    return {
        "index": index,
        "name": f"g{index + 1}",
        "layers": inside,
        "ops": inside * OPS_PER_LAYER,
        "split_axis": 0,
        "along": "axis 0",
        "pieces": 8 if layers_per_group > 1 else 1,
        "covered_ops": inside * OPS_PER_LAYER,
        "peak_bytes": 3 << 20,
        "why": "rule 2: straight",
        "why_not": "the next one wants 4 pieces",
        "outputs": f"t{(index * layers_per_group + inside) * OPS_PER_LAYER}",
        "binding": "axis 0 in 2: 2 cores",
        "scope": "GB",
    }


def _stage(index, layers):
    first = index * LAYERS_PER_STAGE
    return {
        "index": index,
        "title": f"stage {index + 1}",
        "first_layer": first,
        "last_layer": min(layers, first + LAYERS_PER_STAGE) - 1,
    }


def _listed(row):
    """A row of the table of groups as the contract lists it."""
    keys = ("name", "layers", "split_axis", "pieces", "covered_ops", "peak_bytes")
    return {**{key: row[key] for key in keys}, "ops": ["op"] * row["ops"]}


def _node(index, layers_per_group):
    layer = index // OPS_PER_LAYER
    return {
        "index": index,
        "op": f"op{index}",
        "op_type": OP_TYPES[index % OPS_PER_LAYER],
        "origin": index,
        "layer": layer,
        "group": layer // layers_per_group,
        "rank": index,
        "part_rank": 0,
        "x_fine": 0.0,
        "x_coarse": 0.0,
        "output_shapes": [[2, 64, 56, 56]],
        "weight_shapes": [[64, 64, 3, 3]],
        "attributes": "kernel_shape 3, 3",
    }


def _edge(target):
    return {
        "source": target - 1,
        "target": target,
        "tensor": f"t{target}",
        "shape": "2x64x56x56",
        "bytes": 2 * 64 * 56 * 56 * 2,
    }


def _stalls(is_coarse):
    """Shares of each kind's time: B's engines are busier and wait for fewer data."""
    more = 0.05 if is_coarse else 0.0
    rest = {"address": 0.05, "channel": 0.1, "barrier": 0.05, "idle": 0}
    busy = {"matrix": 0.5, "vector": 0.2, "move": 0.3, "dma": 0.7}
    return {
        kind: {"busy": share + more, "data": 0.8 - share - more, **rest}
        for kind, share in busy.items()
    }


def _contract(strategy, cycles, tables, instructions):
    cluster_batch = int(strategy.partition("@")[2] or 16)
    is_coarse = _is_coarse(strategy)
    rounds = 16 // cluster_batch
    return {
        "schema": 1,
        "model": "synthetic",
        "profile": "stcp920",
        "strategy": strategy,
        "options": {},
        "dtype": "fp16",
        "batch": 64,
        "cluster_batch": cluster_batch,
        "rounds": rounds,
        "notes": [],
        "assumptions": [],
        "version": "0",
        "program_sha256": "0" * 64,
        "latency_s": cycles * rounds * 1e-9,
        "throughput_per_s": 64 / (cycles * rounds * 1e-9),
        "cycles": cycles * rounds,
        "lower_bound_s": cycles * 1e-10,
        "plan_bound_s": cycles * 2e-10,
        "program_critical_path_s": cycles * 3e-10,
        "gap": 10.0 * rounds,
        "bound_steps": _steps(cycles * 1e-10, cycles * rounds * 1e-9, is_coarse),
        "critical_path": _path(cycles * rounds * 1e-9, is_coarse),
        "kernels": len(tables["groups"]),
        "instructions": instructions,
        "sub_graphs_fine": len(tables["layers"]),
        "groups": [_listed(row) for row in tables["groups"]],
        "order": [],
        "dram_read_bytes": (1 if is_coarse else 4) << 28,
        "dram_write_bytes": (1 if is_coarse else 4) << 27,
        "gb_read_bytes": (2 if is_coarse else 1) << 28,
        "gb_write_bytes": (2 if is_coarse else 1) << 28,
        "core_to_core_bytes": 0,
        "compulsory_dram_bytes": 1 << 26,
        "dram_ledger": {c: (1 if is_coarse else 4) << 20 for c in CAUSES},
        "macs": 10**9,
        "halo_macs": 10**7 if is_coarse else 0,
        "utilization": {kind: shares["busy"] for kind, shares in _stalls(is_coarse).items()},
        "mac_utilization": 0.6 if is_coarse else 0.3,
        "stalls": _stalls(is_coarse),
        "cross_layer_overlap": 0.17 if is_coarse else 0.0,
        "overlap": _overlap(is_coarse),
        "lb": {"capacity_bytes": 1_310_720, "peak_bytes": 1_200_000 if is_coarse else 900_000},
        "gb": {"capacity_bytes": 8 << 20, "peak_bytes": (6 if is_coarse else 4) << 20},
        "layers": [],
        "verify": {"ran": False},
        "steps": [{"name": "import", "seconds": 0.2}, {"name": "simulate", "seconds": 0.4}],
        "schedule_seconds": 0.6,
    }
