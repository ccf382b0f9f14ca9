"""Report -> bytes that the canvases draw: a JSON header, then raw arrays.

Layout of a buffer: uint32 header length (little endian), the header (UTF-8 JSON, padded with spaces
to a multiple of 8 bytes), then the arrays, each padded to 8 bytes. The header's `arrays` lists
name, numpy type, byte offset from the end of the header, and length. Names of run r's arrays start
with `r.`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.report.report import Report

ALIGNMENT = 8
"""Alignment of arrays in bytes; the widest element is a float64."""
Array = NDArray[np.generic]
Show = Callable[[str], str]


def pack(header: Mapping[str, object], arrays: Mapping[str, Array]) -> bytes:
    """One buffer; adds `arrays` and `digest` (of header and arrays) to the header."""
    listed, chunks, offset = [], [], 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        listed.append([name, array.dtype.str, offset, len(array)])
        chunks.append(raw + b"\0" * (-len(raw) % ALIGNMENT))
        offset += len(chunks[-1])
    body = b"".join(chunks)
    text = json.dumps({**header, "arrays": listed}, allow_nan=False)
    digest = hashlib.sha256(text.encode() + body).hexdigest()[:16]
    text = json.dumps({**header, "arrays": listed, "digest": digest}, allow_nan=False)
    front = text.encode()
    front += b" " * (-(len(front) + 4) % ALIGNMENT)
    return len(front).to_bytes(4, "little") + front + body


def unpack(data: bytes) -> tuple[dict[str, object], dict[str, Array]]:
    """Header and arrays of a buffer from `pack` (the browser's reader, in Python)."""
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    arrays = {
        name: np.frombuffer(data, dtype=kind, count=count, offset=end + offset)
        for name, kind, offset, count in header["arrays"]
    }
    return header, arrays


def seconds_per_cycle(report: Report) -> float:
    """Seconds per cycle: the contract's latency over its cycles; 0 without cycles."""
    cycles = report.contract["cycles"]
    return report.contract["latency_s"] / cycles if cycles else 0.0


def sequence(report: Report) -> list[dict[str, object]]:
    """Rounds of the drawn cluster in order: count, cycles and samples of each size.

    `is_drawn`: the report has its instructions and buffers; of the others it has only the cycles.
    """
    return [dict(row) for row in report.tables["rounds"]]


def column(numbers: Iterable[int]) -> Array:
    """Whole numbers of one column of a table, as int32."""
    return np.fromiter(numbers, dtype="<i4")
