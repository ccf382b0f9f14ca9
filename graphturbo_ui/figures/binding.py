"""Algorithm 4's bindings -> a grid of cores: which core holds which part of which axis."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.run_rows import BindingRow
from graphturbo_ui.palette import MUTED
from graphturbo_ui.text import safe_text

CELL_PX, FRAME_PX = 44, 110
MOST_LABELS = 16
"""Cells in a line that still have room for `core 12`; of more, hover tells."""
LABEL_INK = "#000000"
PALE = 0.5
"""Share of white in a cell's colour, so that its label reads on each of the ten."""
NOTHING = "no binding to show"
Nested = int | list["Nested"]


def kernel_names(report: Report) -> list[str]:
    """The kernels that have bindings, in order."""
    return list(dict.fromkeys(row["kernel"] for row in report.tables["bindings"]))


def bindings_of(report: Report, kernel: str) -> list[BindingRow]:
    """The bindings of a kernel's tensors, in order of production."""
    return [row for row in report.tables["bindings"] if row["kernel"] == kernel]


def binding_cells(row: BindingRow) -> list[list[tuple[int, tuple[int, ...]]]]:
    """Core and part (from 0, a number an axis): a line a part of the first axis.

    A binding of one axis is one line; further axes than the second stay within the line.
    """
    nested: Nested = json.loads(row["binding"])
    cells = list(_cells(nested, ()))
    if not cells or not cells[0][1][1:]:
        return [cells]
    lines: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for cell in cells:
        lines.setdefault(cell[1][0], []).append(cell)
    return list(lines.values())


def _cells(nested: Nested, at: tuple[int, ...]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Depth is the number of axes, at most eight."""
    if isinstance(nested, int):
        yield nested, at
        return
    for place, part in enumerate(nested):
        yield from _cells(part, (*at, place))


def binding_figure(row: BindingRow | None) -> go.Figure:
    """A cell a part, coloured and numbered by its core; one line a part of the first axis."""
    figure = go.Figure()
    lines = binding_cells(row) if row is not None else []
    if row is None or not lines:
        figure.add_annotation(
            text=NOTHING, showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper"
        )
        return figure
    axes = [axis for axis in row["axes"].split(", ") if axis]
    sizes = _parts(lines)
    figure.add_trace(
        go.Heatmap(
            z=[[core % len(MUTED) for core, _ in line] for line in lines],
            zmin=0,
            zmax=len(MUTED) - 1,
            colorscale=_scale(),
            showscale=False,
            x0=1,
            y0=1,
            text=[[_core(core) for core, _ in line] for line in lines],
            texttemplate="%{text}" if len(lines[0]) <= MOST_LABELS else "",
            textfont={"size": 13, "color": LABEL_INK},
            customdata=[[_said(core, at, axes, sizes) for core, at in line] for line in lines],
            hovertemplate="%{customdata}<extra></extra>",
            xgap=3,
            ygap=3,
        )
    )
    first = f"part of axis {axes[0]}" if len(lines) > 1 else ""
    others = axes[1:] if len(lines) > 1 else axes
    figure.update_xaxes(title_text=f"part of axis {', '.join(others)}" if others else "", dtick=1)
    figure.update_yaxes(title_text=first, dtick=1, autorange="reversed", showticklabels=bool(first))
    height = CELL_PX * len(lines) + FRAME_PX
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8})
    return figure


def _parts(lines: Sequence[Sequence[tuple[int, tuple[int, ...]]]]) -> list[int]:
    """Into how many parts each axis is cut."""
    places = [at for line in lines for _, at in line]
    return [1 + max(column) for column in zip(*places, strict=True)]


def _core(core: int) -> str:
    return f"core {core}" if core >= 0 else "cluster"


def _said(core: int, at: Sequence[int], axes: Sequence[str], sizes: Sequence[int]) -> str:
    parts = [
        f"part {place + 1} of {size} along axis {axis}"
        for place, size, axis in zip(at, sizes, axes, strict=True)
    ]
    return f"{_core(core)}: {', '.join(parts) or 'all of it'}"


def _scale() -> list[tuple[float, str]]:
    """Ten flat colours: a core keeps its own from tensor to tensor."""
    last = len(MUTED) - 1
    return [(index / last, pale(colour)) for index, colour in enumerate(MUTED)]


def pale(colour: str) -> str:
    """`#rrggbb` mixed with white."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * PALE):02x}" for part in parts)


def binding_label(row: BindingRow) -> str:
    """A tensor of a kernel in a box of choices: tensor, op, and where it is held."""
    held = f", held in {row['scope']}" if row["scope"] else ", used up in its loop nest"
    return f"{safe_text(row['tensor'])} of {safe_text(row['op'])}{held}"
