"""Bytes -> text that stands in the document: gzip as base64, unpacked by document.js."""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache

from plotly.offline import get_plotlyjs

SHOWN_SINCE = 0.0
"""Nothing replaces a buffer in a document: it needs no time (`sources.stamped`)."""


def packed(data: bytes) -> str:
    """`data` by gzip as base64; gzip writes no time, so that the same bytes give the same text."""
    return b64encode(gzip.compress(data, mtime=0)).decode("ascii")


@cache
def packed_plotly() -> str:
    """Plotly's script, packed once per process: a third of its size."""
    return packed(get_plotlyjs().encode())
