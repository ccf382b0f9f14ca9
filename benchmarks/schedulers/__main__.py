"""Runs what is missing, writes or checks the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.schedulers.matrix import keep, kept, run_missing
from benchmarks.schedulers.page import PAGE, page


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what is missing, or writes or checks the page; returns 1 where it differs."""
    parser = argparse.ArgumentParser(description="What every scheduler does, and how it compares")
    parser.add_argument("--processes", type=int, default=2, help="settings that run at once")
    parser.add_argument("--afresh", action="store_true", help="forget what is kept")
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        is_same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page(kept())
        if not is_same:
            print("schedulers.md differs: run `python -m benchmarks.schedulers --page`",
                  file=sys.stderr)  # fmt: skip
        return int(not is_same)
    if not chosen.page:
        if chosen.afresh:
            keep({})
        run_missing(chosen.processes)
    PAGE.write_text(page(kept()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
