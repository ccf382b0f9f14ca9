"""`python -m benchmarks.constants`: other values of the constants that were chosen on the ten rows.

Each value is evaluated on the rows of the paper and on ten models that were not used to choose
constants. A constant without an option is set in a separate process. Takes a quarter of an hour of
one core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from math import exp, log
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import cast

from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.findings import CHIP
from benchmarks.paper.results import report_or_code, short
from benchmarks.paper.rows import ROWS
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from graphturbo_core.strategies.plus.variants import FEWEST, HALF_ROOM
from tests.data.exports import exported

PAGE = Path(__file__).resolve().parents[1] / "docs" / "constants.md"
NO_NUMBERS: Mapping[str, int] = MappingProxyType({})
LOWERING = "graphturbo_core.lowering"
RETENTION = "graphturbo_core.strategies.plus.gb_retention"
GROUPINGS = "graphturbo_core.strategies.plus.plus"
FULL, PLUS = "full", "plus"
PERCENT = 100


@dataclass(frozen=True)
class Model:
    """A model and its batch; its name is the sample's by default."""

    sample: str
    batch: int
    cluster_batch: int
    dims: Mapping[str, int] = field(default_factory=lambda: NO_NUMBERS)

    def data(self) -> bytes:
        """Bytes of the file: a sample, or an export of PyTorch."""
        is_sample = self.sample in sample_names()
        return load_sample(self.sample) if is_sample else exported(self.sample)

    def request(self, level: str, options: Mapping[str, str]) -> RunRequest:
        """Request of its run under a level of `graphturbo`."""
        strategy = f"graphturbo:{level}@{self.cluster_batch}"
        return RunRequest(
            self.sample, strategy, CHIP, self.batch, dims=dict(self.dims), options=dict(options),
            has_pictures=False,
        )  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A constant with one value: an option of `--set`, or a module's constant."""

    constant: str
    value: object
    module: str = ""
    level: str = FULL

    @property
    def is_baseline(self) -> bool:
        """Whether everything is as taken."""
        return not self.constant

    @property
    def options(self) -> Mapping[str, str]:
        """The setting as options of `--set`; empty for a module's constant."""
        return {} if self.module or not self.constant else {self.constant: str(self.value)}

    @property
    def taken(self) -> object:
        """The current value of the module's constant."""
        return getattr(import_module(self.module), self.constant)

    def put(self) -> None:
        """Sets the module's constant in this process."""
        if self.module:
            setattr(import_module(self.module), self.constant, self.value)


SETTINGS = (
    Setting("", ""),
    *(Setting("lowering.tile_share", value) for value in (8, 32)),
    *(Setting("MOST_SETS", value, f"{LOWERING}.tiling.staging") for value in (3, 12)),
    *(Setting("ROUNDS", value, f"{LOWERING}.instructions.schedule") for value in (0, 1, 4)),
    *(Setting("REST_PARTS", value, f"{LOWERING}.addresses.packing") for value in ((), (2, 8, 32))),
    Setting("MOST_COMPUTES", 0, f"{LOWERING}.alternatives"),
    *(Setting("RETRIES", value, f"{LOWERING}.addresses.packing") for value in (0, 2)),
    Setting("", "", level=PLUS),
    *(Setting("AHEAD_SHARE", value, RETENTION, PLUS) for value in (1, 2, 4, 1000)),
    *(Setting("MERGED", value, GROUPINGS, PLUS) for value in ((), (FEWEST,), (HALF_ROOM,))),
)
"""Settings; the first one of a level is the baseline of its others."""
OTHERS = (
    Model("efficientnet_b0", 32, 8),
    Model("vgg16", 16, 4),
    Model("swin_t_ts", 4, 1, {"height": 224, "width": 224}),
    Model("gpt2_ts", 4, 1, {"sequence": 64}),
    Model("llama32_ts", 4, 1, {"sequence": 64}),
    Model("llama", 4, 1, {"sequence": 128}),
    Model("light-squeezenet", 32, 8),
    Model("light-shufflenet", 32, 8),
    Model("light-inception_v2", 32, 8),
    Model("light-zfnet512", 32, 8),
)
"""Models that were not used to choose constants, in the order of the table's columns."""
Rate = float | str
"""Samples per second, or the code of a refusal."""


def rows() -> dict[str, Model]:
    """Model per row of the paper, by the row's letter."""
    return {
        letter: Model(row.variants[0].sample, row.batch, row.batch_of_others, row.variants[0].dims)
        for letter, row in ROWS.items()
    }


def models() -> dict[str, Model]:
    """All models, by the heading of their column."""
    return {**rows(), **{each.sample: each for each in OTHERS}}


def rates(setting: Setting) -> tuple[Rate, ...]:
    """Throughput of every model with one constant changed, in a separate process."""
    setting.put()
    warm_up()
    return tuple(_throughput(model, setting) for model in models().values())


def _throughput(model: Model, setting: Setting) -> Rate:
    request = model.request(setting.level, setting.options)
    answer = report_or_code(Imports(model.data()), request)
    return answer if isinstance(answer, str) else cast(float, answer.contract["throughput_per_s"])


def sheets(found: Mapping[Setting, Sequence[Rate]], kept: str = "") -> list[Sheet]:
    """Per level one table for the rows, one for the other models.

    `kept`: a page with the lines of the settings that did not run; one that it lacks has no line.

    Raises:
        ValueError: `kept` has other baselines.
    """
    count, names = len(rows()), list(models())
    parts = (("the ten rows", slice(0, count)), ("ten other models", slice(count, len(names))))
    made = []
    for level in (FULL, PLUS):
        settings = [each for each in SETTINGS if each.level == level]
        for what, part in parts:
            title = f"Throughput of `graphturbo:{level}` on {what}"
            ran = {
                s: line(s, found[s][part], found[settings[0]][part]) for s in settings if s in found
            }
            known = _kept_lines(kept, title) if kept else [*ran.values()]
            lines = _merged(settings, ran, known)
            made.append(Sheet(title, ("constant", "value", *names[part], "geometric mean"), lines))
    return made


def _kept_lines(page_text: str, title: str) -> list[tuple[str, ...]]:
    """Cells of the lines of a table on the page."""
    table = page_text.partition(f"## {title}\n\n")[2].partition("\n\n")[0].strip()
    return [tuple(line[2:-2].split(" | ")) for line in table.splitlines()]


def _merged(
    settings: Sequence[Setting],
    ran: Mapping[Setting, tuple[str, ...]],
    kept: Sequence[tuple[str, ...]],
) -> list[tuple[str, ...]]:
    """Lines of all settings in order: those that ran, else the kept ones."""
    known = {(cells[0], cells[1]): cells for cells in kept}
    baseline = settings[0]
    if baseline in ran and known[named(baseline)] != ran[baseline]:
        raise ValueError(f"the baseline has changed: run all settings; {ran[baseline]}")
    lines = {**known, **{named(each): cells for each, cells in ran.items()}}
    return [lines[named(each)] for each in settings if named(each) in lines]


def named(setting: Setting) -> tuple[str, str]:
    """Constant and value, as the first two cells of its line."""
    if setting.is_baseline:
        return "baseline", ""
    is_tuple = isinstance(setting.value, tuple)
    value = ", ".join(map(str, setting.value)) or "none" if is_tuple else str(setting.value)
    return f"`{setting.constant}`", value


def line(setting: Setting, own: Sequence[Rate], taken: Sequence[Rate]) -> tuple[str, ...]:
    """Samples per second of the baseline; for other settings, the change in per cent."""
    if setting.is_baseline:
        return (*named(setting), *(_rate(rate) for rate in own), "")
    changes = [_change(rate, base) for rate, base in zip(own, taken, strict=True)]
    return (
        *named(setting),
        *(each if isinstance(each, str) else _percent(each) for each in changes),
        _percent(_mean(each for each in changes if not isinstance(each, str))),
    )


def _rate(rate: Rate) -> str:
    """Whole samples per second, by the rule of docs/paper.md."""
    return rate if isinstance(rate, str) else f"{short(rate):,.0f}"


def _change(rate: Rate, base: Rate) -> Rate:
    return rate / base if isinstance(rate, float) and isinstance(base, float) else str(rate)


def _mean(ratios: Iterable[float]) -> float:
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs)) if logs else 1.0


def _percent(ratio: float) -> str:
    change = round(PERCENT * (ratio - 1), 1)
    return f"{change:+.1f} %" if change else "0"


def page(found: Mapping[Setting, Sequence[Rate]], kept: str = "") -> str:
    """Text of docs/constants.md; `kept`: as for `sheets`."""
    taken = ", ".join(
        f"`{name}` {value}"
        for name, value in {
            "lowering.tile_share": 16,
            **{each.constant: value_text(each.taken) for each in SETTINGS if each.module},
        }.items()
    )
    tables = "\n".join(sheet.markdown() for sheet in sheets(found, kept))
    return (
        "# Constants that were chosen on the ten rows\n\n"
        f"Written by `python -m benchmarks.constants`; chip `{CHIP}`. Baseline: "
        f"{taken}. The first row of each table is in samples per second, each other row is the "
        "change with one other value. The code explains each constant beside its definition. The "
        "ten other models were not used to choose the values. `AHEAD_SHARE` reserves a part of the "
        "free GB, one over its value. `MERGED` are the other groupings that `plus` evaluates.\n\n"
        f"{tables}"
    )


def value_text(value: object) -> str:
    """A tuple in brackets, another value as it is."""
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the settings, prints the page and writes it."""
    names = sorted({each.constant for each in SETTINGS if not each.is_baseline})
    parser = argparse.ArgumentParser(description="Other values of constants, on twenty models.")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page goes")
    parser.add_argument("--processes", type=int, default=1, help="settings that run at once")
    parser.add_argument(
        "--only", nargs="*", choices=names, metavar="CONSTANT",
        help="run these and their baselines; other lines of the page are kept",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    kept = PAGE.read_text(encoding="utf-8") if chosen.only else ""
    only = chosen.only or names
    levels = {each.level for each in SETTINGS if each.constant in only}
    asked = [s for s in SETTINGS if s.constant in only or (s.is_baseline and s.level in levels)]
    found = {}
    pool = ProcessPoolExecutor(chosen.processes, get_context("spawn"), max_tasks_per_child=1)
    with pool:
        for setting, own in zip(asked, pool.map(rates, asked), strict=True):
            found[setting] = own
            print(f"{setting.constant or 'baseline'} {setting.value} is done", file=sys.stderr)
    chosen.out.write_text(page(found, kept), encoding="utf-8")
    print(page(found, kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
