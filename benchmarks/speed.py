"""`python -m benchmarks.speed`: time and memory from ONNX bytes to Trace.

A new process runs everything once as warm-up, which compiles or loads the hot loops, and then the
measured runs. Goals for ResNet-50: under 2 s and 500 MiB. With `--verify` the seconds are those of
the replay; goals for a batch of 4: under 60 s and 4 GiB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import cast

from rich.console import Console
from rich.table import Table

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report

DEFAULT = "resnet50-slim:graphturbo@16"
KIB_PER_MIB = 1024


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures in child processes and prints a table."""
    parser = argparse.ArgumentParser(description="Seconds from import to Trace, and peak memory.")
    parser.add_argument("--runs", type=int, default=5, help="runs that count")
    parser.add_argument("--batch", type=int, help="samples (default: the sample's own)")
    parser.add_argument("--verify", action="store_true", help="time the replay instead")
    parser.add_argument("--child", metavar="SAMPLE:STRATEGY", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", default=[DEFAULT], metavar="SAMPLE:STRATEGY")
    chosen = parser.parse_args(arguments)
    if chosen.child:
        sys.stdout.write(json.dumps(measure(chosen)))
        return 0
    what = "replay" if chosen.verify else "import to Trace"
    table = Table(title=f"{what}, median of {chosen.runs} after a warm-up run")
    for heading in ("case", "seconds", "slowest", "first run", "peak MiB", "instructions"):
        is_name = heading == "case"
        table.add_column(heading, justify="left" if is_name else "right", no_wrap=is_name)
    for case in chosen.cases:
        found = _in_child(case, chosen)
        table.add_row(
            case, f"{found['median_s']:.2f}", f"{found['slowest_s']:.2f}",
            f"{found['warm_up_s']:.2f}", f"{found['peak_mib']:.0f}",
            f"{found['instructions']:,.0f}",
        )  # fmt: skip
    Console(highlight=False).print(table)
    return 0


def _in_child(case: str, chosen: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed", "--runs", str(chosen.runs)]
    command += ["--child", case, *(["--verify"] if chosen.verify else [])]
    command += ["--batch", str(chosen.batch)] if chosen.batch else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return cast(dict[str, float], json.loads(done.stdout))


def measure(chosen: argparse.Namespace) -> dict[str, float]:
    """Seconds and peak memory of this process; the warm-up includes the report."""
    sample, _, strategy = chosen.child.partition(":")
    data = load_sample(sample)
    request = RunRequest(sample, strategy, batch=chosen.batch, verify=chosen.verify)
    began = perf_counter()
    report = run_report(data, request)
    warm_up_s = perf_counter() - began
    seconds = [_seconds(run_report(data, request), chosen.verify) for _ in range(chosen.runs)]
    return {
        "median_s": median(seconds),
        "slowest_s": max(seconds),
        "warm_up_s": warm_up_s,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIB_PER_MIB,
        "instructions": cast(int, report.contract["instructions"]),
    }


def _seconds(report: Report, is_verified: bool) -> float:
    """Seconds of the replay, or of all steps from import to Trace."""
    if not is_verified:
        return cast(float, report.contract["schedule_seconds"])
    steps = cast("list[dict[str, object]]", report.contract["steps"])
    return sum(cast(float, step["seconds"]) for step in steps if step["name"] == "verify")


if __name__ == "__main__":
    sys.exit(main())
