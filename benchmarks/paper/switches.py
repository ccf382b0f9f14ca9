"""Effect of each assumption on TVM's kernels on the ten rows, one changed at a time."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from types import MappingProxyType
from typing import cast

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.results import PROCESSES, report_or_code
from benchmarks.paper.rows import ROWS, PaperRow
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.hardware.variation import changed_profile
from graphturbo_core.pipeline import Imports, RunRequest, warm_up

NO_OPTIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Switch:
    """One changed assumption; other fields have their defaults.

    `number`: a key of the profile and the factor for its value.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=lambda: NO_OPTIONS)
    number: tuple[str, float] | None = None
    strategy: str = "tvm"
    has_batch_of_others: bool = False

    def request(self, row: PaperRow, profile: str) -> RunRequest:
        """The run of a row with this switch."""
        variant = row.variants[0]
        batch = row.batch_of_others if self.has_batch_of_others else row.tvm_batch
        return RunRequest(
            variant.sample, f"{self.strategy}@{batch}", profile, row.batch,
            dims=dict(variant.dims), options=dict(self.options), has_pictures=False,
        )  # fmt: skip

    def profile_bytes(self, profile: str) -> bytes | None:
        """The chip with its changed number; None where the chip is unchanged."""
        if self.number is None:
            return None
        key, factor = self.number
        value = next(each.value for each in load_profile(profile).numbers if each.key == key)
        return changed_profile(profile, key, round(cast(float, value) * factor))


FARTHEST = {
    "tvm.division": "outermost", "tvm.weights": "own", "tvm.double_buffering": "off",
    "tvm.normalisation": "decomposed",
}  # fmt: skip
"""All other choices together: the weakest port that may have been used."""
SWITCHES = (
    Switch("as taken"),
    Switch("division: outermost axis alone", {"tvm.division": "outermost"}),
    Switch("division: by gcd, outermost first", {"tvm.division": "literal"}),
    Switch("weights: each core fetches its own", {"tvm.weights": "own"}),
    Switch("double buffering: off", {"tvm.double_buffering": "off"}),
    Switch("passes: squares of a map", {"tvm.passes": "squares"}),
    Switch("softmax, layer norm: one op each", {"tvm.normalisation": "whole"}),
    Switch("softmax, layer norm: both decomposed", {"tvm.normalisation": "decomposed"}),
    Switch("outermost, own, off and decomposed", FARTHEST),
    Switch("kernels: an op each", strategy="layerwise"),
    Switch("launch: halved", number=("kernel.launch_cycles", 0.5)),
    Switch("launch: doubled", number=("kernel.launch_cycles", 2)),
    Switch("barrier: halved", number=("kernel.barrier_cycles", 0.5)),
    Switch("barrier: doubled", number=("kernel.barrier_cycles", 2)),
    Switch("cluster batch: GraphTurbo's", has_batch_of_others=True),
)
"""Switches; the first one is the baseline of the others."""

NOT_RUN = "not run"
Rate = float | str
"""Samples per second, or the code of a refusal."""


def switch_rates(letters: Sequence[str], profile: str) -> dict[str, dict[str, Rate]]:
    """Throughput of `tvm` with each switch, by row and by the switch's name."""
    found: dict[str, dict[str, Rate]] = {}
    with ProcessPoolExecutor(PROCESSES, get_context("spawn"), warm_up) as pool:
        asked = [(letter, profile) for letter in letters]
        for letter, rates in zip(letters, pool.map(row_rates, asked), strict=True):
            found[letter] = rates
            print(f"row {letter} is done", file=sys.stderr)
    return found


def switch_sheet(found: Mapping[str, Mapping[str, Rate]], profile: str) -> Sheet:
    """Throughput of `tvm` with each switch over the baseline, one column per row of the paper."""
    taken = SWITCHES[0].name
    rows = [
        (
            switch.name if place else f"{taken}, samples/s",
            *(_cell(rates.get(switch.name), rates.get(taken), is_first=not place)
              for rates in found.values()),
        )
        for place, switch in enumerate(SWITCHES)
    ]  # fmt: skip
    title = f"Throughput of `tvm` over the baseline, one assumption changed at a time, {profile}"
    return Sheet(title, ("assumption", *found), rows)


def _cell(rate: Rate | None, taken: Rate | None, *, is_first: bool) -> str:
    if rate is None or taken is None:
        return NOT_RUN
    if isinstance(rate, str) or isinstance(taken, str):
        return str(rate)
    return f"{rate:,.0f}" if is_first else f"{rate / taken:.2f}"


def row_rates(asked: tuple[str, str]) -> dict[str, Rate]:
    """A row's throughput with each switch on a chip; runs share the imported model if they can."""
    letter, profile = asked
    row = ROWS[letter]
    imports = Imports(load_sample(row.variants[0].sample))
    return {switch.name: _rate(imports, switch, row, profile) for switch in SWITCHES}


def _rate(imports: Imports, switch: Switch, row: PaperRow, profile: str) -> Rate:
    request, chip = switch.request(row, profile), switch.profile_bytes(profile)
    found = report_or_code(imports, request, chip)
    return found if isinstance(found, str) else cast(float, found.contract["throughput_per_s"])
