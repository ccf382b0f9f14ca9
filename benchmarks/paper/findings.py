"""Results -> docs/paper.json and back, and queries on them, such as a row's run of `tvm`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import log
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.paper.results import Result
from benchmarks.paper.rows import ROWS
from graphturbo_core.strategies.options import SPACE, STARTS

CHIP, OTHER_CHIP = "stcp920", "stcp920-10mib"
"""The paper's chip, and the same with the capacity that reproduces Algorithm 1's figures."""
OWN_SPACE = ((SPACE, "plus"),)
"""Options of a search over the choices of `graphturbo:plus`."""
OTHER_STARTS = ((STARTS, "others"),)
"""Options of a search that starts without the plans of `graphturbo:full` and `:plus`."""
Options = Iterable[tuple[str, str]]
PLACED = (
    "as taken", "division: outermost axis alone", "division: by gcd, outermost first",
    "weights: each core fetches its own", "double buffering: off", "passes: squares of a map",
    "softmax, layer norm: both decomposed", "outermost, own, off and decomposed",
    "kernels: an op each", "launch: halved", "launch: doubled", "barrier: halved",
    "barrier: doubled", "cluster batch: GraphTurbo's",
)  # fmt: skip
"""The switches of a file of schema 1, in its order."""


@dataclass(frozen=True)
class Findings:
    """All stored runs, and the effect of TVM's switches: by row and switch a rate or refusal."""

    results: tuple[Result, ...] = ()
    switches: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)

    @cached_property
    def _by_key(self) -> dict[tuple[object, ...], Result]:
        return {result.key: result for result in self.results}

    def find(self, row: str, level: str, chip: str = CHIP, options: Options = ()) -> Result | None:
        """Run of a row's first variant under a strategy (`graphturbo`: a level); None: not run."""
        sample, wanted = ROWS[row].variants[0].sample, tuple(sorted(options))
        found = (
            result
            for result in self.results
            if (result.row, result.sample, result.chip) == (row, sample, chip)
            and result.level == level
            and result.key[-1] == wanted
        )
        return next(found, None)

    def ratios(
        self, level: str, below: str, chip: str = CHIP, options: Options = ()
    ) -> dict[str, float]:
        """Throughput of a level over another's with these options, per row that has both."""
        found = (
            (row, self.find(row, level, chip), self.find(row, below, chip, options)) for row in ROWS
        )
        return {
            row: one.throughput_per_s / other.throughput_per_s
            for row, one, other in found
            if one and other and not one.refused and not other.refused
        }

    def over_searches(self, level: str, chip: str = CHIP) -> dict[str, float]:
        """Throughput of a level over that of the best search, per row."""
        over = [
            self.ratios(level, "tuned", chip, options) for options in ((), OWN_SPACE, OTHER_STARTS)
        ]
        found = {row: [own[row] for own in over if row in own] for row in ROWS}
        return {row: min(ratios) for row, ratios in found.items() if ratios}

    def over_published(self, level: str, chip: str = CHIP) -> dict[str, float]:
        """Our throughput over the paper's, per row that has both."""
        found = ((row, self.find(row, level, chip)) for row in ROWS)
        ratios = ((row, result.over_published) for row, result in found if result)
        return {row: ratio for row, ratio in ratios if ratio is not None}

    def of_other_models(self, chip: str = CHIP) -> list[Result]:
        """Runs of other models that a row may mean."""
        taken = {row: ROWS[row].variants[0].sample for row in ROWS}
        found = (r for r in self.results if (r.chip, r.options) == (chip, {}))
        return [r for r in found if r.sample != taken[r.row]]

    def most_by_order(self, chip: str = CHIP) -> dict[str, float]:
        """Upper bound of the gain of `full` over `order` by any order of a kernel's instructions.

        Per row that has both and whose kernels run in sequence.
        """
        bounds = {
            row: (full.kernels_bound_per_s, order.throughput_per_s)
            for row in ROWS
            if (full := self.find(row, "full", chip)) and not full.refused
            if (order := self.find(row, "order", chip)) and not order.refused
        }
        return {row: bound / rate for row, (bound, rate) in bounds.items() if bound}

    def nearest_published(self, level: str, chip: str = CHIP) -> dict[str, float]:
        """Our throughput over the paper's, per row for its closest plausible model.

        Rows without a plausible model are left out.
        """
        found: dict[str, list[float]] = {}
        for each in self.results:
            row = ROWS[each.row]
            published = dict(row.strategies()).get(each.strategy)
            is_asked = (each.level, each.chip, each.options, each.refused) == (level, chip, {}, "")
            if published and is_asked and is_plausible(each):
                found.setdefault(each.row, []).append(each.throughput_per_s / published)
        return {row: min(found[row], key=_farness) for row in ROWS if row in found}

    def with_results(self, results: Sequence[Result]) -> Findings:
        """These findings with new results; older results of the same runs are replaced."""
        known = {**self._by_key, **{result.key: result for result in results}}
        return Findings(tuple(known[key] for key in sorted(known)), self.switches)

    def text(self) -> str:
        """Text of the file: JSON with one run per line."""
        lines = ",\n".join(json.dumps(asdict(result)) for result in self.results)
        head = f'"schema": 2,\n"switches": {json.dumps(self.switches)},'
        return f'{{{head}\n"results": [\n{lines}\n]}}\n'


def models(results: Sequence[Result]) -> Iterator[tuple[str, str, dict[str, Result]]]:
    """Row, sample, and its results by level."""
    for row in ROWS:
        for sample in dict.fromkeys(r.sample for r in results if r.row == row):
            yield row, sample, {r.level: r for r in results if (r.row, r.sample) == (row, sample)}


def is_plausible(run: Result) -> bool:
    """Whether the bound of chip and model allows the paper's throughput of GraphTurbo."""
    row = ROWS[run.row]
    return run.bound_per_s >= row.tvm_per_s * (row.over_tvm["full"] or 0)


def _farness(ratio: float) -> float:
    return abs(log(ratio))


def read_findings(path: Path) -> Findings:
    """Findings of the file; empty where there is none."""
    if not path.exists():
        return Findings()
    found = json.loads(path.read_text(encoding="utf-8"))
    results = TypeAdapter(tuple[Result, ...]).validate_python(found["results"])
    return Findings(results, {row: _named(rates) for row, rates in found["switches"].items()})


def _named(rates: Mapping[str, float | str] | Sequence[float | str]) -> dict[str, float | str]:
    """Rates by switch; a file of schema 1 has them by position."""
    return dict(rates if isinstance(rates, Mapping) else zip(PLACED, rates, strict=True))
