"""The pages that are written by hand: what they name exists, and what they must name is there."""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
GUIDES = tuple(
    f"docs/{name}.md"
    for name in ("install", "app", "command-line", "verification", "limits", "benchmarks")
)
PAGES = {
    "README.md": README,
    "ARCHITECTURE.md": ARCHITECTURE,
    **{name: (ROOT / name).read_text(encoding="utf-8") for name in ("docs/README.md", *GUIDES)},
}
MOST_README_WORDS = 900

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
        "run", "compare", "strip", "models", "profiles", "strategies",
    }  # fmt: skip
    assert {"benchmarks.paper", "benchmarks.speed", "benchmarks.app"} <= set(MODULES)
    assert {"run", "test"} <= set(TARGETS)


@pytest.mark.parametrize("command", COMMANDS)
def test_an_example_is_what_the_command_line_takes(command: str) -> None:
    found = parsed(command)
    if "model" not in found:
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


def test_the_files_that_architecture_names_exist() -> None:
    names = set(re.findall(r"`([\w/.*-]+\.(?:py|md|yaml|txt))`", ARCHITECTURE))
    assert len(names) > 20
    core = ROOT / "graphturbo_core"
    whole = (ROOT, core, ROOT / "graphturbo_ui")
    inside = ("lowering", "products", "semantics", "verify")
    packages = (*(core / name for name in inside), ROOT / "graphturbo_ui")
    for name in sorted(names):
        is_there = any(any(base.glob(name)) for base in whole)
        is_below = any(any(base.rglob(name)) for base in packages)
        assert is_there or is_below, name
