"""`python -m tests.verify.judge`: every mutant and what becomes of it, as docs/mutants.md."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.program import Program
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.faults import ReplayFaultError
from graphturbo_core.verify.replay.compare import compare
from graphturbo_core.verify.replay.replay import replay
from graphturbo_core.verify.replay.script import Script
from tests.verify.broken.more_mutants import PROGRAM_KINDS, ROW_KINDS, TRACE_KINDS
from tests.verify.broken.mutant_cases import CASES, Case, make, runner
from tests.verify.draft import Draft
from tests.verify.equivalence import argument

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mutants.md"
SURVIVED = "SURVIVED"
SEEDS = 2
"""Mutants of a kind and a case; of a large case one."""
LARGE = 300
"""Instructions."""


class Mutant(NamedTuple):
    """A Program, or a Trace, with one fault."""

    kind: str
    case: str
    what: str
    changed: Program | Trace


class Verdict(NamedTuple):
    """The rule that caught a mutant, or the argument that it means the same."""

    kind: str
    case: str
    what: str
    rule: str
    reason: str = ""


def mutants(name: str, case: Case) -> Iterator[Mutant]:
    """Mutants of each kind, seeded by the kind's and the case's name; no two do the same."""
    program = case.trace.program
    times = SEEDS if program.size < LARGE else 1
    for kind in (*ROW_KINDS, *PROGRAM_KINDS, *TRACE_KINDS):
        told = set()
        for seed in range(times):
            random = Random(f"{name}/{kind.__name__}/{seed}")
            found = _mutated(case.trace, kind, random)
            if found is not None and found[1] not in told:
                told.add(found[1])
                yield Mutant((kind.__doc__ or "").strip(), name, found[1], found[0])


def _mutated(trace: Trace, kind: object, random: Random) -> tuple[Program | Trace, str] | None:
    if kind in TRACE_KINDS:
        return kind(trace, random)
    if kind in PROGRAM_KINDS:
        return kind(trace.program, random)
    draft = Draft(trace.program)
    told = kind(draft, random)
    return None if told is None else (draft.build(), told)


def caught_by(case: Case, changed: Program | Trace) -> str | None:
    """The rule that a mutant breaks; None: it is checked, replayed and its outputs are right."""
    try:
        trace = changed if isinstance(changed, Trace) else simulate(changed)
        trace.check()
        script = Script(trace)
        found = replay(script, case.given, runner())
    except InvariantError as error:
        return error.code
    except ReplayFaultError as error:
        return f"replay {error.fault.rule}"
    checks = compare(script.semantics, found, case.expected)
    is_right = len(checks) == len(case.expected) and all(check.is_right for check in checks)
    return None if is_right else "outputs differ"


def judged(case: Case, mutant: Mutant) -> Verdict:
    """What becomes of a mutant; one that survives without an argument is SURVIVED."""
    kind, name, what, changed = mutant
    rule = caught_by(case, changed)
    if rule is not None:
        return Verdict(kind, name, what, rule)
    reason = None
    if isinstance(changed, Program):
        reason = argument(case.trace.program, changed)
    return Verdict(kind, name, what, "" if reason else SURVIVED, reason or "")


def verdicts(names: Sequence[str]) -> list[Verdict]:
    """All mutants of these cases."""
    found = []
    for name in names:
        case = make(name)
        found += [judged(case, mutant) for mutant in mutants(name, case)]
    return found


def page(found: Sequence[Verdict]) -> str:
    """The table as Markdown."""
    kinds = list(dict.fromkeys(verdict.kind for verdict in found))
    same = [verdict for verdict in found if verdict.reason]
    lines = [
        "# Mutants",
        "",
        f"{len(found)} faults of {len(kinds)} kinds, put one at a time into correct Programs and",
        f"Traces of {len(CASES)} small cases (`tests/verify/broken/mutant_cases.py`). "
        "Each is simulated",
        "anew, checked, replayed on real numbers and its outputs compared. "
        f"{len(found) - len(same)} are",
        f"caught; {len(same)} mean the same as the Program they were made from, for the reason",
        "given, which `tests/verify/equivalence.py` works out for each one without a replay.",
        "Made by `python -m tests.verify.judge`.",
        "",
        "`TRACE_...` and `PROGRAM_...` are rules of `Trace.check` and the simulator, `replay ...`",
        "of `graphturbo_core/verify`; of several that a mutant breaks, the first counts.",
        "",
        "| fault | mutants | caught by | the same |",
        "|---|---|---|---|",
    ]
    for kind in kinds:
        own = [verdict for verdict in found if verdict.kind == kind]
        rules = Counter(verdict.rule for verdict in own if verdict.rule)
        told = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items()))
        equal = sum(bool(verdict.reason) for verdict in own)
        lines.append(f"| {kind} | {len(own)} | {told} | {equal or ''} |")
    lines += ["", "## The same, one by one", ""]
    lines += ["| fault | case | what | why |", "|---|---|---|---|"]
    lines += [f"| {v.kind} | {v.case} | {v.what} | {v.reason} |" for v in same]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FOUND = verdicts(list(CASES))
    PAGE.write_text(page(FOUND), encoding="utf-8", newline="\n")
    sys.stdout.write("".join(f"{v}\n" for v in FOUND if v.rule == SURVIVED))
