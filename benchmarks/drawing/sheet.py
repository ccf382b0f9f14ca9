"""A table of words: shown in a terminal by rich, kept under docs/ as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """Cells as they are shown; the first column is to the left, numbers to the right.

    `remark`: a line or more below it.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""

    def table(self) -> Table:
        """As a terminal shows it."""
        made = Table(
            title=self.title, title_justify="left", caption=self.remark, caption_justify="left"
        )
        for place, heading in enumerate(self.headings):
            made.add_column(heading, justify="right" if place else "left", no_wrap=not place)
        for row in self.rows:
            made.add_row(*row)
        return made

    def markdown(self) -> str:
        """As a page shows it; a bar in a cell would end it and is escaped."""
        lines = [self.headings, ["---", *["---:"] * (len(self.headings) - 1)], *self.rows]
        body = "\n".join(_line(cells) for cells in lines)
        remark = f"\n{self.remark}\n" if self.remark else ""
        return f"## {self.title}\n\n{body}\n{remark}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
