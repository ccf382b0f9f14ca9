"""LectureLink -> the address of Explore with both runs, and the files that they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphturbo_core.errors import InvariantError
from graphturbo_core.lecture.results import LectureResults
from graphturbo_core.lecture.runs import CHIP, RUNS
from graphturbo_core.lecture.step import LectureLink


@dataclass(frozen=True)
class ExploreQuery:
    """Two runs of one model on one chip.

    `query`: keys and values of the address, without files. `chip`: the profile as YAML where it is
    not the shipped one. `plans`: plan files of `a` and `b`, where a run follows one.
    """

    query: tuple[tuple[str, str], ...]
    chip: bytes | None
    plans: Mapping[str, str]


def explore_link(link: LectureLink, results: LectureResults) -> ExploreQuery:
    """Both runs of a link.

    Raises:
        InvariantError: LECTURE_LINK, they are of different models, chips or batches.
    """
    runs = {"a": RUNS[link.a], "b": RUNS[link.b]}
    first = runs["a"]
    for run in runs.values():
        if (run.model, run.batch, run.chip) != (first.model, first.batch, first.chip):
            what = f"{link.a} and {link.b} have other models, chips or batches"
            raise InvariantError("LECTURE_LINK", what)
    query = [("model", first.model), ("chip", CHIP), ("batch", str(first.batch))]
    query += [(key, run.strategy) for key, run in runs.items()]
    query += [
        (f"set_{key}", f"{name}={value}")
        for key, run in runs.items()
        for name, value in sorted(run.options.items())
    ]
    query += [("views", view) for view in link.views]
    plans = {key: results.runs[run.name].plan for key, run in runs.items() if run.edits}
    return ExploreQuery(tuple(query), first.profile(), plans)
