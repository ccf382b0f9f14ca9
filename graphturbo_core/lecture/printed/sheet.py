"""Title and parts -> an HTML page that prints on A4."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

STYLE = """
@page { size: A4; margin: 10mm; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 188mm; padding: 0; color: #1f2328; background: #fff;
  font: 11px/1.3 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 19px; margin: 0 0 2mm; }
h2 { font-size: 12px; margin: 0 0 1mm; }
p { margin: 0 0 1.5mm; }
.cards { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5mm 6mm; }
.card { border-top: 1px solid #8c959f; padding-top: 1.5mm; break-inside: avoid; }
.card svg { max-width: 100%; height: auto; display: block; }
.home { font-weight: 600; }
ol { padding-left: 7mm; margin: 0; }
li { margin: 0 0 4mm; }
.tasks { font-size: 13px; }
.tasks li { margin-bottom: 10mm; line-height: 1.9; }
.caption { color: #57606a; font-size: 11px; margin: 0 0 0.5mm; }
@media screen { body { padding: 6mm 0; } }
.sheet + .sheet { break-before: page; padding-top: 4mm; }
svg text { font-family: system-ui, "DejaVu Sans", sans-serif; }
"""


def page(title: str, sheets: Iterable[str], command: str) -> str:
    """A whole page; each sheet begins a page of paper. It loads nothing."""
    body = "\n".join(f'<section class="sheet">\n{sheet}\n</section>' for sheet in sheets)
    return (
        "<!doctype html>\n"
        f"<!-- Written by {escape(command)}; a test compares. -->\n"
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def paragraph(content: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    named = f' class="{kind}"' if kind else ""
    return f"<p{named}>{escape(content)}</p>"
