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
"""Bytes; the widest element sent is a float64."""
NARROW: Mapping[str, str] = {"<i4": "<i2", "<u4": "<u2"}
"""What an array is sent as where its values fit, which they mostly do."""
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


def cycles_column(numbers: Iterable[int]) -> Array:
    """Cycles of one column of a table, as float64: exact up to 2^53."""
    return np.fromiter(numbers, dtype="<f8")


def narrowed(values: Array, kind: str) -> Array:
    """Narrower than `kind` where all values fit, wider (exact up to 2^53) where they do not."""
    numbers = values.astype(np.int64)
    low, high = numbers.min(initial=0), numbers.max(initial=0)
    for narrow in (NARROW.get(kind, kind), kind):
        limits = np.iinfo(narrow)
        if low >= limits.min and high <= limits.max:
            return numbers.astype(narrow)
    return numbers.astype("<f8")
