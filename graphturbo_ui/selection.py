"""What is selected: one value for the browser, the session and the link."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from graphturbo_core.report.report import Report

SELECTED = re.compile(r"([ab])-(group|layer|op)-(\d{1,7})")
COLUMNS: Mapping[str, str] = {"group": "group", "layer": "layer", "op": "index"}
"""Kind of a selection -> the column of the op graph's rows that it is about."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A sub-graph (`group`), layer or op of one run, by its index in that run's tables.

    `run`: A or B. Ops are the same in both runs, so all views mark the same ones.
    """

    run: str
    kind: str
    index: int

    @classmethod
    def read(cls, text: object) -> Selection | None:
        """The selection behind `b-group-3`, as a link or the browser tells it; None for none."""
        parts = SELECTED.fullmatch(text) if isinstance(text, str) else None
        return cls(parts[1].upper(), parts[2], int(parts[3])) if parts else None

    def text(self) -> str:
        """What `read` reads."""
        return f"{self.run.lower()}-{self.kind}-{self.index}"

    def ops(self, report: Report) -> frozenset[int]:
        """The ops (indices of `graph_nodes`) that it stands for, by the report of its own run."""
        column = COLUMNS[self.kind]
        return frozenset(
            cast(int, row["index"])
            for row in report.tables["graph_nodes"]
            if row[column] == self.index
        )
