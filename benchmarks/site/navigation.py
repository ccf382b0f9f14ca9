"""docs/README.md is the site's first page and its one table of contents."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.site.places import DOCS, FIRST_PAGE, LINK, relinked

INDEX = "docs/README.md"
CONCEPTS, GLOSSARY = "Concepts", "glossary.md"
"""The section that the generated glossary ends."""
SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
ROW = re.compile(r"^\| (?P<link>\[[^\]]*\]\([^)\s]+\)) \|", re.MULTILINE)


def groups(text: str) -> Mapping[str, tuple[str, ...]]:
    """Title of a section -> its pages: the links in the first column of its table."""
    found: dict[str, tuple[str, ...]] = {}
    parts = SECTION.split(text)
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        links = (LINK.fullmatch(row["link"]) for row in ROW.finditer(body))
        found[title] = tuple(link["target"] for link in links if link is not None)
    return found


def first_page() -> tuple[str, frozenset[str]]:
    """docs/README.md for the site, with its sections as navigation; and files that it links to."""
    text, files = relinked((DOCS / "README.md").read_text(encoding="utf-8"), INDEX, FIRST_PAGE)
    trees = [_tree(title, pages) for title, pages in groups(text).items()]
    return "\n".join([text, *trees]), files


def _tree(title: str, pages: tuple[str, ...]) -> str:
    more = (GLOSSARY,) if title == CONCEPTS else ()
    lines = "\n".join(page.removesuffix(".md") for page in (*pages, *more))
    return f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n"
