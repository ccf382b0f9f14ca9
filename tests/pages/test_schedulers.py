"""docs/schedulers.md: it shows what is kept, and what each strategy may do by its plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.kept_runs import Key, Run
from benchmarks.schedulers import matrix
from benchmarks.schedulers.__main__ import main
from benchmarks.schedulers.matrix import CHIPS, COMPARED, SETTINGS
from benchmarks.schedulers.page import page
from benchmarks.schedulers.probes import QUESTIONS, answers
from graphturbo_core.strategies.registry import STRATEGIES

EXPECTED = {
    "layerwise": "",
    "tvm": "epilogue of a product, elementwise runs, producer of a reduction",
    "astitch": "elementwise runs, producer of a reduction, across a reduction",
    "xla": "elementwise runs, producer of a reduction, an op in two kernels",
    "glow": "elementwise runs",
    "onednn": "epilogue of a product, elementwise runs",
    "tensorrt-like": "epilogue of a product, elementwise runs, rewrites weights",
    "ios": "epilogue of a product, elementwise runs, producer of a reduction, layers at once, "
    "simulates schedules",
}
"""By the sources; `graphturbo` does all but four."""


def run(latency_s: float, dram_bytes: int = 2**20, kernels: int = 10, share: float = 0.5) -> Run:
    return {
        "latency_s": latency_s, "dram_bytes": dram_bytes, "kernels": kernels, "share": share,
        "critical_path": {"matrix": 0.001, "dram": latency_s - 0.001}, "seconds": 1.5,
    }  # fmt: skip


def test_the_page_shows_what_is_kept() -> None:
    assert main(["--check"]) == 0
    assert set(COMPARED) == {name for name, each in STRATEGIES.items() if not each.is_search}
    keys = {(s.name, c, n) for s in SETTINGS for c in CHIPS for n in COMPARED}
    assert set(matrix.kept()) <= keys


def test_what_each_may_do() -> None:
    found = {
        name: ", ".join(q for q, is_met in zip(QUESTIONS, met, strict=True) if is_met)
        for name, met in answers().items()
    }
    own, beyond = (found.pop(name) for name in ("graphturbo", "graphturbo:plus"))
    assert found == EXPECTED
    missing = set(QUESTIONS) - set(own.split(", "))
    assert missing == {
        "an op in two kernels", "layers at once", "rewrites weights", "simulates schedules",
    }  # fmt: skip
    assert beyond == f"{own}, simulates schedules"


def test_times_winners_and_what_is_missing_by_hand() -> None:
    setting, chip = SETTINGS[0].name, CHIPS[0]
    found: dict[Key, Run] = {
        (setting, chip, "tvm"): run(0.004, 4 * 2**20, 20),
        (setting, chip, "glow"): run(0.003),
        (setting, chip, "xla"): run(0.002, 2**20, 5, 0.25),
        (setting, chip, "ios"): {"refused": "TOO_LARGE"},
    }
    text = page(found)
    assert f"4 of {len(SETTINGS) * len(CHIPS) * len(COMPARED)} runs are kept." in text
    assert "| `xla` | **2 ms, 25 %** | not run |" in text
    assert "| `ios` | TOO_LARGE | not run |" in text
    assert "| `tvm` | 4 MiB, 20 | not run |" in text
    assert (
        f"- On `{chip}`: `xla` is the fastest, 1.50× as fast as `glow`. `glow`: 1 ms longer than"
        " `xla`: on the critical path 1 ms more of DRAM. It moves 1 MiB over DRAM, in 10 kernels"
        " instead of 5. `tvm`: 2 ms longer than `xla`: on the critical path 2 ms more of DRAM."
        " It moves 4 MiB instead of 1 MiB over DRAM, in 20 kernels instead of 5.\n" in text
    )
    assert "| `xla` | 0.250 (4 missing) | not run |" in text
    near = {**found, (setting, chip, "glow"): run(0.002001, kernels=1)}
    assert f"- On `{chip}`: `xla` and `glow` are the fastest, with the same time." in page(near)
    alone: dict[Key, Run] = {(setting, chip, "glow"): run(0.003)}
    assert f"- On `{chip}`: `glow` alone was run.\n" in page(alone)


def test_runs_are_kept_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "KEPT", tmp_path / "schedulers.json")
    key = (SETTINGS[0].name, CHIPS[0], "tvm")
    matrix.keep({key: run(1)})
    assert matrix.kept() == {key: run(1)}
