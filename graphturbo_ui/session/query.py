"""What the address may name: fields, their defaults, and what is wrong with a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_core.frontend.passes.clean_up import pass_names
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.ir.dtypes import NUMBER_FORMATS
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import STRATEGIES
from graphturbo_core.sweep.typed_values import MOST_CHARACTERS
from graphturbo_ui.session import what_if
from graphturbo_ui.store import DIGEST_LENGTH, UploadStore, upload_store, written_store
from graphturbo_ui.text import safe_text

DEFAULT_MODEL = "resnet50-slim"
DEFAULT_A, DEFAULT_B = "tvm@16", "graphturbo@16"
"""At equal cluster batches (our choice); those of the paper are a preset."""
DEFAULT_BATCH, MAX_BATCH = 64, 65_536
MAX_CLUSTER_BATCH = 999_999
DEFAULT_FORMAT = "fp16"
RUN_KEYS = ("a", "b")
FILE_DIGEST = re.compile(rf"[0-9a-f]{{{DIGEST_LENGTH}}}")
_WITHOUT_PLAN = "that run without a plan"
UPLOAD = re.compile(rf"(.{{1,120}}) \(([0-9a-f]{{{DIGEST_LENGTH}}})\)")
STRATEGY = re.compile(r"([a-z][a-z0-9_-]*)(?::([a-z]+))?(?:@([1-9][0-9]{0,5}))?")
WINDOW = re.compile(r"\d{1,15}-\d{1,15}(?:,\d{1,15}-\d{1,15})?")
COMPARED, MEASURED = "compare", "measured"
"""Names of the files of a comparison and of measured times, by their digests."""
NO_RUNS = "none"
"""The name of a comparison without a run."""
COMPARISON_GONE = "The comparison of this link is not on this server: open its compare.json."
TIMES_GONE = "The measured times of this link are not on this server: give their CSV file again."
VIEWS = ("Why", "Graph", "Every core", "Memory", "Algorithms", "Plan edits", "Export")
"""Views below Explore's first screen, in the page's order."""
DEFAULT_VIEWS = VIEWS[:1]
RENAMED_VIEWS: Mapping[str, str] = {
    "Groupings": "Graph",
    "Gantt": "Every core",
    "Where the time goes": "Why",
    "Passes": "Algorithms",
}
"""Views as links from before name them."""


@dataclass(frozen=True, slots=True)
class QueryField:
    """A name in the address, its default, and what is wrong with a value (empty: nothing)."""

    key: str
    default: str | int
    fault: Callable[[str], str]


def query_fields() -> tuple[QueryField, ...]:
    """Everything that the address may name."""
    chips = profile_names()
    return (
        QueryField("model", DEFAULT_MODEL, lambda v: _file_fault("model", v, sample_names())),
        QueryField("chip", chips[0], lambda v: _file_fault("chip", v, chips)),
        QueryField("a", DEFAULT_A, strategy_fault),
        QueryField("b", DEFAULT_B, strategy_fault),
        QueryField("batch", DEFAULT_BATCH, _batch_fault),
        QueryField("dtype", DEFAULT_FORMAT, _format_fault),
        QueryField("verify", "false", _switch_fault),
        QueryField("best", "false", _switch_fault),
        QueryField("rewrites", "false", _switch_fault),
        QueryField("views", ", ".join(DEFAULT_VIEWS), _view_fault),
        *(QueryField(f"plan_{key}", _WITHOUT_PLAN, _plan_fault) for key in RUN_KEYS),
        *(QueryField(f"set_{key}", "the default options", option_fault) for key in RUN_KEYS),
        QueryField("skip", "all clean-up passes", _pass_fault),
        *(
            QueryField(key, default, partial(_choice_fault, values))
            for key, (default, values) in what_if.CHOICES.items()
        ),
        QueryField("runs", "A and B", strategy_fault),
        *(QueryField(key, "the multiples", _values_fault) for key in what_if.VALUES.values()),
        QueryField("by", "B's strategy", lambda v: "" if v == what_if.AS_B else strategy_fault(v)),
        QueryField(COMPARED, "A and B", comparison_fault),
        QueryField(MEASURED, "no measured times", _measured_fault),
        QueryField("models", "the model", lambda v: _file_fault("model", v, sample_names())),
    )


def is_upload(label: str) -> bool:
    """Whether a model or chip is named as an upload is: `name (digest)`."""
    return UPLOAD.fullmatch(label) is not None


def version_notes(made_by: str, own: str) -> list[str]:
    """That a link is of another version; nothing of the same one."""
    if made_by == own:
        return []
    other = safe_text(made_by, max_length=20)
    return [f"The link is of version {other}, this is {own}: figures may differ."]


def uploads_in(values: Sequence[str]) -> Sequence[str]:
    """The uploads that a query name has, each once: as many as a box may hold."""
    return list(dict.fromkeys(filter(is_upload, values)))[: what_if.MOST_MODELS]


def dimension_key(symbol: str) -> str:
    """The query name of a symbolic dimension's size."""
    return f"dim_{re.sub(r'[^A-Za-z0-9_.-]', '_', symbol)[:60]}"


def _choice_fault(values: Sequence[str], value: str) -> str:
    return "" if value in values else f"“{safe_text(value, max_length=40)}” is not a choice."


def _values_fault(value: str) -> str:
    """What the values are depends on the number varied: the page says the rest below the box."""
    is_short = len(value) <= MOST_CHARACTERS
    return "" if is_short else f"The values are longer than {MOST_CHARACTERS} characters."


def _file_fault(what: str, value: str, known: Sequence[str]) -> str:
    """A value is a shipped name, or `name (digest)` of an upload that is still here."""
    if value in known:
        return ""
    named = UPLOAD.fullmatch(value)
    shown = safe_text(named[1] if named else value, max_length=80)
    if named is None:
        return f"The link names the {what} “{shown}”, which this server does not have."
    if upload_store().get(named[2]) is None:
        return f"The link names the uploaded file “{shown}”, no longer kept here: upload it again."
    return ""


def _view_fault(value: str) -> str:
    return "" if value in ("", *VIEWS) else f"“{safe_text(value, max_length=40)}” is not a view."


def strategy_fault(value: str) -> str:
    """What is wrong with `NAME[:LEVEL][@CLUSTER_BATCH]`; empty when nothing is."""
    parts = STRATEGY.fullmatch(value)
    info = STRATEGIES.get(parts[1]) if parts else None
    if parts is None or info is None or (parts[2] and parts[2] not in info.levels):
        return f"“{safe_text(value, max_length=60)}” is not a strategy."
    return ""


def is_search(strategy: str) -> bool:
    """Whether a strategy simulates many plans: seconds to minutes per run."""
    parts = STRATEGY.fullmatch(strategy)
    info = STRATEGIES.get(parts[1]) if parts else None
    return info is not None and info.is_search


def every_strategy() -> list[str]:
    """The defaults of A and B, then every strategy with its levels."""
    found = [DEFAULT_A, DEFAULT_B]
    for name, info in STRATEGIES.items():
        others = (level for level in info.levels if level != info.default_level)
        found += [name, *(f"{name}:{level}" for level in others)]
    return found


def split_strategy(text: str) -> tuple[str, int | None]:
    """What stands before the cluster batch, and the batch; None for the whole share."""
    head, _, batch = text.partition("@")
    return head, int(batch) if STRATEGY.fullmatch(text) and batch else None


def options_of(texts: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` texts as options; the last word on a name counts."""
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def texts_of(options: Mapping[str, str]) -> list[str]:
    """What `options_of` reads, by name."""
    return [f"{name}={value}" for name, value in sorted(options.items())]


def option_fault(text: str) -> str:
    """What is wrong with `NAME=VALUE`; empty when nothing is."""
    name, _, value = text.partition("=")
    option = strategy_options().get(name)
    if option is None or not option.accepts(value):
        return f"“{safe_text(text, max_length=60)}” is no option with its value."
    return ""


def _pass_fault(value: str) -> str:
    if value in pass_names():
        return ""
    return f"“{safe_text(value, max_length=40)}” is not a clean-up pass."


def _is_kept(digest: str, store: UploadStore) -> bool:
    return FILE_DIGEST.fullmatch(digest) is not None and store.get(digest) is not None


def comparison_fault(value: str) -> str:
    """What is wrong with the comparison that a link names; empty when nothing is."""
    return "" if value == NO_RUNS or _is_kept(value, written_store()) else COMPARISON_GONE


def _measured_fault(value: str) -> str:
    return "" if _is_kept(value, upload_store()) else TIMES_GONE


def _plan_fault(value: str) -> str:
    if _is_kept(value, upload_store()):
        return ""
    return "The link names a plan that is not kept here: give it again under Export."


def _batch_fault(value: str) -> str:
    if value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= MAX_BATCH:
        return ""
    shown = safe_text(value, max_length=40)
    return f"“{shown}” is not a batch: a whole number from 1 to {MAX_BATCH}."


def _format_fault(value: str) -> str:
    if value in number_formats():
        return ""
    return f"“{safe_text(value, max_length=40)}” is not a number format."


def _switch_fault(value: str) -> str:
    if value in ("true", "false"):
        return ""
    return f"“{safe_text(value, max_length=40)}” is neither true nor false."


def number_formats() -> tuple[str, ...]:
    """Number formats, the default first."""
    rest = (name for name in NUMBER_FORMATS if name != DEFAULT_FORMAT)
    return (DEFAULT_FORMAT, *rest)
