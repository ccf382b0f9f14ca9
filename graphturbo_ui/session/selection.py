"""What is selected: one value for the browser, the session and the link."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from graphturbo_core.report.report import Report

SELECTED = re.compile(r"([ab])-(group|layer|op)-(\d{1,7})")
COLUMNS: Mapping[str, Literal["group", "layer", "index"]] = {
    "group": "group", "layer": "layer", "op": "index",
}  # fmt: skip
"""Kind of a selection -> the column of the op graph's rows that it is about."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A sub-graph (`group`), layer or op of one run, by its index in that run's tables.

    `run`: A or B. All views mark the same ops of the model, in both runs (`selected_in`).
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
            row["index"] for row in report.tables["graph_nodes"] if row[column] == self.index
        )


def selected_in(selected: Selection, reports: Mapping[str, Report]) -> Mapping[str, frozenset[int]]:
    """Of each run the ops (indices of its `graph_nodes`) that are selected; near-linear.

    Of another run than its own those that come from the same ops of the model (`origin`), since a
    run may have taken some apart.
    """
    own = selected.ops(reports[selected.run])
    nodes = {name: report.tables["graph_nodes"] for name, report in reports.items()}
    origins = {nodes[selected.run][op]["origin"] for op in own}
    return {
        name: own
        if name == selected.run
        else frozenset(row["index"] for row in rows if row["origin"] in origins)
        for name, rows in nodes.items()
    }


def marks(
    selected: Selection | None, rows: Sequence[Selection], reports: Mapping[str, Report]
) -> list[str]:
    """What a table says of each of its rows: are `all` of its ops selected, a `part`, or none?

    `rows`: what each row stands for; `reports`: the runs' by name. Near-linear in ops and rows.
    """
    if selected is None or selected.run not in reports:
        return [""] * len(rows)
    ops = selected_in(selected, reports)
    counted: dict[tuple[str, str], tuple[Counter[int], Counter[int]]] = {}
    for name, kind in dict.fromkeys((row.run, row.kind) for row in rows):
        nodes = reports[name].tables["graph_nodes"]
        owners = [node[COLUMNS[kind]] for node in nodes]
        hits = Counter(owner for op, owner in enumerate(owners) if op in ops[name])
        counted[name, kind] = Counter(owners), hits
    return [_mark(row.index, *counted[row.run, row.kind]) for row in rows]


def _mark(index: int, sizes: Counter[int], hits: Counter[int]) -> str:
    if not hits[index]:
        return ""
    return "all" if hits[index] == sizes[index] else "part"
