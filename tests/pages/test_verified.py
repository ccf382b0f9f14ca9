"""Kept replays: shown only for their very Program, and stale once that is another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.verified import replays
from benchmarks.verified.__main__ import table
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.report.report import Report
from graphturbo_core.report.verdict import kept_replays
from graphturbo_core.report.verdict.kept_replays import KeptReplay, kept_text, state_text
from graphturbo_ui.jobs import default_comparison

SMALLEST = "teaching-resnet"


@pytest.fixture(scope="module")
def imports() -> Imports:
    return Imports(load_sample(SMALLEST))


def made(imports: Imports, strategy: str = "tvm@16", batch: int = 64, **choices: object) -> Report:
    request = RunRequest(SMALLEST, strategy, "stcp920", batch, has_pictures=False, **choices)
    return run_shared(imports, request)


def kept() -> list[KeptReplay]:
    return list(kept_replays.kept_replays().values())


def test_the_default_comparison_and_small_samples_are_kept() -> None:
    runs = [(entry["model"], entry["strategy"]) for entry in kept()]
    asked = [
        (name, request.strategy)
        for name in replays.MODELS
        for request in default_comparison(name)[0]
    ]
    assert runs == asked
    assert replays.MODELS[0] == default_comparison()[0][0].model_name


def test_what_is_kept_is_within_its_tolerance() -> None:
    for entry in kept():
        assert 0 <= entry["largest_difference"] < entry["tolerance"] < 0.1
        assert entry["program_sha256"] in table() or entry["program_sha256"][:12] in table()


def test_the_smallest_is_replayed_again_and_its_program_is_the_kept_one(imports: Imports) -> None:
    """The replay draws weights, which changes nothing of the Program that people see."""
    report = made(imports, verify=True)
    found, now = replays.kept_of(report), kept_replays.kept_replay(report)
    assert now is not None
    assert found["program_sha256"] == now["program_sha256"]
    assert found["tolerance"] == pytest.approx(now["tolerance"])
    assert made(imports).contract["program_sha256"] == now["program_sha256"]
    assert state_text(report) == "verified"


def test_the_digest_is_that_of_instructions(imports: Imports) -> None:
    """On 4 clusters a batch of 32 is one round of 8 per cluster, and so are 64 samples under @8."""
    digests = [
        made(imports, *choices).contract["program_sha256"]
        for choices in (("tvm@16",), ("tvm@16",), ("tvm@8",), ("graphturbo@16",), ("tvm@16", 32))
    ]
    assert digests[0] == digests[1]
    assert digests[2] == digests[4]
    assert len(set(digests)) == 3


def test_the_digest_covers_what_an_op_does(imports: Imports) -> None:
    """Both programs have equal instructions: only the activation is another."""
    data = load_sample(SMALLEST)
    assert data.count(b"Relu") > 1
    other = Imports(data.replace(b"Relu", b"Tanh"))
    one, two = made(imports), made(other)
    assert one.contract["program_sha256"] != two.contract["program_sha256"]
    assert kept_replays.kept_replay(two) is None


def test_a_report_of_another_program_or_batch_says_nothing(imports: Imports) -> None:
    report = made(imports)
    assert "verified by the project's checks, program" in state_text(report)
    for change in ({"program_sha256": "0" * 64}, {"batch": 128}):
        other = replace(report, contract={**report.contract, **change})
        assert kept_replays.kept_replay(other) is None
        assert state_text(other) == "not verified"


def test_the_sentence() -> None:
    entry: KeptReplay = {
        "model": "m", "profile": "stcp920", "strategy": "tvm@16", "dtype": "fp16", "batch": 64,
        "program_sha256": "3f2a" * 16, "instructions": 194_100, "rounds": 4,
        "largest_difference": 7.88e-7, "tolerance": 0.00636, "version": "0.1.0",
        "onnxruntime": "1.2",
    }  # fmt: skip
    assert kept_text(entry) == (
        "replayed by the project's checks (194,100 instructions, 64 samples): largest difference "
        "7.9e-07 of the output's magnitude, tolerance 6.4e-03; version 0.1.0, ONNX Runtime 1.2, "
        "program 3f2a3f2a3f2a"
    )


def test_a_replay_of_another_program_is_stale() -> None:
    entries = {entry["program_sha256"]: entry for entry in kept()}
    assert replays.stale(entries, reports_of(kept())) == []
    other = [{**kept()[0], "program_sha256": "0" * 64}, *kept()[1:]]
    (line,) = replays.stale(entries, reports_of(other))
    assert "resnet50-slim stcp920 tvm@16: its Program is 000000000000" in line


def test_a_replay_that_is_missing_or_fails_or_is_of_no_use_is_stale() -> None:
    entries = {entry["program_sha256"]: entry for entry in kept()[1:]}
    (line,) = replays.stale(entries, reports_of(kept()))
    assert line.endswith("the kept one none")
    entries = {entry["program_sha256"]: entry for entry in kept()}
    (line,) = replays.stale(entries, reports_of(kept()[1:]))
    assert line == "resnet50-slim stcp920 tvm@16: nothing replays it"
    failed = replays.stale(entries, reports_of(kept(), ok=False))
    assert [line.split(": ")[1] for line in failed] == ["its replay fails"] * len(entries)


def reports_of(entries: list[KeptReplay], ok: bool = True) -> object:
    """What `replays.reports` gives where these are the Programs."""

    def found(*_: object) -> Iterator[Report]:
        for entry in entries:
            yield Report({**entry, "verify": {"ran": True, "ok": ok}}, {}, {})

    return found
