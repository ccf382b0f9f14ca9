"""Writes, checks or shows docs/verified.json."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from benchmarks.verified import replays
from graphturbo_core.report.verdict.kept_replays import FILE, kept_replays, magnitude_text

HEAD = ("model", "strategy", "samples", "instructions", "difference", "tolerance", "program")
FORMAT = "{:<17} {:<14} {:>7} {:>12} {:>10} {:>9}  {}"


def write() -> None:
    """Replay everything and keep it."""
    models = replays.MODELS
    kept = [replays.kept_of(report) for report in replays.reports(models, frozenset(models))]
    FILE.write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")


def table() -> str:
    """The kept replays, a line each."""
    entries = kept_replays().values()
    rows = [
        (
            e["model"], e["strategy"], e["batch"], f"{e['instructions']:,}",
            magnitude_text(e["largest_difference"]), magnitude_text(e["tolerance"]),
            e["program_sha256"][:12],
        )
        for e in entries
    ]  # fmt: skip
    made = sorted({f"version {e['version']}, ONNX Runtime {e['onnxruntime']}" for e in entries})
    return "\n".join([FORMAT.format(*HEAD), *(FORMAT.format(*row) for row in rows), *made])


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes, checks or shows the kept replays; returns 1 where one is stale."""
    parser = argparse.ArgumentParser(description="Replays of the default comparison and of samples")
    parser.add_argument("--check", action="store_true", help="compare the Programs' digests")
    parser.add_argument("--show", action="store_true", help="print the kept replays")
    chosen = parser.parse_args(arguments)
    if chosen.show:
        print(table())
        return 0
    if chosen.check:
        lines = replays.stale(kept_replays())
        for line in lines:
            print(f"stale: {line}; run `python -m benchmarks.verified`", file=sys.stderr)
        return int(bool(lines))
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
