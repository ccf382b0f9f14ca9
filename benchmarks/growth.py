"""`python -m benchmarks.growth [--max-ops N]`: how time and memory grow with the ops of a model.

A residual network and a decoder (`growth_models.py`) of 100 nodes and more, each in a process of
its own: import to Trace, step by step. Seconds are those of the processor, so that other work on
the machine counts little. The exponent of a step is the slope of the straight line through its
points, logarithm over logarithm, from 1,000 nodes on; below that, constants hide it. It may be
1.15. Writes points, table and figure to `docs/`; `--resume` measures those points only that are
not there.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import cast

import numpy as np

from benchmarks.growth_figure import figure_svg
from benchmarks.growth_models import MODELS
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.pipeline import RunRequest, run_report, warm_up

NODES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
STRATEGIES = ("tvm", "graphturbo")
STEPS = ("import", "divide the batch", "plan", "lower", "simulate")
MEMORY = "MiB"
FITTED_FROM = 1_000
MAX_EXPONENT = 1.15
KIB_PER_MIB = 1024
POINTS = "growth.json"
FIGURE = "images/growth.svg"
DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclass(frozen=True)
class Point:
    """One run: processor seconds of each step, and how much memory it took above the warm-up."""

    model: str
    strategy: str
    nodes: int
    instructions: int
    seconds: Mapping[str, float]
    mib: float

    @property
    def trace_s(self) -> float:
        """Import to Trace."""
        return sum(self.seconds[step] for step in STEPS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; 1 where an exponent is too large."""
    parser = argparse.ArgumentParser(description="Seconds and MiB by the ops of a model.")
    parser.add_argument("--max-ops", type=int, default=NODES[-1], help="no larger models")
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--strategies", nargs="*", default=list(STRATEGIES))
    parser.add_argument("--out", type=Path, default=DOCS, help="where figure and table go")
    parser.add_argument("--resume", action="store_true", help="keep the points that are there")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.child:
        model, strategy, nodes = chosen.child
        sys.stdout.write(json.dumps(asdict(measure(model, strategy, int(nodes)))))
        return 0
    found = _kept(chosen.out / POINTS) if chosen.resume else {}
    for key in product(chosen.models, chosen.strategies, NODES):
        if key[-1] <= chosen.max_ops:
            found[key] = found.get(key) or _in_child(*key)
            sys.stderr.write(f"{_line(found[key])}\n")
            _write(_ordered(found), chosen.out)
    points = _ordered(found)
    sys.stdout.write(table_text(points))
    worst = max((max(e.values(), default=0.0) for e in exponents(points).values()), default=0.0)
    return int(worst > MAX_EXPONENT)


def _ordered(found: Mapping[tuple[str, str, int], Point]) -> list[Point]:
    models = list(MODELS)
    return [found[key] for key in sorted(found, key=lambda k: (models.index(k[0]), k[1], k[2]))]


def _kept(path: Path) -> dict[tuple[str, str, int], Point]:
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    points = [Point(**row) for row in rows]
    return {(point.model, point.strategy, point.nodes): point for point in points}


def _write(points: Sequence[Point], out: Path) -> None:
    """The points, the table and the figure as far as they are there."""
    (out / "images").mkdir(exist_ok=True)
    rows = json.dumps([asdict(point) for point in points], indent=1)
    (out / POINTS).write_text(f"{rows}\n", encoding="utf-8")
    (out / "growth.md").write_text(_page(table_text(points)), encoding="utf-8")
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        lines.setdefault(f"{point.model}, {point.strategy}", []).append(
            (point.nodes, point.trace_s)
        )
    (out / FIGURE).write_text(figure_svg(lines), encoding="utf-8")


def _in_child(model: str, strategy: str, nodes: int) -> Point:
    command = [sys.executable, "-m", "benchmarks.growth", "--child", model, strategy, str(nodes)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Point(**json.loads(done.stdout))


def measure(model: str, strategy: str, nodes: int) -> Point:
    """One run in this process."""
    data = MODELS[model](nodes)
    warm_up()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds: dict[str, float] = {}
    last = process_time()

    def on_step(name: str, _: float) -> None:
        nonlocal last
        now = process_time()
        seconds[name] = now - last
        last = now

    report = run_report(data, RunRequest(model, strategy), on_step=on_step)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    instructions = cast(int, report.contract["instructions"])
    return Point(model, strategy, nodes, instructions, seconds, (peak - before) / KIB_PER_MIB)


def exponents(points: Sequence[Point]) -> dict[tuple[str, str], dict[str, float]]:
    """Per model and strategy the exponent of each step, of all steps and of memory."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for key in dict.fromkeys((point.model, point.strategy) for point in points):
        own = [p for p in points if (p.model, p.strategy) == key and p.nodes >= FITTED_FROM]
        if not own[1:]:
            continue
        nodes = [point.nodes for point in own]
        found[key] = {
            **{step: slope(nodes, [p.seconds[step] for p in own]) for step in (*STEPS, "report")},
            "to Trace": slope(nodes, [point.trace_s for point in own]),
            MEMORY: slope(nodes, [point.mib for point in own]),
        }
    return found


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent of the power of `sizes` that is nearest to `costs`, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(costs, 1e-6)), 1)[0])


def _line(point: Point) -> str:
    steps = (f"{point.seconds[step]:.2f}" for step in (*STEPS, "report"))
    cells = (
        point.model, point.strategy, f"{point.nodes:,}", *steps, f"{point.trace_s:.2f}",
        f"{point.mib:,.0f}", f"{point.instructions:,}",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def table_text(points: Sequence[Point]) -> str:
    """A row a run, and under those of each model and strategy the exponents; Markdown."""
    heads = ("model", "strategy", "nodes", *STEPS, "report", "to Trace", MEMORY, "instructions")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * 2}{'---:|' * (len(heads) - 2)}"]
    found = exponents(points)
    for key in dict.fromkeys((point.model, point.strategy) for point in points):
        lines += [_line(p) for p in points if (p.model, p.strategy) == key]
        if key in found:
            values = (f"**{value:.2f}**" for value in found[key].values())
            lines.append(f"| {key[0]} | {key[1]} | exponent | {' | '.join(values)} | |")
    return "\n".join(lines) + "\n"


def _page(table: str) -> str:
    return (
        "# How cost grows with a model\n\n"
        "Written by `python -m benchmarks.growth`; chip `stcp920`. Processor seconds of each step, "
        "memory above a warm process, a process a row. Exponents are slopes, logarithm over "
        f"logarithm, from {FITTED_FROM:,} nodes on.\n\n![Seconds by nodes]({FIGURE})\n\n"
        f"{table}"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except GraphTurboError as error:
        sys.exit(str(error))
