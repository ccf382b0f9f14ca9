"""Commands that the site's pages show, in the order of each page."""

from __future__ import annotations

import re

from benchmarks.site.places import ROOT, sources

BLOCK = re.compile(r"^ *```(?:sh|bash)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"\s+# .*$")
PLACEHOLDER = re.compile(r"\b(MODEL|FILE|FOLDER)\b|\bdiff A B\b")
OURS = "python -m graphturbo_core "


def commands_of(text: str) -> tuple[str, ...]:
    """The commands in a page's blocks of shell text, comments left out."""
    lines = (line.strip() for block in BLOCK.findall(text) for line in block.splitlines())
    return tuple(COMMENT.sub("", line) for line in lines if line)


def shown() -> dict[str, tuple[str, ...]]:
    """Source of a page -> its commands; CONTRIBUTING.md's are followed by a test of their own."""
    found = {name: commands_of((ROOT / name).read_text(encoding="utf-8")) for name in sources()}
    return {name: commands for name, commands in found.items() if commands}


def is_runnable(command: str) -> bool:
    """Whether a reader can run it as it is: it is ours, or shell text between ours."""
    return not PLACEHOLDER.search(command)
