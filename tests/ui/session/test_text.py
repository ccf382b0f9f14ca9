"""safe_text: whatever a name says is shown as it is, and nothing of it is interpreted."""

from __future__ import annotations

import pytest

from graphturbo_ui.text import Sink, safe_text


def test_an_ordinary_name_is_unchanged():
    assert safe_text("layer1/conv_2.weight") == "layer1/conv_2.weight"


@pytest.mark.parametrize(
    ("sink", "shown"),
    [
        (Sink.PLAIN, "<b>*x*</b>"),
        (Sink.HTML, "&lt;b&gt;*x*&lt;/b&gt;"),
        (Sink.MARKDOWN, r"\<b\>\*x\*\<\/b\>"),
    ],
)
def test_markup_is_escaped_for_what_reads_it(sink: Sink, shown: str):
    assert safe_text("<b>*x*</b>", sink) == shown


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\ufeff"])
def test_what_cannot_be_seen_or_turns_the_text_around_becomes_visible(hidden: str):
    assert safe_text(f"a{hidden}b") == "a\ufffdb"


def test_a_name_is_one_line():
    assert safe_text(" a\n\tb\r\nc ") == "a b c"


def test_a_long_name_keeps_both_ends():
    shown = safe_text("a" * 300 + "the end", max_length=30)
    assert len(shown) == 30
    assert shown.startswith("aaaa")
    assert shown.endswith("the end")


@pytest.mark.parametrize("code", [":smile:", ":material/home:", ":streamlit:"])
def test_shortcodes_lose_the_colons_that_would_draw_an_icon(code: str):
    assert ":" not in safe_text(code, Sink.MARKDOWN)
    assert safe_text(code) == code
