"""Other values of the search's constants, on models that were not looked at to choose them.

`ipu-gc2`, `ascend910` and `goya` are left out: their searches take minutes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from types import ModuleType

from benchmarks.constants import Rate, Setting, line, named, value_text
from benchmarks.drawing.sheet import Sheet
from benchmarks.paper.results import report_or_code
from benchmarks.quality.kept_runs import Key, Run, read_runs, run_tasks, write_runs
from benchmarks.quality.matrix import KEPT as SHARES
from benchmarks.quality.matrix import SEARCH, Model
from graphturbo_core.pipeline import Imports, RunRequest, warm_up
from graphturbo_core.strategies.best import blocks, feedings, search, segment_cycles, segments
from graphturbo_core.strategies.plus import plus

KEPT = SHARES.with_name("quality-others.json")
FIELDS = ("setting", "chip", "model")
"""Of a run's key. A run has its samples per second, `rate`; or the code `refused`."""
MODELS = (
    Model("efficientnet_b0", 16),
    Model("vgg16", 16),
    Model("gpt2_ts", 4, (("sequence", 64),)),
    Model("llama32_ts", 4, (("sequence", 64),)),
    Model("llama", 4, (("sequence", 128),)),
    Model("light-squeezenet", 16),
    Model("light-shufflenet", 16),
    Model("light-inception_v1", 16),
    Model("light-inception_v2", 16),
    Model("light-zfnet512", 16),
)
SMALL = ("light-squeezenet", "light-shufflenet", "light-inception_v1")
CHIPS = {"stcp920": tuple(model.name for model in MODELS), "generic-4x4": SMALL}
"""Names of the models that run on a chip: on the second a search takes five times as long."""


def _of(module: ModuleType, constant: str, *values: object) -> Iterator[Setting]:
    yield from (Setting(constant, value, module.__name__, SEARCH) for value in values)


SETTINGS = (
    Setting("", "", level=SEARCH),
    *_of(search, "MOST_PLANNED", 2, 16),
    *_of(search, "MOST_WORSE", 1, 4),
    *_of(search, "GAIN_PART", 20, 1000),
    *_of(search, "MOST_LONG", 1_000_000),
    *_of(segments, "RUN_LENGTHS", (1, 2, 4, 8, 16, 32, 64)),
    *_of(segments, "MOST_AXES", 2),
    *_of(segments, "MOST_PIECES", 64, 1024),
    *_of(segment_cycles, "GB_QUARTERS", 2, 4),
    *_of(segment_cycles, "WAITING_PART", 1, 4),
    *_of(segment_cycles, "OVERFLOW_STEPS", (0,), (0, 1, 2, 4, 8)),
    *_of(blocks, "OTHERS_PART", 4, 16),
    *_of(plus, "MERGED", ()),
    *_of(plus, "MOST_MIXED", 1),
    *_of(feedings, "MOST_TILES", 4),
    Setting("best.tile_buffers", "two", level=SEARCH),
    Setting("best.depthwise", "cheaper", level=SEARCH),
)
"""The first one is the baseline."""
WORTH = 0.01
"""Gain from which a sentence names it."""
INTRODUCTION = (
    f"`{SEARCH}` in samples per second, and the change with one other value. None of these models "
    "was looked at when the values were chosen, light-squeezenet on `generic-4x4` only for the "
    "plan of least traffic. The code explains each constant at its definition. `GAIN_PART` is here "
    "that of the search alone."
)


def runs(setting: Setting, chip: str, missing: Sequence[str]) -> list[tuple[Key, Run]]:
    """These models with one constant changed, in a separate process."""
    setting.put()
    warm_up()
    own = [model for model in MODELS if model.name in missing]
    return [((text_of(setting), chip, model.name), _run(model, setting, chip)) for model in own]


def _run(model: Model, setting: Setting, chip: str) -> Run:
    request = RunRequest(
        model.name, SEARCH, chip, model.batch, dims=dict(model.dims),
        options=dict(setting.options), has_pictures=False,
    )  # fmt: skip
    answer = report_or_code(Imports(model.data()), request)
    if isinstance(answer, str):
        return {"refused": answer}
    return {"rate": answer.contract["throughput_per_s"]}


def text_of(setting: Setting) -> str:
    """Constant and value in one text, as in the keys; `baseline` for the first."""
    return " ".join(named(setting)).strip()


def _keys() -> list[Key]:
    pairs = [(text_of(setting), chip) for chip in CHIPS for setting in SETTINGS]
    return [(setting, chip, model) for setting, chip in pairs for model in CHIPS[chip]]


def kept() -> dict[Key, Run]:
    """The kept runs."""
    return read_runs(KEPT, FIELDS)


def keep(found: Mapping[Key, Run]) -> None:
    """Writes all runs, in the order of the tables."""
    write_runs(KEPT, FIELDS, _keys(), found)


def run_missing(processes: int) -> None:
    """Runs what is missing."""
    missing = [key for key in _keys() if key not in kept()]
    by_text = {text_of(setting): setting for setting in SETTINGS}
    tasks = [
        (by_text[setting], chip, tuple(model for _, _, model in own))
        for (setting, chip), own in groupby(missing, key=lambda key: key[:2])
    ]
    run_tasks(runs, tasks, processes, lambda more: keep(kept() | dict(more)))


def sheets(found: Mapping[Key, Run]) -> Iterator[Sheet]:
    """One table per chip: samples per second, then the change with each other value."""
    for chip, models in CHIPS.items():
        every = {setting: _rates(found, setting, chip) for setting in SETTINGS}
        taken = every[SETTINGS[0]]
        rates = {setting: own for setting, own in every.items() if own and taken}
        rows = [line(setting, own, taken) for setting, own in rates.items()]
        title = f"Other values of constants, on other models, `{chip}`"
        said = [f"{INTRODUCTION} Taken: {_taken()}."] if chip == next(iter(CHIPS)) else []
        remark = " ".join([*said, *_missed(rates, models)])
        yield Sheet(title, ("constant", "value", *models, "geometric mean"), rows, remark)


def _missed(rates: Mapping[Setting, Sequence[Rate]], models: Sequence[str]) -> Iterator[str]:
    """A sentence on the model that gains most from another value: its search misses a plan."""
    taken = rates.get(SETTINGS[0], ())
    gains = [
        (rate / base, text_of(setting), model)
        for setting, own in rates.items()
        for rate, base, model in zip(own, taken, models, strict=True)
        if isinstance(rate, float) and isinstance(base, float)
    ]
    most, setting, model = max(gains, default=(1.0, "", ""))
    if most >= 1 + WORTH:
        yield (
            f"The search misses plans that it finds with another value: with {setting}, {model} is "
            f"{100 * (most - 1):.0f} % faster."
        )


def _taken() -> str:
    values = {each.constant: value_text(each.taken) for each in SETTINGS if each.module}
    return ", ".join(f"`{name}` {value}" for name, value in values.items())


def _rates(found: Mapping[Key, Run], setting: Setting, chip: str) -> list[Rate]:
    """Samples per second, or codes; empty if one is missing."""
    own = [found.get((text_of(setting), chip, model), {}) for model in CHIPS[chip]]
    return [run.get("rate") or run["refused"] for run in own] if all(own) else []
