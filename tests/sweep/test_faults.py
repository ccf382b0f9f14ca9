"""A bug of ours in one run of a sweep: a row apart from refusals, and the other points go on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from graphturbo_core.cli import sweep_output
from graphturbo_core.cli.commands import main
from graphturbo_core.errors import InvariantError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.rounds import Imports
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep import tasks
from graphturbo_core.sweep.axes import Axis
from graphturbo_core.sweep.points import Kept, results_of
from graphturbo_core.sweep.table import sweep_csv
from graphturbo_core.sweep.tasks import check_faults, points_of, result_of, row_of, tasks_of

SAMPLE, CHIP = "teaching-resnet", "generic-4x4"


@pytest.mark.parametrize(
    ("bug", "line"),
    [
        (InvariantError("BROKEN", "a bound is broken"), "error: BROKEN: a bound is broken"),
        (KeyError("no\nop"), "error: KeyError: 'no\\nop'"),
    ],
)
def test_a_bug_of_ours_is_a_row_and_the_other_points_go_on(
    bug: Exception, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its traceback comes as text, since a process may send nothing else; it is not kept."""
    whole = tasks.run_shared

    def broken(imports: Imports, request: RunRequest, profile: bytes) -> object:
        if request.batch == 4:
            raise bug
        return whole(imports, request, profile)

    monkeypatch.setattr(tasks, "run_shared", broken)
    axes, data = (Axis("batch", (4, 8)),), load_sample(SAMPLE)
    points = points_of(axes, ["tvm"])
    results = results_of(
        data, tasks_of(RunRequest(SAMPLE, profile=CHIP), points), Kept(tmp_path), lambda *_: None,
        lambda model, missing: ((k, result_of(Imports(model), t)) for k, t in missing.items()),
    )  # fmt: skip
    fault, other = (row_of(point, result) for point, result in zip(points, results, strict=True))
    assert (fault["status"], fault["error"], fault["cycles"]) == ("fault", line, None)
    assert (other["status"], other["error"]) == ("ok", "")
    assert len(list(tmp_path.iterdir())) == 1
    assert sweep_csv(axes, [fault]).splitlines()[1].startswith("4,tvm,fault,")
    with pytest.raises(InvariantError, match=r"1 of 2 runs met a bug of ours") as found:
        check_faults(results)
    assert found.value.code == "SWEEP_FAULT"
    assert "Traceback" in str(found.value)
    check_faults(results[1:])


def test_a_bug_of_ours_fails_the_command_after_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def here(_: int, model: bytes, missing: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
        return ((key, result_of(Imports(model), task)) for key, task in missing.items())

    def broken(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr(sweep_output, "computed_here", here)
    monkeypatch.setattr(tasks, "run_shared", broken)
    target = tmp_path / "table.csv"
    with pytest.raises(InvariantError, match="1 of 1 run met a bug of ours"):
        main(["sweep", SAMPLE, "--vary", "batch=4", "--strategies", "tvm", "--csv", str(target)])
    shown = capsys.readouterr().out
    assert "fault:" in shown and "KeyError" in shown
    assert target.read_text(encoding="utf-8").splitlines()[1].startswith("4,tvm,fault,")
