"""No op type is named outside the table of op types and the readers of ONNX files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from graphturbo_core.semantics.entries import TABLE

ROOT = Path(__file__).resolve().parents[1]
NAMING = {
    "semantics": "the table itself: an entry for each op type, in a file per family",
    "frontend": "readers: shapes, values and clean-up passes follow ONNX's own words, op by op",
    "strategies/partitioners": "rules of other compilers, which list the op types of a pattern",
}
"""Packages of the library that may name op types, and why. All else asks the table."""

HEADINGS = frozenset(
    {
        "Max", "Mean", "Min", "Range", "Round", "Scan", "Shape", "Size", "Split", "Sum", "Tile",
        "Unique", "Where",
    }
)  # fmt: skip
"""Plain words that may head a column or label a field of the app."""

NAMES = {schema.name for schema in onnx.defs.get_all_schemas()} | {name for _, name in TABLE}
DOMAINS = sorted({schema.domain for schema in onnx.defs.get_all_schemas()} | {d for d, _ in TABLE})
QUOTED = re.compile(r"""(["'`])(\w+)\1""")


def named_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Line and op type of every string that is one, or a list of nothing else.

    A sentence that has such a word is none; a key, a set member or a comparison is.
    """
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
            for domain in DOMAINS:
                text = text.removeprefix(f"{domain}.")
            words = re.split(r"[\s,|;:/]+", text.strip())
            if words and all(word in NAMES for word in words):
                yield from ((node.lineno, word) for word in words)


def named_in_script(source: str) -> Iterator[tuple[int, str]]:
    """The same of a script's quoted words."""
    for line, text in enumerate(source.splitlines(), 1):
        yield from ((line, found[1]) for found in QUOTED.findall(text) if found[1] in NAMES)


def sources() -> list[Path]:
    """Library, app and its scripts, without the packages that may."""
    found = [ROOT / "app.py", *(ROOT / "graphturbo_ui").rglob("*.py")]
    found += (ROOT / "graphturbo_ui").rglob("*.js")
    for path in (ROOT / "graphturbo_core").rglob("*.py"):
        folders = path.relative_to(ROOT / "graphturbo_core").parent
        if not any(folders.is_relative_to(package) for package in NAMING):
            found.append(path)
    return sorted(found)


def test_the_sources_are_there() -> None:
    """Scripts, pages and all but a few packages; the packages that may name op types do."""
    paths = [path.relative_to(ROOT).as_posix() for path in sources()]
    assert any(path.endswith(".js") for path in paths)
    assert {"app.py", "graphturbo_core/pipeline.py", "graphturbo_core/verify/local.py"} <= {*paths}
    assert not [path for path in paths if path.startswith("graphturbo_core/semantics/")]
    for package in NAMING:
        texts = (ROOT / "graphturbo_core" / package).rglob("*.py")
        assert any(list(named_in_python(path.read_text(encoding="utf-8"))) for path in texts)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_op_type_is_named(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    reader = named_in_script if path.suffix == ".js" else named_in_python
    is_app = "graphturbo_core" not in path.parts
    assert not [found for found in reader(source) if not (is_app and found[1] in HEADINGS)]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ('op.op_type == "Conv"', ["Conv"]),
        ('KEPT = {"Relu": 1, ("", "MatMul"): 2}', ["Relu", "MatMul"]),
        ('op.op_type in "Conv Gemm".split()', ["Conv", "Gemm"]),
        ('name == "com.microsoft.Gelu"', ["Gelu"]),
        ('case("BiasGelu")', ["BiasGelu"]),
        ('"""Relu and Conv are cut."""', []),
        ('print("Conv is cut")', []),
        ("Relu = Conv", []),
    ],
)
def test_what_counts_as_naming(source: str, names: list[str]) -> None:
    assert [name for _, name in named_in_python(source)] == names


def test_a_script_names_one_too() -> None:
    assert list(named_in_script("a\nif (op.type === \"Conv\" || x === 'shape') {}")) == [
        (2, "Conv")
    ]
