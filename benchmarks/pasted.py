"""Outputs of commands in pages, written by these commands: `python -m benchmarks.pasted [--check]`.

A block of text follows a comment with its recipe:

    <!-- output of: COMMAND | from: TEXT | keep: REGEX -->

`from`: the block starts at the first line that starts with TEXT, and ends before the next empty
line or after the table. `keep`: only the rows of a table that match the expression.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "command-line.md",
    ROOT / "docs" / "verification.md",
    ROOT / "docs" / "tour.md",
    ROOT / "docs" / "concepts" / "bounds.md",
    ROOT / "docs" / "concepts" / "pieces.md",
    ROOT / "docs" / "concepts" / "sub-graphs.md",
)
BLOCK = re.compile(r"<!-- output of: (.+?) -->\n```text\n(.*?)```", re.DOTALL)
WIDTH = 80
ROW, TABLE_END = "│", "└"
MASKS = ((re.compile(r"largest\s+error \S+"), "largest error …"),)
"""Texts that may differ between machines: errors of float arithmetic depend on summation order."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the blocks, or with --check lists those that differ; returns 1 where one does."""
    parser = argparse.ArgumentParser(description="Outputs that pages show")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    is_check = parser.parse_args(arguments).check
    differing = 0
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        made = BLOCK.sub(lambda found: _block(found[1], found[2]), text)
        differing += made != text
        if is_check and made != text:
            print(f"{path.name}: an output differs from what its command prints", file=sys.stderr)
        elif made != text:
            path.write_text(made, encoding="utf-8")
    return int(is_check and differing > 0)


def _block(recipe: str, shown: str) -> str:
    """The comment and its block; the block is unchanged where only masked parts differ."""
    made = output_of(recipe)
    kept = shown if masked(made) == masked(shown) else made
    return f"<!-- output of: {recipe} -->\n```text\n{kept}```"


def output_of(recipe: str) -> str:
    """The part of a command's output that the recipe selects.

    Raises:
        ValueError: the recipe selects nothing.
    """
    command, *filters = (part.strip() for part in recipe.split(" | "))
    lines = [line.rstrip() for line in _run(command).splitlines()]
    for each in filters:
        name, _, value = each.partition(": ")
        lines = {"from": _from, "keep": _keep}[name](lines, value)
    if not lines:
        raise ValueError(f"nothing to show: {recipe}")
    return "".join(f"{line}\n" for line in lines)


def masked(text: str) -> str:
    """The text without the parts that may differ between machines."""
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    return text


def _run(command: str) -> str:
    """Output and errors of a shell command in an empty folder, with this `python`."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        python.parent.mkdir()
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)
        path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
        settings = {"PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return done.stdout


def _from(lines: Sequence[str], start: str) -> list[str]:
    begin = next((at for at, line in enumerate(lines) if line.startswith(start)), len(lines))
    found: list[str] = []
    for line in lines[begin:]:
        if not line:
            break
        found.append(line)
        if line.startswith(TABLE_END):
            break
    return found


def _keep(lines: Sequence[str], pattern: str) -> list[str]:
    wanted = re.compile(pattern)
    return [line for line in lines if not line.startswith(ROW) or wanted.search(line)]


if __name__ == "__main__":
    sys.exit(main())
