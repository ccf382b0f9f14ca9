"""Report -> bytes of the address map: occupancy over time and every listed buffer (canvas.pack)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from graphturbo_core.report.canvases.canvas import Array, Show, pack, seconds_per_cycle, sequence
from graphturbo_core.report.contract import MEMORY_KEYS
from graphturbo_core.report.report import Report

TENSOR_KINDS = ("activation", "weight", "input", "output")
"""Kinds of a buffer's tensor; sent as the place in this list."""
OCCUPANCY = ("lb_cycle", "lb_bytes", "gb_cycle", "gb_bytes")
OF_OPS: tuple[Literal["group", "layer", "origin"], ...] = ("group", "layer", "origin")
"""Columns of the op table that are sent too, one entry per op."""
COLUMNS = ("from", "to", "offset", "size_bytes", "tensor", "op", "before", "after", "lo", "hi")
"""Suffixes of the report's arrays `buffer_*`; boxes row by row, `columns` of the header per row."""
INTEGERS = ("<i2", "<i4")
"""Types of whole numbers, the first that fits; else float64, exact up to 2^53."""


def address_buffer(
    *reports: Report, show: Show = str, extra: Mapping[str, object] | None = None
) -> bytes:
    """Buffers and occupancy of one or two runs; names of run r's arrays start with `r.`.

    `show` is applied to every name from a model or profile; `extra` is added to the header.
    """
    runs, arrays = [], {}
    for number, report in enumerate(reports):
        runs.append(_header(report, show))
        arrays.update({f"{number}.{name}": array for name, array in _arrays(report).items()})
    return pack({"runs": runs, "kinds": TENSOR_KINDS, **(extra or {})}, arrays)


def _header(report: Report, show: Show) -> dict[str, object]:
    contract, tables = report.contract, report.tables
    capacities = {memory: contract[memory]["capacity_bytes"] for memory in MEMORY_KEYS}
    return {
        "title": show(contract["strategy"]),
        "cycles": tables["round"][0]["cycles"],
        "sequence": sequence(report),
        "seconds_per_cycle": seconds_per_cycle(report),
        "capacities": capacities,
        "spaces": _spaces(report),
        "columns": report.arrays["buffer_lo"].shape[1],
        "tensors": [show(row["tensor"]) for row in tables["tensors"]],
        "ops": [show(row["op"]) for row in tables["graph_nodes"]],
        "layers": [show(row["name"]) for row in tables["layers"]],
        "groups": [show(row["name"]) for row in tables["groups"]],
    }


def _spaces(report: Report) -> list[dict[str, object]]:
    """Spaces, each with the range `from` to `to` of its buffers' rows."""
    ends = np.cumsum([row["listed"] for row in report.tables["spaces"]]).tolist()
    return [
        {**row, "from": end - row["listed"], "to": end}
        for row, end in zip(report.tables["spaces"], ends, strict=True)
    ]


def _arrays(report: Report) -> dict[str, Array]:
    arrays = report.arrays
    nodes, tensors = report.tables["graph_nodes"], report.tables["tensors"]
    kinds = [TENSOR_KINDS.index(row["kind"]) for row in tensors]
    own = {name: arrays[f"buffer_{name}"].ravel() for name in COLUMNS}
    own |= {name: arrays[name] for name in OCCUPANCY}
    own |= {f"op_{key}": _numbers([row[key] for row in nodes]) for key in OF_OPS}
    own |= {"kind": _numbers(kinds), "axes": _numbers([row["axes"] for row in tensors])}
    return {name: _sent(values) for name, values in own.items()}


def _numbers(values: Sequence[int]) -> Array:
    return np.array(values, dtype=np.int64)


def _sent(values: Array) -> Array:
    numbers = values.astype(np.int64)
    for kind in INTEGERS:
        limits = np.iinfo(kind)
        if numbers.min(initial=0) >= limits.min and numbers.max(initial=0) <= limits.max:
            return numbers.astype(kind)
    return numbers.astype("<f8")
