"""docs/matrix.md: every model x every chip x strategies and levels, run sound and replayed.

python -m tests.matrix [--models a,b] [--chips a,b]            run, compare with the page
python -m tests.matrix [--models a,b] [--chips a,b] --write    run, write these cells of the page
python -m tests.matrix --sample                              a sample: half of the pairs, small

The whole of it takes hours; the page is written after every cell, so it can be done in parts.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from graphturbo_core.errors import GraphTurboError, InvariantError
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.lowering.tiling.tiling import TOO_MANY_INSTRUCTIONS
from graphturbo_core.pipeline import Imports, RunRequest, run_shared
from graphturbo_core.report.report import Report
from tests.lowering.nets import STRATEGIES
from tests.soundness import check_sound
from tests.verify.small_samples import BATCH, SMALL, chips_with_room, with_fewer_cores

PAGE = Path(__file__).parents[1] / "docs" / "matrix.md"
SAMPLED = ("astitch", "xla", "glow", "onednn", "tensorrt-like", "ios:parallel")
"""Strategies that the page has not: in the sample alone, since the whole takes hours."""
KEPT = tuple(strategy for strategy in STRATEGIES if strategy not in SAMPLED)
SOUND, REPLAYED = "sound", "replayed"
ROUNDS, PRINTED, LONGER = "one sample a cluster", "as printed", "longer program"
CELLS_A_POOL = 24
LIGHT = "light-"
LIGHT_REPLAY = "graphturbo"
"""The light models come in one size; replayed with one strategy, which takes long enough."""

LITERAL = {"graphturbo.candidates": "literal", "graphturbo.binding": "literal"}
"""Algorithms 1 and 4 as printed: programs are shorter where few counts divide a size."""


@dataclass(frozen=True)
class Variant:
    """Another way to run a strategy whose program is too long."""

    label: str
    is_in_rounds: bool = False
    is_printed: bool = False
    is_longer: bool = False

    def request(self, cell: Cell, strategy: str) -> RunRequest:
        """The run of the cell's whole model."""
        spec = f"{strategy}@1" if self.is_in_rounds else strategy
        options = LITERAL if self.is_printed else {}
        most = DEFAULT_LIMITS.max_instructions_longest if self.is_longer else None
        return RunRequest(cell.model, spec, cell.chip, options=options, max_instructions=most)

    def is_other(self, cell: Cell, strategy: str) -> bool:
        """Whether it may differ from the strategy as it is; light models have one sample."""
        if self.is_longer:
            return True
        is_other_batch = self.is_in_rounds and not cell.model.startswith(LIGHT)
        if self.is_printed:
            is_alone = not self.is_in_rounds or is_other_batch
            return strategy.startswith("graphturbo") and is_alone
        return is_other_batch


VARIANTS = (
    Variant(ROUNDS, is_in_rounds=True),
    Variant(PRINTED, is_printed=True),
    Variant(f"{PRINTED}, {ROUNDS}", is_in_rounds=True, is_printed=True),
    Variant(LONGER, is_longer=True),
)
LABELS = tuple(variant.label for variant in VARIANTS)


@dataclass(frozen=True)
class Cell:
    """A model on a chip, with some strategies: whole, and replayed in its small form.

    `has_few_cores`: of a chip of many cores some take part, of whole models too.
    """

    model: str
    chip: str
    sound: tuple[str, ...]
    replayed: tuple[str, ...]
    has_few_cores: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a cell; `faults` are bugs of ours, `refused` a code by strategy.

    `varied`: a variant's label by strategy, where it took one. `is_cut`: whole models ran on some
    cores of a chip that has more.
    """

    cell: Cell
    refused: tuple[tuple[str, str], ...]
    faults: tuple[str, ...]
    seconds: float
    varied: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False

    @property
    def text(self) -> str:
        """The cell of the page."""
        if self.faults:
            return f"WRONG: {self.faults[0]}"
        refused = {what for what, _ in self.refused}
        is_sound = any(strategy not in refused for strategy in self.cell.sound)
        is_replayed = any(f"small {strategy}" not in refused for strategy in self.cell.replayed)
        parts = [*([SOUND] if is_sound else []), *([REPLAYED] if is_replayed else [])]
        by_label = {label: [s for s, own in self.varied if own == label] for label in LABELS}
        varied = (f"{label}: {', '.join(names)}" for label, names in by_label.items() if names)
        codes = (f"{what}: {code}" for what, code in self.refused)
        return "; ".join([", ".join(parts) or "refused", *varied, *codes])


def whole_cell(model: str, chip: str) -> Cell:
    """The page's strategies, in full size and in the small form."""
    replayed = (LIGHT_REPLAY,) if model.startswith(LIGHT) else KEPT
    return Cell(model, chip, KEPT, replayed)


def sampled_cells(models: Sequence[str], chips: Sequence[str]) -> tuple[Cell, ...]:
    """Small forms, one strategy a cell: every model on every second chip, every strategy on each.

    Strategy (i + j) / 2 mod S for model i on chip j where i + j is even: half of the pairs of a
    model and a chip, since all of them take too long for CI (our choice).
    """
    count = len(STRATEGIES)
    cells = []
    for i, model in enumerate(models):
        for j in range(i % 2, len(chips), 2):
            own = (STRATEGIES[(i + j) // 2 % count],)
            strategies = (own, ()) if model.startswith(LIGHT) else ((), own)
            cells.append(Cell(model, chips[j], *strategies, has_few_cores=True))
    return tuple(cells)


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
    small = whole if cell.model.startswith(LIGHT) else Imports(_small(cell.model))
    batch = None if cell.model.startswith(LIGHT) else BATCH
    for strategy in cell.replayed:
        request = RunRequest(cell.model, strategy, cell.chip, batch, verify=True)
        found = _checked(small, request, has_few_cores=True)
        _note(f"small {strategy}", found, refused, faults)
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


def _note(what: str, found: str, refused: list[tuple[str, str]], faults: list[str]) -> None:
    if found.startswith("!"):
        faults.append(f"{what}: {found[1:]}")
    elif found:
        refused.append((what, found))


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
    found: Mapping[str, Any] = dict(report.contract["verify"])  # type: ignore[call-overload]
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
    models, chips = _listed(chosen.models, sample_names()), _listed(chosen.chips, chips_with_room())
    if chosen.sample:
        cells = sampled_cells(models, chips)
    else:
        cells = tuple(whole_cell(model, chip) for chip in chips for model in models)
    texts, wrong = read_page(), 0
    for done, outcome in enumerate(outcomes_of(cells), 1):
        place = (outcome.cell.model, outcome.cell.chip)
        head = f"{done}/{len(cells)} {' on '.join(place)}, {outcome.seconds:.0f} s"
        print(f"{head}: {outcome.text}", flush=True)
        if chosen.write:
            texts[place] = outcome.text
            PAGE.write_text(page(texts), encoding="utf-8", newline="\n")
        is_unknown = chosen.sample and place not in texts
        is_told = is_unknown or is_as_told(outcome, texts.get(place, ""))
        wrong += bool(outcome.faults) or not is_told
    print(f"{len(cells) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


def is_as_told(outcome: Outcome, text: str) -> bool:
    """Whether the page tells every refusal and variant of these runs, and no others of them.

    Of whole models on a chip that `is_cut` it may tell more: what all cores need, some may do
    without.
    """
    cell = outcome.cell
    told = {(head, rest) for head, _, rest in (part.partition(": ") for part in text.split("; "))}
    by_label = [(label, names.split(", ")) for label, names in told if label in LABELS]
    varied = {(s, label) for label, names in by_label for s in names if s in cell.sound}
    whole = varied | {one for one in told if one[0] in cell.sound}
    small = {one for one in told if one[0] in {f"small {strategy}" for strategy in cell.replayed}}
    found = {*outcome.varied, *outcome.refused}
    if outcome.is_cut:
        return text != "" and small <= found <= small | whole
    return text != "" and found == small | whole


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", help="names with commas between them; all by default")
    parser.add_argument("--chips", help="names with commas between them; all by default")
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--sample", action="store_true", help="a sample, in small forms")
    return parser.parse_args(arguments)


def _listed(text: str | None, known: Sequence[str]) -> tuple[str, ...]:
    names = known if text is None else text.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"not known: {', '.join(unknown)}")
    return tuple(names)


HEAD = """# Every model, every chip, every strategy

Written by `python -m tests.matrix --write`, in parts where time asks for it. Each cell stands for
the whole model at its own batch under {strategies}.

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
- What is refused even so is named with its strategy and code.
- `learn-1x4`, the lecture's chip, has no column: no sample but the lecture's has room in its DRAM.

`make test-all` runs a sample: every model on every second chip, every strategy on each, with 19
cores where a cluster has more than 64. The strategies {sampled} are in
that sample alone: no cell of the table is about them.

"""


def page(texts: Mapping[tuple[str, str], str]) -> str:
    """The page, in Markdown; a cell that was never run says so."""
    names = ", ".join(f"`{strategy}`" for strategy in KEPT)
    sampled = ", ".join(f"`{strategy}`" for strategy in SAMPLED)
    literal = " ".join(f"--set {name}={value}" for name, value in LITERAL.items())
    head = HEAD.format(
        strategies=names, sampled=sampled, batch=BATCH, light_replay=LIGHT_REPLAY, literal=literal,
        longest=DEFAULT_LIMITS.max_instructions_longest,
    )  # fmt: skip
    rows = [("model", *chips_with_room()), ("---",) * (1 + len(chips_with_room()))]
    for model in sample_names():
        rows.append((model, *(texts.get((model, c), "not run") for c in chips_with_room())))
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def read_page() -> dict[tuple[str, str], str]:
    """Texts of the cells that were run, by model and chip."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.is_file() else []
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    heads = [row for row in rows if row[0] == "model"]
    chips = heads[0][1:] if heads else []
    return {
        (row[0], chip): text
        for row in rows[2:]
        for chip, text in zip(chips, row[1:], strict=True)
        if text != "not run"
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
