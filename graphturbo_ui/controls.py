"""The sidebar: model, chip, the two runs, batch and number format, as one frozen choice."""

from __future__ import annotations

import streamlit as st

from graphturbo_core.errors import GraphTurboError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_core.frontend.passes.clean_up import pass_names
from graphturbo_core.hardware.profile import parse_profile
from graphturbo_ui.glossary import define
from graphturbo_ui.jobs import ALWAYS_EMITTED, Source
from graphturbo_ui.options_form import options_form
from graphturbo_ui.presets import offer_presets
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.session.choices import Choices, Side
from graphturbo_ui.sizes import Sizes, proposed_sizes
from graphturbo_ui.text import Sink, safe_text

EMITTED = ("plan", "program")
"""What the runs give to take away, once somebody asks for it."""
STRATEGY_HELP = (
    "NAME, NAME:LEVEL or NAME:LEVEL@N — type one that is not listed. N is the cluster batch: "
    "how many samples one cluster takes at once."
)
LABELS = {"a": "A · fine partitioning", "b": "B · coarse partitioning"}
DEFAULTS = {"a": query.DEFAULT_A, "b": query.DEFAULT_B}


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
        sides = {key: _side(key) for key in query.RUN_KEYS}
        st.button(
            "Swap A and B", on_click=run_state.swap_runs, key="swap", icon=":material/swap_vert:"
        )
        kept = state.uploaded(model)
        model_bytes = kept.data if kept else load_sample(model)
        sizes = proposed_sizes(model, model_bytes)
        batch = st.number_input(
            "Batch (samples)", 1, query.MAX_BATCH, sizes.batch, key="batch",
            bind="query-params", help="Samples for the whole chip; " + define("cluster"),
        )  # fmt: skip
        dims = _dimensions(sizes)
        offer_presets(model, dims)
        dtype = st.selectbox(
            "Number format", query.number_formats(), key="dtype", bind="query-params"
        )
        verify = st.toggle(
            "Verify by replay", key="verify", bind="query-params", help=define("replay")
        )
        skip = st.multiselect(
            "Clean-up passes left out", pass_names(), key="skip", bind="query-params",
            placeholder="none", help="For both runs; see Passes for what each does.",
        )  # fmt: skip
        _uploader("chip", "Use my chip (.yaml)", "yaml")
    profile = state.uploaded(chip)
    return Choices(
        model=model,
        chip=chip,
        source=Source.of(
            model_bytes, profile.data if profile else None, kept.sha256 if kept else ""
        ),
        sides=sides,
        batch=batch,
        dtype=dtype,
        dims=dims,
        verify=verify,
        skip_passes=tuple(skip),
        emit=(*ALWAYS_EMITTED, *(EMITTED if run_state.are_files_wanted() else ())),
    )


def _side(key: str) -> Side:
    """One run's strategy, cluster batch, options and plan."""
    chosen = _strategy(key)
    run_state.show_cluster_batch(key)
    st.number_input(
        f"Cluster batch of {key.upper()}", 0, query.MAX_CLUSTER_BATCH, None,
        placeholder="whole share", key=run_state.cluster_key(key),
        on_change=run_state.take_cluster_batch, args=(key,),
        help=f"{define('cluster batch')} Nothing or 0: the cluster's whole share at once.",
    )  # fmt: skip
    plan = run_state.held_plan(key)
    options = options_form(key, chosen, bool(plan))
    if plan:
        st.button(
            f"{key.upper()} holds to plan {run_state.plan_digest(key)[:6]}…: drop it",
            key=f"drop_plan_{key}", on_click=run_state.drop_plan, args=(key,),
            icon=":material/close:",
        )  # fmt: skip
    return Side(chosen, options, plan, run_state.plan_digest(key))


def _strategy(key: str) -> str:
    """A strategy box that takes typed names; one that cannot be a strategy is refused."""
    default = DEFAULTS[key]
    chosen = st.selectbox(
        LABELS[key], run_state.strategy_choices(key, default), key=key, bind="query-params",
        accept_new_options=True, help=STRATEGY_HELP,
    )  # fmt: skip
    fault = query.strategy_fault(chosen or "")
    if fault:
        state.reject(key, fault, default)
    return str(chosen)


def _take_sizes() -> None:
    """Another model was chosen: its own sizes, not those of the one before."""
    label = state.chosen_model()
    kept = state.uploaded(label)
    sizes = proposed_sizes(label, kept.data if kept else load_sample(label))
    keyed = {state.dimension_key(symbol): size for symbol, size in sizes.dims.items()}
    state.set_sizes({"batch": sizes.batch, **keyed})


def _dimensions(sizes: Sizes) -> dict[str, int]:
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
        "An ONNX file, its .onnx.data is not needed; the command strip makes a large file small",
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


OF_BATCH = frozenset({"BATCH_DEPENDENT", "BATCH_FIXED", "BATCH_MISMATCH", "BATCH_RESHAPE"})
"""Refusals of a model at this batch, which its own batch may not meet with."""


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
    if error.code in OF_BATCH and st.session_state.get("batch", 1) != 1:
        st.button(
            "Use batch 1", key=f"batch_of_one {run}", on_click=_take_one_sample,
            help="Most exports are made for one sample; the whole page then runs one.",
        )  # fmt: skip


def _take_one_sample() -> None:
    """The batch that most models are exported with."""
    st.session_state["batch"] = 1
