"""Options of the commands with types and help texts; option texts -> values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated

import typer

from graphturbo_core.errors import OptionError
from graphturbo_core.limits import DEFAULT_LIMITS

Model = Annotated[str, typer.Argument(help="an .onnx file, or a sample that `models` lists")]
ModelOrFile = Annotated[
    str | None,
    typer.Argument(help="an .onnx file, or a sample that `models` lists; not with --from"),
]
Target = Annotated[str, typer.Argument(help="the file to write")]
Profile = Annotated[
    str | None,
    typer.Option(help="a chip that `profiles` lists, or a YAML file; stcp920 by default"),
]
Strategy = Annotated[
    str | None,
    typer.Option(help="NAME[:LEVEL][@CLUSTER_BATCH], see `strategies`; graphturbo by default"),
]
Strategies = Annotated[str, typer.Option(help="strategies with commas between them")]
Batch = Annotated[int | None, typer.Option(help="samples of the whole batch, on all clusters")]
Dim = Annotated[list[str] | None, typer.Option(metavar="NAME=N", help="size of a dimension")]
Dtype = Annotated[str | None, typer.Option(help="number format of the chip; fp16 by default")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="an option that `strategies` lists"),
]
SkipPass = Annotated[list[str] | None, typer.Option(help="a clean-up pass to leave out")]
MaxInstructions = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="cap on instructions where the coarsest tiles exceed the default cap, at most "
        f"{DEFAULT_LIMITS.max_instructions_longest}; 2.3 million use 4.6 GB of memory",
    ),
]
Verify = Annotated[
    bool, typer.Option("--verify", help="replay on real numbers, compare with ONNX Runtime")
]
Json = Annotated[str | None, typer.Option("--json", help="write JSON to this file, - for stdout")]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if",
        metavar="'NAME>NUMBER'",
        help="exit with 1 if this holds for a run; NAME is a number that `sweep` lists too "
        "(latency_s)",
    ),
]
SaveTo = Annotated[
    str | None,
    typer.Option("--save", metavar="FILE", help="write the runs to a file for --from and the app"),
]
FromFile = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FILE",
        help="show the runs of a file of --save, of --json or of the app's page Compare; "
        "nothing is run",
    ),
]
TraceFile = Annotated[str | None, typer.Option("--trace", help="write a Chrome/Perfetto trace")]
Emit = Annotated[
    str | None,
    typer.Option(
        metavar="plan,program,edits",
        help="write MODEL.plan.yaml, MODEL.program.txt, MODEL.edits.yaml (a plan without a record)",
    ),
]
EmitTo = Annotated[str, typer.Option("--emit-to", help="folder for the files of --emit")]
PlanFile = Annotated[
    str | None,
    typer.Option("--plan", help="run a plan of --emit plan; its choices replace the defaults"),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=V1,V2",
        help="values of a number of the profile (cluster.gb_bytes), of batch or of cluster_batch; "
        "KEY+KEY: the same value for both; several --vary: every combination",
    ),
]
Csv = Annotated[str | None, typer.Option("--csv", help="write the table as CSV, - for stdout")]
Resume = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="keep finished runs here, and do not run them again"),
]
Processes = Annotated[
    int | None, typer.Option(min=1, help="runs at once; as many as the machine has processors")
]
SchedulerAddress = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="run on the Dask cluster of this scheduler"
    ),
]
TlsCa = Annotated[str | None, typer.Option(help="file with the authority of a tls:// scheduler")]
TlsCert = Annotated[str | None, typer.Option(help="file with our certificate for it")]
TlsKey = Annotated[str | None, typer.Option(help="file with our key for it")]
First = Annotated[str, typer.Argument(metavar="A", help="a plan or program file of --emit")]
Second = Annotated[str, typer.Argument(metavar="B", help="another one of the same kind")]
DotFile = Annotated[str | None, typer.Option("--dot", help="write the groups as a Graphviz graph")]
MeasuredFile = Annotated[
    str | None,
    typer.Option("--measured", help="CSV of measured times (layer,milliseconds) to compare with"),
]
Assumptions = Annotated[
    bool, typer.Option("--assumptions", help="latency with each assumption at half and at double")
]


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Common options of `run` and `compare`: one per field (see `spread`)."""

    batch: Batch = None
    dim: Dim = None
    dtype: Dtype = None
    options: Set = None
    skip_pass: SkipPass = None
    max_instructions: MaxInstructions = None
    verify: Verify = False


@dataclass(frozen=True, kw_only=True)
class RunTargets:
    """Options of `run` for input and output files: one per field."""

    json_to: Json = None
    trace: TraceFile = None
    dot: DotFile = None
    assumptions: Assumptions = False
    plan: PlanFile = None
    emit: Emit = None
    emit_to: EmitTo = "."
    measured: MeasuredFile = None


@dataclass(frozen=True, kw_only=True)
class CompareTargets:
    """Options of `compare` for its answer: one per field."""

    json_to: Json = None
    fail_if: FailIf = None
    save_to: SaveTo = None
    from_file: FromFile = None


@dataclass(frozen=True, kw_only=True)
class SweepTargets:
    """Options of `sweep`: one per field."""

    vary: Vary = None
    csv_to: Csv = None
    json_to: Json = None
    resume: Resume = None
    processes: Processes = None
    scheduler: SchedulerAddress = None
    tls_ca: TlsCa = None
    tls_cert: TlsCert = None
    tls_key: TlsKey = None


def spread(function: Callable[..., int]) -> Callable[..., int]:
    """The function with a signature for typer: an options class is replaced by its fields."""
    own = signature(function, eval_str=True).parameters.values()
    spreads = (Choices, RunTargets, CompareTargets, SweepTargets)
    classes = {each.name: each.annotation for each in own if each.annotation in spreads}

    @wraps(function)
    def command(**values: object) -> int:
        for name, options in classes.items():
            values[name] = options(**{each.name: values.pop(each.name) for each in fields(options)})
        return function(**values)

    spread: list[Parameter] = []
    for each in own:
        inner = classes.get(each.name)
        spread += signature(inner, eval_str=True).parameters.values() if inner else [each]
    command.__signature__ = Signature(spread)  # type: ignore[attr-defined]  # read by inspect
    return command


def pairs_of(option: str, texts: Sequence[str]) -> dict[str, str]:
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


def names_of(text: str | None) -> tuple[str, ...]:
    """Names of a comma-separated list, each once."""
    names = (name.strip() for name in (text or "").split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def whole_number(name: str, value: str) -> int:
    """Size of dimension `name` from the text of `--dim`.

    Raises:
        OptionError: BAD_DIM, it is no whole number below 2^63.
    """
    if not (value.isascii() and value.isdigit() and len(value) < len(str(2**63))):
        raise OptionError(
            "BAD_DIM",
            f"{value!r} is no whole number",
            f"--dim {name}",
            f"write for instance --dim {name}=128",
        )
    return int(value)
