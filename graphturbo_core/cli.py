"""The command line: run, compare, models, profiles, strategies (design, section 7)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer._click.exceptions import UsageError  # typer gives it no public name

from graphturbo_core.errors import GraphTurboError, InvariantError, OptionError
from graphturbo_core.export.dot import dot_text
from graphturbo_core.export.trace_json import trace_json
from graphturbo_core.frontend.catalogue import read_model, sample_names
from graphturbo_core.hardware.profile import DEFAULT_PROFILE, load_profile, profile_names
from graphturbo_core.pipeline import (
    RunRequest,
    run_reports,
    strategies,
    strategy_names,
    strategy_options,
    warm_up,
)
from graphturbo_core.remote.client import isolated_reports
from graphturbo_core.report.report import Report
from graphturbo_core.report.text import group_table, list_table, run_table
from graphturbo_core.report.verify_text import is_wrong, verification_text, was_verified

WRONG = 1
"""Exit code of a run whose replay does not compute what its model says: a bug of ours."""
REFUSED = 2
CANCELLED = 130
"""Exit code after Ctrl+C, which typer catches."""
STDOUT = "-"
DEFAULT_STRATEGY = "graphturbo"
DEFAULT_COMPARISON = "tvm,graphturbo"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Lowers an ONNX model to a scheduled program for a multi-core accelerator.",
)

Model = Annotated[str, typer.Argument(help="an .onnx file, or a sample that `models` lists")]
Profile = Annotated[str, typer.Option(help="a chip that `profiles` lists, or a YAML file")]
Strategy = Annotated[str, typer.Option(help="NAME[:LEVEL][@CLUSTER_BATCH], see `strategies`")]
Strategies = Annotated[str, typer.Option(help="strategies with commas between them")]
Batch = Annotated[int | None, typer.Option(help="samples of the whole batch, on all clusters")]
Dim = Annotated[list[str] | None, typer.Option(metavar="NAME=N", help="size of a dimension")]
Dtype = Annotated[str, typer.Option(help="number format of the chip")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="an option that `strategies` lists"),
]
SkipPass = Annotated[list[str] | None, typer.Option(help="a clean-up pass to leave out")]
Verify = Annotated[
    bool, typer.Option("--verify", help="replay on real numbers, compare with ONNX Runtime")
]
Json = Annotated[str | None, typer.Option("--json", help="write JSON to this file, - for stdout")]
TraceFile = Annotated[str | None, typer.Option("--trace", help="write a Chrome/Perfetto trace")]
DotFile = Annotated[str | None, typer.Option("--dot", help="write the groups as a Graphviz graph")]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """What `run` and `compare` take alike: every field is an option (see `_spread`)."""

    batch: Batch = None
    dim: Dim = None
    dtype: Dtype = "fp16"
    options: Set = None
    skip_pass: SkipPass = None
    verify: Verify = False


@dataclass(frozen=True, kw_only=True)
class Targets:
    """The files that `run` writes: every field is an option."""

    json_to: Json = None
    trace: TraceFile = None
    dot: DotFile = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0: done, 2: the input is refused with one line on stderr.

    Raises:
        InvariantError: a bug of ours, for the interpreter to show with its traceback (exit 1).
    """
    try:
        code = app(list(sys.argv[1:] if arguments is None else arguments), standalone_mode=False)
    except InvariantError:
        raise
    except GraphTurboError as error:
        return _refused(error.line())
    except UsageError as error:
        text = " ".join(error.format_message().split()).rstrip(".")
        return _refused(f"error: USAGE: {text}, see `python -m graphturbo_core --help`")
    if code == CANCELLED:
        print("cancelled", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _refused(line: str) -> int:
    print(_printable(line), file=sys.stderr)
    return REFUSED


def _printable(line: str) -> str:
    """Names come from files: what a terminal would act on is shown as a question mark."""
    return "".join(c if c.isprintable() else "?" for c in line)


def _spread(function: Callable[..., int]) -> Callable[..., int]:
    """The function as typer reads it: for a parameter of an options class stand its fields."""
    own = signature(function, eval_str=True).parameters.values()
    classes = {each.name: each.annotation for each in own if each.annotation in (Choices, Targets)}

    @wraps(function)
    def command(**values: object) -> int:
        for name, options in classes.items():
            values[name] = options(**{each.name: values.pop(each.name) for each in fields(options)})
        return function(**values)

    spread: list[Parameter] = []
    for each in own:
        inner = classes.get(each.name)
        spread += signature(inner, eval_str=True).parameters.values() if inner else [each]
    command.__signature__ = Signature(spread)  # type: ignore[attr-defined]  # what inspect reads
    return command


@app.command()
@_spread
def run(
    model: Model,
    *,
    profile: Profile = DEFAULT_PROFILE,
    strategy: Strategy = DEFAULT_STRATEGY,
    choices: Choices,
    targets: Targets,
) -> int:
    """Schedule and simulate one model on one chip with one strategy."""
    (report,) = _job(model, profile, choices, [strategy]).reports()
    if targets.dot is not None:
        _write(targets.dot, lambda: dot_text(report))
    if targets.trace is not None:
        _write(targets.trace, lambda: trace_json(report))
    return _answer(targets.json_to, report.contract, [report])


@app.command()
@_spread
def compare(
    model: Model,
    *,
    profile: Profile = DEFAULT_PROFILE,
    strategies: Strategies = DEFAULT_COMPARISON,
    choices: Choices,
    json_to: Json = None,
) -> int:
    """Run several strategies on the same model and chip, side by side."""
    reports = tuple(_job(model, profile, choices, strategies.split(",")).reports())
    return _answer(json_to, [report.contract for report in reports], reports)


@app.command()
def models(json_to: Json = None) -> None:
    """List the sample models."""
    _list(json_to, "samples", [{"name": name} for name in sample_names()])


@app.command()
def profiles(json_to: Json = None) -> None:
    """List the shipped chips."""
    rows = [{"name": name, "title": load_profile(name).title} for name in profile_names()]
    _list(json_to, "profiles", rows)


@app.command(name="strategies")
def list_strategies(json_to: Json = None) -> None:
    """List the strategies with their levels, and the options that --set takes."""
    rows = []
    for name in strategy_names():
        info = strategies()[name]
        levels = zip(info.levels, info.level_docs, strict=True)
        rows.append({"name": name, "levels": "", "what": info.doc})
        rows += [{"name": f"{name}:{level}", "levels": level, "what": doc} for level, doc in levels]
    rows += [
        {"name": f"--set {option.name}=...", "levels": option.choices, "what": option.doc}
        for option in strategy_options().values()
    ]
    _list(json_to, "strategies and options", rows)


@dataclass(frozen=True)
class _Job:
    """Requests on one model."""

    model_bytes: bytes
    requests: tuple[RunRequest, ...]

    def reports(self) -> Iterator[Report]:
        """The reports one after the other, with progress on stderr.

        Replay runs in a process of its own: ONNX Runtime is known to bring its process down.
        """
        progress = Console(stderr=True, highlight=False)

        def tell(name: str, seconds: float) -> None:
            progress.print(f"  {name}: {seconds:.3f} s")

        if self.requests[0].verify:
            runs = isolated_reports(self.model_bytes, self.requests, tell)
        else:
            warm_up(tell)
            runs = run_reports(self.model_bytes, self.requests, on_step=tell)
        for request in self.requests:
            progress.print(f"{request.model_name}, {request.strategy}", markup=False)
            yield next(runs)


def _job(model: str, profile: str, choices: Choices, names: Sequence[str]) -> _Job:
    """The runs that the command line asks for; nothing is computed yet."""
    name, data = read_model(model)
    request = RunRequest(
        model_name=name,
        profile=profile,
        batch=choices.batch,
        dims={key: _whole(key, value) for key, value in _pairs("--dim", choices.dim or []).items()},
        dtype=choices.dtype,
        options=_pairs("--set", choices.options or []),
        skip_passes=tuple(choices.skip_pass or ()),
        verify=choices.verify,
    )
    return _Job(data, tuple(replace(request, strategy=name.strip()) for name in names))


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as a mapping.

    Raises:
        OptionError: one has no `=`, or a name is given twice.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        name, has_value, value = text.partition("=")
        if not (name and has_value and value):
            raise OptionError(
                "BAD_PAIR", f"{text!r} is no NAME=VALUE", option, f"write {option} NAME=VALUE"
            )
        if name in pairs:
            raise OptionError("GIVEN_TWICE", f"{name!r} is given twice", option, "give it once")
        pairs[name] = value
    return pairs


def _whole(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < len(str(2**63))):
        raise OptionError(
            "BAD_DIM",
            f"{value!r} is no whole number",
            f"--dim {name}",
            f"write for instance --dim {name}=128",
        )
    return int(value)


def _answer(json_to: str | None, contracts: object, reports: Sequence[Report]) -> int:
    """JSON where asked for; tables on stdout unless the JSON goes there. Returns the exit code."""
    if json_to is not None:
        _write(json_to, lambda: _json_text(contracts))
    if json_to != STDOUT:
        _show(reports)
    return WRONG if any(is_wrong(report) for report in reports) else 0


def _show(reports: Sequence[Report]) -> None:
    console = Console(highlight=False)
    console.print(run_table(reports))
    if len(reports) == 1:
        console.print(group_table(reports[0]))
    for note in dict.fromkeys(note for report in reports for note in _notes(report)):
        console.print(_printable(f"note: {note}"), markup=False)
    for report in reports:
        if was_verified(report):
            console.print(_printable(verification_text(report)), markup=False)


def _notes(report: Report) -> list[str]:
    notes = report.contract["notes"]
    return [str(note) for note in notes] if isinstance(notes, list) else []


def _list(json_to: str | None, title: str, rows: Sequence[Mapping[str, str]]) -> None:
    if json_to is not None:
        _write(json_to, lambda: _json_text(list(rows)))
    if json_to != STDOUT:
        Console(highlight=False).print(list_table(title, rows))


def _json_text(value: object) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def _write(target: str, text: Callable[[], str]) -> None:
    if target == STDOUT:
        sys.stdout.write(text())
        return
    try:
        Path(target).write_text(text(), encoding="utf-8", newline="\n")
    except OSError as error:
        raise OptionError(
            "UNWRITABLE", f"{target!r} cannot be written", str(error), "give another file"
        ) from error
