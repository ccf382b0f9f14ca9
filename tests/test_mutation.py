"""The mutation tool: what it draws, which tests it runs, and what stands in docs/mutation.md."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutation import kept
from tests.mutation.covering import Covering
from tests.mutation.draw import Mutant, made, placed, running
from tests.mutation.kept import Kept, Tried, page
from tests.mutation.run import CAUGHT, SURVIVED

SOURCE = '''"""Doc."""
def half(value: int | None = 4) -> int:
    """Half of it."""
    return value // 2
'''


def test_annotations_and_texts_do_not_run() -> None:
    assert running(SOURCE) == running(SOURCE.replace("int | None", "int ^ None"))
    assert running(SOURCE) == running(SOURCE.replace("Half of it", "Twice it"))
    assert running(SOURCE) != running(SOURCE.replace("// 2", "// 3"))
    assert running(SOURCE) != running(SOURCE.replace("= 4", "= 5"))
    assert running("@dataclass(frozen=True, order=True)\nclass A: pass") == running(
        "@dataclass(frozen=False, order=True)\nclass A: pass"
    )
    assert running("@dataclass(frozen=True, order=True)\nclass A: pass") != running(
        "@dataclass(frozen=True, order=False)\nclass A: pass"
    )
    assert running("return (") is None


def test_a_mutant_is_the_lines_that_differ() -> None:
    pytest.importorskip("cosmic_ray")
    file = "graphturbo_core/semantics/ops/windows.py"
    operator = "core/ReplaceBinaryOperator_Mul_Add"
    mutant = made(file, operator, 0)
    assert mutant is not None
    assert "*" in mutant.before
    assert mutant.after != mutant.before
    assert Kept(1, (Tried(mutant, CAUGHT),)).stale() == []
    gone = Mutant(file, operator, 0, 1, "    nobody = wrote * this", "")
    assert Kept(1, (Tried(gone, CAUGHT),)).stale() == [gone]
    assert placed(gone) is None
    moved = replace(mutant, occurrence=3, line=1)
    assert placed(moved) == mutant


def test_the_quickest_tests_come_first_and_then_their_files() -> None:
    by_line = {
        ("a.py", 3): frozenset({"t/x.py::slow", "t/y.py::quick"}),
        ("a.py", 4): frozenset({"t/x.py::other"}),
    }
    seconds = {"t/x.py::slow": 3.0, "t/x.py::other": 1.0, "t/y.py::quick": 0.1, "t/y.py::b": 9.0}
    covering = Covering(by_line, seconds)
    assert covering.tests_of("a.py", [3, 4]) == ["t/y.py::quick", "t/x.py::other", "t/x.py::slow"]
    assert covering.tests_of("a.py", [1]) == covering.tests_of("a.py", [3, 4])
    assert covering.tests_of("b.py", [3]) == []
    assert covering.files_of(["t/y.py::quick", "t/x.py::slow"]) == ["t/x.py", "t/y.py"]


def test_a_survivor_without_an_argument_is_open(tmp_path: Path) -> None:
    mutant = Mutant("a.py", "core/AddNot", 0, 2, "    if a:", "    if not a:")
    found = Kept(3, (Tried(mutant, SURVIVED), Tried(mutant, SURVIVED, "a is never 0")))
    assert found.open() == [mutant]
    assert "**Not argued yet.**" in page(found, 0)
    assert "a is never 0" in page(found, 0)
    path = tmp_path / "kept.json"
    path.write_text(found.text(), encoding="utf-8")
    assert kept.read(path) == found


def test_what_is_kept_stands_and_is_argued() -> None:
    """docs/mutation.json: drawn by the seed, most of it about today's source, nothing open."""
    found = kept.read()
    assert len(found.tried) >= 300
    assert found.is_standing
    assert found.open() == []
    text = kept.PAGE.read_text(encoding="utf-8")
    (gone,) = re.findall(r"the lines of (\d+) mutants", text)
    assert text == page(found, int(gone))


def test_a_draw_about_other_source_does_not_stand() -> None:
    gone = Tried(Mutant("a.py", "core/AddNot", 0, 2, "    if a:", "    if not a:"), CAUGHT)
    file = "graphturbo_core/units.py"
    (line,) = (Path(kept.ROOT) / file).read_text(encoding="utf-8").splitlines()[4:5]
    here = Tried(Mutant(file, "core/AddNot", 0, 5, line, "x"), CAUGHT)
    assert Kept(3, (gone, here)).is_standing
    assert not Kept(3, (gone, gone, here)).is_standing
