"""Bytes -> text that stands in the document: gzip as base64, unpacked by document.js."""

from __future__ import annotations

import gzip
from base64 import b64encode
from functools import cache
from pathlib import Path

import streamlit
from plotly.offline import get_plotlyjs

SHOWN_SINCE = 0.0
"""Nothing replaces a buffer in a document: it needs no time (`sources.stamped`)."""


def packed(data: bytes) -> str:
    """`data` by gzip as base64; gzip writes no time, so that the same bytes give the same text."""
    return b64encode(gzip.compress(data, mtime=0)).decode("ascii")


@cache
def packed_font() -> str:
    """The app's typeface as base64, from Streamlit's own files; empty where they are others.

    Source Sans is under the SIL Open Font License, which lets documents contain it.
    """
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    found = sorted(folder.glob("SourceSansVF-Upright*.woff2"))
    return b64encode(found[0].read_bytes()).decode("ascii") if found else ""


@cache
def packed_plotly() -> str:
    """Plotly's script, packed once per process: a third of its size."""
    return packed(get_plotlyjs().encode())
