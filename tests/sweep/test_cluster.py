"""A sweep on a Dask cluster: only addresses that are safe, and the table of one process."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from graphturbo_core.cli.commands import main
from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep import cluster, tasks
from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.cluster import RESULT_OF, Scheduler, computed_on, named_result
from graphturbo_core.sweep.points import Kept, results_of
from graphturbo_core.sweep.tasks import Point, check_result, points_of, result_of, tasks_of
from tests.full import IS_FULL

ROOT = Path(__file__).resolve().parents[2]
SAMPLE, CHIP = "teaching-resnet", "generic-4x4"
VARY = "core.lb_data_bytes=24576,49152,98304,196608"
CERTIFICATES = ("ca.pem", "own.pem", "own.key")


def task_of(request: RunRequest, point: Point) -> bytes:
    return tasks_of(request, [point])[0]


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:8786", "127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786",
     "tls://far.example:8786"],
)  # fmt: skip
def test_addresses_that_are_taken(address: str) -> None:
    Scheduler(address, *CERTIFICATES).check()


@pytest.mark.parametrize(
    ("address", "files"),
    [
        ("tcp://10.0.0.7:8786", CERTIFICATES), ("far.example:8786", ()), ("tls://far:1", ()),
        ("tls://far:1", CERTIFICATES[:2]), ("ucx://127.0.0.1:1", ()), ("tcp://", ()), ("", ()),
        ("tcp://127.0.0.1.far.example:8786", ()), ("ws://127.0.0.1:8786", ()),
    ],
)  # fmt: skip
def test_addresses_that_are_refused(address: str, files: Sequence[str]) -> None:
    with pytest.raises(OptionError) as refused:
        Scheduler(address, *files).check()
    assert refused.value.code == "SCHEDULER_ADDRESS"
    with pytest.raises(OptionError):
        next(computed_on(Scheduler(address, *files), b"", {"key": b""}))


def test_the_command_line_refuses_them_too(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", SAMPLE, "--vary", "batch=4", "--scheduler", "tcp://10.0.0.7:8786"]
    assert main(words) == 2
    assert "SCHEDULER_ADDRESS" in capsys.readouterr().err


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise ImportError

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(OptionError, match=r"requirements-dask\.txt"):
        list(computed_on(Scheduler("127.0.0.1:1"), b"", {"key": b""}))
    assert list(computed_on(Scheduler("127.0.0.1:1"), b"", {})) == []


def test_a_task_is_a_known_function_and_bytes() -> None:
    request = RunRequest(SAMPLE, profile=CHIP, batch=4)
    (point,) = points_of((Axis("batch", (4,)),), ["tvm"])
    task, data = task_of(request, point), load_sample(SAMPLE)
    assert named_result(RESULT_OF, "digest", data, task) == result_of(Imports(data), task)
    with pytest.raises(KeyError):
        named_result("system", "digest", data, task)
    other = json.loads(task) | {"source": "0"}
    found = named_result(RESULT_OF, "digest", data, json.dumps(other).encode())
    with pytest.raises(OptionError, match="other sources of this library"):
        check_result(found)


def test_too_little_memory_is_a_row_that_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another machine, or this one later, may have enough."""

    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tasks, "run_shared", full)
    (point,) = points_of((Axis("batch", (4,)),), ["tvm"])
    task = task_of(RunRequest(SAMPLE, profile=CHIP), point)
    found = result_of(Imports(load_sample(SAMPLE)), task)
    (row,) = results_of(
        b"", [task], Kept(tmp_path), lambda *_: None,
        lambda _, missing: ((key, found) for key in missing),
    )  # fmt: skip
    assert json.loads(row)["status"] == "refused"
    assert "OUT_OF_MEMORY" in json.loads(row)["error"]
    assert list(tmp_path.iterdir()) == []


@contextmanager
def process(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program of Dask's, ended with its children."""
    command = [sys.executable, "-m", *words]
    started = subprocess.Popen(  # our command
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield started
    finally:
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)
        started.wait()


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def address_in(file: Path) -> str:
    """The address in a scheduler's file, which is empty before it is written."""
    wait_for(lambda: file.exists() and file.read_bytes().endswith(b"}"))
    return str(json.loads(file.read_bytes())["address"])


def swept(*more: str) -> tuple[list[str], Path]:
    """The words of a sweep, and where its table goes."""
    target = Path(more[0])
    words = ["sweep", SAMPLE, "--profile", CHIP, "--batch", "16", "--strategies", "tvm,graphturbo"]
    return [*words, "--vary", VARY, "--csv", str(target), *more[1:]], target


@pytest.mark.slow
@pytest.mark.usefixtures("forked_pools")
@pytest.mark.parametrize("is_one_killed", [False, True] if IS_FULL else [True])
def test_the_same_table_from_two_workers(tmp_path: Path, is_one_killed: bool) -> None:
    local, here = swept(str(tmp_path / "here.csv"))
    assert main(local) == 0
    file, kept = tmp_path / "scheduler.json", tmp_path / "runs"
    with ExitStack() as stack:
        stack.enter_context(process(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
            "--no-dashboard", "--scheduler-file", str(file),
        ))  # fmt: skip
        address = address_in(file)
        workers = [
            stack.enter_context(process(
                "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard",
                "--no-nanny", "--host", "127.0.0.1", "--local-directory", str(tmp_path),
            ))
            for _ in range(2)
        ]  # fmt: skip
        far, there = swept(
            str(tmp_path / "there.csv"), "--scheduler", address, "--resume", str(kept)
        )
        command = stack.enter_context(process("graphturbo_core", *far))
        if is_one_killed:
            wait_for(lambda: any(kept.glob("*.json")))
            workers[0].kill()
        assert command.wait(timeout=120) == 0
    assert there.read_bytes() == here.read_bytes()


def openssl(folder: Path, *words: str) -> None:
    command = ["openssl", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)  # our command


def make_certificates(folder: Path) -> None:
    """`own.pem` for 127.0.0.1 by the authority `ca.pem`, and `foreign.pem` by itself."""
    new = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("ca", "foreign"):
        openssl(
            folder, *new, "-subj", f"/CN={name}", "-days", "1",
            "-keyout", f"{name}.key", "-out", f"{name}.pem",
        )  # fmt: skip
    openssl(
        folder, *new, "-subj", "/CN=own", "-days", "1", "-CA", "ca.pem", "-CAkey", "ca.key",
        "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE",
        "-keyout", "own.key", "-out", "own.pem",
    )  # fmt: skip


def tls_words(folder: Path, name: str, ca: str = "--tls-ca") -> list[str]:
    """The options that name the authority, a certificate and its key."""
    files = {ca: "ca.pem", "--tls-cert": f"{name}.pem", "--tls-key": f"{name}.key"}
    return [word for option, file in files.items() for word in (option, str(folder / file))]


@contextmanager
def tls_cluster(folder: Path) -> Iterator[str]:
    """The address of a scheduler with one worker that take certificates of `ca.pem` alone."""
    file = folder / "scheduler.json"
    common = ["--protocol", "tls", "--host", "127.0.0.1", "--no-dashboard"]
    common += tls_words(folder, "own", "--tls-ca-file")
    with ExitStack() as stack:
        stack.enter_context(process(
            "distributed.cli.dask_scheduler", *common, "--port", "0",
            "--scheduler-file", str(file),
        ))  # fmt: skip
        address = address_in(file)
        stack.enter_context(process(
            "distributed.cli.dask_worker", address, *common, "--nthreads", "1", "--no-nanny",
            "--local-directory", str(folder),
        ))  # fmt: skip
        yield address


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes the certificates")
@pytest.mark.usefixtures("forked_pools")
def test_certificates_of_one_authority_are_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_certificates(tmp_path)
    local, here = swept(str(tmp_path / "here.csv"))
    assert main(local) == 0
    with tls_cluster(tmp_path) as address:
        assert address.startswith("tls://127.0.0.1:")
        far, there = swept(
            str(tmp_path / "there.csv"), "--scheduler", address, *tls_words(tmp_path, "own")
        )
        assert main(far) == 0
        assert there.read_bytes() == here.read_bytes()
        capsys.readouterr()
        foreign, never = swept(
            str(tmp_path / "never.csv"), "--scheduler", address, *tls_words(tmp_path, "foreign")
        )
        assert main(foreign) == 2
        assert "SCHEDULER_UNREACHABLE" in capsys.readouterr().err
        assert not never.exists()


@pytest.mark.slow
def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with pytest.raises(OptionError) as refused:
        list(computed_on(Scheduler("tcp://127.0.0.1:9"), b"", {"key": b""}))
    assert refused.value.code == "SCHEDULER_UNREACHABLE"


@pytest.mark.slow
def test_a_scheduler_without_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 5)
    file = tmp_path / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with process("distributed.cli.dask_scheduler", *words):
        address = address_in(file)
        with pytest.raises(OptionError) as refused:
            list(computed_on(Scheduler(address), b"", {"key": b""}))
    assert refused.value.code == "NO_WORKER"
