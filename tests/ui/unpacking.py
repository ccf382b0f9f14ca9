"""The canvases' buffers, read as the browser reads them."""

from __future__ import annotations

import json

import numpy as np

from graphturbo_core.report.canvases.canvas import Array


def unpack(data: bytes) -> tuple[dict[str, object], dict[str, Array]]:
    """Header and arrays of a buffer that `pack` wrote."""
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    arrays = {
        name: np.frombuffer(data, dtype=kind, count=count, offset=end + offset)
        for name, kind, offset, count in header["arrays"]
    }
    return header, arrays
