"""Rules of the repository: few files per folder, few imports per file, one class per name."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.house.source_files import ROOT, imports, name_of, sources

MOST_FILES = 15
"""Per folder; `__init__` is not counted."""
MOST_IMPORTS = 18
"""Other files of ours that one file imports."""
CASTS = 20
"""Fewer calls of `cast` than this stand in the library and the app together: types say the rest."""
FOLDERS = ("graphturbo_core", "graphturbo_ui", "benchmarks", "tests")
SHARED_NAMES = {"_Strict"}
"""Class names that two files of the library use: `_Strict` is pydantic's setting of two schemas."""


def crowded(folders: dict[Path, int]) -> dict[str, int]:
    return {name_of(folder): count for folder, count in folders.items() if count > MOST_FILES}


def test_no_folder_has_more_than_fifteen_files() -> None:
    counts: dict[Path, int] = defaultdict(int)
    for path in (path for folder in FOLDERS for path in sources(folder)):
        counts[path.parent] += path.name != "__init__.py"
    assert len(counts) > len(FOLDERS)
    assert crowded(counts) == {}
    assert crowded({ROOT / "tests": MOST_FILES + 1}) == {"tests": MOST_FILES + 1}


def own_imports(path: Path) -> set[str]:
    """The files of ours that a file imports, as module names."""
    modules = set()
    for name in imports(path):
        if name.startswith(("graphturbo_core.", "graphturbo_ui.")):
            place = ROOT.joinpath(*name.split("."))
            is_module = place.with_suffix(".py").is_file() or place.is_dir()
            modules.add(name if is_module else name.rpartition(".")[0])
    return modules


def test_no_file_imports_many_others() -> None:
    every = [*sources("graphturbo_core"), *sources("graphturbo_ui")]
    many = {name_of(path) for path in every if len(own_imports(path)) > MOST_IMPORTS}
    assert many == set()


def casts_in(text: str) -> int:
    """Calls of `typing.cast`, by whichever of its two names."""
    calls = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return sum(
        func.id == "cast" if isinstance(func, ast.Name) else getattr(func, "attr", "") == "cast"
        for func in calls
    )


def test_few_values_are_cast() -> None:
    assert casts_in("a = cast(int, b)\nc = typing.cast(str, broadcast(d))  # cast(e)") == 2
    packages = (*sources("graphturbo_core"), *sources("graphturbo_ui"))
    found = {name_of(path): casts_in(path.read_text(encoding="utf-8")) for path in packages}
    casts = {name: count for name, count in found.items() if count}
    assert sum(casts.values()) < CASTS, casts


def test_a_class_name_stands_once_in_the_library() -> None:
    files: dict[str, set[str]] = defaultdict(set)
    for path in sources("graphturbo_core"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(name_of(path))
    assert {name for name, where in files.items() if len(where) > 1} == SHARED_NAMES


def test_files_of_tests_import_nothing_of_each_other() -> None:
    """What two of them share stands in a file beside them whose name does not begin with test."""
    of_tests = {
        name_of(path): [name for name in imports(path) if is_of_a_test_file(name)]
        for folder in ("tests", "benchmarks")
        for path in sources(folder)
    }
    assert {file: names for file, names in of_tests.items() if names} == {}


def is_of_a_test_file(name: str) -> bool:
    """Whether a full dotted name is a file of tests or something in one."""
    own = name.split(".")
    return own[0] == "tests" and any(part.startswith("test_") for part in own)


def test_a_name_in_a_file_of_tests_is_seen() -> None:
    assert is_of_a_test_file("tests.sim.test_trace.found")
    assert is_of_a_test_file("tests.test_trace")
    assert not is_of_a_test_file("tests.sim.programs.build")
    assert not is_of_a_test_file("other.test_trace.found")
