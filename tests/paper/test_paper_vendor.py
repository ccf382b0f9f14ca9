"""The vendor's own schedule: the plan under docs/ says and does what the manual's example does."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.paper.command import DOCS
from benchmarks.paper.findings import CHIP, Findings
from benchmarks.paper.results import Result
from benchmarks.paper.rows import ROWS
from benchmarks.paper.vendor import (
    FILE,
    GROUPS,
    LEVEL,
    group_of,
    has_vendor,
    vendor_plan,
    vendor_report,
    vendor_sheet,
)

TAKEN = ROWS["A"].variants[0].sample
MANUAL = ["a0", "a1", "b0", "a2", "a3", "b1", "c0", "a4", "a5", "b2", "a6", "a7", "b3", "c1", "d0"]
"""The manual's order; pieces of n are counted from n down here."""
IN_GB = {"a0", "a2", "a4", "a6", "b0", "b2", "c0"}
"""Outputs that wait; all others stay in LB for the next instance, but d0, the model's output."""


@pytest.fixture(scope="module")
def record() -> dict[str, object]:
    """What the run of the plan did: its groups and kernels."""
    text = vendor_report(TAKEN, emit=("plan",)).text("plan")
    (found,) = yaml.safe_load(text)["record"]["rounds"]
    return found


def test_the_plan_under_docs_is_what_is_run() -> None:
    assert (DOCS / FILE).read_text(encoding="utf-8") == vendor_plan(TAKEN)


def test_order_and_places_are_the_manual_s(record) -> None:
    names = dict(zip((group["name"] for group in record["groups"]), GROUPS, strict=True))
    pieces = {name: group.pieces for name, group in GROUPS.items()}
    ran, waiting, staying = [], set(), set()
    kept_of: dict[str, list[str]] = {}
    for kernel in record["kernels"]:
        group, _, piece = kernel["run"].partition("/")
        label = f"{names[group]}{pieces[names[group]] - int(piece)}"
        ran.append(label)
        kept = kernel["kept"]
        kept_of[kernel["run"]] = kept if isinstance(kept, list) else kept_of[kept]
        (staying if kept_of[kernel["run"]] else waiting).add(label)
    assert ran == MANUAL
    assert waiting == IN_GB | {"d0"}
    assert staying == set(MANUAL) - waiting
    last = record["kernels"][-1]["scopes"]
    assert last["scores"] == "DRAM"


def test_pieces_cover_the_stages(record) -> None:
    assert [group["pieces"] for group in record["groups"]] == [8, 4, 2, 1]
    assert [group["axis"] for group in record["groups"]] == [0, 0, 0, 0]
    first = [group["ops"][0] for group in record["groups"]]
    assert first == [
        "stem/conv", "stage2/block2/conv1", "stage3/block2/conv1", "stage4/block2/conv1",
    ]  # fmt: skip


def test_every_loop_nest_has_the_manual_s_cores(record) -> None:
    """Images in reverse order: b has images 3 to 0 on [4, 6], [0, 2], [5, 7] and [1, 3]."""
    wanted = {
        "g1": ([0, 2], [2, 4], [4, 5, 6, 7, 0, 1, 2, 3]),
        "g2": ([0, 2], [4, 2], [4, 6, 0, 2, 5, 7, 1, 3]),
        "g3": ([0], [8], [4, 0, 5, 1, 6, 2, 7, 3]),
        "g4": ([0], [8], [0, 1, 2, 3, 4, 5, 6, 7]),
    }
    seen = set()
    for kernel in record["kernels"]:
        if isinstance(kernel["bindings"], dict):
            group = kernel["run"].partition("/")[0]
            seen.add(group)
            for binding in kernel["bindings"].values():
                assert (binding["axes"], binding["grid"], binding["cores"]) == wanted[group]
    assert seen == wanted.keys()


@pytest.mark.parametrize(
    ("sample", "op", "group"),
    [
        ("resnet50-v15", "stage2/block1/conv1", "a"),
        ("resnet50-v15", "stage2/block2/conv1", "b"),
        ("resnet50-v15", "stage1/block1/conv1", "a"),
        ("resnet50-slim", "stage2/block1/conv1", "b"),
        ("resnet50-slim", "head/fc", "d"),
        ("resnet50-v1", "stage4/block1/conv1", "c"),
    ],
)
def test_where_groups_begin(sample: str, op: str, group: str) -> None:
    assert group_of(op, sample) == group


def test_the_table_has_ours_beside_the_published() -> None:
    def run(strategy: str, rate: float, error: float | None = None) -> Result:
        return Result(
            "A", TAKEN, CHIP, strategy, 64, throughput_per_s=rate, pieces=(8, 4, 2, 1),
            largest_error=error,
        )  # fmt: skip

    others = [run("tvm@2", 100.0), run("graphturbo:full@16", 800.0)]
    assert not has_vendor(Findings().with_results(others))
    findings = Findings().with_results([*others, run(LEVEL, 900.0, 4e-7)])
    assert has_vendor(findings)
    (row,) = vendor_sheet(findings).rows
    assert row == (TAKEN, "8 4 2 1", "900", "9.00 / 8.00", "1.125", "right, error 4e-07")
