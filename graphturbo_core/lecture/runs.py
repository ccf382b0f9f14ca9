"""The runs of the lecture by name: strategy, chip, options and plan edits of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from graphturbo_core.hardware.variation import varied_profile
from graphturbo_core.run_request import RunRequest

MODEL, WIDE, CHIP, IMAGES = "learn-net", "learn-net-wide", "learn-1x4", 8
FINE, COARSE = "tvm", "full"
"""A and B of the lecture, by the names of their runs."""
LB, GB = "core.lb_data_bytes", "cluster.gb_bytes"
DRAM_RATE = "cluster.dram_bandwidth_bytes_per_s"
GB_RATE = "cluster.gb_bandwidth_bytes_per_s"
KIB, GIGA = 1024, 10**9
GB_KIB = (10, 12, 16, 20, 24, 32)
DRAM_BYTES_PER_CYCLE = (1, 2, 4, 8, 16, 32)
LB_BYTES = (1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288)
BASE_GB_KIB, BASE_DRAM, BASE_LB = 24, 4, 4096
GB_FOR_WEIGHTS = 8192
"""Bytes of GB that wait for tiles of weights on their way; a test compares it with the budget."""
SLOW_GB = 4
"""Bytes per cycle of a chip whose GB is as slow as its DRAM, half of the lecture's."""
"""The chip's own numbers; a test compares them with the profile."""
BREADTH = {"graphturbo.instance_order": "breadth-first"}
UNFENCED = {"graphturbo.fence": "off", "graphturbo.list_scheduling": "off"}
Edit = Mapping[str, object]
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class LectureRun:
    """One run: what differs from `graphturbo` on the lecture's chip with eight images.

    `chip`: numbers of the profile by key. `edits`: those of a plan file. `is_pictured`: kept with
    its kernels. `is_timed`: kept with the instructions of the last kernel.
    """

    name: str
    strategy: str = "graphturbo"
    batch: int = IMAGES
    model: str = MODEL
    chip: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    edits: Edit = field(default_factory=lambda: MappingProxyType({}))
    is_pictured: bool = False
    is_timed: bool = False

    def request(self, plan: str = "") -> RunRequest:
        """The request of the pipeline; `plan` is the text of a plan file with the edits."""
        return RunRequest(
            self.model, self.strategy, CHIP, self.batch, options=self.options, plan=plan
        )

    def profile(self) -> bytes | None:
        """The chip as YAML; None: the shipped one."""
        return varied_profile(CHIP, self.chip) if self.chip else None


def with_edits(plan: str, edits: Edit) -> str:
    """A plan file's text with these edits in place of its own, which are empty."""
    head, mark, _ = plan.partition("edits:\n")
    texts = {key: yaml.safe_dump(value, default_flow_style=True) for key, value in edits.items()}
    return "".join([head, mark, *(f"  {key}: {text.strip()}\n" for key, text in texts.items())])


def _staircase() -> Iterator[LectureRun]:
    yield LectureRun("layerwise", "layerwise", is_pictured=True)
    yield LectureRun(FINE, "tvm", is_pictured=True)
    for level in ("gb", "lb"):
        yield LectureRun(level, f"graphturbo:{level}", is_pictured=True)
    yield LectureRun("order", "graphturbo:order", is_pictured=True, is_timed=True)
    yield LectureRun(COARSE, is_pictured=True, is_timed=True)
    yield LectureRun("plus", "graphturbo:plus")


def _cuts() -> Iterator[LectureRun]:
    """Steps 2 and 6: pieces of the first group, cut between images or between rows."""
    for pieces in (1, 2, 8):
        edits = {"merge": [["conv1", "conv2"]], "pieces": {"conv1": pieces}}
        yield LectureRun(f"pieces_{pieces}", edits=edits, is_pictured=pieces == IMAGES)
    by_rows = {"merge": [["conv1", "conv2"]], "pieces": {"conv1": 8}, "axis": {"conv1": 2}}
    yield LectureRun("rows_8", edits=by_rows, is_pictured=True)


def _groupings() -> Iterator[LectureRun]:
    """Step 3: other groups than the rule's."""
    layers = [f"conv{number}" for number in range(1, 7)]
    yield LectureRun("apart", edits={"keep_apart": [layers]}, is_pictured=True)
    yield LectureRun("join_12", edits={"merge": [layers[:3]]}, is_pictured=True)
    yield LectureRun("join_23", edits={"merge": [layers[2:]]}, is_pictured=True)
    yield LectureRun("join_all", edits={"merge": [layers]}, is_pictured=True)


def _orders() -> Iterator[LectureRun]:
    """Step 4: depth first and breadth first by the size of GB."""
    yield LectureRun("breadth", options=BREADTH, is_pictured=True)
    for kib in GB_KIB:
        if kib != BASE_GB_KIB:
            chip = {GB: kib * KIB}
            yield LectureRun(f"depth_gb{kib}", chip=chip, is_pictured=True)
            yield LectureRun(f"breadth_gb{kib}", chip=chip, options=BREADTH, is_pictured=True)


def _places() -> Iterator[LectureRun]:
    """Step 5: where the results between groups wait, and which cores take the images."""
    yield LectureRun("wait_gb", edits={"scope": {"relu2": "GB", "relu3": "GB"}}, is_pictured=True)
    edits = {"scope": {"relu2": "DRAM", "relu3": "DRAM"}}
    yield LectureRun("wait_dram", edits=edits, is_pictured=True)
    in_order = {"axes": [0], "grid": [4], "cores": [0, 1, 2, 3]}
    yield LectureRun("cores_0123", edits={"binding": {"relu3": in_order}}, is_pictured=True)


def _overlap() -> Iterator[LectureRun]:
    """Step 7: layers that overlap, by the bandwidth of DRAM."""
    yield LectureRun(
        "unfenced", "graphturbo:order", options=UNFENCED, is_pictured=True, is_timed=True
    )
    for rate in DRAM_BYTES_PER_CYCLE:
        if rate != BASE_DRAM:
            chip = {DRAM_RATE: rate * GIGA}
            yield LectureRun(f"order_dram{rate}", "graphturbo:order", chip=chip)
            yield LectureRun(f"full_dram{rate}", chip=chip)


def _limits() -> Iterator[LectureRun]:
    """Step 8: A and B by the size of LB, with GB as it is and slow; one image; many weights."""
    for size in LB_BYTES:
        if size != BASE_LB:
            yield LectureRun(f"tvm_lb{size}", "tvm", chip={LB: size})
            yield LectureRun(f"full_lb{size}", chip={LB: size})
        slow = {LB: size, GB_RATE: SLOW_GB * GIGA}
        yield LectureRun(f"tvm_slow_lb{size}", "tvm", chip=slow)
        yield LectureRun(f"full_slow_lb{size}", chip=slow)
    for name, strategy in ((FINE, "tvm"), (COARSE, "graphturbo")):
        yield LectureRun(f"{name}_one_image", strategy, batch=1)
        yield LectureRun(f"{name}_wide", strategy, model=WIDE)


RUNS: Mapping[str, LectureRun] = MappingProxyType(
    {
        run.name: run
        for part in (_staircase, _cuts, _groupings, _orders, _places, _overlap, _limits)
        for run in part()
    }
)
