"""Runs what is missing, writes or checks the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.schedulers import samples
from benchmarks.schedulers.matrix import keep, kept, run_missing
from benchmarks.schedulers.page import PAGE, abilities, page
from graphturbo_core.comparison.side_by_side.kept_abilities import FILE


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what is missing, or writes or checks the page; returns 1 where it differs."""
    parser = argparse.ArgumentParser(description="What every scheduler does, and how it compares")
    parser.add_argument("--processes", type=int, default=2, help="settings that run at once")
    parser.add_argument("--afresh", action="store_true", help="forget what is kept")
    parser.add_argument("--samples", action="store_true", help="run every sample instead")
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        return _check({PAGE: page(kept(), samples.kept()), FILE: abilities()})
    if not chosen.page:
        if chosen.afresh:
            keep({})
        (samples.run_missing if chosen.samples else run_missing)(chosen.processes)
    for path, text in ((PAGE, page(kept(), samples.kept())), (FILE, abilities())):
        path.write_text(text, encoding="utf-8")
    return 0


def _check(texts: Mapping[Path, str]) -> int:
    """1 where a file is not as it would be written, which is said."""
    stale = [
        path.name
        for path, text in texts.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    for name in stale:
        print(f"{name} differs: run `python -m benchmarks.schedulers --page`", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
