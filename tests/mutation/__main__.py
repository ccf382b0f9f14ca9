"""The command: draw mutants, try them, keep what became of them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutation import covering, kept
from tests.mutation.draw import Mutant, drawn, placed
from tests.mutation.run import CAUGHT, SURVIVED, outcomes

COUNT, SEED, PROCESSES = 300, 25, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where too little of what is kept still stands, or a survivor is not argued."""
    parser = argparse.ArgumentParser(description="Mutation tests of what is shown")
    parser.add_argument("--check", action="store_true", help="run nothing: is what is kept good?")
    parser.add_argument("--page", action="store_true", help="run nothing: write the page again")
    parser.add_argument("--survivors", action="store_true", help="try those that survived again")
    parser.add_argument("--again", action="store_true", help="try all anew; arguments stay")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--to", type=Path, default=kept.FILE, help="the file that is kept")
    chosen = parser.parse_args(arguments)
    before = kept.read(chosen.to)
    if not chosen.check and not chosen.page:
        before = _tried(before, chosen)
        chosen.to.write_text(before.text(), encoding="utf-8")
    if chosen.to == kept.FILE and not chosen.check:
        kept.PAGE.write_text(kept.page(before, len(before.stale())), encoding="utf-8")
    for mutant in before.stale():
        print(f"{mutant.file}: the line is gone: {mutant.before.strip()}", file=sys.stderr)
    for mutant in before.open():
        print(f"{mutant.file}:{mutant.line} survived: {mutant.after.strip()}", file=sys.stderr)
    return int(not before.is_standing or bool(before.open()))


def _tried(before: kept.Kept, chosen: argparse.Namespace) -> kept.Kept:
    """What is kept and still stands, with others drawn for the rest; arguments stay.

    A mutant that is kept keeps its outcome, unless all are asked for, or survivors and it is one.
    """
    known = {} if chosen.again else {each.mutant.key: each for each in before.standing()}
    if chosen.survivors:
        known = {key: each for key, each in known.items() if each.outcome == CAUGHT}
    old = [found for each in before.standing() if (found := placed(each.mutant)) is not None]
    fresh = drawn(chosen.count, chosen.seed)
    mutants = list({mutant.key: mutant for mutant in (*old, *fresh)}.values())[: chosen.count]
    trying = [mutant for mutant in mutants if mutant.key not in known]
    covering.measure()
    found = outcomes(trying, covering.read(), PROCESSES, _say)
    arguments = {each.mutant.key: each.argument for each in before.tried}
    tried = [
        kept.Tried(mutant, outcome, arguments.get(mutant.key, "") if outcome == SURVIVED else "")
        for mutant in mutants
        for outcome in (found[mutant] if mutant in found else known[mutant.key].outcome,)
    ]
    order = sorted(tried, key=lambda each: (each.mutant.file, each.mutant.line, each.mutant.key))
    return kept.Kept(chosen.seed, tuple(order))


def _say(mutant: Mutant, outcome: str) -> None:
    print(f"{outcome}: {mutant.file}:{mutant.line} {mutant.after.strip()[:90]}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
