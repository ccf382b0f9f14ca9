"""`compare --save` and `--from`: runs kept and shown again, conditions on them, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphturbo_core.cli import main
from graphturbo_core.comparison.comparison_file import read_comparison
from graphturbo_core.hardware.profile import PROFILES_FOLDER

SAMPLE = ("teaching-resnet", "--profile", "generic-4x4", "--batch", "8")
Capture = pytest.CaptureFixture[str]


def answer(capsys: Capture, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(words))
    found = capsys.readouterr()
    return code, found.out, found.err


@pytest.fixture
def kept(tmp_path: Path, capsys: Capture) -> str:
    target = str(tmp_path / "compare.json")
    words = ("--strategies", "tvm@2,graphturbo@2", "--save", target)
    assert answer(capsys, "compare", *SAMPLE, *words)[0] == 0
    return target


def test_kept_runs_are_shown_in_the_table_of_compare(kept: str, capsys: Capture) -> None:
    _, first, _ = answer(capsys, "compare", *SAMPLE, "--strategies", "tvm@2,graphturbo@2")
    code, again, _ = answer(capsys, "compare", "--from", kept)
    assert code == 0
    rows = [line for line in first.splitlines() if line.startswith("│")]
    assert [line for line in again.splitlines() if line.startswith("│")] == rows[:-1]
    assert "import to trace" in rows[-1]
    assert again.splitlines()[0].rstrip() == "teaching-resnet on generic-4x4, batch 8, fp16"


def test_kept_runs_are_printed_as_json(kept: str, capsys: Capture) -> None:
    words = ("--strategies", "tvm@2,graphturbo@2", "--json", "-")
    _, printed, _ = answer(capsys, "compare", *SAMPLE, *words)
    _, shown, _ = answer(capsys, "compare", "--from", kept, "--json", "-")
    for run, again in zip(json.loads(printed), json.loads(shown), strict=True):
        same = [key for key in again if key not in ("groups", "parts", "other_s")]
        assert {key: again[key] for key in same} == {key: run[key] for key in same}


def test_the_batch_and_sizes_that_were_run_are_kept(tmp_path: Path, capsys: Capture) -> None:
    """Without `--batch` the model's own batch is run, and Explore has to open that one."""
    target = tmp_path / "compare.json"
    words = ("teaching-resnet", "--profile", "generic-4x4", "--strategies", "tvm@2")
    for number, more in enumerate(((), ("--batch", "64"), ("--dim", "batch=64"))):
        answer(capsys, "compare", *words, *more, "--save", str(target))
        (run,) = read_comparison(target.read_bytes(), "x")
        assert run.choices is not None
        assert (run.choices.batch, run.choices.dims) == (run.figures.batch, {}), number
        assert run.figures.batch == 64


def test_conditions_hold_of_kept_runs(kept: str, capsys: Capture) -> None:
    assert answer(capsys, "compare", "--from", kept, "--fail-if", "latency_s>1")[0] == 0
    code, _, err = answer(capsys, "compare", "--from", kept, "--fail-if", "kernels>5")
    assert code == 1
    assert err == "tvm@2: kernels is 13, and --fail-if kernels>5 was given\n"


def test_a_list_of_compare_json_can_be_shown(tmp_path: Path, capsys: Capture) -> None:
    target = str(tmp_path / "runs.json")
    answer(capsys, "compare", *SAMPLE, "--strategies", "tvm@2", "--json", target)
    code, out, _ = answer(capsys, "compare", "--from", target)
    assert code == 0
    assert "tvm@2" in out


def test_runs_of_several_settings_and_a_profile_file(tmp_path: Path, capsys: Capture) -> None:
    chip = tmp_path / "mine.yaml"
    chip.write_bytes((PROFILES_FOLDER / "generic-4x4.yaml").read_bytes())
    target = tmp_path / "compare.json"
    words = ("compare", "teaching-resnet", "--batch", "8", "--strategies", "tvm@2")
    answer(capsys, *words, "--profile", str(chip), "--save", str(target))
    (run,) = read_comparison(target.read_bytes(), "x")
    assert run.choices is not None
    assert run.choices.profile_text == chip.read_text(encoding="utf-8")
    assert run.choices.profile == "mine.yaml"
    assert str(tmp_path) not in target.read_text(encoding="utf-8")
    tree = json.loads(target.read_text(encoding="utf-8"))
    other = json.loads(json.dumps(tree["runs"][0]))
    other["choices"]["batch"] = other["figures"]["batch"] = 4
    other["name"], other["note"] = "half \x1b[2J", "half of it"
    other["figures"]["version"] = "0.0.1"
    tree["runs"].append(other)
    target.write_text(json.dumps(tree), encoding="utf-8")
    code, out, _ = answer(capsys, "compare", "--from", str(target))
    assert code == 0
    assert "runs in several settings" in out
    assert "batch 4, fp16" in out
    assert "half ?[2J: half of it" in out
    assert "\x1b" not in out
    assert "figures of version 0.0.1 of this library" in out


def test_a_profile_file_that_is_not_there_is_refused(tmp_path: Path, capsys: Capture) -> None:
    words = ("teaching-resnet", "--profile", "no.yaml", "--save", str(tmp_path / "x.json"))
    code, _, err = answer(capsys, "compare", *words)
    assert code == 2
    assert "error: UNKNOWN_PROFILE: profile no.yaml is neither" in err


def test_names_of_one_setting_reach_the_terminal_without_control_signs(
    kept: str, capsys: Capture
) -> None:
    path = Path(kept)
    tree = json.loads(path.read_text(encoding="utf-8"))
    for run in tree["runs"]:
        run["figures"]["model"] = "mine\x1b]0;title\x07"
        run["figures"]["profile"] = "chip\x1b[2J"
        run["figures"]["version"] = "0\x1b[2J"
        run["note"] = "note\x1b[2J"
    path.write_text(json.dumps(tree), encoding="utf-8")
    code, out, _ = answer(capsys, "compare", "--from", kept)
    assert code == 0
    assert "mine?]0;title? on chip?[2J, batch 8, fp16" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "error: NO_MODEL: neither a model nor a file of finished runs is given"),
        (("--from", "KEPT", "--batch", "4"), "error: FROM_AND_CHOICES: --from shows finished"),
        (("--from", "KEPT", "--save", "x.json"), "error: FROM_AND_CHOICES"),
        (("--from", "KEPT", "--profile", "goya"), "error: FROM_AND_CHOICES"),
        (("teaching-resnet", "--from", "KEPT"), "error: FROM_AND_CHOICES"),
        (("--from", "no/such.json"), "error: UNREADABLE: no/such.json cannot be read"),
        (("teaching-resnet", "--save", "no/such/x.json"), "error: UNWRITABLE"),
    ],
)
def test_refusals(kept: str, capsys: Capture, words: tuple[str, ...], message: str) -> None:
    given = [kept if word == "KEPT" else word for word in words]
    code, _, err = answer(capsys, "compare", *given)
    assert code == 2
    assert err.startswith(message)
    assert err.count("\n") == 1
