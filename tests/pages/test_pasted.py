"""Outputs that pages show: each stands below its command, and the tool finds a difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import pasted
from benchmarks.pasted import main, masked, output_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = """Before.

<!-- output of: printf 'one\\ntwo\\n\\nthree\\n' | from: two -->
```text
two
```
"""


def test_no_output_stands_there_without_its_command() -> None:
    counts = []
    for page in pasted.PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```text$", text, re.MULTILINE)
        assert len(blocks) == len(pasted.BLOCK.findall(text))
        counts.append(len(blocks))
    assert min(counts) >= 1
    assert sum(counts) >= 6


def test_what_differs_is_found_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setattr(pasted, "PAGES", (page,))
    page.write_text(PAGE, encoding="utf-8")
    assert main(["--check"]) == 0
    page.write_text(PAGE.replace("\ntwo\n```", "\n2\n```"), encoding="utf-8")
    assert main(["--check"]) == 1
    assert "page.md: an output differs" in capsys.readouterr().err
    assert "\n2\n" in page.read_text(encoding="utf-8"), "a check writes nothing"
    assert main([]) == 0
    assert page.read_text(encoding="utf-8") == PAGE


def test_rows_of_a_table_are_kept_and_the_rest_is_cut() -> None:
    table = "title\\n┏━┓\\n│ a 1 │\\n│ b 2 │\\n└─┘\\nafter"
    recipe = f"printf '{table}' | from: title | keep: b"
    assert output_of(recipe) == "title\n┏━┓\n│ b 2 │\n└─┘\n"


def test_errors_and_exit_codes_are_shown_and_nothing_is_refused() -> None:
    recipe = "python -c 'import sys; sys.exit(\"error: x\")'; echo $? | from: error"
    assert output_of(recipe) == "error: x\n1\n"
    with pytest.raises(ValueError, match="nothing to show: echo a"):
        output_of("echo a | from: b")


def test_an_error_of_float_arithmetic_may_differ() -> None:
    assert masked("largest error 5.2e-07 of") == masked("largest error 4.1e-07 of")
    assert masked("43,104 instructions") != masked("43,136 instructions")
