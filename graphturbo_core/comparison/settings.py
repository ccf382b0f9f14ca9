"""Runs of a comparison -> those that share model, chip, batch and number format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.errors import OptionError
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import parse_strategy


@dataclass(frozen=True, slots=True)
class RunSetting:
    """All that runs of a fair comparison share; `model_id` and `chip_id` tell files apart."""

    model: str
    model_id: str
    chip: str
    chip_id: str
    batch: int
    dtype: str
    dims: tuple[tuple[str, int], ...]

    def title(self) -> str:
        """`resnet50-slim on stcp920, batch 64, fp16`."""
        sizes = "".join(f", {name} {size}" for name, size in self.dims)
        return f"{self.model} on {self.chip}, batch {self.batch}{sizes}, {self.dtype}"


def setting_of(run: ComparedRun) -> RunSetting:
    """The setting of a run; that of a saved report by names alone."""
    figures, choices = run.figures, run.choices
    return RunSetting(
        model=figures.model,
        model_id=choices.model_sha256 if choices else "",
        chip=figures.profile,
        chip_id=choices.profile_text if choices else "",
        batch=figures.batch,
        dtype=figures.dtype,
        dims=tuple(sorted(choices.dims.items())) if choices else (),
    )


def level_of(run: ComparedRun) -> str:
    """The level of a run of the paper's method, the name of another strategy."""
    try:
        spec = parse_strategy(run.figures.strategy)
    except OptionError:  # of a version with other strategies
        return run.figures.strategy
    return spec.level or spec.name


def model_count(runs: Sequence[ComparedRun]) -> int:
    """Of how many models, with their sizes, runs are; a saved report's model has only a name."""
    known = {
        (run.figures.model, run.choices.model_sha256, setting_of(run).dims)
        for run in runs
        if run.choices is not None
    }
    named = {run.figures.model for run in runs if run.choices is None}
    return len(known) + len(named - {name for name, _, _ in known})


def differing_setting(runs: Sequence[ComparedRun]) -> list[str]:
    """What each run has that others do not share, strategy apart; empty texts where all do."""
    chosen = [run.choices for run in runs]
    models = [each.model_sha256 if each else "" for each in chosen]
    files = {
        (run.figures.model, digest) for run, digest in zip(runs, models, strict=True) if digest
    }
    is_one_name = len({name for name, _ in files}) < len(files)
    numbers = zip(
        _numbered("model file", models) if is_one_name else [""] * len(runs),
        _numbered("profile", [each.profile_text if each else "" for each in chosen]),
        _numbered("plan", [each.plan if each else "" for each in chosen]),
        strict=True,
    )
    parts = [
        (*_parts(setting_of(run)), *own, *_own(run)) for run, own in zip(runs, numbers, strict=True)
    ]
    columns = list(zip(*parts, strict=True))
    shown = [index for index, column in enumerate(columns) if len(set(column)) > 1]
    return [" · ".join(part for index in shown if (part := own[index])) for own in parts]


def shared_setting(runs: Sequence[ComparedRun]) -> str:
    """What of their setting all runs share: `resnet50-slim · stcp920 · batch 64 · fp16`."""
    columns = zip(*(_parts(setting_of(run)) for run in runs), strict=True)
    return " · ".join(column[0] for column in columns if column[0] and len(set(column)) == 1)


def _parts(setting: RunSetting) -> tuple[str, ...]:
    sizes = ", ".join(f"{name} {size}" for name, size in setting.dims)
    return (setting.model, sizes, setting.chip, f"batch {setting.batch:,}", setting.dtype)


def _numbered(what: str, files: Sequence[str]) -> list[str]:
    """`profile 2` of each run, by its files' first places; empty where a run has none."""
    places = {file: place for place, file in enumerate(dict.fromkeys(filter(None, files)), start=1)}
    return [f"{what} {places[file]}" if file else "" for file in files]


def _own(run: ComparedRun) -> tuple[str, ...]:
    """Options, passes left out, and length; empty: none."""
    choices = run.choices
    if choices is None:
        kept = {name: option.default for name, option in strategy_options().items()}
        own = {n: v for n, v in run.figures.options.items() if v != kept.get(n, v)}
        return (_pairs(own), "", "")
    return (
        _pairs(choices.options),
        f"without {', '.join(choices.skip_passes)}" if choices.skip_passes else "",
        f"up to {most:,} instructions" if (most := choices.max_instructions) is not None else "",
    )


def _pairs(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(options.items()))


def fastest(runs: Sequence[ComparedRun]) -> ComparedRun:
    """The run with most samples per second; of equal ones the first."""
    return max(runs, key=lambda run: run.figures.throughput_per_s)


def slowest_of(runs: Sequence[ComparedRun]) -> ComparedRun:
    """The run with fewest samples per second; of equal ones the first."""
    return min(runs, key=lambda run: run.figures.throughput_per_s)
