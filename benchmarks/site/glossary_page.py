"""Terms: their one definition in ARCHITECTURE.md, their sections in docs/concepts.

`python -m benchmarks.site.glossary_page` writes the definitions below the headings of the pages.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.site.places import DOCS, ROOT

CONCEPTS = DOCS / "concepts"
ENTRY = re.compile(r"^\| (?P<term>[^|]+?) \| (?P<meaning>[^|]+?) \|$", re.MULTILINE)
SECTION = re.compile(r"^### (?P<term>.+)\n\n(?:> (?P<meaning>.+)\n\n)?", re.MULTILINE)
INTRO = """# Glossary

Every term links to its section. The app's terms have the same definitions.

| term | definition |
|---|---|
"""


def definitions() -> Mapping[str, str]:
    """Term -> definition, from ARCHITECTURE.md."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n## Glossary\n", 1)[1]
    return {row["term"]: row["meaning"] for row in ENTRY.finditer(text) if row["term"] != "word"}


def slug(term: str) -> str:
    """Anchor of a heading, as Sphinx and GitHub make it."""
    return re.sub(r"[^\w -]", "", term.lower()).replace(" ", "-")


def concept_pages() -> Mapping[str, tuple[str, ...]]:
    """Name of a page of docs/concepts -> the terms that have a section there."""
    return {path.stem: _terms(path) for path in sorted(CONCEPTS.glob("*.md"))}


def glossary_page() -> str:
    """The alphabetical list, with links as in docs/."""
    places = {
        term: f"concepts/{page}.md#{slug(term)}"
        for page, terms in concept_pages().items()
        for term in terms
    }
    rows = [f"| [{term}]({places[term]}) | {text} |" for term, text in definitions().items()]
    return INTRO + "\n".join(rows) + "\n"


def defined(text: str, known: Mapping[str, str]) -> str:
    """A page with the definition of each term below its heading.

    Raises:
        ValueError: a heading of a section is no term of the glossary.
    """

    def write(found: re.Match[str]) -> str:
        term = found["term"]
        if term not in known:
            raise ValueError(f"{term} is no term of the glossary in ARCHITECTURE.md")
        return f"### {term}\n\n> {known[term]}\n\n"

    return SECTION.sub(write, text)


def faults(known: Mapping[str, str], pages: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Terms without a section, and terms with more than one."""
    found = [term for terms in pages.values() for term in terms]
    yield from (f"no page of docs/concepts has a section {term!r}" for term in known.keys() - found)
    yield from (f"two sections: {term}" for term in sorted(known) if found.count(term) > 1)


def _terms(path: Path) -> tuple[str, ...]:
    return tuple(found["term"] for found in SECTION.finditer(path.read_text(encoding="utf-8")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes definitions, or compares them with --check; returns 1 where one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    is_check = parser.parse_args(arguments).check
    known = definitions()
    lines = sorted(faults(known, concept_pages()))
    for path in sorted(CONCEPTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        made = defined(text, known)
        if made != text and is_check:
            lines.append(f"docs/concepts/{path.name}: python -m benchmarks.site.glossary_page")
        elif made != text:
            path.write_text(made, encoding="utf-8")
    for line in lines:
        print(line, file=sys.stderr)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
