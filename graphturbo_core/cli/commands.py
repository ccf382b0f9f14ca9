"""The commands, one function each (design, section 7)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import typer
from rich.table import Table
from typer._click.exceptions import UsageError  # typer gives it no public name

from graphturbo_core.cli.conditions import conditions_of, failures
from graphturbo_core.cli.job import job_of, read_text
from graphturbo_core.cli.kept_runs import check_only_shown, kept_text, own_profile, show_kept
from graphturbo_core.cli.listings import profile_rows, sample_rows, strategy_rows
from graphturbo_core.cli.measured_text import measured_contract, measured_rows, measured_table
from graphturbo_core.cli.options import (
    Choices,
    CompareTargets,
    First,
    Json,
    Model,
    ModelOrFile,
    Profile,
    RunTargets,
    Second,
    Strategies,
    Strategy,
    SweepTargets,
    Target,
    names_of,
    spread,
)
from graphturbo_core.cli.output import (
    STDOUT,
    answer,
    check_writable,
    list_rows,
    print_lines,
    printable,
    printable_lines,
    write_text_to,
)
from graphturbo_core.cli.register_text import register_json, register_tables
from graphturbo_core.cli.stripping import strip_to
from graphturbo_core.cli.sweep_output import write_sweep
from graphturbo_core.errors import GraphTurboError, InvariantError, OptionError
from graphturbo_core.export.differences import difference_text, differences
from graphturbo_core.export.dot import dot_text
from graphturbo_core.export.files import SUFFIXES, json_text
from graphturbo_core.export.trace_json import trace_json
from graphturbo_core.register import check_register
from graphturbo_core.report.json_form import json_form
from graphturbo_core.report.verdict.verdict import pair_text

REFUSED = 2
FAILED = 1
"""Exit code where a condition of `--fail-if` holds."""
CANCELLED = 130
"""Exit code after Ctrl+C, which typer catches."""
DEFAULT_COMPARISON = "tvm,graphturbo"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Lowers an ONNX model to a scheduled program for a multi-core accelerator.",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; 2: refused, with one line on stderr.

    Raises:
        InvariantError: a bug of ours; the interpreter prints its traceback (exit code 1).
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
    print(printable(line), file=sys.stderr)
    return REFUSED


@app.command()
@spread
def run(
    model: Model,
    *,
    profile: Profile = None,
    strategy: Strategy = None,
    choices: Choices,
    targets: RunTargets,
) -> int:
    """Schedule and simulate one model on one chip with one strategy, or from a plan file."""
    job = job_of(model, profile, choices, [strategy])
    if targets.plan is not None and targets.assumptions:
        what = "--assumptions changes chip and options, a plan file is for one of each"
        raise OptionError("PLAN_AND_ASSUMPTIONS", what, change="leave one of them out")
    if targets.assumptions:
        check_register(job.requests[0])
    if targets.plan is not None:
        job = job.following(targets.plan)
    measured = None if targets.measured is None else measured_rows(targets.measured)
    files = names_of(targets.emit)
    has_pictures = any(each is not None for each in (targets.dot, targets.trace, measured))
    (report,) = job.emitting(files, has_pictures=has_pictures).reports()
    for name in files:
        path = Path(targets.emit_to) / f"{report.contract['model']}.{SUFFIXES[name]}"
        write_text_to(str(path), partial(report.text, name))
        print(f"  {name}: {printable(str(path))}", file=sys.stderr)
    if targets.dot is not None:
        write_text_to(targets.dot, lambda: dot_text(report))
    if targets.trace is not None:
        write_text_to(targets.trace, lambda: trace_json(report))
    contract: dict[str, object] = {**json_form(report)}
    tables: list[Table] = []
    if measured is not None:
        contract |= measured_contract(measured, report)
        tables.append(measured_table(measured, report))
    if targets.assumptions:
        register = job.register()
        contract["assumptions"] = register_json(register)
        tables += register_tables(report, register)
    return answer(targets.json_to, contract, [report], *tables)


@app.command()
@spread
def compare(
    model: ModelOrFile = None,
    *,
    profile: Profile = None,
    strategies: Strategies = DEFAULT_COMPARISON,
    choices: Choices,
    targets: CompareTargets,
) -> int:
    """Run several strategies on the same model and chip, side by side; or show kept runs."""
    conditions = conditions_of(targets.fail_if or [])
    if targets.from_file is not None:
        is_default = profile is None and strategies == DEFAULT_COMPARISON and choices == Choices()
        check_only_shown(model, is_default, targets)
        contracts = show_kept(targets.from_file, targets.json_to)
        return _code(0, list(failures(conditions, contracts)))
    if model is None:
        what = "neither a model nor a file of finished runs is given"
        raise OptionError("NO_MODEL", what, "compare", "give MODEL, or --from FILE")
    check_writable(targets.save_to)
    job = job_of(model, profile, choices, strategies.split(","))
    job = job if targets.save_to is None else job.emitting((), has_pictures=True)
    profile_text = "" if targets.save_to is None else own_profile(job)
    reports = tuple(job.reports())
    if targets.save_to is not None:
        write_text_to(targets.save_to, lambda: kept_text(job, reports, profile_text))
    code = answer(targets.json_to, [json_form(report) for report in reports], reports)
    if targets.json_to != STDOUT:
        equal = job.at_equal_batches(reports)
        pairs = zip(reports[1:], equal[1:], strict=True)
        print_lines([pair_text(reports[0], report, beside) for report, beside in pairs])
    return _code(code, list(failures(conditions, [report.contract for report in reports])))


def _code(code: int, failed: Sequence[str]) -> int:
    """The exit code, after a line per condition that holds."""
    for line in failed:
        print(printable(line), file=sys.stderr)
    return FAILED if failed else code


@app.command()
@spread
def sweep(
    model: Model,
    *,
    profile: Profile = None,
    strategies: Strategies = DEFAULT_COMPARISON,
    choices: Choices,
    targets: SweepTargets,
) -> int:
    """Run strategies over ranges of a chip's numbers, the batch or the cluster batch: a table."""
    if choices.verify:
        what = "a sweep replays nothing"
        raise OptionError("VERIFY_SWEEP", what, "--verify", "leave it out, or verify one run")
    job = job_of(model, profile, choices, strategies.split(","))
    write_sweep(job, targets)
    return 0


@app.command()
def diff(first: First, second: Second, json_to: Json = None) -> None:
    """List the differences of two plans, or of two programs; the exit code is 0 in any case."""
    rows = differences(read_text(first), read_text(second), (first, second))
    if json_to is not None:
        write_text_to(json_to, lambda: json_text([asdict(row) for row in rows]))
    if json_to != STDOUT:
        print(printable_lines(difference_text(rows)))


@app.command()
def strip(model: Model, target: Target) -> None:
    """Write a model's structure without its weights: a small file that can be scheduled."""
    strip_to(model, target)


@app.command()
def models(json_to: Json = None) -> None:
    """List the sample models."""
    list_rows(json_to, "samples", sample_rows())


@app.command()
def profiles(json_to: Json = None) -> None:
    """List the shipped chips."""
    list_rows(json_to, "profiles", profile_rows())


@app.command(name="strategies")
def list_strategies(json_to: Json = None) -> None:
    """List the strategies with their levels, and the options that --set takes."""
    list_rows(json_to, "strategies and options", strategy_rows())
