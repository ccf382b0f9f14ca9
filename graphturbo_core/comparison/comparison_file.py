"""`compare.json`: a comparison as a file, and saved reports -> runs of a comparison."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from graphturbo_core import __version__
from graphturbo_core.comparison.compared_run import ComparedRun, default_name
from graphturbo_core.comparison.figures import Exact, Label
from graphturbo_core.comparison.from_report import SavedReport
from graphturbo_core.errors import CapacityError, OptionError
from graphturbo_core.export.files import json_text
from graphturbo_core.plain_yaml import shown

SCHEMA: Literal[1] = 1
"""Version of the file; rises when a key changes its meaning."""
MAX_FILE_BYTES = 8 * 2**20
"""200 runs of DenseNet-201, the sample with most layers, have 5.8 MiB; 14 saved reports 8 MiB."""
MAX_OBJECT_KEYS = 200
"""Keys of an object that are looked at one by one: more than any of a contract."""
MAX_RUNS = 200
"""Runs of a comparison (our choice: five times what a screen shows)."""
HELP = "give a file that `compare --save`, `compare --json` or the page Compare wrote"


class FileHead(Exact):
    """Content of the file but its runs."""

    comparison: Literal[1]
    library: Label


Part = TypeVar("Part", bound=BaseModel)
_HEAD = TypeAdapter(FileHead)
_RUN = TypeAdapter(ComparedRun)
_REPORT = TypeAdapter(SavedReport)


def write_comparison(runs: Sequence[ComparedRun]) -> str:
    """The text of `compare.json`: the same bytes for the same runs.

    Raises:
        CapacityError: more runs, or more bytes, than the file may have.
    """
    check_count(len(runs))
    values = [run.model_dump(mode="json") for run in runs]
    text = json_text({"comparison": SCHEMA, "library": __version__, "runs": values})
    if len(text) > MAX_FILE_BYTES:  # ASCII alone
        what = f"the comparison has more than {MAX_FILE_BYTES} bytes"
        raise CapacityError("COMPARISON_TOO_BIG", what, change="remove runs with long plans")
    return text


def check_count(count: int) -> None:
    """Refuse a comparison of too many runs.

    Raises:
        CapacityError: COMPARISON_FULL.
    """
    if count > MAX_RUNS:
        what = f"{count} runs are more than a comparison has, which is {MAX_RUNS}"
        raise CapacityError("COMPARISON_FULL", what, change="remove some of them")


def read_comparison(data: bytes, file_name: str) -> tuple[ComparedRun, ...]:
    """Runs of a comparison file, or of saved reports (one, or a list), each once.

    Raises:
        OptionError: COMPARISON_TOO_BIG, COMPARISON_NOT_JSON, COMPARISON_FULL,
            COMPARISON_EMPTY, or COMPARISON_INVALID with the key and what is expected.
    """
    where = f"in {shown(file_name)}"
    if len(data) > MAX_FILE_BYTES:
        what = f"the comparison has more than {MAX_FILE_BYTES} bytes"
        raise OptionError("COMPARISON_TOO_BIG", what, where, HELP)
    try:
        tree = from_json(data)
    except ValueError as error:
        what = f"the file is not JSON ({shown(str(error))})"
        raise OptionError("COMPARISON_NOT_JSON", what, where, HELP) from error
    if isinstance(tree, list):
        runs = _of_reports(_each(_REPORT, "", tree, where))
    elif isinstance(tree, dict) and "latency_s" in tree:
        runs = _of_reports([_read(_REPORT, "", tree, where)])
    elif isinstance(tree, dict) and "comparison" in tree:
        runs = _of_file(tree, where)
    else:
        raise OptionError("COMPARISON_INVALID", "the file has no runs", where, HELP)
    if not runs:
        raise OptionError("COMPARISON_EMPTY", "the comparison has no run", where, HELP)
    return distinct(runs)


def _of_file(tree: dict[str, Any], where: str) -> list[ComparedRun]:
    _read(_HEAD, "", {key: value for key, value in tree.items() if key != "runs"}, where)
    if not isinstance(tree.get("runs"), list):
        raise OptionError("COMPARISON_INVALID", "key runs has no list", where, HELP)
    return list(_each(_RUN, "runs.", tree["runs"], where))


def _of_reports(reports: Iterable[SavedReport]) -> list[ComparedRun]:
    found = (report.figures() for report in reports)
    return [ComparedRun(name=default_name(each), choices=None, figures=each) for each in found]


def _each(form: TypeAdapter[Part], path: str, values: list[Any], where: str) -> Iterator[Part]:
    """The entries, read one by one up to the first fault: a list of faults can fill the memory."""
    if len(values) > MAX_RUNS:
        what = f"{len(values):,} runs are more than a comparison has, which is {MAX_RUNS}"
        raise OptionError("COMPARISON_FULL", what, where, "remove some of them")
    for at, value in enumerate(values):
        yield _read(form, f"{path}{at}.", value, where)


def _read(form: TypeAdapter[Part], path: str, value: Any, where: str) -> Part:
    """A part of the file, validated as JSON, whose lists are tuples here."""
    if _has_large_object(value):
        what = f"an object of {path.rstrip('.') or 'the file'} has more than {MAX_OBJECT_KEYS} keys"
        raise OptionError("COMPARISON_INVALID", what, where, HELP)
    try:
        return form.validate_json(json.dumps(value))
    except ValidationError as error:
        raise _refusal(error, path, where) from error


def _has_large_object(value: Any) -> bool:
    """Whether an object in it has too many keys: each wrong key is a fault of its own."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            if len(each) > MAX_OBJECT_KEYS:
                return True
            left.extend(each.values())
        elif isinstance(each, list):
            left.extend(each)
    return False


def distinct(runs: Iterable[ComparedRun]) -> tuple[ComparedRun, ...]:
    """The runs in their order, each once: the first of those with the same choices."""
    found: dict[str, ComparedRun] = {}
    for run in runs:
        found.setdefault(run.key, run)
    return tuple(found.values())


def _refusal(error: ValidationError, prefix: str, where: str) -> OptionError:
    """The first fault of a part of a file, with its key."""
    first = error.errors(include_url=False, include_context=False)[0]
    path = prefix + ".".join(str(part) for part in first["loc"])
    path = path.rstrip(".") or "the file"
    if first["type"] == "extra_forbidden":
        what, change = f"key {shown(path)} is not known", "remove it"
    elif first["type"] == "missing":
        what, change = f"key {shown(path)} is missing", HELP
    else:
        what = f"{shown(path)} is {shown(first['input'])}"
        change = first["msg"].replace("Input should be", "write").removeprefix("Value error, ")
    return OptionError("COMPARISON_INVALID", what, where, change)
