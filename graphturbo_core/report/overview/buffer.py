"""Reports -> the buffer of the first screen: a header of names and figures, and raw arrays.

Times are cycles of the round whose instructions a report has; `sequence` lists all rounds of the
cluster. Layers and sub-graphs count from 0. Arrays of run number r carry the prefix `r.`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from graphturbo_core.report.canvases.canvas import (
    Array,
    Show,
    column,
    cycles_column,
    narrowed,
    pack,
    seconds_per_cycle,
    sequence,
)
from graphturbo_core.report.overview.axis_names import AxisNames
from graphturbo_core.report.overview.blocks import blocks
from graphturbo_core.report.overview.group_names import names_of_groups
from graphturbo_core.report.overview.headline import headline
from graphturbo_core.report.overview.hues import (
    HUES,
    Hues,
    hues_of,
    layers_of_groups,
    titles_of_groups,
)
from graphturbo_core.report.overview.lens import callout, first_window, focus_of
from graphturbo_core.report.overview.shared_layers import layer_shares
from graphturbo_core.report.overview.shares import cycles_by_hue, seconds_by_layer
from graphturbo_core.report.report import Report
from graphturbo_core.report.sample_noun import sample_noun
from graphturbo_core.report.verdict.at_work import (
    ENGINE_KINDS,
    busy_at_work,
    idle_clusters,
    share_at_work,
)
from graphturbo_core.report.verdict.equal_batches import strategy_run
from graphturbo_core.report.verdict.measures import dram_bytes

NO_LAYER = 0xFFFF
"""Layer of an instruction that belongs to none."""
FULL_LINK = 255
"""What stands for the whole bandwidth of the DRAM link in `link`."""


def overview_buffer(
    *reports: Report, show: Show = str, extra: Mapping[str, object] | None = None
) -> bytes:
    """The first screen of one run or two; `show` passes over names of models and profiles.

    The last run is B: its sub-graphs have the hues.
    """
    a, b = reports[0], reports[-1]
    hues = hues_of(a, b)
    focus = focus_of(a, b, hues)
    titles = titles_of_groups(b, hues)
    names = names_of_groups(*reports)
    runs, arrays = [], {}
    for number, report in enumerate(reports):
        header, own = _run(report, hues, show)
        header["groups"] = [
            {**group, "called": show(name)}
            for group, name in zip(
                _groups(report, titles if report is b else (), show), names[number], strict=True
            )
        ]
        runs.append(header)
        arrays.update({f"{number}.{name}": array for name, array in own.items()})
    header = {
        "model": show(b.contract["model"]),
        "profile": show(b.contract["profile"]),
        "batch": b.contract["batch"],
        "noun": sample_noun(b),
        "chip": _chip(b),
        "bound_s": b.contract["lower_bound_s"],
        "headline": show(headline(a, b)) if len(reports) > 1 else "",
        "hues": {
            "meaning": hues.meaning,
            "titles": [show(title) for title in hues.titles],
            "of_layer": list(hues.of_layer),
            "of_group": list(hues.of_group),
        },
        "layers": [
            {"name": show(row["name"]), "ops": show(row["op_types"])} for row in b.tables["layers"]
        ],
        "stages": [
            {"title": show(row["title"]), "first": row["first_layer"], "last": row["last_layer"]}
            for row in b.tables["stages"]
        ],
        "blocks": [
            {"title": show(title), "first": first, "last": last}
            for title, first, last in blocks([row["name"] for row in b.tables["layers"]])
        ],
        "ops": op_marks(b),
        "edges": layer_edges(b),
        "callout": callout(b),
        "focus": focus,
        "window": first_window(a, b, hues, focus),
        "runs": runs,
        **(extra or {}),
    }
    return pack(header, arrays)


def _chip(report: Report) -> dict[str, object]:
    """The numbers of the chip that the screen shows."""
    numbers = {row["key"]: row["value"] for row in report.tables["chip"]}
    contract = report.contract
    return {
        "clusters": numbers.get("chip.clusters", 1),
        "cores": numbers.get("cluster.cores", 1),
        "lb_bytes": contract["lb"]["capacity_bytes"],
        "lb_data_bytes": numbers.get("core.lb_data_bytes", 0),
        "gb_bytes": contract["gb"]["capacity_bytes"],
        "dram_bytes_per_s": report.tables["roofs"][0]["dram_bytes_per_s"],
    }


def op_marks(report: Report) -> list[list[object]]:
    """[mark, layer] of every op.

    `square`: the first op of a layer with multiply-accumulates; `plus`: it reads two or more
    activations; `diamond`: its result is smaller than what it reads; `dot`: all others.
    """
    nodes, macs = report.tables["graph_nodes"], [row["macs"] for row in report.tables["layers"]]
    read: list[list[int]] = [[] for _ in nodes]
    made: dict[int, int] = {}
    for edge in report.tables["graph_edges"]:
        read[edge["target"]].append(edge["bytes"])
        made[edge["source"]] = edge["bytes"]
    seen: set[int] = set()
    found: list[list[object]] = []
    for row in nodes:
        layer, sizes = row["layer"], read[row["index"]]
        is_first = layer not in seen
        seen.add(layer)
        if is_first and macs[layer]:
            mark = "square"
        elif len(sizes) > 1:
            mark = "plus"
        else:
            is_smaller = bool(sizes) and made.get(row["index"], sizes[0]) < sizes[0]
            mark = "diamond" if is_smaller else "dot"
        found.append([mark, layer])
    return found


def layer_edges(report: Report) -> list[list[int]]:
    """[from, to] of the layers that hand a tensor on, each pair once."""
    layer_of = [row["layer"] for row in report.tables["graph_nodes"]]
    pairs = {
        (layer_of[row["source"]], layer_of[row["target"]])
        for row in report.tables["graph_edges"]
        if row["source"] >= 0
    }
    return [list(pair) for pair in sorted(pairs) if pair[0] != pair[1]]


def result_figures(report: Report, show: Show) -> dict[str, object]:
    """A run's row beside others: strategy, seconds, samples per second, bytes, kernels, share."""
    contract = report.contract
    return {
        "strategy": show(strategy_run(report)),
        "latency_s": contract["latency_s"],
        "per_s": contract["throughput_per_s"],
        "dram_bytes": dram_bytes(report.contract),
        "kernels": contract["kernels"] * contract["rounds"],
        "bound_share": 1 / contract["gap"] if contract["gap"] else 0.0,
    }


def _run(report: Report, hues: Hues, show: Show) -> tuple[dict[str, object], dict[str, Array]]:
    contract = report.contract
    (whole,) = report.tables["round"]
    overlap = contract["overlap"]["layers_in_flight"]
    names = AxisNames(report, sample_noun(report))
    header: dict[str, object] = {
        **result_figures(report, show),
        "seconds_per_cycle": seconds_per_cycle(report),
        "cycles": whole["cycles"],
        "sequence": sequence(report),
        "cluster_batch": contract["cluster_batch"],
        "asked": show(contract["strategy"]),
        "busy": busy_at_work(report),
        "idle_clusters": idle_clusters(report),
        "link_busy": _link_busy(report),
        "in_flight": {"mean": overlap["mean"], "share": overlap["share"]},
        "engines": _engines(report),
        "hue_cycles": cycles_by_hue(report, hues.of_layer, HUES + 1),
        "reasons": [dict(row) for row in report.tables["reasons"]],
        "raised": [dict(row) for row in report.tables["raised"]],
        "next_best": [
            {**row, "along": show(row["along"]), "cuts": names.cuts(row, row["group"])}
            for row in report.tables["next_best"]
        ],
    }
    return header, {**_instructions(report), **kernel_columns(report), **_layers(report)}


def _link_busy(report: Report) -> float:
    """Share of the latency that DRAM's bandwidth of these clusters would need for the bytes."""
    (whole,), (roof,) = report.tables["round"], report.tables["roofs"]
    per_s = roof["dram_bytes_per_s"] * whole["clusters"] * share_at_work(report)
    needed_s = dram_bytes(report.contract) / per_s if per_s else 0.0
    return min(1.0, needed_s / report.contract["latency_s"])


def _engines(report: Report) -> dict[str, int]:
    """Engines per kind, those counted that one row stands for."""
    found = dict.fromkeys(ENGINE_KINDS, 0)
    for row in report.tables["engines"]:
        found[row["kind"]] += row["cores"]
    return found


def _groups(report: Report, titles: Sequence[str], show: Show) -> list[dict[str, object]]:
    """What the screen says of each sub-graph; B's have titles."""
    peaks = {
        (row["index"], row["axis"]): row["peak_bytes"]
        for row in report.tables["splits"]
        if row["part"] == "sub-graph" and row["taken"]
    }
    raised = {row["group"]: row for row in report.tables["raised"]}
    layers, via_dram = layers_of_groups(report), _via_dram(report)
    shares = layer_shares(report, layers)
    names = AxisNames(report, sample_noun(report))
    return [
        {
            "name": show(row["name"]),
            "title": show(titles[row["index"]]) if titles else "",
            "layers": list(layers[row["index"]]),
            "shares": shares[row["index"]],
            "ops": row["ops"],
            "pieces": row["pieces"],
            "along": row["along"],
            "cuts": names.cuts(row, row["index"]),
            "whole_bytes": row["peak_bytes"],
            "piece_bytes": raised[row["index"]]["piece_bytes"]
            if row["index"] in raised
            else peaks.get((row["index"], row["split_axis"]), 0),
            "is_via_dram": row["index"] in via_dram,
        }
        for row in report.tables["groups"]
    ]


def _via_dram(report: Report) -> set[int]:
    """Sub-graphs that are not split, though too large for all LBs, with activations over DRAM."""
    arrays, groups = report.arrays, report.tables["groups"]
    number = {row["name"]: row["index"] for row in groups}
    of_kernel = np.array([number[row["group"]] for row in report.tables["kernels"]], np.int64)
    is_own = np.array([row["kind"] == "activation" for row in report.tables["tensors"]] or [False])
    rows = arrays["booked_instruction"][arrays["booked_memory"] == 0].astype(np.int64)
    moved = arrays["moved_tensor"][rows].astype(np.int64)
    kernels = arrays["kernel"][rows].astype(np.int64)[(moved >= 0) & is_own[np.maximum(moved, 0)]]
    is_known = (kernels >= 0) & (kernels < len(of_kernel))
    found = set(of_kernel[np.unique(kernels[is_known])].tolist())
    chip = _chip(report)
    room = report.contract["lb"]["capacity_bytes"] * int(str(chip["cores"]))
    return {
        row["index"]
        for row in groups
        if row["pieces"] == 1 and row["peak_bytes"] > room and row["index"] in found
    }


def _instructions(report: Report) -> dict[str, Array]:
    """Instructions in order of start, and layers in flight as a step function."""
    arrays = report.arrays
    order = np.argsort(arrays["start"], kind="stable")
    kinds = np.array(
        [ENGINE_KINDS.index(row["kind"]) for row in report.tables["engines"]], np.uint8
    )
    hold, busy = (arrays[name].astype(np.int64) for name in ("hold", "busy"))
    load = busy / np.maximum(hold, 1)
    layer = arrays["layer"].astype(np.int64)
    found: dict[str, Array] = {
        "start": narrowed(arrays["start"][order], "<u4"),
        "hold": narrowed(hold[order], "<u4"),
        "kind": kinds[arrays["engine"]][order],
        "layer": np.where(layer < 0, NO_LAYER, layer)[order].astype("<u2"),
        "link": _link(report)[order],
        "flight_cycle": narrowed(arrays["flight_cycle"], "<u4"),
        "flight_layers": narrowed(arrays["flight_layers"], "<u4"),
    }
    if not np.array_equal(busy, hold):
        found["load"] = load[order].astype("<f4")
    return found


def _link(report: Report) -> Array:
    """Share of the DRAM link that each instruction fills while it holds its engine, of 255."""
    arrays = report.arrays
    size = np.zeros(len(arrays["start"]), np.int64)
    is_dram = arrays["booked_memory"] == 0
    np.add.at(
        size,
        arrays["booked_instruction"][is_dram].astype(np.int64),
        arrays["booked_bytes"][is_dram].astype(np.int64),
    )
    held_s = arrays["hold"].astype(np.float64) * seconds_per_cycle(report)
    full = held_s * report.tables["roofs"][0]["dram_bytes_per_s"]
    share = np.divide(size, full, out=np.zeros(len(size)), where=full > 0)
    parts: Array = np.minimum(np.ceil(share * FULL_LINK), FULL_LINK).astype(np.uint8)
    return parts


def kernel_columns(report: Report) -> dict[str, Array]:
    """Kernels in the order in which they run, each with the part of its sub-graph."""
    number = {row["name"]: row["index"] for row in report.tables["groups"]}
    kernels, pieces = report.tables["kernels"], report.tables["pieces"]
    return {
        "kernel_from": cycles_column(row["start_cycle"] for row in kernels),
        "kernel_to": cycles_column(row["end_cycle"] for row in kernels),
        "kernel_group": column(number[row["group"]] for row in kernels),
        "kernel_cluster": column(row["cluster"] for row in pieces),
        "piece_axis": column(row["axis"] for row in pieces),
        "piece_first": column(row["first"] for row in pieces),
        "piece_end": column(row["end"] for row in pieces),
        "piece_extent": column(row["extent"] for row in pieces),
        "second_axis": column(row["second_axis"] for row in pieces),
        "second_first": column(row["second_first"] for row in pieces),
        "second_end": column(row["second_end"] for row in pieces),
        "second_extent": column(row["second_extent"] for row in pieces),
    }


def _layers(report: Report) -> dict[str, Array]:
    """Memory, bytes and cycles of each layer, in one round on one cluster; its time of the run.

    And the layer of each of the run's own ops: strategies may decompose ops.
    """
    rows = report.tables["layers"]
    values = {
        "lb_peak_bytes": [row["lb_peak_bytes"] for row in rows],
        "lb_mean_bytes": [row["lb_mean_bytes"] for row in rows],
        "gb_peak_bytes": [row["gb_peak_bytes"] for row in rows],
        "dram_bytes": [row["dram_bytes"] for row in rows],
        "matrix_cycles": [row["matrix_cycles"] for row in rows],
        "run_s": seconds_by_layer(report),
    }
    found: dict[str, Array] = {
        f"layer_{name}": np.array(column, "<f8") for name, column in values.items()
    }
    found["op_layer"] = np.array([row["layer"] for row in report.tables["graph_nodes"]], "<i4")
    return found
