"""The pages that are written by hand: what they name exists, and what they must name is there."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from pathlib import Path

import pytest
import typer

from graphturbo_core.cli import app
from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.strategies.options import resolve_options
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_ui.glossary import GLOSSARY

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
GUIDES = tuple(
    f"docs/{name}.md"
    for name in (
        "tour", "install", "app", "command-line", "verification", "limits", "benchmarks",
        "decisions",
    )
)  # fmt: skip
PAGES = {
    "README.md": README,
    "ARCHITECTURE.md": ARCHITECTURE,
    **{name: (ROOT / name).read_text(encoding="utf-8") for name in ("docs/README.md", *GUIDES)},
}
MOST_README_WORDS = 900
MOST_ARCHITECTURE_WORDS = 3500
MOST_GLOSSARY_ENTRIES = 70
FEWEST_DOCSTRING_LINES = 4
"""Of a package with two or more modules."""

SHOWN = "\n".join((README, *(PAGES[name] for name in GUIDES)))
COMMANDS = re.findall(r"^ *python -m graphturbo_core (.+)$", SHOWN, re.MULTILINE)
MODULES = sorted(set(re.findall(r"-m ((?:benchmarks|sample_models)\.\w+)", SHOWN)))
TARGETS = sorted(set(re.findall(r"\bmake ([a-z-]+)\b(?=`|\s+#)", SHOWN)))


def section(page: str, heading: str) -> str:
    """What stands below a heading, up to the next one of its rank or above."""
    rank = heading.split(" ", 1)[0]
    below = page.split(f"\n{heading}\n", 1)[1]
    return re.split(rf"^#{{1,{len(rank)}}} ", below, maxsplit=1, flags=re.MULTILINE)[0]


def first_cells(text: str) -> list[str]:
    """The first column of every table, headings and rules left out."""
    rows = re.findall(r"^\| ([^|]+?) \|", text, re.MULTILINE)
    return [row for row in rows if row not in ("word", "package")]


def parsed(command: str) -> dict[str, object]:
    """The options of an example as the command line reads them; nothing is run."""
    name, *arguments = shlex.split(command)
    group = typer.main.get_command(app)
    sub_command = group.commands[name]
    with sub_command.make_context(name, arguments) as context:
        return context.params


def test_the_examples_are_found() -> None:
    assert {command.split()[0] for command in COMMANDS} == {
        "run", "compare", "sweep", "strip", "models", "profiles", "strategies",
    }  # fmt: skip
    assert {"benchmarks.paper", "benchmarks.speed", "benchmarks.app"} <= set(MODULES)
    assert {"run", "test"} <= set(TARGETS)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_is_what_the_command_line_takes(command: str) -> None:
    found = parsed(command)
    if "model" not in found:
        return
    if found["model"] is None:
        assert found["from_file"]
        return
    assert found["model"] in sample_names()
    if command.startswith("strip"):
        return
    assert found["profile"] in (None, *profile_names())
    for text in str(found.get("strategy") or found.get("strategies") or "graphturbo").split(","):
        parse_strategy(text)
    options = found["options"] or []
    assert isinstance(options, list | tuple)
    resolve_options(dict(text.split("=", 1) for text in options))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_to_run_exists(module: str) -> None:
    assert importlib.util.find_spec(module) is not None


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_of_make_exists(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_images_and_links_lead_to_files(name: str) -> None:
    page = PAGES[name]
    targets = re.findall(r"\]\(([^)#]+)", page) + re.findall(r'src(?:set)?="([^"]+)"', page)
    assert targets
    for target in targets:
        assert ((ROOT / name).parent / target).is_file(), f"{name} points to {target}"


def test_the_readme_is_short_and_the_index_lists_every_page() -> None:
    assert len(README.split()) <= MOST_README_WORDS
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", PAGES["docs/README.md"]))
    assert listed == {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}


def test_pictures_are_small_enough_to_load() -> None:
    pictures = sorted((ROOT / "docs" / "images").glob("*.png"))
    assert {"explore-light.png", "explore-dark.png"} <= {path.name for path in pictures}
    for path in pictures:
        assert path.stat().st_size < 400_000, path.name
        assert f"images/{path.name}" in SHOWN, f"{path.name} is shown nowhere"


@pytest.mark.parametrize(
    ("page", "fewest"),
    [("ARCHITECTURE.md", 40), ("docs/decisions.md", 20), ("docs/benchmarks.md", 10)],
)
def test_the_files_that_a_page_names_exist(page: str, fewest: int) -> None:
    names = set(re.findall(r"`([\w/.*-]+\.(?:py|md|yaml|txt))`", PAGES[page]))
    names -= {name for name in names if "NAME" in name}
    assert len(names) > fewest
    for name in sorted(names):
        bases = (ROOT, ROOT / "graphturbo_core", ROOT / "graphturbo_ui", ROOT / "hardware_profiles")
        assert any(any(base.glob(name)) for base in bases), name


def test_architecture_is_short_and_names_every_package() -> None:
    assert len(ARCHITECTURE.split()) <= MOST_ARCHITECTURE_WORDS
    packages = section(ARCHITECTURE, "## Packages")
    for folder in sorted((ROOT / "graphturbo_core").iterdir()):
        if (folder / "__init__.py").is_file():
            assert f"`{folder.name}/`" in packages, folder.name
        elif folder.suffix == ".py" and not folder.name.startswith("__"):
            assert f"`{folder.name}`" in packages, folder.name


def test_the_glossary_is_short_and_has_the_words_of_the_app() -> None:
    glossary = section(ARCHITECTURE, "## Glossary")
    words = [word.casefold() for word in first_cells(glossary)]
    assert len(words) > len(GLOSSARY)
    assert len(words) <= MOST_GLOSSARY_ENTRIES
    assert words == sorted(set(words))
    for word, meaning in GLOSSARY.items():
        assert f"| {word} | {meaning} |" in glossary, word


def pinned(name: str) -> list[str]:
    """The packages that a requirements file pins."""
    return re.findall(r"^([\w-]+)==", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_pinned_package_has_its_reason() -> None:
    reasons = section(ARCHITECTURE, "## Dependencies")
    listed = first_cells(reasons)
    assert sorted(listed, key=str.casefold) == sorted(pinned("requirements.txt"), key=str.casefold)
    for package in pinned("requirements-dev.txt"):
        assert re.search(rf"\b{package}\b", reasons), package


def modules_of(folder: Path) -> set[str]:
    """The names of a folder's own modules, `__init__` and the like left out."""
    return {path.name for path in folder.glob("*.py") if not path.name.startswith("__")}


def package_faults(folder: Path, docstring: str) -> list[str]:
    """What the docstring of a package lacks, or names wrongly."""
    modules = modules_of(folder)
    named = set(re.findall(r"`([\w/]+\.py)`", docstring))
    own = {name for name in named if "/" not in name}
    lines = len(docstring.splitlines())
    core = ROOT / "graphturbo_core"
    return [
        *([f"{lines} lines"] if lines < FEWEST_DOCSTRING_LINES else []),
        *(f"lacks {name}" for name in sorted(modules - own)),
        *(f"has no {name}" for name in sorted(own - modules)),
        *(
            f"there is no {name}"
            for name in sorted(named - own)
            if not any((base / name).is_file() for base in (folder, core, ROOT))
        ),
    ]


PACKAGES = sorted(
    path.parent
    for top in ("graphturbo_core", "graphturbo_ui")
    for path in (ROOT / top).rglob("__init__.py")
    if len(modules_of(path.parent)) > 1
)


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_package_says_what_each_of_its_modules_does(folder: Path) -> None:
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    assert package_faults(folder, ast.get_docstring(tree) or "") == []


def test_package_faults_are_found() -> None:
    assert len(PACKAGES) > 30
    folder = ROOT / "graphturbo_core" / "ir"
    text = "Graph.\n\n`graph.py`, `boxes.py`, `dtypes.py`:\n`weight_parts.py`."
    assert package_faults(folder, text) == []
    assert package_faults(folder, text.replace("\n", " ")) == ["1 lines"]
    assert package_faults(folder, text.replace("`boxes.py`", "boxes")) == ["lacks boxes.py"]
    assert package_faults(folder, text + " `box.py`") == ["has no box.py"]
    assert package_faults(folder, text + " `sim/box.py`") == ["there is no sim/box.py"]
