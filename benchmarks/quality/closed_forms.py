"""Closed forms of the search's first plan beside simulated cycles, sub-graph by sub-graph.

The plan is that of the dynamic program before any simulation corrects it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.drawing.sheet import Sheet
from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from benchmarks.quality.matrix import KEPT as SHARES
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.lowering.lower import lower
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from graphturbo_core.rounds import divide
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.best.planned import Planned
from graphturbo_core.strategies.best.segment_cycles import SegmentCycles
from graphturbo_core.strategies.best.segments import Option, segments_of
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.options import chosen_strategy
from graphturbo_core.strategies.planning import PlanTask, target_of
from graphturbo_core.strategies.plus.cuts import cut_plan
from graphturbo_core.strategies.registry import parse_strategy

KEPT = SHARES.with_name("closed-forms.json")
FIELDS = ("model", "chip", "of")
"""As in docs/quality.json. A run has `groups` in order: name of the first op, layers, pieces,
closed form and simulated cycles; or the code `refused`."""
CHIPS = ("stcp920", "ascend910", "generic-4x4", "goya")
"""Without `ipu-gc2`, where a plan takes minutes to lower."""
LARGER = frozenset(
    {
        "densenet-169", "densenet-201", "bert-large", "vit-l16", "conformer", "conformer-l",
        "dlrm-rm1", "dlrm-rm2", "dlrm-rm3", "learn-net-wide",
    }
)  # fmt: skip
"""Larger versions of other samples."""
MODELS = tuple(name for name in sample_names() if name not in LARGER)
SAMPLES = 4
"""Samples of a round."""
OF = f"planned@{SAMPLES}"
NEAR, HALF = 0.10, 0.5
WORST = 12
"""Rows of the second table."""


@dataclass(frozen=True)
class _Group:
    """One sub-graph of a run; cycles of all its pieces."""

    model: str
    chip: str
    name: str
    layers: int
    pieces: int
    closed_form: int
    simulated: int

    @property
    def ratio(self) -> float:
        return self.closed_form / self.simulated

    @property
    def difference(self) -> int:
        return abs(self.closed_form - self.simulated)


def runs(model: str, missing: Sequence[str]) -> list[tuple[Key, Run]]:
    """The sub-graphs of one sample on these chips, in a separate process."""
    warm_up()
    imports = Imports(load_sample(model))
    return [((model, chip, OF), _run(imports, model, chip)) for chip in missing]


def _run(imports: Imports, model: str, chip: str) -> Run:
    hardware = read_profile(chip)
    request = RunRequest(model, f"best@{SAMPLES}", chip, SAMPLES * hardware.clusters)
    spec = parse_strategy(request.strategy)
    try:
        rounds = divide(imports, request, (imports.whole(request), hardware, spec))
        semantics = rounds.semantics[max(rounds.semantics)]
        task = PlanTask(semantics, hardware, request.dtype, request.options)
        target = target_of(chosen_strategy(spec, request.options), task)
        graph = layer_graph(target.semantics, relay_layers(target.semantics), request.dtype)
        segments = segments_of(graph, SegmentCycles(target))
        cuts, _ = Planned(segments).cheapest()
        plan = cut_plan(target, graph, cuts)
        trace = simulate(lower(plan))
    except GraphTurboError as error:
        return {"refused": error.code}
    options: dict[object, Option] = {o.cut: o for part in segments for o in part.options}
    took = [0] * len(cuts)
    for number, kernel in enumerate(plan.kernels):
        took[kernel.group] += trace.kernel_cycles[plan.step_of(number)]
    groups = [
        [graph.layers[cut.layers[0]].ops[0], len(cut.layers), cut.pieces,
         options[cut].estimate.cycles, cycles]
        for cut, cycles in zip(cuts, took, strict=True)
    ]  # fmt: skip
    return {"groups": groups}


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def keep(found: Mapping[Key, Run]) -> None:
    """Writes all runs, in the order of samples and chips."""
    order = [(model, chip, OF) for model in MODELS for chip in CHIPS]
    write_runs(KEPT, FIELDS, order, found)


def run_missing(processes: int) -> None:
    """Runs what is missing."""
    found, tasks = kept(), []
    for model in MODELS:
        missing = [chip for chip in CHIPS if (model, chip, OF) not in found]
        if missing:
            tasks.append((model, missing))
    run_tasks(runs, tasks, processes, lambda more: keep(kept() | dict(more)))


def sheets(found: Mapping[Key, Run]) -> Iterator[Sheet]:
    """How near the closed forms are, per chip, and per sample the largest difference."""
    if groups := list(_groups(found)):
        yield _nearness(found, groups)
        yield _worst(groups)


def _groups(found: Mapping[Key, Run]) -> Iterator[_Group]:
    for (model, chip, _), run in found.items():
        for group in run.get("groups", ()):
            yield _Group(model, chip, *group)


def _nearness(found: Mapping[Key, Run], groups: Sequence[_Group]) -> Sheet:
    rows = []
    for chip in CHIPS:
        own = [group for group in groups if group.chip == chip]
        if not own:
            continue
        total = sum(group.simulated for group in own)
        rows.append(
            (
                chip,
                f"{len(own):,}",
                *(_part(own, total, least) for least in (1 - NEAR, HALF)),
                f"{median(group.ratio for group in own):.2f}",
                f"{geometric_mean(group.ratio for group in own):.2f}",
            )
        )
    refused = sum("refused" in run for run in found.values())
    return Sheet(
        "Closed forms beside the simulation",
        (
            "chip", "sub-graphs", f"within {100 * NEAR:.0f} %", "within a factor of 2",
            "median of closed form over simulated cycles", "geometric mean",
        ),
        rows,
        f"Sub-graphs of the dynamic program's first plan, {SAMPLES} samples per cluster, of "
        f"{len(MODELS)} samples (larger versions of these are left out); {refused} of "
        f"{len(found)} plans are refused. In percent of the sub-graphs, and in brackets of the "
        "simulated cycles. Closed forms only rank plans: every other figure is "
        "simulated, and the search scales closed forms by what it simulated so far.",
    )  # fmt: skip


def _part(groups: Sequence[_Group], total: int, least: float) -> str:
    """Percent of groups, and of cycles, whose ratio is from `least` to its inverse."""
    near = [group for group in groups if least <= group.ratio <= 1 / least]
    cycles = sum(group.simulated for group in near)
    return f"{100 * len(near) / len(groups):.0f} ({100 * cycles / total:.0f})"


def _worst(groups: Sequence[_Group]) -> Sheet:
    totals = Counter[tuple[str, str]]()
    for group in groups:
        totals[group.model, group.chip] += group.simulated

    def part(group: _Group) -> float:
        return group.difference / totals[group.model, group.chip]

    largest: dict[str, _Group] = {}
    for group in sorted(groups, key=part, reverse=True):
        largest.setdefault(group.model, group)
    rows = [
        (
            group.model,
            group.chip,
            f"`{group.name}`",
            str(group.layers),
            str(group.pieces),
            f"{group.closed_form:,}",
            f"{group.simulated:,}",
            f"{group.ratio:.2f}",
            f"{100 * part(group):,.0f}",
        )
        for group in [*largest.values()][:WORST]
    ]
    return Sheet(
        "The sub-graphs with the largest differences",
        ("model", "chip", "first op", "layers", "pieces", "closed form", "simulated", "ratio",
         "difference in % of the run"),
        rows,
        "Of each sample the one with the largest difference, on any chip. Cycles of all pieces.",
    )  # fmt: skip
