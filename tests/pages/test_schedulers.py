"""docs/schedulers.md: it shows what is kept, and what each strategy may do by its plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.quality.kept_runs import Key, Run
from benchmarks.schedulers import matrix, samples, timed_run
from benchmarks.schedulers.__main__ import main
from benchmarks.schedulers.matrix import CHIPS, COMPARED, SETTINGS
from benchmarks.schedulers.page import page
from benchmarks.schedulers.probes import QUESTIONS, answers
from graphturbo_core.comparison.side_by_side.kept_schedules import read_schedules
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports, RunRequest

EXPECTED = {
    "layerwise": "",
    "tvm": "epilogue of a product, elementwise runs, producer of a reduction",
    "astitch": "elementwise runs, producer of a reduction, across a reduction",
    "xla": "elementwise runs, producer of a reduction, an op in two kernels",
    "glow": "elementwise runs",
    "onednn": "epilogue of a product, elementwise runs",
    "tensorrt-like": "epilogue of a product, elementwise runs, rewrites weights",
    "taso-like": "epilogue of a product, elementwise runs, rewrites weights, simulates schedules",
    "ios": "epilogue of a product, elementwise runs, producer of a reduction, layers at once, "
    "simulates schedules",
    "ios:both": "epilogue of a product, elementwise runs, producer of a reduction, layers at once, "
    "rewrites weights, simulates schedules",
}
"""By the sources; `graphturbo` does all but four."""


def run(latency_s: float, dram_bytes: int = 2**20, kernels: int = 10, share: float = 0.5) -> Run:
    return {
        "latency_s": latency_s, "dram_bytes": dram_bytes, "kernels": kernels, "share": share,
        "critical_path": {"matrix": 0.001, "dram": latency_s - 0.001}, "seconds": 1.5,
    }  # fmt: skip


def test_the_page_shows_what_is_kept() -> None:
    assert main(["--check"]) == 0
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
    text = page(found, {})
    every = len(SETTINGS) * len(CHIPS)
    assert f"4 of {every * len(COMPARED)} runs are kept. 1 of them" in text
    assert f"`not run`: these have not been run yet ({every} of `layerwise`, {every - 1} of" in text
    assert "| `xla` | **2 ms, 25 %** | not run |" in text
    assert "| `ios` | TOO_LARGE | not run |" in text
    assert "| `tvm` | 4 MiB, 20 | not run |" in text
    assert (
        f"- On `{chip}`: `xla` is the fastest, 1.50× as fast as `glow`.\n"
        "    - `glow`: 1 ms longer than `xla`: on the critical path 1 ms more of DRAM. It moves"
        " 1 MiB over DRAM, in 10 kernels instead of 5.\n"
        "    - `tvm`: 2 ms longer than `xla`: on the critical path 2 ms more of DRAM."
        " It moves 4 MiB instead of 1 MiB over DRAM, in 20 kernels instead of 5.\n" in text
    )
    assert "| `xla` | 0.250 (4 missing) | not run |" in text
    near = {**found, (setting, chip, "glow"): run(0.002001, kernels=1)}
    assert f"- On `{chip}`: `xla` and `glow` are the fastest, with the same time." in page(near, {})
    alone: dict[Key, Run] = {(setting, chip, "glow"): run(0.003)}
    assert f"- On `{chip}`: `glow` alone was run.\n" in page(alone, {})


def test_a_rewrite_search_is_compared_with_the_fastest_and_with_the_unchanged_graph() -> None:
    setting, chip = SETTINGS[0].name, CHIPS[0]
    found: dict[Key, Run] = {
        (setting, chip, "graphturbo"): run(0.002),
        (setting, chip, "taso-like"): run(0.003),
        (setting, chip, "tensorrt-like"): run(0.004),
        (setting, chip, "ios"): run(0.005),
        (setting, chip, "ios:both"): run(0.006),
    }
    text = page(found, {})
    assert "    - `taso-like`: 1 ms longer than `graphturbo`: " in text
    assert "    - Search or no search: `tensorrt-like`: 1 ms longer than `taso-like`: " in text
    assert "    - `ios:both`: 4 ms longer than `graphturbo`: " in text
    assert (
        "    - Search or no search: `ios:both`: 1 ms longer than `ios`: " in text
    )  # the slower one first


def test_times_to_schedule_and_what_slowed_them_down() -> None:
    setting, chip = SETTINGS[0].name, CHIPS[0]
    found: dict[Key, Run] = {
        (setting, chip, "tvm"): {**run(0.004), "cpu_share": 0.9, "seconds": 2.5},
        (setting, chip, "xla"): {**run(0.004), "cpu_share": 0.89},
        (setting, chip, "glow"): run(0.004),  # from before the share was recorded
        (setting, chip, "ios:both"): {"over_seconds": 180},
    }
    text = page(found, {})
    for row in (
        "`tvm` | 2.5 |",
        "`xla` | ~1.5 (CPU 1.3) |",
        "`glow` | ~1.5 |",
        "`ios:both` | over 180 s |",
    ):
        assert f"| {row} not run |" in text
    assert (
        "| `tvm` | 0.500 (4 missing) | not run | not run | not run | not run | 2.5 s, 2.5 s |"
        in (text)
    )
    assert "| `xla` | 0.500 (4 missing) | not run | not run | not run | not run | ~1.5 s, " in text
    assert "| `ios:both` | not run or over 180 s | not run |" in text


def test_a_search_ends_at_its_limit_and_other_runs_have_none() -> None:
    imports = Imports(load_sample("teaching-resnet"))
    request = RunRequest("teaching-resnet", "taso-like@2", "generic-4x4", 8, has_pictures=False)
    assert timed_run.timed_run(imports, request, 0) == {"over_seconds": 0}
    found = timed_run.timed_run(imports, request, None)
    assert {"latency_s", "seconds", "cpu_share"} <= set(found)
    wrong = RunRequest("teaching-resnet", "tvm@2", "generic-4x4", 8, max_instructions=1)
    assert timed_run.timed_run(imports, wrong, None) == {"refused": "BAD_MAX_INSTRUCTIONS"}


def test_searches_come_last_and_the_shortest_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting, chip = SETTINGS[0].name, CHIPS[0]
    tasks: list[tuple[str, str, list[str]]] = []
    known: dict[Key, Run] = {
        (setting, chip, "tvm"): run(1),
        (setting, chip, "tensorrt-like"): {**run(1), "seconds": 5.0},
        (setting, CHIPS[1], "tensorrt-like"): {**run(1), "seconds": 361.0},
        (SETTINGS[1].name, chip, "tensorrt-like"): {**run(1), "seconds": 4.0},
    }

    def note(_: object, found: list, processes: int, keep: object) -> None:
        tasks.extend((s.name, c, missing) for s, c, missing in found)

    monkeypatch.setattr(matrix, "run_tasks", note)
    monkeypatch.setattr(matrix, "kept", lambda: dict(known))
    monkeypatch.setattr(matrix, "keep", known.update)
    matrix.run_missing(1, ("tvm", "glow", "taso-like"))
    assert tasks[0] == (setting, chip, ["glow"])
    assert tasks[1][2] == ["tvm", "glow"]
    searches = [task for task in tasks if task[2] == ["taso-like"]]
    assert tasks[-len(searches) :] == searches
    assert [each[:2] for each in searches[:2]] == [(SETTINGS[1].name, chip), (setting, chip)]
    assert len(searches) == len(SETTINGS) * len(CHIPS) - 1
    assert known[setting, CHIPS[1], "taso-like"] == {"over_seconds": matrix.MOST_SECONDS}


def test_runs_are_kept_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "KEPT", tmp_path / "schedulers.json")
    key = (SETTINGS[0].name, CHIPS[0], "tvm")
    matrix.keep({key: run(1)})
    assert matrix.kept() == {key: run(1)}
    (kept,) = read_schedules(matrix.KEPT)
    assert (kept.setting, kept.chip, kept.strategy) == key
    assert kept.run.latency_s == 1


def test_every_sample_has_a_row_on_every_chip() -> None:
    first, second = samples.settings()[:2]
    found: dict[Key, Run] = {
        (first.name, "goya", "tvm"): run(0.002, share=0.25),
        (first.name, "goya", "glow"): run(0.001, share=0.5),
        (first.name, "goya", "ios"): {"over_seconds": 60},
        (second.name, "goya", "tvm"): {"refused": "TOO_MANY_INSTRUCTIONS"},
    }
    head, *tables = samples.sections(found)
    assert "4 of 1,760 runs are kept" in head
    assert len(tables) == len(CHIPS)
    shares, won = tables[CHIPS.index("goya")].split("\n\n")[:2]
    rows = {line.split(" | ")[0]: line for line in shares.splitlines()}
    names = [name for name in samples.COMPARED if name not in ("ios:both", "taso-like")]
    cells = rows[f"| {first.model.name}"].strip("| ").split(" | ")[1:]
    assert (cells[names.index("tvm")], cells[names.index("glow")]) == ("25", "**50**")
    assert (cells[names.index("xla")], cells[names.index("ios")]) == ("not run", "over 60 s")
    assert "ios" not in tables[CHIPS.index("stcp920")]
    assert "TOO_MANY_INSTRUCTIONS" in rows[f"| {second.model.name}"]
    (fastest,) = won.splitlines()[2:]
    assert fastest.startswith(f"| {first.model.name} | `glow` | 1 ms, 50 % |")
    assert "`tvm`: 1 ms longer than `glow`" in fastest
