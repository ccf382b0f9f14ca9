"""Cells of docs/matrix.md: which strategies each has, and what became of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.pipeline import RunRequest
from tests.lowering.nets import STRATEGIES
from tests.verify.small_samples import LECTURE_CHIP

WHOLE, OTHER = "Every model, every chip, every strategy", "Other strategies"
SEARCHED = "Searches, and levels beside them"
"""The page's tables, by their headings."""
OTHERS = ("astitch", "xla", "glow", "onednn", "tensorrt-like", "ios:parallel")
"""Strategies of the second table: small forms alone, since whole models take hours."""
SEARCHES = (
    "taso-like",
    "ios:sequential",
    "ios:greedy",
    "ios:merge",
    "ios:both",
    "graphturbo:plus",
    "best",
    "tuned",
)
"""Strategies of the third table: small forms, without the light models."""
BUDGETS: Mapping[str, Mapping[str, str]] = {
    "taso-like": {"taso-like.budget": "4"},
    "ios:merge": {"ios.trials": "2", "ios.s": "4"},
    "ios:both": {"ios.trials": "2", "ios.s": "4"},
    "tuned": {"tuned.evaluations": "4"},
}
"""Options of the searches: their defaults would take hours."""
KEPT = tuple(strategy for strategy in STRATEGIES if strategy not in OTHERS)
SOUND, REPLAYED, REFUSED = "sound", "replayed", "refused"
ROUNDS, PRINTED, LONGER = "one sample a cluster", "as printed", "longer program"
EVERY = "every strategy"
"""Stands for all runs of a cell, where one code refuses them."""
LIGHT = "light-"
LIGHT_REPLAY = "graphturbo"
"""The light models come in one size; of the strategies of the first table one replays them."""
LIGHT_CHIPS = ("stcp920", "ascend910", "goya")
"""Chips on which the second table's strategies replay the light models: minutes per chip."""

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

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of its runs: the strategies of whole models, then those of small forms."""
        return (*self.sound, *map(small, self.replayed))

    @property
    def place(self) -> tuple[str, str, str]:
        """Where it stands on the page: table, model, chip."""
        strategies = {*self.sound, *self.replayed}
        is_whole = strategies <= {*KEPT} and self.chip != LECTURE_CHIP
        rest = SEARCHED if strategies <= {*SEARCHES} else OTHER
        return (WHOLE if is_whole else rest, self.model, self.chip)


def small(strategy: str) -> str:
    """The name of a run of the small form."""
    return f"small {strategy}"


@dataclass(frozen=True)
class Outcome:
    """What became of a cell; `faults` are bugs of ours, `refused` a code by run.

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
        refused = {run for run, _ in self.refused}
        is_sound = any(strategy not in refused for strategy in self.cell.sound)
        is_replayed = any(small(strategy) not in refused for strategy in self.cell.replayed)
        parts = [*([SOUND] if is_sound else []), *([REPLAYED] if is_replayed else [])]
        varied = sorted(self.varied, key=lambda pair: LABELS.index(pair[1]))
        groups = [*_grouped(varied), *_grouped(self.refused)]
        named = (
            f"{head}: {EVERY if runs == self.cell.runs else ', '.join(runs)}"
            for head, runs in groups
        )
        return "; ".join([", ".join(parts) or REFUSED, *named])


def _grouped(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each label or code with its runs."""
    for head in dict.fromkeys(head for _, head in pairs):
        yield head, tuple(run for run, own in pairs if own == head)


def whole_cell(model: str, chip: str) -> Cell:
    """The first table's strategies, in full size and in the small form."""
    replayed = (LIGHT_REPLAY,) if model.startswith(LIGHT) else KEPT
    return Cell(model, chip, KEPT, replayed)


def other_cells(models: Sequence[str], chips: Sequence[str]) -> tuple[Cell, ...]:
    """Small forms under the second table's strategies; on the lecture's chip under all."""
    return tuple(
        Cell(model, chip, (), STRATEGIES if chip == LECTURE_CHIP else OTHERS)
        for chip in chips
        for model in models
        if not model.startswith(LIGHT) or chip in LIGHT_CHIPS
    )


def searched_cells(models: Sequence[str], chips: Sequence[str]) -> tuple[Cell, ...]:
    """Small forms under the third table's strategies."""
    return tuple(
        Cell(model, chip, (), SEARCHES)
        for chip in chips
        for model in models
        if not model.startswith(LIGHT)
    )


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
            sound, replayed = (own, ()) if model.startswith(LIGHT) else ((), own)
            cells.append(Cell(model, chips[j], sound, replayed, has_few_cores=True))
    return tuple(cells)


def is_as_told(outcome: Outcome, text: str) -> bool:
    """Whether the page names every refusal and variant of these runs, and no others of them.

    Of whole models on a chip that `is_cut` it may tell more: what all cores need, some may do
    without.
    """
    cell = outcome.cell
    told = {
        (run, head)
        for head, _, runs in (part.partition(": ") for part in text.split("; "))
        for run in (cell.runs if runs == EVERY else runs.split(", "))
    }
    of_whole = {one for one in told if one[0] in cell.sound}
    of_small = {one for one in told if one[0] in map(small, cell.replayed)}
    found = {*outcome.varied, *outcome.refused}
    if outcome.is_cut:
        return text != "" and of_small <= found <= of_small | of_whole
    return text != "" and found == of_small | of_whole
