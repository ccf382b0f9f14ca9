"""Runs what is missing, writes or checks the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.quality import closed_forms, other_models
from benchmarks.quality.matrix import keep, kept, run_missing
from benchmarks.quality.page import FIGURE, PAGE, figure, page


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs what is missing, or writes or checks the page; returns 1 where it differs."""
    parser = argparse.ArgumentParser(description="Shares of the lower bound")
    parser.add_argument("--only", nargs="*", default=[], help="models, chips, or both")
    parser.add_argument("--processes", type=int, default=2, help="models that run at once")
    parser.add_argument("--afresh", action="store_true", help="forget what is kept")
    parser.add_argument(
        "--closed-forms", action="store_true", help="run what docs/closed-forms.json lacks"
    )
    parser.add_argument(
        "--others", action="store_true", help="run what docs/quality-others.json lacks"
    )
    parser.add_argument("--page", action="store_true", help="run nothing")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        made = {PAGE: _page(), FIGURE: figure(kept())}
        wrong = [p.name for p, text in made.items() if p.read_text(encoding="utf-8") != text]
        for name in wrong:
            print(f"{name} differs: run `python -m benchmarks.quality --page`", file=sys.stderr)
        return int(bool(wrong))
    if chosen.closed_forms:
        if chosen.afresh:
            closed_forms.keep({})
        closed_forms.run_missing(chosen.processes)
    elif chosen.others:
        if chosen.afresh:
            other_models.keep({})
        other_models.run_missing(chosen.processes)
    elif not chosen.page:
        if chosen.afresh:
            keep({})
        run_missing(chosen.only, chosen.processes)
    PAGE.write_text(_page(), encoding="utf-8")
    FIGURE.write_text(figure(kept()), encoding="utf-8")
    return 0


def _page() -> str:
    return page(kept(), closed_forms.kept(), other_models.kept())


if __name__ == "__main__":
    sys.exit(main())
