"""The command: run everything, compare with what is kept, or keep it."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby

from tests.frozen.digests import Digests, Run, digests_of_all, kept, runs, write

WORKERS = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a run's values differ from those that are kept, or its prose and that counts."""
    parser = argparse.ArgumentParser(description="Digests of every small sample's run")
    parser.add_argument("--write", action="store_true", help="keep what comes out")
    parser.add_argument("--values", action="store_true", help="prose may differ")
    parser.add_argument("--chips", type=_names, default=(), help="these alone, by commas")
    parser.add_argument("--strategies", type=_names, default=(), help="these alone, by commas")
    chosen = parser.parse_args(arguments)
    own = [run for run in runs() if _is_chosen(run, chosen.chips, chosen.strategies)]
    if not own:
        parser.error("no run is of these")
    found = _found(own)
    if chosen.write:
        write({**(kept() if chosen.chips or chosen.strategies else {}), **found})
        return 0
    known, differ = kept(), 0
    for name, new in found.items():
        parts = ("values",) if chosen.values else Digests._fields
        wrong = [part for part in parts if getattr(new, part) != getattr(known[name], part)]
        if wrong:
            differ += 1
            print(f"{name}: other {' and '.join(wrong)}", file=sys.stderr)
    print(f"{len(found)} runs, {differ} differ")
    return int(differ > 0)


def _names(text: str) -> list[str]:
    """Of "a,b": "a" and "b"."""
    return text.split(",")


def _is_chosen(run: Run, chips: Sequence[str], strategies: Sequence[str]) -> bool:
    """Whether the run is of these chips and strategies; of all where none is given."""
    return (not chips or run.chip in chips) and (not strategies or run.strategy in strategies)


def _found(every: Sequence[Run]) -> dict[str, Digests]:
    """Digests by name; the runs of a model and a chip in one process, in turn."""
    parts = [list(part) for _, part in groupby(every, key=lambda run: (run.model, run.chip))]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        results = pool.map(digests_of_all, parts)
        return {run.name: own for part, found in zip(parts, results, strict=True)
                for run, own in zip(part, found, strict=True)}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
