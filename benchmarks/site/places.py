"""Which page of the site each source becomes, and the links between them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FIRST_PAGE = "index.md"
RULES = "contributing.md"
HOW_TO: Mapping[str, str] = {
    "a-strategy": "how-to/strategy.md",
    "an-op": "how-to/op.md",
    "a-chip": "how-to/chip.md",
    "a-page": "how-to/page.md",
}
"""Sections of CONTRIBUTING.md -> pages."""
NAMED = {
    "docs/README.md": FIRST_PAGE,
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": RULES,
}
"""Sources whose page has another name."""
PRINTED = ("lecture/handout.html", "lecture/worksheet.html")
"""Pages of `docs` that are whole as they are; the app links to them by these paths."""
FILES = "files"
"""Folder of the site for files that pages link to and that are no pages."""
LINK = re.compile(r"(?P<before>!?\[[^\]\n]*\]\()(?P<target>[^)\s]+)\)")
FILE_NAME = re.compile(r"\[[\w/.-]+\.md\]\(")
"""A link whose text is a file's name; a reader of the site knows titles only."""
FENCED = re.compile(r"^( *)(```+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def page_of(source: str) -> str:
    """Path on the site of a source, both with slashes: of pages, pictures and other files."""
    if source in NAMED:
        return NAMED[source]
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    return f"{FILES}/{PurePosixPath(source).name}"


def sources() -> tuple[str, ...]:
    """Every Markdown file that becomes a page, as a path from the project's root."""
    pages = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
    return (*pages, "ARCHITECTURE.md")


def relinked(text: str, source: str, page: str) -> tuple[str, frozenset[str]]:
    """Text of a source with links for its page on the site, and the files that they name.

    Links to a network and within a page remain. What stands in a block of code is no link.

    Raises:
        ValueError: a link leads to a file that does not exist, or out of the project.
    """
    named: set[str] = set()

    def of_site(found: re.Match[str]) -> str:
        target, _, fragment = found["target"].partition("#")
        if not target or "://" in target:
            return found[0]
        path = os.path.normpath(PurePosixPath(source).parent / target).replace(os.sep, "/")
        if path.startswith("..") or not (ROOT / path).is_file():
            raise ValueError(f"{source}: the link {found['target']} leads to no file")
        own, rest = _section_page(path, fragment)
        if path not in (*NAMED, *sources()):
            named.add(path)
        relative = os.path.relpath(own, PurePosixPath(page).parent).replace(os.sep, "/")
        before = found["before"]
        if FILE_NAME.fullmatch(before) and own.endswith(".md"):
            before = "[]("  # Sphinx puts the title there
        return f"{before}{relative}{rest})"

    return outside_code(text, lambda part: LINK.sub(of_site, part)), frozenset(named)


def _section_page(path: str, fragment: str) -> tuple[str, str]:
    """The page, and what follows its name: a section of CONTRIBUTING.md is a page of its own."""
    if path == "CONTRIBUTING.md" and fragment in HOW_TO:
        return HOW_TO[fragment], ""
    return page_of(path), f"#{fragment}" if fragment else ""


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with all that stands outside of blocks of code changed."""
    parts, end = [], 0
    for block in FENCED.finditer(text):
        parts += [change(text[end : block.start()]), block[0]]
        end = block.end()
    return "".join([*parts, change(text[end:])])
