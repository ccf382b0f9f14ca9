"""Contents of the popovers Model, Chip and Settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.frontend.passes.clean_up import pass_names
from graphturbo_ui.glossary import define
from graphturbo_ui.refusals import show_refusal
from graphturbo_ui.session import query, run_state, state
from graphturbo_ui.sizes import Sizes, proposed_sizes
from graphturbo_ui.text import Sink, safe_text
from graphturbo_ui.top_bar.renewed import bound
from graphturbo_ui.top_bar.uploads import box_names, check_model, check_profile

MY_MODEL = (
    "**Use my model.** The structure is enough: export with external data and leave the "
    ".onnx.data file where it is. Dimensions without a size then appear here. The command "
    "`python -m graphturbo_core strip` makes a large file small."
)
MY_CHIP = "**Use my chip.** A profile in YAML, like those in `hardware_profiles/`."


@dataclass(frozen=True, slots=True)
class Settings:
    """Number format, replay, and clean-up passes left out, of both runs; a search beside them."""

    dtype: str
    verify: bool
    best: bool
    skip_passes: tuple[str, ...]


def model_box() -> str:
    """The model's box; the label of the model."""
    return _file_box("Model", "model", state.model_names(), _take_sizes)


def _file_box(
    label: str, key: str, files: Sequence[str], take: Callable[[], None] | None = None
) -> str:
    """A box of shipped and uploaded files; these are shown without their digests.

    The browser's address has what the box shows: with uploads the page's script writes it instead.
    """
    names = box_names(files)
    has_uploads = any(map(query.is_upload, files))
    box = bound(key, take, is_named_apart=has_uploads)
    chosen: str = st.selectbox(label, files, format_func=names.__getitem__, **box)
    return chosen


def dimension_boxes(sizes: Sizes) -> dict[str, int]:
    """A number for every symbolic dimension besides the batch."""
    return {
        symbol: _number_box(
            safe_text(symbol, Sink.MARKDOWN), 2**31 - 1, proposed, query.dimension_key(symbol)
        )
        for symbol, proposed in sizes.dims.items()
    }


def _number_box(label: str, most: int, proposed: int, key: str, words: str | None = None) -> int:
    box = bound(key)
    value: int | Literal["min"] = proposed if box["key"] == key else "min"
    chosen: int = st.number_input(label, 1, most, value, help=words, **box)
    return chosen


def model_upload() -> None:
    """The uploader of a model, and why the last one was refused."""
    st.markdown(MY_MODEL)
    _uploader("model", "ONNX file (.onnx)", check_model)


def chip_box() -> str:
    """The chip's box and the uploader of a profile; the label of the chip."""
    chosen = _file_box("Chip", "chip", state.chip_names())
    st.markdown(MY_CHIP)
    _uploader("chip", "Profile (.yaml)", check_profile)
    return chosen


def batch_box(sizes: Sizes) -> int:
    """Samples for the whole chip."""
    words = "Samples for the whole chip; " + define("cluster")
    return _number_box("Batch (samples)", query.MAX_BATCH, sizes.batch, "batch", words)


def settings_box() -> Settings:
    """What both runs have in common besides model, chip and batch."""
    dtype = st.selectbox("Number format", query.number_formats(), **bound("dtype"))
    verify = st.toggle("Verify by replay", help=define("replay"), **bound("verify"))
    best = st.toggle(
        "Search a schedule beside A and B",
        help="A third row: the fastest schedule that best finds. It takes seconds to some "
        "minutes.",
        **bound("best", run_state.search_again),
    )  # fmt: skip
    skip = st.multiselect(
        "Clean-up passes left out", pass_names(), placeholder="none",
        help="For both runs; see Algorithms for what each does.", **bound("skip"),
    )  # fmt: skip
    return Settings(dtype, verify, best, tuple(skip))


def sizes_of(label: str) -> tuple[bytes, str, Sizes]:
    """A model's bytes, its digest where it is an upload, and the sizes that it proposes.

    Raises:
        GraphTurboError: an uploaded file is no longer kept.
    """
    kept = state.uploaded(label)
    data = kept.data if kept else load_sample(label)
    return data, kept.sha256 if kept else "", proposed_sizes(label, data)


def _take_sizes() -> None:
    """Another model was chosen: its own sizes, not those of the one before."""
    _, _, sizes = sizes_of(state.chosen("model"))
    keyed = {query.dimension_key(symbol): size for symbol, size in sizes.dims.items()}
    state.set_choices({"batch": sizes.batch, **keyed})


def _uploader(key: str, label: str, check: Callable[[bytes, str], None]) -> None:
    """An uploader of files of any kind: of other kinds the refusal says what is taken."""
    st.file_uploader(label, key=f"{key}_file", on_change=state.take_upload, args=(key, check))
    refused = state.refusal(key)
    if refused is not None:
        show_refusal(refused)
        shown = state.short_name(state.chosen(key))
        st.caption(f"The page still shows {safe_text(shown, Sink.MARKDOWN)}.")
