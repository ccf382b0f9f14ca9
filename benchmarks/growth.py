"""`python -m benchmarks.growth [--max-ops N]`: growth of time and memory with the ops of a model.

A residual network and a decoder (`growth_models.py`) of 100 nodes and more, each run in a separate
process: import to Trace, step by step.

- Seconds are processor time, so that other work on the machine has little effect. Small models have
  the median of several runs per step.
- MiB of a step is the largest resident size during it, above that of the process before the run. It
  includes memory of earlier steps and of the allocator (Linux reports and resets it).
- The exponent of a step is the slope of the line through its points, logarithm over logarithm, from
  1,000 nodes; constants dominate below that. The limit is 1.15, for seconds and for MiB.

Writes points, tables and figures to `docs/`; `--resume` measures only missing points.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from statistics import median
from time import process_time
from typing import cast

import numpy as np

from benchmarks.drawing.growth_figure import figure_svg
from benchmarks.growth_models import MODELS
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.pipeline import RunRequest, run_report, warm_up
from graphturbo_core.strategies import compared_batches

NODES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
NODES_OF_SEARCH = (100, 300, 1_000, 3_000, 10_000, 20_000)
"""For `best`, which evaluates some ten plans (our choice)."""
STRATEGIES = ("tvm", "graphturbo", "best")
DIVIDE = "divide the batch"
"""With one sample, `best` has no cluster batch to choose."""
STEPS = ("import", DIVIDE, "plan", "lower", "simulate")
TO_TRACE = "to Trace"
COLUMNS = (*STEPS, "report", TO_TRACE)
SECONDS, MEMORY = "Seconds", "MiB"
DIGITS = {SECONDS: 2, MEMORY: 1}
FITTED_FROM = 1_000
MAX_EXPONENT = 1.15
MAX_RUNS = 5
NODES_OF_ALL_RUNS = 30_000
"""Nodes of all runs of a model together, which set the number of runs, at least 1 (our choice)."""
KIB_PER_MIB = 1024
STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
POINTS = "growth.json"
FIGURES = {SECONDS: "images/growth.svg", MEMORY: "images/growth-memory.svg"}
DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclass(frozen=True)
class Point:
    """One model and strategy: processor seconds and resident MiB per step.

    `mib`: above the process before the run.
    """

    model: str
    strategy: str
    nodes: int
    instructions: int
    seconds: Mapping[str, float]
    mib: Mapping[str, float]

    @property
    def key(self) -> tuple[str, str]:
        """Key of its line: model and strategy."""
        return self.model, self.strategy

    def costs(self, unit: str) -> dict[str, float]:
        """Cost per column; import to Trace has the sum of seconds, or the largest MiB."""
        values = self.seconds if unit == SECONDS else self.mib
        of_steps = [values[step] for step in STEPS]
        whole = sum(of_steps) if unit == SECONDS else max(of_steps)
        return dict(zip(COLUMNS, (*of_steps, values["report"], whole), strict=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and writes; returns 1 where an exponent exceeds the limit."""
    parser = argparse.ArgumentParser(description="Seconds and MiB by the ops of a model.")
    parser.add_argument("--max-ops", type=int, default=NODES[-1], help="no larger models")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--out", type=Path, default=DOCS, help="folder of figures and tables")
    parser.add_argument("--resume", action="store_true", help="measure only missing points")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.child:
        model, strategy, nodes = chosen.child
        sys.stdout.write(json.dumps(asdict(measure(model, strategy, int(nodes)))))
        return 0
    found = _kept(chosen.out / POINTS) if chosen.resume else {}
    for line in product(chosen.models, chosen.strategies):
        for nodes in (each for each in _nodes_of(line[1]) if each <= chosen.max_ops):
            key = *line, nodes
            found[key] = found.get(key) or _median([_in_child(*key) for _ in range(_runs(nodes))])
            sys.stderr.write(f"{_line(found[key], SECONDS)}\n{_line(found[key], MEMORY)}\n")
            _write(_ordered(found), chosen.out)
    points = _ordered(found)
    sys.stdout.write("\n".join(table_text(points, unit) for unit in FIGURES))
    slopes = [value for unit in FIGURES for e in exponents(points, unit).values() for value in e]
    return int(max(slopes, default=0.0) > MAX_EXPONENT)


def _nodes_of(strategy: str) -> tuple[int, ...]:
    return NODES_OF_SEARCH if strategy.partition("@")[0] == "best" else NODES


def _runs(nodes: int) -> int:
    return max(1, min(MAX_RUNS, NODES_OF_ALL_RUNS // nodes))


def _median(points: Sequence[Point]) -> Point:
    """Median per step over runs of one model."""
    first = points[0]
    return replace(
        first,
        seconds={step: median(p.seconds[step] for p in points) for step in first.seconds},
        mib={step: median(p.mib[step] for p in points) for step in first.mib},
    )


def _ordered(found: Mapping[tuple[str, str, int], Point]) -> list[Point]:
    models = list(MODELS)
    return [found[key] for key in sorted(found, key=lambda k: (models.index(k[0]), k[1], k[2]))]


def _kept(path: Path) -> dict[tuple[str, str, int], Point]:
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    points = [Point(**row) for row in rows]
    return {(point.model, point.strategy, point.nodes): point for point in points}


def _write(points: Sequence[Point], out: Path) -> None:
    """Writes the points, tables and figures."""
    (out / "images").mkdir(exist_ok=True)
    rows = json.dumps([asdict(point) for point in points], indent=1)
    (out / POINTS).write_text(f"{rows}\n", encoding="utf-8")
    (out / "growth.md").write_text(_page(points), encoding="utf-8")
    for unit, name in FIGURES.items():
        lines: dict[str, list[tuple[float, float]]] = {}
        for point in points:
            line = lines.setdefault(", ".join(point.key), [])
            line.append((point.nodes, point.costs(unit)[TO_TRACE]))
        (out / name).write_text(figure_svg(lines, f"{unit} to Trace"), encoding="utf-8")


def _in_child(model: str, strategy: str, nodes: int) -> Point:
    command = [sys.executable, "-m", "benchmarks.growth", "--child", model, strategy, str(nodes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Point(**json.loads(done.stdout))


def measure(model: str, strategy: str, nodes: int) -> Point:
    """The point of one run in this process."""
    data = MODELS[model](nodes)
    warm_up()
    _trim_memory()
    _peak_mib()
    before = _peak_mib()
    seconds: dict[str, float] = {}
    mib: dict[str, float] = {}
    last = process_time()

    def on_step(name: str, _: float) -> None:
        nonlocal last
        name = DIVIDE if name == compared_batches.STEP else name
        seconds[name] = process_time() - last
        mib[name] = _peak_mib() - before
        last = process_time()

    report = run_report(data, RunRequest(model, strategy), on_step=on_step)
    instructions = cast(int, report.contract["instructions"])
    return Point(model, strategy, nodes, instructions, seconds, mib)


def _trim_memory() -> None:
    """Returns free memory of the warm-up to the system; else small models would seem to use none.

    Raises:
        AttributeError: the C library is not glibc.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def _peak_mib() -> float:
    """Largest resident size in MiB since the last call; resets it.

    Raises:
        OSError: the system is not Linux, or it does not reset the size.
    """
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
    CLEAR_REFS.write_text("5")
    return int(line.split()[1]) / KIB_PER_MIB


def exponents(points: Sequence[Point], unit: str) -> dict[tuple[str, str], list[float]]:
    """Exponent per column, by model and strategy."""
    found: dict[tuple[str, str], list[float]] = {}
    for key in dict.fromkeys(point.key for point in points):
        own = [p for p in points if p.key == key and p.nodes >= FITTED_FROM]
        if own[1:]:
            nodes = [point.nodes for point in own]
            costs = [point.costs(unit) for point in own]
            found[key] = [slope(nodes, [cost[name] for cost in costs]) for name in COLUMNS]
    return found


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Exponent of the power of `sizes` that fits `costs` best, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-6)), 1)[0])


def _line(point: Point, unit: str) -> str:
    costs = (f"{cost:,.{DIGITS[unit]}f}" for cost in point.costs(unit).values())
    cells = (*point.key, f"{point.nodes:,}", *costs, f"{point.instructions:,}")
    return f"| {' | '.join(cells)} |"


def table_text(points: Sequence[Point], unit: str) -> str:
    """Markdown table: one row per model, and below those of each line its exponents."""
    heads = ("model", "strategy", "nodes", *COLUMNS, "instructions")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * 2}{'---:|' * (len(heads) - 2)}"]
    found = exponents(points, unit)
    for key in dict.fromkeys(point.key for point in points):
        lines += [_line(point, unit) for point in points if point.key == key]
        if key in found:
            values = (f"**{value:.2f}**" for value in found[key])
            lines.append(f"| {' | '.join(key)} | exponent | {' | '.join(values)} | |")
    return "\n".join(lines) + "\n"


def _page(points: Sequence[Point]) -> str:
    parts = [
        "# How cost grows with a model\n\n"
        "Written by `python -m benchmarks.growth`; chip `stcp920`. One process per run; up to "
        f"{NODES_OF_ALL_RUNS // MAX_RUNS:,} nodes the median of {MAX_RUNS} runs, at 10,000 of "
        f"{_runs(10_000)}. Seconds are processor time. MiB of a step: the largest resident size "
        "during it, above that of the process before the run; it includes memory of earlier steps "
        "and of the allocator. Exponents are slopes, logarithm over logarithm, from "
        f"{FITTED_FROM:,} nodes.\n"
    ]
    for unit, figure in FIGURES.items():
        parts.append(f"## {unit}\n\n![{unit} by nodes]({figure})\n\n{table_text(points, unit)}")
    return "\n".join(parts)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GraphTurboError as error:
        sys.exit(str(error))
