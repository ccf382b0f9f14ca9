"""A worker's frames for a job: one import of the model; a refusal ends only its run."""

from __future__ import annotations

import multiprocessing

import pytest

from graphturbo_core import pipeline, rounds
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.remote import protocol, worker
from graphturbo_core.report.report import Report

SAMPLE = "teaching-resnet"
UNDER_WAY = (protocol.STEP, protocol.PROGRESS)
"""Tags of frames before a run's last one."""


def served(*strategies: str, **choices: object) -> list[tuple[bytes, int, bytes]]:
    """Tag, run and body of every frame about a job of these strategies, at a batch of 8."""
    requests = [RunRequest(SAMPLE, strategy, **{"batch": 8, **choices}) for strategy in strategies]
    pipe, other = multiprocessing.Pipe()
    with pipe, other:
        sent: list[bytes] = []
        other.send_bytes = sent.append  # a report is larger than a pipe's buffer
        worker.serve(other, protocol.encode_job(requests, load_sample(SAMPLE), None), [])
    return [protocol.split_frame(frame) for frame in sent]


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    """The batch of every import from now on."""
    batches: list[int | None] = []
    import_model = rounds.import_model

    def counted(model: bytes, options: ImportOptions) -> Graph:
        batches.append(options.batch)
        return import_model(model, options)

    monkeypatch.setattr(rounds, "import_model", counted)
    return batches


def test_a_comparison_imports_the_model_once(imported: list[int | None]):
    # stcp920 has 4 clusters: 8 samples are 2 a cluster, one round of both runs
    frames = served("tvm@2", "graphturbo@2")
    assert imported == [8, 2]
    answers = [frame for frame in frames if frame[0] not in UNDER_WAY]
    assert [(tag, number) for tag, number, _ in answers] == [(protocol.DONE, 0), (protocol.DONE, 1)]
    reports = [Report.from_bytes(body) for _, _, body in answers]
    assert [report.contract["strategy"] for report in reports] == ["tvm@2", "graphturbo@2"]


def test_the_next_job_on_the_same_model_imports_nothing(imported: list[int | None]):
    frame, other_model = (
        protocol.encode_job([RunRequest(name, "graphturbo@2", batch=8)], load_sample(name), None)
        for name in (SAMPLE, "dlrm")
    )
    kept: list[pipeline.Imports] = []
    pipe, other = multiprocessing.Pipe()
    with pipe, other:
        other.send_bytes = lambda _: None
        worker.serve(other, frame, kept)
        (first,) = kept
        worker.serve(other, frame, kept)
        assert kept == [first]
        assert imported == [8, 2]
        assert first.known == []
        worker.serve(other, other_model, kept)
        assert kept != [first]
        assert imported == [8, 2, 8, 2]


@pytest.mark.parametrize(
    ("verify", "limit", "value"),
    [(True, "MOST_GRAPHS", 16), (False, "MOST_GRAPHS", 1), (False, "MOST_KEPT_BYTES", 1)],
)
def test_imports_are_let_go_where_they_need_much_memory(
    monkeypatch: pytest.MonkeyPatch, verify: bool, limit: str, value: int
):
    monkeypatch.setattr(worker, limit, value)  # the whole batch and a round: two graphs
    request = RunRequest(SAMPLE, "tvm@2", batch=8, verify=verify)
    kept: list[pipeline.Imports] = []
    pipe, other = multiprocessing.Pipe()
    with pipe, other:
        other.send_bytes = lambda _: None
        worker.serve(other, protocol.encode_job([request], load_sample(SAMPLE), None), kept)
    assert kept == []


def test_steps_carry_their_run_and_precede_its_report():
    frames = served("tvm@2", "graphturbo@2")
    numbers = [number for _, number, _ in frames]
    assert numbers == sorted(numbers)
    for run in (0, 1):
        own = [(tag, body) for tag, number, body in frames if number == run]
        steps = [protocol.decode_step(body)[0] for tag, body in own if tag == protocol.STEP]
        assert {tag for tag, _ in own[:-1]} == set(UNDER_WAY)
        assert steps[:2] == ["profile", "import"]
        assert steps[-2:] == ["simulate", "report"]


@pytest.mark.parametrize("choices", [{}, {"verify": True, "emit": ("edits",)}])
@pytest.mark.parametrize("strategy", ["tvm@2", "tvm@1"])
def test_progress_names_each_step_and_counts_them_all(
    strategy: str, choices: dict[str, object]
) -> None:
    """7 samples on 4 clusters at 2 per cluster are rounds of 2 and of 1; a replay counts parts."""
    frames = served(strategy, **{"batch": 7, **choices})
    steps = [protocol.decode_step(body)[0] for tag, _, body in frames if tag == protocol.STEP]
    found = [protocol.decode_progress(body) for tag, _, body in frames if tag == protocol.PROGRESS]
    begun = [progress for progress in found if not progress.total]
    assert [progress.step for progress in begun] == steps
    assert [progress.steps_done for progress in begun] == list(range(len(steps)))
    divided = steps.index("divide the batch")
    assert {p.steps_total for p in begun[: divided + 1]} == {0}
    assert begun[-1].steps_total == len(steps)
    parts = [progress for progress in found if progress.total]
    assert {progress.step for progress in parts} == ({"verify"} if choices else set())
    if parts:
        assert (parts[0].done, parts[0].seconds) == (0, 0.0)
        assert parts[-1].done > 0.9 * parts[-1].total
        shares = [progress.done / progress.total for progress in parts]
        assert shares == sorted(shares)


def test_a_refused_run_stops_no_other_and_no_import_is_lost(imported: list[int | None]):
    frames = served("tvm@2", "no such strategy", "graphturbo@2")
    answers = [(tag, number) for tag, number, _ in frames if tag not in UNDER_WAY]
    assert answers == [(protocol.DONE, 0), (protocol.ERROR, 1), (protocol.DONE, 2)]
    assert imported == [8, 2]


@pytest.mark.parametrize("choices", [{"batch": 10**9}, {"dtype": "fp1"}, {"options": {"x": "y"}}])
def test_a_wrong_choice_is_refused_before_any_step(choices: dict[str, object]):
    frames = served("tvm@2", **choices)
    assert [(tag, number) for tag, number, _ in frames] == [(protocol.ERROR, 0)]


def test_a_bug_in_a_run_crosses_the_pipe_and_stops_no_other(monkeypatch: pytest.MonkeyPatch):
    run = pipeline.run_shared

    def broken(imports, request, *rest):
        if request.strategy == "tvm@2":
            raise ZeroDivisionError("hello")
        return run(imports, request, *rest)

    monkeypatch.setattr(pipeline, "run_shared", broken)
    answers = [frame for frame in served("tvm@2", "graphturbo@2") if frame[0] not in UNDER_WAY]
    assert [(tag, number) for tag, number, _ in answers] == [(protocol.BUG, 0), (protocol.DONE, 1)]
    assert b"ZeroDivisionError: hello" in answers[0][2]
