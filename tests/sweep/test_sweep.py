"""A sweep's table: each cell is that of a single run, whatever ended in between."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from graphturbo_core.cli.commands import main
from graphturbo_core.cli.sweep_output import _short, progress_lines
from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.variation import varied_profile
from graphturbo_core.pipeline import run_report
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep import points as points_module
from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.points import Kept, computed_here, results_of
from graphturbo_core.sweep.table import columns_of, sweep_csv, sweep_json
from graphturbo_core.sweep.tasks import FIGURES, Point, Row, points_of, result_of, row_of, tasks_of
from tests.full import IS_FULL

SAMPLE, CHIP = "teaching-resnet", "generic-4x4"
REQUEST = RunRequest(SAMPLE, profile=CHIP, batch=16)
LB, DRAM = "core.lb_data_bytes", "cluster.dram_bandwidth_bytes_per_s"
AXES = (Axis(LB, (24576, 196608)), Axis(DRAM, (8_000_000_000, 16_000_000_000)))
STRATEGIES = ("tvm", "graphturbo@2")
POINTS = points_of(AXES, STRATEGIES)
TASKS = tasks_of(REQUEST, POINTS)


def task_of(request: RunRequest, point: Point) -> bytes:
    return tasks_of(request, [point])[0]


def computed(model: bytes, tasks: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Runs in this process, one after the other."""
    imports = Imports(model)
    for key, task in tasks.items():
        yield key, result_of(imports, task)


def rows(kept: Kept | None = None, told: list[tuple[int, int]] | None = None) -> list[Row]:
    noted = [] if told is None else told
    results = results_of(
        load_sample(SAMPLE), TASKS, kept or Kept(None),
        lambda done, total: noted.append((done, total)), computed,
    )  # fmt: skip
    return [row_of(point, result) for point, result in zip(POINTS, results, strict=True)]


@cache
def _computed_once() -> tuple[Row, ...]:
    return tuple(rows())


def whole_rows() -> list[Row]:
    """All rows, computed once for the tests that only look at them: each has its own copy."""
    return [dict(row) for row in _computed_once()]


def single(values: dict[str, Any], strategy: str) -> dict[str, Any]:
    """The figures of one run by itself."""
    data = varied_profile(CHIP, values)
    request = RunRequest(SAMPLE, strategy, CHIP, 16, has_pictures=False)
    contract: Any = run_report(load_sample(SAMPLE), request, data).contract
    return {name: contract[name] for name in FIGURES}


def test_every_cell_is_that_of_a_single_run() -> None:
    found = whole_rows()
    assert len(found) == 8
    for row in found:
        values = {key: row[key] for key in (LB, DRAM)}
        assert row["status"] == "ok"
        figures = {name: row[name] for name in FIGURES}
        assert figures == single(values, str(row["strategy"]))
    assert len({row["latency_s"] for row in found}) > 4


@pytest.mark.skipif(not IS_FULL, reason="GRAPHTURBO_FULL=1 looks at more cells")
def test_every_cell_of_four_by_four() -> None:
    axes = (
        Axis(LB, (24576, 49152, 98304, 196608)),
        Axis(DRAM, tuple(n * 4_000_000_000 for n in range(1, 5))),
    )
    imports = Imports(load_sample(SAMPLE))
    for point in points_of(axes, ["graphturbo"]):
        row = row_of(point, result_of(imports, task_of(REQUEST, point)))
        figures = {name: row[name] for name in FIGURES}
        assert figures == single(dict(point.values), "graphturbo")


def test_columns_and_order() -> None:
    table = list(csv.reader(io.StringIO(sweep_csv(AXES, whole_rows()))))
    head, *body = table
    assert head[:5] == [LB, DRAM, "strategy", "status", "error"]
    assert head == list(columns_of(AXES))
    assert len(set(head)) == len(head)
    assert "schedule_seconds" not in head
    assert {"latency_s", "cycles", "dram_read_bytes", "gap"} <= set(head)
    assert [row[:3] for row in body[:3]] == [
        ["24576", "8000000000", "tvm"], ["24576", "8000000000", "graphturbo@2"],
        ["24576", "16000000000", "tvm"],
    ]  # fmt: skip
    same: Any = json.loads(sweep_json(AXES, whole_rows()))
    assert same["columns"] == head
    texts = [["" if row[c] is None else str(row[c]) for c in head] for row in same["rows"]]
    assert texts == body


def test_an_interrupted_sweep_is_finished_later(tmp_path: Path) -> None:
    """What ended before is not run again, a torn file is, and the table is the same."""
    whole = whole_rows()

    def stop(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    kept = Kept(tmp_path / "runs")
    with pytest.raises(KeyboardInterrupt):
        results_of(load_sample(SAMPLE), TASKS, kept, stop, computed)
    files = sorted((tmp_path / "runs").iterdir())
    assert len(files) == 3
    files[0].write_bytes(files[0].read_bytes()[:-9])
    told: list[tuple[int, int]] = []
    assert rows(kept, told) == whole
    assert told[0] == (2, 8)
    assert len(told) == 1 + 6
    again: list[tuple[int, int]] = []
    assert rows(kept, again) == whole
    assert again == [(8, 8)]


def test_another_model_or_option_is_another_run(tmp_path: Path) -> None:
    kept, told = Kept(tmp_path), list[tuple[int, int]]()
    rows(kept)
    for data, request in (
        (load_sample(SAMPLE) + b"\x00\x00", REQUEST),
        (load_sample(SAMPLE), RunRequest(SAMPLE, profile=CHIP, batch=16, dtype="int8")),
    ):
        told.clear()
        with pytest.raises(KeyboardInterrupt):
            results_of(data, [task_of(request, POINTS[0])], kept, _stopping(told), computed)
        assert told == [(0, 1)]


def _stopping(told: list[tuple[int, int]]) -> points_module.OnProgress:
    def tell(done: int, total: int) -> None:
        told.append((done, total))
        raise KeyboardInterrupt

    return tell


def test_another_text_of_the_profile_is_another_run(tmp_path: Path) -> None:
    """Its name alone would give the figures of the file as it was."""
    path = tmp_path / "own.yaml"
    request = RunRequest(SAMPLE, profile=str(path), batch=16)
    found = []
    for gb_bytes in (1048576, 2097152):
        path.write_bytes(varied_profile(CHIP, {"cluster.gb_bytes": gb_bytes}))
        found.append(task_of(request, POINTS[0]))
    assert found[0] != found[1]
    path.unlink()
    assert json.loads(result_of(Imports(load_sample(SAMPLE)), found[0]))["status"] == "ok"


def test_keys_with_one_value() -> None:
    """On a chip whose LB is one pool both parts have the same size."""
    axis = Axis("core.lb_data_bytes+core.lb_weight_bytes", (524288,))
    request = RunRequest(SAMPLE, profile="ascend910", batch=2)
    (point,) = points_of((axis,), ["graphturbo"])
    row = row_of(point, result_of(Imports(load_sample(SAMPLE)), task_of(request, point)))
    assert row["status"] == "ok"
    assert row[axis.key] == 524288
    alone = points_of((Axis("core.lb_data_bytes", (524288,)),), ["graphturbo"])[0]
    refused = row_of(alone, result_of(Imports(load_sample(SAMPLE)), task_of(request, alone)))
    assert refused["status"] == "refused"


def test_columns_of_a_terminal_have_names_of_their_own() -> None:
    rates = ["core.matrix_rate.fp16", "core.vector_rate.fp16", "cluster.gb_bytes"]
    assert list(_short(rates).values()) == [*rates[:2], "gb_bytes"]


def test_a_folder_that_is_not_there_is_refused_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = str(tmp_path / "none" / "table.csv")
    assert main(["sweep", SAMPLE, "--vary", "batch=4", "--csv", target]) == 2
    found = capsys.readouterr().err
    assert "UNWRITABLE" in found
    assert "runs" not in found


def test_a_refusal_is_a_row() -> None:
    axes = (Axis("core.lb_data_bytes", (16, 65536)), Axis("batch", (4,)))
    imports = Imports(load_sample(SAMPLE))
    small, large = (
        row_of(point, result_of(imports, task_of(REQUEST, point)))
        for point in points_of(axes, ["tvm"])
    )
    assert small["status"] == "refused"
    assert str(small["error"]).startswith("error: TILE_TOO_LARGE: ")
    assert small["cycles"] is None
    assert (large["status"], large["error"], large["batch"]) == ("ok", "", 4)
    assert list(small) == list(large) == list(columns_of(axes))
    text = sweep_csv(axes, [small])
    assert text.splitlines()[1].startswith('16,4,tvm,refused,"error: TILE_TOO_LARGE')


def test_a_profile_that_the_schema_refuses_is_a_row() -> None:
    (point,) = points_of((Axis("cluster.cores", (-1,)),), ["tvm"])
    row = row_of(point, result_of(Imports(load_sample(SAMPLE)), task_of(REQUEST, point)))
    assert row["status"] == "refused"
    assert "cluster.cores" in str(row["error"])


def test_the_cluster_batch_as_an_axis() -> None:
    axis = Axis("cluster_batch", (1, 2))
    imports = Imports(load_sample(SAMPLE))
    found = [
        row_of(point, result_of(imports, task_of(REQUEST, point)))
        for point in points_of((axis,), ["graphturbo"])
    ]
    assert [row["rounds"] for row in found] == [4, 2]
    assert [row["strategy"] for row in found] == ["graphturbo", "graphturbo"]
    with pytest.raises(OptionError, match="fixes the cluster batch"):
        points_of((axis,), ["tvm", "graphturbo@2"])


def test_a_name_is_no_formula() -> None:
    row = {**whole_rows()[0], "model": "=1+1"}
    cells = next(csv.DictReader(io.StringIO(sweep_csv(AXES, [row]))))
    assert cells["model"] == "'=1+1"


@pytest.mark.usefixtures("forked_pools")
def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = [
        "sweep",
        SAMPLE,
        "--profile",
        CHIP,
        "--batch",
        "16",
        "--strategies",
        "tvm,graphturbo@2",
    ]
    vary = ["--vary", f"{LB}=24576,196608", "--vary", f"{DRAM}=8000000000,16000000000"]
    target = tmp_path / "table.csv"
    assert main([*words, *vary, "--csv", str(target), "--json", "-"]) == 0
    assert target.read_text(encoding="utf-8") == sweep_csv(AXES, whole_rows())
    out, err = capsys.readouterr()
    assert out == sweep_json(AXES, whole_rows())
    assert "8/8" in err
    assert main([*words, *vary, "--csv", "-"]) == 0
    out, err = capsys.readouterr()
    assert out == sweep_csv(AXES, whole_rows())
    assert "8/8" in err
    assert main([*words, "--vary", "core.lb_data_bytes=16,65536"]) == 0
    shown = capsys.readouterr().out
    assert "TILE_T" in shown
    assert "lb_data_bytes" in shown
    assert main([*words, *vary, "--verify"]) == 2
    assert "VERIFY_SWEEP" in capsys.readouterr().err


def test_progress_without_a_terminal_is_a_line_every_five_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The sweep begins at 100 s; runs end 1, 6, 8, 10, 11 and 12 s later."""
    clock = iter([100.0, 101.0, 106.0, 108.0, 110.0, 111.0, 112.0])
    tell = progress_lines(lambda: next(clock))
    for done in range(1, 7):
        tell(done, 6)
    assert capsys.readouterr() == ("", "2/6 runs\n5/6 runs\n6/6 runs\n")


def test_a_process_that_was_ended_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def __init__(self, *_: object) -> None:
            """As a pool of which a process is gone."""

        def submit(self, *_: object) -> Future[bytes]:
            done: Future[bytes] = Future()
            done.set_exception(BrokenProcessPool())
            return done

        def shutdown(self, **_: object) -> None:
            """Nothing runs."""

    monkeypatch.setattr(points_module, "ProcessPoolExecutor", Broken)
    with pytest.raises(CapacityError, match="--resume and fewer --processes") as refused:
        list(computed_here(2, b"", {"key": b"task"}))
    assert refused.value.code == "WORKER_ENDED"
    assert list(computed_here(2, b"", {})) == []


INTERRUPTIBLE = """
import signal, sys
from graphturbo_core.cli import main
from tests.full import IS_FULL
signal.signal(signal.SIGINT, signal.default_int_handler)
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
"""The command line, also below a shell in whose background SIGINT is ignored."""


@pytest.mark.slow
def test_an_interrupt_ends_the_runs_that_have_not_begun(tmp_path: Path) -> None:
    """Of 800, which take a minute or more: it ends with those that had begun."""
    folder = tmp_path / "runs"
    batches = ",".join(str(4 * n) for n in range(1, 41))
    command = [
        sys.executable, "-c", INTERRUPTIBLE, "sweep", SAMPLE, "--profile", CHIP,
        "--strategies", "tvm", "--processes", "2", "--vary", f"batch={batches}",
        "--vary", f"{DRAM}={','.join(str(n * 10**9) for n in range(1, 21))}",
        "--resume", str(folder),
    ]  # fmt: skip
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as first:  # our command
        while first.poll() is None and not list(folder.glob("*.json")):
            time.sleep(0.01)
        begin = time.monotonic()
        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=60) == 130
        assert time.monotonic() - begin < 20
    assert len(list(folder.glob("*.json"))) < 400


def running_of_group(group: int) -> list[int]:
    """The processes of a group that run: an ended one may wait for init to take note of it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, of_group = path.read_text().rpartition(")")[2].split()[:3]
            if int(of_group) == group and state not in "ZX":
                found.append(int(path.parent.name))
    return found


def await_end_of_group(group: int) -> None:
    """Raises where a process of the group runs after a minute."""
    deadline = time.monotonic() + 60
    while left := running_of_group(group):
        if time.monotonic() > deadline:
            os.killpg(group, signal.SIGKILL)
            raise AssertionError(f"workers are left: {left}")
        time.sleep(0.05)


@pytest.mark.slow
def test_a_killed_sweep_gives_the_same_table(tmp_path: Path) -> None:
    """In two processes that end by themselves where the first one is killed, after one run."""
    folder, target = tmp_path / "runs", tmp_path / "table.csv"
    command = [
        sys.executable, "-m", "graphturbo_core", "sweep", SAMPLE, "--profile", CHIP,
        "--batch", "16", "--strategies", ",".join(STRATEGIES), "--processes", "2",
        "--vary", f"{LB}=24576,196608", "--vary", f"{DRAM}=8000000000,16000000000",
        "--csv", str(target), "--resume", str(folder),
    ]  # fmt: skip
    quiet = {"stderr": subprocess.DEVNULL, "start_new_session": True}
    with subprocess.Popen(command, **quiet) as first:  # our command
        while first.poll() is None and not list(folder.glob("*.json")):
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        await_end_of_group(first.pid)
    assert not target.exists()
    before = len(list(folder.glob("*.json")))
    assert before >= 1
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # our command
    assert len(list(folder.glob("*.json"))) == 8
    assert target.read_text(encoding="utf-8") == sweep_csv(AXES, whole_rows())
