"""Every command that the site shows is run: here, or by the target of make that is named."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from benchmarks import pasted
from benchmarks.site.places import ROOT
from graphturbo_core.cli.commands import main
from tests.site.commands import OURS, commands_of, is_runnable, shown

PATIENCE_S = 300
BY_OTHER_TESTS = {
    "dask scheduler --host 127.0.0.1": "tests/sweep",
    "dask worker tcp://127.0.0.1:8786 --nthreads 1 --nworkers 2": "tests/sweep",
    "python -m graphturbo_core sweep teaching-resnet --vary batch=8,16,32 "
    "--scheduler tcp://127.0.0.1:8786": "tests/sweep",
}
"""Commands that need servers -> the tests that run them."""
SHELL_SIGNS = frozenset("|&;<>$*`")
EXIT_CODES = {"--fail-if": (0, 1)}
"""Option -> the codes with which a command that works may end."""
MADE = re.compile(r"make ([a-z-]+)")
MODULE = re.compile(r"python -m (?:benchmarks|tests)[\w.]*")
"""Longer ones, whose results are kept and compared."""
PAGES = {
    name: [command for command in commands if command not in BY_OTHER_TESTS]
    for name, commands in shown().items()
}
PASTED = {
    recipe.partition(" | ")[0].removesuffix(" 2>/dev/null")
    for path in pasted.PAGES
    for recipe, _ in pasted.BLOCK.findall(path.read_text(encoding="utf-8"))
}
"""Run by `benchmarks.pasted --check`, which compares their outputs too."""
RUN = {
    name: [
        each
        for each in commands
        if each.startswith((OURS, "sed ")) and is_runnable(each) and each not in PASTED
    ]
    for name, commands in PAGES.items()
}
"""Those that this test runs, page by page, in one folder per page."""


def run_all(commands: Sequence[str], folder: Path) -> None:
    """Each ends with a code that says that it worked; later ones find the files of earlier ones.

    Ours run in this process: one of its own takes 2 CPU s to begin.
    """
    for command in commands:
        is_simple = command.startswith(OURS) and SHELL_SIGNS.isdisjoint(command)
        code, errors = (run_here if is_simple else run_in_shell)(command, folder)
        accepted = next((codes for key, codes in EXIT_CODES.items() if key in command), (0,))
        assert code in accepted, f"{command}\n{errors[-2000:]}"


def run_here(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and stderr of the command line's own function."""
    errors = io.StringIO()
    with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(errors):
        code = main(shlex.split(command.removeprefix(OURS)))
    return code, errors.getvalue()


def run_in_shell(command: str, folder: Path) -> tuple[int, str]:
    """Exit code and stderr in a shell whose Python is this one."""
    python = folder / "bin" / "python"
    python.parent.mkdir(exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, commands in RUN.items() if commands])
def test_the_commands_of_a_page_run_in_their_order(name: str, tmp_path: Path) -> None:
    run_all(RUN[name], tmp_path)


@pytest.mark.parametrize("end", ["", " | cat; exit 2"])
def test_a_command_that_fails_is_seen(tmp_path: Path, end: str) -> None:
    with pytest.raises(AssertionError, match="python -m graphturbo_core run nothing"):
        run_all([f"python -m graphturbo_core run nothing.onnx{end}"], tmp_path)


def test_every_other_command_is_known_to_ci() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, commands in PAGES.items():
        for command in commands:
            if command in {*RUN[name], *PASTED} or not is_runnable(command):
                continue
            if target := MADE.fullmatch(command):
                assert re.search(rf"^{target[1]}:", makefile, re.MULTILINE), f"{name}: {command}"
            else:
                assert MODULE.fullmatch(command), f"{name}: {command}"


def test_commands_are_found_with_their_comments_cut() -> None:
    text = "a\n\n```sh\nmake run     # serves\npython -m x  # shows y\n```\n\n```text\nno\n```\n"
    assert commands_of(text) == ("make run", "python -m x")
    assert sum(map(len, RUN.values())) > 20
    assert len(PAGES["docs/tour.md"]) == 7
    assert not is_runnable("python -m graphturbo_core run MODEL --plan FILE ...")


def test_outputs_on_the_new_pages_are_compared() -> None:
    listed = {path.relative_to(ROOT).as_posix() for path in pasted.PAGES}
    shows = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "docs").rglob("*.md")
        if pasted.BLOCK.search(path.read_text(encoding="utf-8"))
    }
    assert shows <= listed
    assert "docs/tour.md" in shows
