"""Step 2 on a report: the sub-graph with the most pieces, and the counts that are tried."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.lecture.yours.cutting import TriedCount, YourCut
from graphturbo_core.units import counted, format_bytes
from graphturbo_ui.learn.yours.texts import YourKnob, YourQuestion, YourStep, YourValue, answers
from graphturbo_ui.text import safe_text

CLAIM = "Cut the whole group into pieces, until a piece fits"
SQUARES = 32
MOST_SQUARES = 640
"""Squares that the LBs have room for, about, and most of the whole group (our choice)."""


def cut_step(cut: YourCut) -> YourStep:
    """The step of one sub-graph."""
    name, room = safe_text(cut.group, max_length=30), format_bytes(cut.capacity_bytes)
    by_bytes = -(-cut.whole_bytes // cut.capacity_bytes)
    others = [by_bytes, 2 * cut.pieces, max(1, cut.pieces // 2), cut.pieces + 1]
    texts, right = answers(str(cut.pieces), [(each, str(each)) for each in others], cut.pieces)
    taken = next(each for each in cut.tried if each.pieces == cut.pieces)
    return YourStep(
        claim=CLAIM,
        knob=YourKnob(
            f"Pieces of {name}",
            [
                YourValue(str(each.pieces), str(each.pieces), _result(cut, each), each.pieces != 1)
                for each in cut.tried
            ],
            "1",
            str(cut.pieces),
        ),
        question=YourQuestion(
            f"{format_bytes(cut.whole_bytes)} are live in {name} ({counted(cut.layers, 'layer')},"
            f" {counted(cut.samples, 'sample')}), and the LBs of {counted(cut.cores, 'core')} have"
            f" {room}. Into how many pieces is it cut?",
            texts,
            right,
            f"Of the numbers that divide {counted(cut.samples, 'sample')}, {cut.pieces} is the"
            f" first whose pieces fit: {format_bytes(taken.peak_bytes)}.",
        ),
        takeaway="Take the fewest equal pieces that fit: each further one costs a launch.",
        data=_picture(cut, name),
    )


def _result(cut: YourCut, tried: TriedCount) -> str:
    live = f"{format_bytes(tried.peak_bytes)} are live in a piece"
    room = format_bytes(cut.capacity_bytes)
    if tried.pieces == cut.pieces:
        return f"{live}. The LBs have {room}: it fits."
    if tried.pieces > cut.pieces:
        return f"{live}. It fits too, but each further piece costs a launch."
    if tried.peak_bytes <= cut.capacity_bytes:
        return f"{live}. The LBs together have {room}, but a core's part does not fit its own."
    return f"{live}. The LBs have {room}: refused."


def _picture(cut: YourCut, name: str) -> Mapping[str, object]:
    unit = 1
    while cut.capacity_bytes > unit * SQUARES or cut.whole_bytes > unit * MOST_SQUARES:
        unit *= 2
    return {
        "unit": unit,
        "group": name,
        "cores": cut.cores,
        "capacity": cut.capacity_bytes,
        "whole": cut.whole_bytes,
        "pieces": cut.pieces,
        "candidates": [
            {"pieces": each.pieces, "peak": each.peak_bytes, "fits": each.pieces >= cut.pieces}
            for each in cut.tried
        ],
    }
