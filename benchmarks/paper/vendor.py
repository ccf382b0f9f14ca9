"""The vendor's own schedule of ResNet-50 as a plan file: written, run and replayed.

Its manual has one worked schedule: four groups a to d of 8, 4, 2 and 1 pieces, depth first, with
the cores of each group and the memory of each output. Algorithm 3 numbers pieces in reverse,
so piece p of n here is the manual's n - p, and images are in reverse order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import CHIP, Findings
from benchmarks.paper.results import Result, filled
from benchmarks.paper.rows import ROWS
from graphturbo_core.export.edit_list import Edits, plan_with
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.report import Report
from graphturbo_core.strategies.plan_files.edits import EditedCuts

ROW, VENDOR = "A", "vendor"
SCHEDULE = f"graphturbo:full@{ROWS[ROW].batch_of_others}"
LEVEL = f"{VENDOR}@{ROWS[ROW].batch_of_others}"
FILE = "vendor-resnet50.plan.yaml"
"""The plan of the model that is taken as the row, below docs/."""
ABOUT = """\
# The vendor's own schedule of ResNet-50, from its compiler's manual: groups, pieces and cores below
# `edits`; the order and the outputs' memories are as in the manual. Written by
# `python -m benchmarks.paper --vendor`; docs/paper.md compares it. It is run by
#   python -m graphturbo_core run resnet50-v15 --plan docs/vendor-resnet50.plan.yaml
"""
IMAGES, HEIGHT = 0, 2


@dataclass(frozen=True)
class VendorGroup:
    """Stages of the model as one group, its pieces, and the cores of a piece.

    `cores`: in the manual's order of images. Those of `a` are our choice, since the notes on the
    manual lack them: with two images on four cores each, most bytes are already where `b` reads.
    """

    stages: tuple[str, ...]
    pieces: int
    axes: tuple[int, ...]
    grid: tuple[int, ...]
    cores: tuple[int, ...]

    @property
    def cuts(self) -> EditedCuts:
        """The binding with images in reverse order; the cores of an image are in the same order."""
        each = len(self.cores) // self.grid[0]
        by_image = [self.cores[at : at + each] for at in range(0, len(self.cores), each)]
        cores = tuple(core for image in reversed(by_image) for core in image)
        return EditedCuts(self.axes, self.grid, cores)


GROUPS: Mapping[str, VendorGroup] = {
    "a": VendorGroup(
        ("stem", "stage1"), 8, (IMAGES, HEIGHT), (2, 4), (0, 1, 2, 3, 4, 5, 6, 7)
    ),
    "b": VendorGroup(("stage2",), 4, (IMAGES, HEIGHT), (4, 2), (1, 3, 5, 7, 0, 2, 4, 6)),
    "c": VendorGroup(("stage3",), 2, (IMAGES,), (8,), (3, 7, 2, 6, 1, 5, 0, 4)),
    "d": VendorGroup(("stage4", "head"), 1, (IMAGES,), (8,), (7, 6, 5, 4, 3, 2, 1, 0)),
}  # fmt: skip
A_BLOCK_LATER = frozenset({"resnet50-v1", "resnet50-v15"})
"""Models whose stages begin with a block that reads the larger maps of the stage before: it goes
with that stage here. With four images that of stage 2 needs 10.0 MiB (v1) and 12.3 MiB (v1.5), and
the LBs of a cluster have 8: such a plan is refused."""


def group_of(op: str, sample: str) -> str:
    """The group that an op belongs to."""
    stage, _, rest = op.partition("/")
    if sample in A_BLOCK_LATER and rest.startswith("block1/") and stage != "stage1":
        stage = f"stage{int(stage.removeprefix('stage')) - 1}"
    return next(name for name, group in GROUPS.items() if stage in group.stages)


def vendor_edits(graph: Graph, sample: str) -> Edits:
    """The schedule as edits of a plan."""
    names: dict[str, tuple[str, ...]] = dict.fromkeys(GROUPS, ())
    binding: dict[str, EditedCuts] = {}
    for op in graph.ops:
        name = group_of(op.name, sample)
        names[name] += (op.name,)
        binding |= dict.fromkeys((t for t in op.outputs if t), GROUPS[name].cuts)
    return Edits(
        names=names,
        pieces={name: group.pieces for name, group in GROUPS.items()},
        axis=dict.fromkeys(GROUPS, IMAGES),
        binding=binding,
    )


def vendor_plan(sample: str) -> str:
    """The plan file of a ResNet-50."""
    data, batch = load_sample(sample), ROWS[ROW].batch
    request = RunRequest(sample, SCHEDULE, CHIP, batch, emit=("edits",), has_pictures=False)
    head = run_report(data, request).text("edits")
    graph = import_model(data, ImportOptions(sample, batch))
    return ABOUT + plan_with(head, vendor_edits(graph, sample))


def vendor_report(sample: str, *, verify: bool = False, emit: tuple[str, ...] = ()) -> Report:
    """A run of the plan."""
    request = RunRequest(
        sample, SCHEDULE, CHIP, ROWS[ROW].batch, plan=vendor_plan(sample), verify=verify, emit=emit,
        has_pictures=False,
    )  # fmt: skip
    return run_report(load_sample(sample), request)


def vendor_results(out: Path) -> tuple[Result, ...]:
    """A run of each model that the row may mean; the first is replayed and its plan is written."""
    found = []
    for place, variant in enumerate(ROWS[ROW].variants):
        if not place:
            (out / FILE).write_text(vendor_plan(variant.sample), encoding="utf-8")
        report = vendor_report(variant.sample, verify=not place)
        blank = Result(ROW, variant.sample, CHIP, LEVEL, ROWS[ROW].batch)
        found.append(replace(filled(blank, report), largest_error=_largest_error(report)))
    return tuple(found)


def _largest_error(report: Report) -> float | None:
    """Error of a replay over an output's largest magnitude; None without a replay.

    Raises:
        RuntimeError: the replay differs from the model.
    """
    verified = report.contract["verify"]
    assert isinstance(verified, dict)
    if not verified["ran"]:
        return None
    if not verified["ok"]:
        raise RuntimeError(f"the vendor's plan computes something else: {verified}")
    return float(f"{verified['max_rel_error']:.1e}")


def vendor_sheet(findings: Findings) -> Sheet:
    """Table of the schedule's throughput, the published one and ours."""
    rows = []
    ran = {each.sample: each for each in findings.results if each.level == VENDOR}
    samples = (variant.sample for variant in ROWS[ROW].variants)
    for result in (ran[sample] for sample in samples if sample in ran):
        tvm, full = (_beside(findings, result, level) for level in ("tvm", "full"))
        error = result.largest_error
        rows.append((
            result.sample, " ".join(map(str, result.pieces)), f"{result.throughput_per_s:,.0f}",
            f"{tvm:.2f} / {ROWS[ROW].over_tvm[VENDOR]:.2f}", f"{full:.3f}",
            "" if error is None else f"right, error {error:.0e}",
        ))  # fmt: skip
    headings = (
        "model", "pieces", "samples/s", "over tvm, ours / the paper's vendor bar", "over full",
        "replay",
    )  # fmt: skip
    return Sheet(f"The vendor's own schedule of ResNet-50, on {CHIP}", headings, rows, _REMARK)


def has_vendor(findings: Findings) -> bool:
    """Whether the vendor's schedule was run."""
    return any(each.level == VENDOR for each in findings.results)


def _beside(findings: Findings, result: Result, level: str) -> float:
    """Its throughput over that of `tvm` or `full` on the same model."""
    other = next(
        each
        for each in findings.results
        if (each.row, each.sample, each.chip, each.level) == (ROW, result.sample, CHIP, level)
        and not each.options
    )
    return result.throughput_per_s / other.throughput_per_s


_REMARK = (
    f"[{FILE}]({FILE}) is the plan of the first model. Pieces, order, memories of outputs and the "
    "cores of b, c and d are from notes on the manual; the cores of a, tiles, addresses and the "
    "order of instructions are ours, so "
    "the paper's bar, measured on hand-written code, is no measurement of this plan. The manual "
    "does not give the first op of its groups. Here they are the stages; in v1 and v1.5 the first "
    "block of stages 2 to 4 goes with the stage before, since with four images that of stage 2 "
    "needs 10.0 and 12.3 MiB of the LBs' 8. The stem and the head go with the first and last stage."
)
