"""docs/matrix.md: every model x every chip x strategies and levels, run sound and replayed.

python -m tests.matrix [--models a,b] [--chips a,b]            run, compare with the page
python -m tests.matrix [--models a,b] [--chips a,b] --write    run, write these cells of the page
python -m tests.matrix --others ...                          the table of other strategies alone
python -m tests.matrix --searches ...                        the table of searches alone
python -m tests.matrix --sample                              a sample: half of the pairs, small

The first table takes hours, each of the others about one. The page is written after
every cell, so it can be done in parts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from time import perf_counter
from typing import Any

from graphturbo_core.errors import GraphTurboError, InvariantError
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.lowering.tiling.tiling import TOO_MANY_INSTRUCTIONS
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.report.report import Report
from tests.matrix_cells import (
    BUDGETS,
    KEPT,
    LIGHT,
    LIGHT_CHIPS,
    LIGHT_REPLAY,
    LITERAL,
    OTHER,
    OTHERS,
    SEARCHED,
    SEARCHES,
    VARIANTS,
    WHOLE,
    Cell,
    Outcome,
    is_as_told,
    other_cells,
    sampled_cells,
    searched_cells,
    small,
    whole_cell,
)
from tests.soundness import check_sound
from tests.verify.small_samples import (
    BATCH,
    LECTURE_CHIP,
    SMALL,
    chips_with_room,
    with_fewer_cores,
)

PAGE = Path(__file__).parents[1] / "docs" / "matrix.md"
CELLS_A_POOL = 24
NOT_RUN = "not run"


def run_cell(cell: Cell) -> Outcome:
    """All runs of a cell."""
    began = perf_counter()
    refused: list[tuple[str, str]] = []
    faults: list[str] = []
    varied: list[tuple[str, str]] = []
    whole = Imports(load_sample(cell.model))
    for strategy in cell.sound:
        found, label = _run_varied(whole, cell, strategy)
        varied += [(strategy, label)] if label and not found else []
        _note(strategy, found, refused, faults)
    is_light = cell.model.startswith(LIGHT)
    replayed, batch = (whole, None) if is_light else (Imports(_small(cell.model)), BATCH)
    for strategy in cell.replayed:
        budget = BUDGETS.get(strategy, {})
        request = RunRequest(cell.model, strategy, cell.chip, batch, options=budget, verify=True)
        found = _checked(replayed, request, has_few_cores=True)
        _note(small(strategy), found, refused, faults)
    seconds = perf_counter() - began
    is_cut = cell.has_few_cores and with_fewer_cores(cell.chip) is not None
    return Outcome(cell, tuple(refused), tuple(faults), seconds, tuple(varied), is_cut)


def _run_varied(whole: Imports, cell: Cell, strategy: str) -> tuple[str, str]:
    """What `_checked` finds, and the label of the variant that it took."""
    request = RunRequest(cell.model, strategy, cell.chip)
    found, label = _checked(whole, request, cell.has_few_cores), ""
    for variant in VARIANTS:
        if found != TOO_MANY_INSTRUCTIONS:
            break
        if variant.is_other(cell, strategy):
            request, label = variant.request(cell, strategy), variant.label
            found = _checked(whole, request, cell.has_few_cores)
    return found, label


def _small(model: str) -> bytes:
    return bytes(SMALL[model]().SerializeToString(deterministic=True))


def _note(run: str, found: str, refused: list[tuple[str, str]], faults: list[str]) -> None:
    if found.startswith("!"):
        faults.append(f"{run}: {found[1:]}")
    elif found:
        refused.append((run, found))


def _checked(imports: Imports, request: RunRequest, has_few_cores: bool) -> str:
    """Nothing where the run is sound and right; the code of a refusal; `!` and what is wrong."""
    try:
        chip = with_fewer_cores(request.profile) if has_few_cores else None
        report = run_shared(imports, request, chip)
        check_sound(report)
    except InvariantError as error:
        return f"!{error}"
    except GraphTurboError as error:
        return error.code
    except AssertionError as error:
        return f"!not sound: {error}"
    return _replay_fault(report) if request.verify else ""


def _replay_fault(report: Report) -> str:
    found: Mapping[str, Any] = dict(report.contract["verify"])
    is_right = found["ran"] and found["ok"] and len(found["outputs"]) > 0
    if is_right:
        return ""
    return f"!replay: {found['fault']['rule'] if found['fault'] else found['outputs']}"


def outcomes_of(cells: Sequence[Cell]) -> Iterator[Outcome]:
    """Outcomes as they come, from as many processes as there are cores.

    Processes are new after some cells, since they keep what the largest one took.
    """
    context = multiprocessing.get_context("spawn")
    workers = min(len(cells), os.cpu_count() or 1)
    for first in range(0, len(cells), CELLS_A_POOL):
        some = cells[first : first + CELLS_A_POOL]
        with ProcessPoolExecutor(workers, context) as pool:
            for done in as_completed([pool.submit(run_cell, cell) for cell in some]):
                yield done.result()


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; 1 where something is wrong, or not what the page says."""
    chosen = _parsed(arguments)
    cells = _cells_of(chosen)
    texts, wrong = read_page(), 0
    for done, outcome in enumerate(outcomes_of(cells), 1):
        place = outcome.cell.place
        head = f"{done}/{len(cells)} {' on '.join(place[1:])}, {outcome.seconds:.0f} s"
        print(f"{head}: {outcome.text}", flush=True)
        if chosen.write:
            texts[place] = outcome.text
            PAGE.write_text(page(texts), encoding="utf-8", newline="\n")
        is_unknown = chosen.sample and place not in texts
        is_told = is_unknown or is_as_told(outcome, texts.get(place, ""))
        wrong += bool(outcome.faults) or not is_told
    print(f"{len(cells) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


def _cells_of(chosen: argparse.Namespace) -> tuple[Cell, ...]:
    """The cells that are asked for."""
    models, chips = _listed(chosen.models, sample_names()), _listed(chosen.chips, profile_names())
    with_room = [chip for chip in chips if chip in chips_with_room()]
    if chosen.sample:
        return sampled_cells(models, with_room)
    whole = tuple(whole_cell(model, chip) for chip in with_room for model in models)
    others, searched = other_cells(models, chips), searched_cells(models, chips)
    if chosen.others or chosen.searches:
        return (*(others if chosen.others else ()), *(searched if chosen.searches else ()))
    return (*whole, *others, *searched)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", help="names with commas between them; all by default")
    parser.add_argument("--chips", help="names with commas between them; all by default")
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--others", action="store_true", help="the other strategies' table alone")
    parser.add_argument("--searches", action="store_true", help="the table of searches alone")
    parser.add_argument("--sample", action="store_true", help="a sample, in small forms")
    return parser.parse_args(arguments)


def _listed(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    names = known if text is None else text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"not known: {', '.join(unknown)}")
    return tuple(names)


HEAD = """# {title}

Written by `python -m tests.matrix --write`, in parts where time asks for it. Each cell stands for
the whole model at its own batch under {strategies}.
The [second table](#other-strategies) and the [third](#searches-and-levels-beside-them) have
others.

- *Sound*: no invariant broken, no bound beaten, every byte and cycle booked (the checks of
  `tests/soundness.py`).
- *Replayed*: a small form of the model (the same kinds of layers, batch {batch}, so that shares
  differ) computes ONNX Runtime's numbers under every strategy on bounded buffers. The light models
  come in one size and are replayed with `{light_replay}`.
- A chip of more than 64 cores a cluster (`ipu-gc2`) takes part with 19 of them where a model is
  replayed, which needs each core.
- Strategies whose program is too long (more than 1,200,000 instructions) run otherwise, and the
  cell says how: in rounds of *one sample a cluster* (`STRATEGY@1`), and with pieces and bindings
  *as printed* in the paper (`{literal}`), or both; where that is refused
  too, as a *longer program* (`--max-instructions {longest}`).
- What is refused even so is named with its code and strategies.
- `{lecture_chip}`, the lecture's chip, has no column: of whole models, only the lecture's have room
  in its DRAM. The second table has small forms on it.

`make test-all` runs a sample: every model on every second chip, every strategy on each, with 19
cores where a cluster has more than 64.

"""
OTHERS_HEAD = """
## {title}

Written by `python -m tests.matrix --others --write`. The strategies {others}
replay the small form of every model, with 19 cores where a chip has more than 64. Whole models do
not run under them here.

- The light models come in one size, which takes about six minutes per chip. They are replayed on
  {light_chips} alone.
- A replay includes the checks of *sound*.
- On `{lecture_chip}` the strategies of the first table replay the small forms too. Its
  memories are too small for some of them.
- What is refused is named with its code and strategies.

"""
SEARCHES_HEAD = """
## {title}

Written by `python -m tests.matrix --searches --write`. The strategies {searches}
replay the small forms as in the second table, without the light models. The searches have smaller
budgets than by default: {budgets}.

"""


def page(texts: Mapping[tuple[str, str, str], str]) -> str:
    """The page, in Markdown; a cell that was never run says so."""
    literal = " ".join(f"--set {name}={value}" for name, value in LITERAL.items())
    head = HEAD.format(
        title=WHOLE, strategies=_quoted(KEPT), batch=BATCH, light_replay=LIGHT_REPLAY,
        literal=literal, longest=DEFAULT_LIMITS.max_instructions_longest,
        lecture_chip=LECTURE_CHIP,
    )  # fmt: skip
    others = OTHERS_HEAD.format(
        title=OTHER, others=_quoted(OTHERS), lecture_chip=LECTURE_CHIP,
        light_chips=_quoted(LIGHT_CHIPS),
    )  # fmt: skip
    searches = SEARCHES_HEAD.format(
        title=SEARCHED, searches=_quoted(SEARCHES), budgets=_quoted(_options_of(BUDGETS)),
    )  # fmt: skip
    parts = (
        (head, WHOLE, chips_with_room(), sample_names()),
        (others, OTHER, profile_names(), sample_names()),
        (searches, SEARCHED, profile_names(), tuple(SMALL)),
    )
    return "".join(
        text + _table(texts, title, chips, models) for text, title, chips, models in parts
    )


def _options_of(budgets: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Each option once, with its value."""
    pairs = (pair for options in budgets.values() for pair in options.items())
    return [f"{name}={value}" for name, value in dict(pairs).items()]


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(
    texts: Mapping[tuple[str, str, str], str],
    title: str,
    chips: Sequence[str],
    models: Sequence[str],
) -> str:
    rows = [("model", *chips), ("---",) * (1 + len(chips))]
    for model in models:
        rows.append((model, *(texts.get((title, model, chip), NOT_RUN) for chip in chips)))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def read_page() -> dict[tuple[str, str, str], str]:
    """Texts of the cells that were run, by table, model and chip."""
    texts: dict[tuple[str, str, str], str] = {}
    title, chips = "", [""]
    for line in PAGE.read_text(encoding="utf-8").splitlines() if PAGE.is_file() else ():
        row = line.strip("| ").split(" | ")
        if line.startswith("#"):
            title = line.strip("# ")
        elif row[0] == "model":
            chips = row[1:]
        elif line.startswith("| ") and row[0] != "---":
            cells = zip(chips, row[1:], strict=True)
            texts |= {(title, row[0], chip): text for chip, text in cells if text != NOT_RUN}
    return texts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
