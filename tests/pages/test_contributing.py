"""Each example of CONTRIBUTING.md is followed to the letter, in a copy of the project.

What is followed is its page of the documentation: what a reader sees there, and nothing else.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.site.how_to import how_to_pages
from benchmarks.site.places import HOW_TO
from graphturbo_core.hardware.profile import profile_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MOST_WORDS = 800
COPIED = (
    "graphturbo_core", "graphturbo_ui", "benchmarks", "docs", "hardware_profiles",
    "sample_models", "tests", "pyproject.toml",
)  # fmt: skip
BLOCK = re.compile(
    r"(?:^New file `(?P<new>[^`\n]+)`:\n\n"
    r"|^In `(?P<path>[^`\n]+)`, (?P<how>insert before|replace) the line\n\n"
    r"```\w+\n(?P<line>[^\n]+)\n```\n\n(?:by )?this:\n\n"
    r")?^```(?P<kind>\w+)\n(?P<body>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
SHOWS = re.compile(r"(?P<command>.+?)(?:  # shows (?P<text>.+))?")
SECTIONS = ("A strategy", "An op", "A chip", "A page")
PATIENCE_S = 300


@dataclass(frozen=True)
class Place:
    """A copy of the project."""

    root: Path

    def write(self, path: str, text: str) -> None:
        """A file that was not there."""
        assert not (self.root / path).exists(), path
        (self.root / path).write_text(text, encoding="utf-8")

    def insert(self, path: str, how: str, line: str, text: str) -> None:
        """Lines before the only one that reads so, or in its place."""
        file = self.root / path
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        assert lines.count(f"{line}\n") == 1, f"{line!r} in {path}"
        at = lines.index(f"{line}\n")
        lines[at : at + (how == "replace")] = [text]
        file.write_text("".join(lines), encoding="utf-8")

    def run(self, command: str) -> str:
        """What a command prints, wide enough that no line is broken."""
        own = re.sub(r"^python ", f"{sys.executable} ", command)
        result = subprocess.run(
            own, shell=True, cwd=self.root, capture_output=True, text=True, timeout=PATIENCE_S,
            env={**os.environ, "COLUMNS": "400", "PYTHONPATH": ""}, check=False,
        )  # fmt: skip
        assert result.returncode == 0, f"{command}\n{result.stderr[-3000:]}"
        return result.stdout + result.stderr

    def follow(self, section: str) -> int:
        """The section's blocks in their order; how many commands were run."""
        count = 0
        for block in BLOCK.finditer(section):
            body = block["body"]
            if block["kind"] == "sh":
                for line in body.splitlines():
                    step = SHOWS.fullmatch(line)
                    assert step is not None
                    assert (step["text"] or "") in self.run(step["command"]), line
                    count += 1
            elif block["new"]:
                self.write(block["new"], body)
            else:
                assert block["path"], f"no file is named for: {body}"
                self.insert(block["path"], block["how"], block["line"], body)
        return count


def section(heading: str) -> str:
    """The example on the page of that heading."""
    page = how_to_pages()[HOW_TO[heading.lower().replace(" ", "-")]]
    return page.split("\n## Example\n", 1)[1].split("\n## ", 1)[0]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Compiled loops are copied too, so that the new folder need not compile them again."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        else:
            shutil.copy2(source, tmp_path / name)
    return Place(tmp_path)


def test_the_page_is_short_and_has_these_examples() -> None:
    assert len(PAGE.split()) <= MOST_WORDS
    assert tuple(re.findall(r"^## (.+)$", PAGE, re.MULTILINE)) == SECTIONS


CHOICES = """
import streamlit as st
from streamlit.testing.v1 import AppTest
if __name__ == "__main__":
    page = st.Page
    st.Page = lambda show, **rest: page(
        show, **{**rest, "default": rest["title"] == "Verification"}
    )
    app = AppTest.from_file("graphturbo_ui/server/script.py", default_timeout=120)
    app.run()
    print([each.value for each in app.exception], app.selectbox(key="KEY").options)
"""
"""The top bar, on the page that runs nothing unasked."""


CELLS = """
from graphturbo_core.hardware.profile import profile_names
from tests.matrix import sampled_cells, run_cell
from tests.verify.small_samples import SMALL
if __name__ == "__main__":
    cells = sampled_cells(tuple(SMALL), profile_names())
    own = [cell for cell in cells if "pairs" in cell.replayed]
    assert {cell.chip for cell in own} == set(profile_names())
    found = run_cell(own[0])
    assert not found.faults and not found.refused
    print("pairs is replayed on every chip")
"""


@pytest.mark.slow
def test_a_strategy_is_everywhere(place: Place) -> None:
    """In the command line, plan files and docs by the page's own commands; in app and matrix."""
    before = place.run("python -m graphturbo_core strategies")
    assert "pairs" not in before
    assert place.follow(section("A strategy")) == 5
    assert "pairs@4" in place.run("cat teaching-resnet.plan.yaml")
    place.write("choices.py", CHOICES.replace("KEY", "a"))
    shown = place.run("python choices.py")
    assert "[] [" in shown
    assert "'pairs'" in shown
    place.write("cells.py", CELLS)
    assert "pairs is replayed on every chip" in place.run("python cells.py")
    assert "passed" in place.run("python -m pytest -q tests/test_layers.py -k strategies")


@pytest.mark.slow
def test_an_op_has_semantics(place: Place) -> None:
    text = section("An op")
    unknown = "no semantics"
    place.write("sample.py", next(b["body"] for b in BLOCK.finditer(text) if "onnx" in b["body"]))
    place.run("python sample.py")
    assert unknown in place.run("python -m graphturbo_core run sample.onnx --batch 64")
    (place.root / "sample.py").unlink()
    assert place.follow(text) == 2
    assert unknown not in place.run("python -m graphturbo_core run sample.onnx --batch 64")


@pytest.mark.slow
def test_a_chip_is_everywhere(place: Place) -> None:
    assert place.follow(section("A chip")) == 2
    passed = place.run("python -m pytest -q tests/hardware/test_hardware.py -k 'source or rates'")
    assert " failed" not in passed
    place.write("choices.py", CHOICES.replace("KEY", "chip"))
    assert "'generic-8x4'" in place.run("python choices.py")
    assert "generic-8x4" in place.run(
        'python -c "from tests import matrix; print(matrix.chips_with_room())"'
    )


SHOWN = """
import streamlit as st
from streamlit.testing.v1 import AppTest
if __name__ == "__main__":
    page = st.Page
    st.Page = lambda show, **rest: page(show, **{**rest, "default": rest["title"] == "Buffers"})
    app = AppTest.from_file("graphturbo_ui/server/script.py", default_timeout=120).run()
    print([each.value for each in app.exception], app.title[0].value, len(app.dataframe[0].value))
"""


@pytest.mark.slow
def test_a_page_is_shown(place: Place) -> None:
    assert place.follow(section("A page")) == 0
    place.write("shown.py", SHOWN)
    shown = f"[] Buffers beside stcp920 {len(profile_names())}"
    assert shown in place.run("python shown.py")
