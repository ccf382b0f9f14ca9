"""docs/node-suite.md: what became of every model of the onnx package's node suite, by op type.

python -m tests.verify.node_table            run all models, compare with the page; exit 1 if not
python -m tests.verify.node_table --sample   the same of one model in four, as CI does
python -m tests.verify.node_table --write    run all models, write the page
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from time import perf_counter

import onnx

from tests.verify.node_suite import (
    BUGS,
    PROFILE,
    RIGHT,
    RUNTIME_DIFFERS,
    STRATEGIES,
    SUITE_DIFFERS,
    Outcome,
    cases,
    run_case,
)

PAGE = Path(__file__).parents[2] / "docs" / "node-suite.md"
WORKERS = 2
CHUNK = 12
"""Models per job of a worker."""
SECONDS_FOR_ALL = 900
SAMPLED = 4
"""CI runs one model in so many."""


def run_indices(indices: Sequence[int]) -> list[Outcome]:
    """Outcomes of some models, by their places in the suite."""
    return [run_case(cases()[index]) for index in indices]


def how_many() -> int:
    """Models in the suite."""
    return len(cases())


def run_all(step: int = 1) -> list[Outcome]:
    """Outcomes of every `step`th model on two processes, in order; they alone collect the suite."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, mp_context=context) as pool:
        count = pool.submit(how_many).result()
        places = range(0, count, step)
        chunks = [places[first : first + CHUNK] for first in range(0, len(places), CHUNK)]
        return list(chain.from_iterable(pool.map(run_indices, chunks, timeout=SECONDS_FOR_ALL)))


def main(arguments: Sequence[str]) -> int:
    """Run, print a summary, write or compare the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--sample", action="store_true", help=f"one model in {SAMPLED}")
    given = parser.parse_args(arguments)
    is_write = given.write
    began = perf_counter()
    outcomes = run_all(SAMPLED if given.sample else 1)
    print(summary(outcomes, perf_counter() - began))
    if given.sample:
        wrong = differing(outcomes, PAGE.read_text(encoding="utf-8"))
        print("".join(f"{line}\n" for line in wrong), end="")
        return 1 if wrong else 0
    text = page(outcomes)
    bugs = [outcome for outcome in outcomes if outcome.kind in BUGS]
    for outcome in bugs:
        print(f"{outcome.kind} {outcome.name}: {outcome.reason}")
    if is_write:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif not PAGE.is_file() or text != PAGE.read_text(encoding="utf-8"):
        print(f"{PAGE} is not what the suite gives: python -m tests.verify.node_table --write")
        return 1
    return 1 if bugs else 0


def differing(outcomes: Sequence[Outcome], text: str) -> list[str]:
    """Models that are not what the page says of them; models that it does not list are right."""
    rows = [line.strip("| ").split(" | ") for line in text.split(REFUSED_HEADING)[1].splitlines()]
    refused = {row[0]: row[1] for row in rows if len(row) > 1}
    return [
        f"{outcome.kind} {outcome.name}: {outcome.reason}; the page says {told or 'right'}"
        for outcome in outcomes
        if (told := refused.get(outcome.name, "")) != ("" if outcome.is_right else outcome.kind)
    ]


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """One line of counts."""
    kinds = Counter(outcome.kind for outcome in outcomes)
    right = sum(outcome.is_right for outcome in outcomes)
    rest = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return f"{right} of {len(outcomes)} right in {seconds:.0f} s: {rest}"


REFUSED_HEADING = "## Models that are not right"
HEAD = """# The onnx package's node test suite

Written by `python -m tests.verify.node_table --write` from onnx {version}; `make test-all` runs one
model in four again and compares, `make evidence` all {count}.
Every model is imported, scheduled with {strategies} on
`{profile}`, replayed instruction by instruction on the suite's inputs and compared with the suite's
outputs. A model counts as right where all of that agrees for every strategy, within tolerances that
follow from reduction lengths and number types.

**{right} of {count} models are right.** *Exact*: each of its ops has an entry in the table of op
types, so it is cut and fused. *Opaque*: an op of it has none and runs whole. A row with *expanded*
holds the models that spell the op as the function that defines it. An input that a shape or a
branch depends on is given to import as a constant ({baked} models).

## Op types

"""

MEANINGS = {
    "BAD_ATTRIBUTE": "an attribute is of a kind that import does not read",
    "DYNAMIC_SHAPE": "a shape depends on the numbers that are computed",
    "EMPTY_TENSOR": "an op has nothing to compute",
    "NOTHING_TO_RUN": "the result is known at import, no instruction is left to check",
    "NOT_A_TENSOR": "sequences, optionals and maps are not supported",
    "NOT_DETERMINISTIC": "the op draws random numbers, so no two runs agree",
    "NO_KERNEL": "neither ONNX Runtime nor onnx's reference runs the op by itself",
    "NO_REFERENCE": "ONNX Runtime cannot run the unsplit model",
    RUNTIME_DIFFERS: "the replay gives what ONNX Runtime gives for the unsplit model, and that is "
    "not what the suite says and onnx's reference gives",
    SUITE_DIFFERS: "the same, and onnx's reference does not give the suite's numbers either "
    "(they are written with four decimals)",
    "SHAPE_DISAGREES": "onnx's shape inference and the op's result differ",
    "SHAPE_MISMATCH": "onnx's shape inference refuses the op's inputs",
    "SUB_GRAPH": "control flow is not supported",
    "UNSUPPORTED_OPS": "several ops are refused, by the rules for one of them",
    "TILE_TOO_LARGE": "an op that runs whole does not fit into the LB of this chip",
}
"""Text of each rule for readers of the page."""


def page(outcomes: Sequence[Outcome]) -> str:
    """The page, in Markdown."""
    head = HEAD.format(
        version=onnx.__version__,
        count=len(outcomes),
        strategies=", ".join(f"`{strategy}`" for strategy in STRATEGIES),
        profile=PROFILE,
        right=sum(outcome.is_right for outcome in outcomes),
        baked=sum(bool(outcome.baked) for outcome in outcomes),
    )
    return "".join((head, _op_table(outcomes), _rule_table(outcomes), _refused_table(outcomes)))


def _op_table(outcomes: Sequence[Outcome]) -> str:
    rows: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.op, Counter())[outcome.kind] += 1
    lines = [
        (op, sum(kinds.values()), *(kinds[kind] or "" for kind in RIGHT), _refusals(kinds))
        for op, kinds in sorted(rows.items(), key=lambda row: row[0].lower())
    ]
    total = Counter(outcome.kind for outcome in outcomes)
    lines.append(("**all**", len(outcomes), *(total[kind] for kind in RIGHT), _refusals(total)))
    return _table(("op type", "models", "exact", "opaque", "refused: why"), lines)


def _refusals(kinds: Counter[str]) -> str:
    refused = sorted(kind for kind in kinds if kind not in RIGHT)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in refused)


def _rule_table(outcomes: Sequence[Outcome]) -> str:
    kinds = Counter(outcome.kind for outcome in outcomes if not outcome.is_right)
    lines = [(kind, count, MEANINGS.get(kind, "")) for kind, count in sorted(kinds.items())]
    return "\n## Rules\n\n" + _table(("rule", "models", "meaning"), lines)


def _refused_table(outcomes: Sequence[Outcome]) -> str:
    lines = [(o.name, o.kind, _cell(o.reason)) for o in outcomes if not o.is_right]
    return f"\n{REFUSED_HEADING}\n\n" + _table(("model", "rule", "reason"), lines)


def _cell(text: str) -> str:
    """A text that cannot end its cell, nor carry a name of this machine's folders."""
    return text.replace("|", "/")[:300]


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
