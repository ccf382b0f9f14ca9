"""The comparison of this session: its runs, those still to be computed, and what is ticked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import streamlit as st

from graphturbo_core.comparison.compared_run import MAX_NAME, MAX_NOTE, ComparedRun, RunChoices
from graphturbo_core.comparison.comparison_file import check_count, distinct, read_comparison
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.run_request import RunRequest
from graphturbo_ui.runs import Source
from graphturbo_ui.session import query
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.text import safe_text

KEY = "compared"
MAX_LINES = 20
"""Refusals, and other lines above the picture, that are listed; the oldest go first."""
PLAN_ENDINGS = (".yaml", ".yml")
"""Of a file that is a plan; others are comparisons and reports."""


@dataclass(frozen=True)
class WantedRun:
    """A run that is to join the comparison once it is computed.

    `row`: the row that it computes again. `file_name`: of the plan file that it follows.
    """

    request: RunRequest
    source: Source = field(repr=False)
    row: ComparedRun | None = field(default=None, repr=False)
    file_name: str = ""

    @property
    def key(self) -> str:
        """The key of its row."""
        return self.choices.key

    @cached_property
    def choices(self) -> RunChoices:
        """Its choices as a comparison keeps them."""
        if self.row is not None and self.row.choices is not None:
            return self.row.choices
        model_sha256 = self.source.model_sha256
        text = (self.source.profile or b"").decode("utf-8-sig")
        return RunChoices.of(self.request, model_sha256, text)


@dataclass(frozen=True)
class Comparison:
    """`runs` in their order, pinned ones first.

    `asked`: keys of runs wanted since none was. `refused`, `said`: lines about what did not join,
    and about what did. `picked`: keys of ticked rows. `before`: the runs before some were removed.
    `serial` rises with the order or the names of the rows.
    """

    runs: tuple[ComparedRun, ...] = ()
    wanted: tuple[WantedRun, ...] = ()
    asked: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    picked: tuple[str, ...] = ()
    before: tuple[ComparedRun, ...] = ()
    serial: int = 0

    def with_runs(self, runs: Iterable[ComparedRun]) -> Comparison:
        """The comparison with these runs; ticked ones remain ticked.

        Raises:
            CapacityError: there are too many.
        """
        found = sorted(distinct(runs), key=lambda run: not run.is_pinned)
        check_count(len(found))
        keys = {run.key for run in found}
        picked = tuple(key for key in self.picked if key in keys)
        return replace(self, runs=tuple(found), picked=picked, serial=self.serial + 1)

    def wanting(self, wanted: Sequence[WantedRun]) -> Comparison:
        """The comparison that these runs are to join, each once.

        Raises:
            CapacityError: there would be too many.
        """
        waited_for = {each.key for each in self.wanted}
        rows = {run.key for run in self.runs}
        known = waited_for | rows
        new = {
            each.key: each
            for each in wanted
            if each.key not in (waited_for if each.row is not None else known)
        }
        check_count(len(known | new.keys()))
        asked = (*(self.asked if self.wanted else ()), *new)
        return replace(self, wanted=(*self.wanted, *new.values()), asked=asked)

    def without_wanted(self, wanted: WantedRun) -> Comparison:
        """The comparison that does not wait for this run any more."""
        return replace(self, wanted=tuple(each for each in self.wanted if each is not wanted))

    def joined(self, run: ComparedRun) -> Comparison:
        """The comparison with a finished run, before those that were asked for after it.

        A row that it computed again keeps its words.

        Raises:
            CapacityError: there are too many.
        """
        keys = [each.key for each in self.runs]
        if run.key in keys:
            return self.changed(run.key, figures=run.figures)
        later = self.asked[self.asked.index(run.key) + 1 :] if run.key in self.asked else ()
        place = next((at for at, key in enumerate(keys) if key in later), len(keys))
        return self.with_runs((*self.runs[:place], run, *self.runs[place:]))

    def changed(self, key: str, **values: object) -> Comparison:
        """The comparison in which a run has another name, note or pin."""
        runs = (run.model_copy(update=values) if run.key == key else run for run in self.runs)
        return self.with_runs(runs)

    def removed(self, keys: Sequence[str]) -> Comparison:
        """The comparison without these runs, which can be brought back."""
        left = self.with_runs(run for run in self.runs if run.key not in keys)
        again = (each for each in self.wanted if each.row is not None and each.row.key in keys)
        gone = {each.key for each in again}
        wanted = tuple(each for each in self.wanted if each.key not in gone)
        return replace(left, before=self.runs, wanted=wanted)

    def moved(self, keys: Sequence[str], by: int) -> Comparison:
        """The comparison in which these runs stand `by` places (1 or -1) further down."""
        runs = list(self.runs)
        order = range(len(runs)) if by < 0 else range(len(runs) - 1, -1, -1)
        for at in order:
            to = at + by
            is_free = 0 <= to < len(runs) and runs[to].key not in keys
            if runs[at].key in keys and is_free:
                runs[at], runs[to] = runs[to], runs[at]
        return self.with_runs(runs)

    def restored(self) -> Comparison:
        """The comparison with the runs that were removed last, and those that came since."""
        now = {run.key: run for run in self.runs}
        back = (now.get(run.key, run) for run in self.before)
        return replace(self.with_runs((*back, *self.runs)), before=())

    def opening(self, runs: Sequence[ComparedRun]) -> Comparison:
        """The comparison with the runs of a file, whose names, notes and pins hold.

        Raises:
            CapacityError: there are too many.
        """
        read = {run.key: run for run in runs}
        return self.with_runs((*(read.get(run.key, run) for run in self.runs), *runs))

    @property
    def lost(self) -> int:
        """How many of the runs that were removed last can come back."""
        keys = {run.key for run in self.runs}
        return sum(run.key not in keys for run in self.before)

    def has(self, wanted: Sequence[WantedRun]) -> bool:
        """Whether all of these runs are here or on their way."""
        known = {run.key for run in self.runs} | {each.key for each in self.wanted}
        return all(each.key in known for each in wanted)

    def refusing(self, line: str) -> Comparison:
        """The comparison with one more reason why a run did not join it."""
        return replace(self, refused=_with_line(self.refused, line))

    def saying(self, line: str) -> Comparison:
        """The comparison with one more line about a run that is in it."""
        return replace(self, said=_with_line(self.said, line))


def _with_line(lines: tuple[str, ...], line: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*lines, line)))[-MAX_LINES:]


def comparison() -> Comparison:
    """The comparison as it is now."""
    found: Comparison = st.session_state.setdefault(KEY, Comparison())
    return found


def is_begun() -> bool:
    """Whether this session has looked at its comparison, or added to it."""
    return KEY in st.session_state


def keep(changed: Comparison) -> None:
    """Have this be the comparison."""
    st.session_state[KEY] = changed


def change(make: Callable[[Comparison], Comparison]) -> None:
    """Have the comparison be what this makes of it; a refusal is listed instead."""
    before = comparison()
    try:
        keep(make(before))
    except GraphTurboError as error:
        keep(before.refusing(error.line()))


def want(wanted: Sequence[WantedRun]) -> None:
    """Have these runs join the comparison once the page computes them."""
    change(lambda now: now.wanting(wanted))


def want_both(choices: Choices) -> None:
    """Have A and B join the comparison, as Explore runs them."""
    want(both(choices))


def both(choices: Choices) -> list[WantedRun]:
    """A and B as Explore runs them."""
    return [WantedRun(choices.request(key), choices.source) for key in query.RUN_KEYS]


def give_up() -> None:
    """Wait for no run any more."""
    change(lambda now: replace(now, wanted=(), asked=()))


def forget_lines() -> None:
    """List no refusal and no other line any more."""
    change(lambda now: replace(now, refused=(), said=()))


def rename(key: str, widget: str) -> None:
    """Give a run the name in a text box, unless that is empty."""
    name = safe_text(st.session_state[widget], max_length=MAX_NAME)
    if name:
        change(lambda now: now.changed(key, name=name))


def take_note(key: str, widget: str) -> None:
    """Give a run the note in a text box."""
    note = safe_text(st.session_state[widget], max_length=MAX_NOTE)
    change(lambda now: now.changed(key, note=note))


def pin(keys: Sequence[str], is_pinned: bool) -> None:
    """Pin runs, which then stand first, or unpin them."""
    for key in keys:
        change(lambda now, key=key: now.changed(key, is_pinned=is_pinned))  # type: ignore[misc]


def move(keys: Sequence[str], by: int) -> None:
    """Move runs up (-1) or down (1) by one place; pinned ones remain first."""
    change(lambda now: now.moved(keys, by))


def remove(keys: Sequence[str]) -> None:
    """Take runs out; `bring_back` undoes it."""
    change(lambda now: now.removed(keys))


def bring_back() -> None:
    """Undo the last removal."""
    change(Comparison.restored)


def table_key() -> str:
    """The key of the table of runs as they are now named and ordered."""
    return f"compared_table_{comparison().serial}"


def take_picked(key: str, rows: Sequence[str]) -> None:
    """Keep which rows are ticked in the table of that key; `rows`: keys of the runs it shows.

    A browser may send the ticks of a table after the runs were reordered.
    """
    ticked = st.session_state[key].selection.rows
    keys = tuple(rows[row] for row in sorted(ticked) if row < len(rows))
    keep(replace(comparison(), picked=keys))


def take_file(widget: str, of_plan: Callable[[bytes, str], WantedRun]) -> None:
    """Add the runs of the file in an uploader; `of_plan` gives the run of a plan file."""
    given = st.session_state.get(widget)
    if given is None:
        return
    name, data = safe_text(given.name, max_length=80), given.getvalue()
    if name.lower().endswith(PLAN_ENDINGS):
        change(lambda now: _with_plan(now, of_plan(data, name)))
    else:
        change(lambda now: now.opening(read_comparison(data, name)))


def _with_plan(now: Comparison, wanted: WantedRun) -> Comparison:
    if now.has([wanted]):
        return now.saying(f"The plan of {wanted.file_name} is in the comparison already.")
    return now.wanting([wanted])
