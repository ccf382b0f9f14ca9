"""The sidebar: model, chip, strategies, batch and number format, as one frozen choice."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import urlencode

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_core.hardware.profile import parse_profile
from graphturbo_core.pipeline import RunRequest
from graphturbo_ui import query, state
from graphturbo_ui.glossary import define
from graphturbo_ui.text import Sink, safe_text

PROPOSED_DIMENSION = 128
"""What the form proposes for a dimension other than the batch (a usual sequence length)."""
EMITTED = ("plan", "program")
"""What the runs give to take away, once somebody asks for it."""
STRATEGY_HELP = (
    "NAME, NAME:LEVEL or NAME:LEVEL@N — type one that is not listed. N is the cluster batch: "
    "how many samples a cluster takes at once."
)


@dataclass(frozen=True)
class Choices:
    """Everything that the page's two runs depend on."""

    model: str
    model_bytes: bytes = field(repr=False)
    chip: str
    profile_bytes: bytes | None = field(repr=False)
    a: str
    b: str
    batch: int
    dtype: str
    dims: Mapping[str, int]
    verify: bool
    plans: Mapping[str, str] = field(default_factory=dict, repr=False)
    emit: tuple[str, ...] = ()

    def request(self, key: str) -> RunRequest:
        """The run `a` or `b` of these choices; one that holds to a plan has the plan's options.

        Raises:
            PlanError: it is no plan.
        """
        plan = self.plans.get(key, "")
        origin = read_plan(plan.encode(), f"the plan of {key.upper()}").origin if plan else None
        return RunRequest(
            model_name=PurePath(_file_name(self.model)).stem
            if state.is_upload(self.model)
            else self.model,
            strategy=self.a if key == "a" else self.b,
            profile=_file_name(self.chip),
            batch=self.batch,
            dims=dict(self.dims),
            dtype=self.dtype,
            options=dict(origin.options) if origin else {},
            skip_passes=origin.skip_passes if origin else (),
            verify=self.verify,
            plan=plan,
            emit=self.emit,
        )

    def link(self) -> str:
        """The query that restores these choices and the Gantt chart's window."""
        named = {"model": self.model, "chip": self.chip, "a": self.a, "b": self.b}
        sizes = {state.dimension_key(name): str(size) for name, size in self.dims.items()}
        rest = {"batch": str(self.batch), "dtype": self.dtype, **sizes}
        if self.verify:
            rest["verify"] = "true"
        rest |= {f"plan_{key}": state.plan_digest(key) for key in self.plans}
        return "?" + urlencode(state.query_of({**named, **rest}))

    def command(self) -> str:
        """The command line that computes the same two runs; a run each where one has a plan."""
        if not self.plans:
            return self._command(["compare"], ["--strategies", f"{self.a},{self.b}"])
        strategies = {"a": self.a, "b": self.b}
        return "\n".join(
            self._command(
                ["run"],
                ["--strategy", strategy]
                + (["--plan", f"{key}.plan.yaml"] if key in self.plans else []),
            )
            for key, strategy in strategies.items()
        )

    def _command(self, verb: list[str], own: list[str]) -> str:
        words = ["python", "-m", "graphturbo_core", *verb, _file_name(self.model)]
        words += ["--profile", _file_name(self.chip), *own, "--batch", str(self.batch)]
        for name, size in self.dims.items():
            words += ["--dim", f"{name}={size}"]
        words += ["--dtype", self.dtype, *(["--verify"] if self.verify else [])]
        return shlex.join(words)


def _file_name(label: str) -> str:
    """A sample's or profile's own name; of an upload, the file's."""
    named = query.UPLOAD.fullmatch(label)
    return named[1] if named else label


def choose() -> Choices:
    """Draw the sidebar and give what is chosen.

    Raises:
        GraphTurboError: an uploaded file is no longer kept.
    """
    with st.sidebar:
        model = st.selectbox(
            "Model", state.model_names(), key="model", bind="query-params", on_change=_take_sizes
        )
        chip = st.selectbox("Chip", state.chip_names(), key="chip", bind="query-params")
        a = _strategy("A · fine partitioning", "a", query.DEFAULT_A)
        b = _strategy("B · coarse partitioning", "b", query.DEFAULT_B)
        plans = {key: text for key in query.RUN_KEYS if (text := _held_plan(key))}
        st.button("Swap A and B", on_click=state.swap_runs, key="swap", icon=":material/swap_vert:")
        model_bytes = _model_bytes(model)
        sizes = _proposed_sizes(model_bytes)
        batch = st.number_input(
            "Batch (samples)", 1, query.MAX_BATCH, sizes.batch, key="batch",
            bind="query-params", help="Samples for the whole chip; " + define("cluster"),
        )  # fmt: skip
        dims = _dimensions(sizes)
        dtype = st.selectbox(
            "Number format", query.number_formats(), key="dtype", bind="query-params"
        )
        verify = st.toggle(
            "Verify by replay", key="verify", bind="query-params", help=define("replay")
        )
        _uploader("chip", "Use my chip (.yaml)", "yaml")
    profile = state.uploaded(chip)
    return Choices(
        model=model,
        model_bytes=model_bytes,
        chip=chip,
        profile_bytes=profile.data if profile else None,
        a=a,
        b=b,
        batch=batch,
        dtype=dtype,
        dims=dims,
        verify=verify,
        plans=plans,
        emit=EMITTED if state.are_files_wanted() else (),
    )


def _held_plan(key: str) -> str:
    """The plan that a run holds to, said beside a button that drops it."""
    text = state.held_plan(key)
    if text:
        st.button(
            f"{key.upper()} holds to plan {state.plan_digest(key)[:6]}…: drop it",
            key=f"drop_plan_{key}", on_click=state.drop_plan, args=(key,),
            icon=":material/close:",
        )  # fmt: skip
    return text


def _strategy(label: str, key: str, default: str) -> str:
    """A strategy box that takes typed names; one that cannot be a strategy is refused."""
    chosen = st.selectbox(
        label, state.strategy_choices(key, default), key=key, bind="query-params",
        accept_new_options=True, help=STRATEGY_HELP,
    )  # fmt: skip
    fault = query.strategy_fault(chosen or "")
    if fault:
        state.reject(key, fault, default)
    return str(chosen)


def _model_bytes(label: str) -> bytes:
    kept = state.uploaded(label)
    return kept.data if kept else load_sample(label)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """What the form proposes for a model's batch and its other symbolic dimensions."""

    batch: int
    dims: Mapping[str, int]


def _proposed_sizes(model_bytes: bytes) -> _Sizes:
    """What the file proposes, else our own; the batch is the first leading symbolic dimension."""
    found = read_input_dims(model_bytes)
    batch = next((dim for dim in found if dim.axis == 0), None)
    proposed = (batch and batch.proposed) or query.DEFAULT_BATCH
    return _Sizes(
        min(proposed, query.MAX_BATCH),
        {
            dim.symbol: dim.proposed or PROPOSED_DIMENSION
            for dim in found
            if batch is None or dim.symbol != batch.symbol
        },
    )


def _take_sizes() -> None:
    """Another model was chosen: its own sizes, not those of the one before."""
    sizes = _proposed_sizes(_model_bytes(state.chosen_model()))
    keyed = {state.dimension_key(symbol): size for symbol, size in sizes.dims.items()}
    state.set_sizes({"batch": sizes.batch, **keyed})


def _dimensions(sizes: _Sizes) -> dict[str, int]:
    """A number for every symbolic dimension besides the batch."""
    return {
        symbol: st.number_input(
            safe_text(symbol, Sink.MARKDOWN),
            1,
            2**31 - 1,
            proposed,
            key=state.dimension_key(symbol),
            bind="query-params",
        )
        for symbol, proposed in sizes.dims.items()
    }


def offer_model_upload() -> None:
    """The uploader of a model, and why the last one was refused."""
    _uploader(
        "model",
        "An ONNX file; .onnx.data with the weights is not needed, `strip` makes a large file small",
        "onnx",
    )


def _uploader(key: str, label: str, kind: str) -> None:
    check = _check_model if key == "model" else _check_profile
    st.file_uploader(
        label, [kind], key=f"{key}_file", on_change=state.take_upload, args=(key, check)
    )
    refused = state.refusal(key)
    if refused is not None:
        show_refusal(refused)


def _check_model(data: bytes, _: str) -> None:
    read_input_dims(data)


def _check_profile(data: bytes, name: str) -> None:
    parse_profile(data, name)


def show_refusal(error: GraphTurboError, run: str = "") -> None:
    """A refusal, calmly: of which run, what, where, and what to change."""
    parts = [
        f"{run} cannot be computed." if run else "",
        f"**{safe_text(error.what, Sink.MARKDOWN, 1000)}**",
        safe_text(error.where, Sink.MARKDOWN, 1000),
        safe_text(error.change, Sink.MARKDOWN, 1000),
        f"Code {safe_text(error.code, Sink.MARKDOWN)}",
    ]
    st.warning("  \n".join(part for part in parts if part), icon=":material/info:")
