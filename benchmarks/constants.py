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
from benchmarks.paper.results import report_or_code
from benchmarks.paper.rows import ROWS
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from tests.data.exports import exported

PAGE = Path(__file__).resolve().parents[1] / "docs" / "constants.md"
NO_NUMBERS: Mapping[str, int] = MappingProxyType({})
LOWERING = "graphturbo_core.lowering"
RETENTION = "graphturbo_core.strategies.plus.gb_retention"
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
    Setting("", "", level=PLUS),
    *(Setting("AHEAD_SHARE", value, RETENTION, PLUS) for value in (1, 2, 4, 1000)),
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


def sheets(found: Sequence[Sequence[Rate]]) -> list[Sheet]:
    """Per level one table for the rows, one for the other models; `found` in SETTINGS' order."""
    count = len(rows())
    names = list(models())
    parts = (("the ten rows", slice(0, count)), ("ten other models", slice(count, len(names))))
    by_level = {
        level: [
            (setting, own)
            for setting, own in zip(SETTINGS, found, strict=True)
            if setting.level == level
        ]
        for level in (FULL, PLUS)
    }
    return [
        Sheet(
            f"Throughput of `graphturbo:{level}` on {what}",
            ("constant", "value", *names[part], "geometric mean"),
            [_line(setting, own[part], runs[0][1][part]) for setting, own in runs],
        )
        for level, runs in by_level.items()
        for what, part in parts
    ]


def _line(setting: Setting, own: Sequence[Rate], taken: Sequence[Rate]) -> tuple[str, ...]:
    """Samples per second of the baseline; for other settings, the change in per cent."""
    if setting.is_baseline:
        return ("baseline", "", *(_rate(rate) for rate in own), "")
    changes = [_change(rate, base) for rate, base in zip(own, taken, strict=True)]
    value = ", ".join(map(str, setting.value)) if isinstance(setting.value, tuple) else None
    return (
        f"`{setting.constant}`",
        (value or "none") if value is not None else str(setting.value),
        *(each if isinstance(each, str) else _percent(each) for each in changes),
        _percent(_mean(each for each in changes if not isinstance(each, str))),
    )


def _rate(rate: Rate) -> str:
    return rate if isinstance(rate, str) else f"{rate:,.0f}"


def _change(rate: Rate, base: Rate) -> Rate:
    return rate / base if isinstance(rate, float) and isinstance(base, float) else str(rate)


def _mean(ratios: Iterable[float]) -> float:
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs)) if logs else 1.0


def _percent(ratio: float) -> str:
    change = round(PERCENT * (ratio - 1), 1)
    return f"{change:+.1f} %" if change else "0"


def page(found: Sequence[Sequence[Rate]]) -> str:
    """Text of docs/constants.md."""
    taken = ", ".join(
        f"`{name}` {value}"
        for name, value in {
            "lowering.tile_share": 16,
            **{each.constant: each.taken for each in SETTINGS if each.module},
        }.items()
    )
    tables = "\n".join(sheet.markdown() for sheet in sheets(found))
    return (
        "# Constants that were chosen on the ten rows\n\n"
        f"Written by `python -m benchmarks.constants`; chip `{CHIP}`. Baseline: "
        f"{taken}. The first row of each table is in samples per second, each other row is the "
        "change with one other value. The code explains each constant beside its definition. The "
        "ten other models were not used to choose the values. `AHEAD_SHARE` reserves a part of the "
        "free GB, one over its value.\n\n"
        f"{tables}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all settings, prints the page and writes it."""
    parser = argparse.ArgumentParser(description="Other values of constants, on twenty models.")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page goes")
    parser.add_argument("--processes", type=int, default=1, help="settings that run at once")
    chosen = parser.parse_args(arguments)
    found = []
    pool = ProcessPoolExecutor(chosen.processes, get_context("spawn"), max_tasks_per_child=1)
    with pool:
        for setting, own in zip(SETTINGS, pool.map(rates, SETTINGS), strict=True):
            found.append(own)
            print(f"{setting.constant or 'baseline'} {setting.value} is done", file=sys.stderr)
    chosen.out.write_text(page(found), encoding="utf-8")
    print(page(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
