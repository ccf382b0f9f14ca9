"""All sources as one folder of Markdown for Sphinx."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.site.glossary_page import glossary_page
from benchmarks.site.how_to import CONTRIBUTING, how_to_pages, rules_page
from benchmarks.site.navigation import GLOSSARY, INDEX, first_page
from benchmarks.site.places import DOCS, ROOT, RULES, page_of, relinked, sources


def write_sources(folder: Path) -> None:
    """Write every page, its pictures and the files that pages link to."""
    named: set[str] = set()
    for source, page, text in _pages():
        shown, files = relinked(text, source, page)
        named |= files
        _write(folder / page, shown)
    first, files = first_page()
    _write(folder / page_of(INDEX), first)
    for path in sorted(named | files):
        target = folder / page_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)


def _pages() -> Iterator[tuple[str, str, str]]:
    """Source, page and text; links in the text are those of the source."""
    for source in sources():
        if source != INDEX:
            yield source, page_of(source), (ROOT / source).read_text(encoding="utf-8")
    for page, text in how_to_pages().items():
        yield CONTRIBUTING, page, text
    yield CONTRIBUTING, RULES, rules_page()
    yield (DOCS / GLOSSARY).relative_to(ROOT).as_posix(), GLOSSARY, glossary_page()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
