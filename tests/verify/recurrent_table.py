"""docs/recurrent.md: RNN, GRU and LSTM of every size on every chip, replayed.

python -m tests.verify.recurrent_table    run all, write the page; some ten minutes on two cores
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, cast

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.pipeline import RunRequest, run_reports, warm_up
from tests.verify.models.recurrent import (
    DIRECTIONS,
    GATES,
    HIDDEN,
    STRATEGIES,
    Size,
    all_sizes,
    model_of,
)
from tests.verify.small_samples import LECTURE_CHIP, chips_with_room

PAGE = Path(__file__).parents[2] / "docs" / "recurrent.md"
WORKERS = 2
HEAD = f"""# Recurrent ops of every size

Written by `python -m tests.verify.recurrent_table`. One op of 16 time steps and one sample, whose
input is as wide as its state, under {" and ".join(f"`{s}`" for s in STRATEGIES)}: the
largest error of the replays, over an output's largest magnitude. `ipu-gc2` has 256 KiB per core
and is tried up to 64 units. `{LECTURE_CHIP}` is not in the table: an RNN of 64 units is correct
there, a GRU or LSTM of 64 units is refused (`GB_FULL`). A code is a refusal; `WRONG` would be a
result that differs.
"""


def outcome(size: Size) -> str:
    """The largest error of a case, or the code of a refusal."""
    requests = [RunRequest("recurrent", each, size.chip, None, verify=True) for each in STRATEGIES]
    try:
        reports = list(run_reports(model_of(size.form), requests))
    except GraphTurboError as error:
        return error.code
    verified = [cast(Mapping[str, Any], report.contract["verify"]) for report in reports]
    if not all(each["ran"] and each["ok"] for each in verified):
        return "WRONG"
    return f"{max(each['max_rel_error'] for each in verified):.0e}"


def page(found: Mapping[Size, str]) -> str:
    """A line per chip, kind and number of directions, a column per size."""
    heads = ("chip", "op", "directions", *(f"{hidden} units" for hidden in HIDDEN))
    lines: list[Sequence[str]] = [heads, ["---"] * len(heads)]
    for chip in chips_with_room():
        for kind in GATES:
            for ways in DIRECTIONS:
                sizes = (Size(chip, kind, hidden, ways) for hidden in HIDDEN)
                lines.append((chip, kind, str(ways), *(found.get(size, "") for size in sizes)))
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"{HEAD}\n{table}"


def main() -> int:
    """Run every case; 1 where one is refused or wrong."""
    sizes = all_sizes()
    found: dict[Size, str] = {}
    with ProcessPoolExecutor(WORKERS, get_context("spawn"), warm_up) as pool:
        for size, result in zip(sizes, pool.map(outcome, sizes), strict=True):
            found[size] = result
            print(f"{size.name}: {result}", file=sys.stderr)
    PAGE.write_text(page(found), encoding="utf-8")
    return int(not all(_is_number(result) for result in found.values()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
