"""A text table: printed in a terminal by rich, written to docs/ as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """Cells of a table; the first column is left-aligned, numbers are right-aligned.

    `remark`: text below the table.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""

    def table(self) -> Table:
        """The table for a terminal."""
        made = Table(
            title=self.title, title_justify="left", caption=self.remark, caption_justify="left"
        )
        for place, heading in enumerate(self.headings):
            made.add_column(heading, justify="right" if place else "left", no_wrap=not place)
        for row in self.rows:
            made.add_row(*row)
        return made

    def markdown(self) -> str:
        """The table as Markdown; a bar in a cell is escaped."""
        lines = [self.headings, ["---", *["---:"] * (len(self.headings) - 1)], *self.rows]
        body = "\n".join(_line(cells) for cells in lines)
        remark = f"\n{self.remark}\n" if self.remark else ""
        return f"## {self.title}\n\n{body}\n{remark}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
