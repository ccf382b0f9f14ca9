"""`make coverage`: lines that the everyday tests run, by package -> docs/coverage.md.

python -m tests.house.coverage_page    reads .coverage, writes the page
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

from tests.house.source_files import ROOT, name_of, sources

PAGE = ROOT / "docs" / "coverage.md"
LIBRARY = "graphturbo_core"
LEAST = 10
"""Files that are listed, the least covered first."""


@dataclass(frozen=True)
class Lines:
    """Lines with a statement, and those of them that ran."""

    count: int
    covered: int

    @property
    def percent(self) -> float:
        """Of the lines; 100 where there are none."""
        return 100 * self.covered / self.count if self.count else 100.0


def lines_by_file(data_file: Path) -> dict[str, Lines]:
    """Lines of every file of the library, also of files that nothing imported.

    Data of single processes that lie beside the file become part of it.
    """
    coverage = Coverage(data_file=str(data_file))
    coverage.load()
    coverage.combine([str(data_file.parent)], strict=False)
    coverage.save()
    found = {}
    for path in sources(LIBRARY):
        _, statements, _, missing, _ = coverage.analysis2(str(path))
        found[name_of(path)] = Lines(len(statements), len(statements) - len(missing))
    return found


def summed(files: Iterable[Lines]) -> Lines:
    """The lines of several files."""
    every = list(files)
    return Lines(sum(each.count for each in every), sum(each.covered for each in every))


def by_package(files: Mapping[str, Lines]) -> dict[str, Lines]:
    """Lines by folder below the library; its own files have the library's name."""
    packages: dict[str, list[Lines]] = defaultdict(list)
    for name, lines in files.items():
        first = name.removeprefix(f"{LIBRARY}/").split("/")
        packages[f"{LIBRARY}/{first[0]}" if len(first) > 1 else LIBRARY].append(lines)
    return {name: summed(packages[name]) for name in sorted(packages)}


def least_covered(files: Mapping[str, Lines]) -> list[tuple[str, Lines]]:
    """The least covered files by percentage, then by name."""
    return sorted(files.items(), key=lambda item: (item[1].percent, item[0]))[:LEAST]


HEAD = """# Test coverage

Written by `make coverage`: it runs the everyday tests under coverage.py, then
`python -m tests.house.coverage_page` writes this page. CI does not run it.

- The tests are those of `make test`: no slow ones, none in a browser.
- A line counts where it has a statement. It is covered where a test ran it, in the process of the
  test or in one that the test started.
- coverage.py does not see inside of functions that numba compiles: their lines count as not
  covered, although tests run them.

"""


def page(files: Mapping[str, Lines]) -> str:
    """The page, in Markdown."""
    packages = by_package(files)
    whole = {"**all**": summed(packages.values())}
    return (
        f"{HEAD}## Packages\n\n{_table('package', {**packages, **whole}.items())}\n"
        f"## The {LEAST} least covered files\n\n{_table('file', least_covered(files))}"
    )


def _table(what: str, rows: Iterable[tuple[str, Lines]]) -> str:
    head = f"| {what} | lines | covered | per cent |\n|---|---|---|---|\n"
    return head + "".join(
        f"| {name} | {lines.count:,} | {lines.covered:,} | {lines.percent:.1f} |\n"
        for name, lines in rows
    )


def main() -> int:
    """Write the page from the data of the last run; 1 where there are none."""
    data_file = ROOT / ".coverage"
    if not data_file.is_file():
        print("no .coverage here: run `make coverage`", file=sys.stderr)
        return 1
    PAGE.write_text(page(lines_by_file(data_file)), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
