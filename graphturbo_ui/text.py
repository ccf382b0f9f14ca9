"""Names from outside -> text that is safe to show: the one way every name takes to the screen."""

from __future__ import annotations

import html
import re
import unicodedata
from enum import Enum

from graphturbo_core.limits import DEFAULT_LIMITS

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that draw nothing or reorder what is drawn (bidi overrides are in Cf)."""
REPLACEMENT = "�"
ELLIPSIS = "…"
MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:@^=&\"'/])")
SHORTCODE_PAIR = re.compile(r":([\w+/-]+):")
RATIO_SIGN = "\u2236"
"""Looks like a colon; Streamlit turns `:name:` into an icon even where the colons are escaped."""


class Sink(Enum):
    """Where a text is shown, and so what must be escaped in it."""

    PLAIN = "plain"
    """Canvas text, `textContent`, table cells: nothing is interpreted."""
    MARKDOWN = "markdown"
    """Streamlit's Markdown, with its colours, icons, links and formulas."""
    HTML = "html"
    """Plotly's labels, which read a subset of HTML."""


def safe_text(
    name: object, sink: Sink = Sink.PLAIN, max_length: int = DEFAULT_LIMITS.max_name_length
) -> str:
    """`name` on one line, of at most `max_length` characters, that says what it says.

    Control, format and direction-changing characters become the replacement sign; a text that is
    too long keeps its beginning and its end, where op names differ.
    """
    line = re.sub(r"\s+", " ", str(name)).strip()
    seen = line
    if not line.isprintable():  # it is, nearly always: no sign of the hidden categories
        seen = "".join(
            REPLACEMENT if unicodedata.category(each) in HIDDEN_CATEGORIES else each
            for each in line
        )
    if len(seen) > max_length:
        tail = max_length // 3
        seen = seen[: max_length - tail - 1] + ELLIPSIS + seen[-tail:]
    if sink is Sink.MARKDOWN:
        seen = SHORTCODE_PAIR.sub(rf"{RATIO_SIGN}\1{RATIO_SIGN}", seen)
        return MARKDOWN_SIGNS.sub(r"\\\1", seen)
    return html.escape(seen) if sink is Sink.HTML else seen
