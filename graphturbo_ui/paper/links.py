"""Runs behind a row of the paper -> the address of Explore, and the command line."""

from __future__ import annotations

import shlex
from urllib.parse import urlencode

from graphturbo_core.report.paper.ladder import PaperRuns
from graphturbo_ui.session import query, state


def explore_link(runs: PaperRuns) -> str:
    """The address of Explore with exactly these two runs, from any page of the app."""
    named = [("model", runs.model), ("chip", runs.chip), ("a", runs.a), ("b", runs.b)]
    named += [("batch", str(runs.batch)), ("dtype", runs.dtype)]
    named += [(query.dimension_key(name), str(size)) for name, size in runs.dims.items()]
    named += [("set_a", text) for text in query.texts_of(runs.options_a)]
    named += [("set_b", text) for text in query.texts_of(runs.options_b)]
    return "./?" + urlencode([*named, *state.presenting_query()])


def command(runs: PaperRuns) -> str:
    """The command line that computes both runs; only B where it has options that A has not."""
    is_pair = runs.options_a == runs.options_b
    own = ["--strategies", f"{runs.a},{runs.b}"] if is_pair else ["--strategy", runs.b]
    words = ["python", "-m", "graphturbo_core", "compare" if is_pair else "run", runs.model, *own]
    words += ["--profile", runs.chip, "--batch", str(runs.batch), "--dtype", runs.dtype]
    for name, size in runs.dims.items():
        words += ["--dim", f"{name}={size}"]
    for text in query.texts_of(runs.options_b):
        words += ["--set", text]
    return shlex.join(words)
