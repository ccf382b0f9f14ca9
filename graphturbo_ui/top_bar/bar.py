"""The bar from left to right: pages, model, chip, batch, A, B, settings, theme, Share, Present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import StreamlitPage

from graphturbo_ui.compare import collecting
from graphturbo_ui.jobs import ALWAYS_EMITTED, Source
from graphturbo_ui.session import chips, compared_link, measured, query, run_state, state
from graphturbo_ui.session.choices import EMITTED, Choices, Side
from graphturbo_ui.sizes import Sizes
from graphturbo_ui.top_bar import boxes, labels, page_parts
from graphturbo_ui.top_bar.presets import offer_presets
from graphturbo_ui.top_bar.run_box import DEFAULTS, run_box

FOLDER = Path(__file__).parent
ABOUT = {
    "Explore": "fine against coarse on one screen",
    "Compare": "any number of runs on one scale",
    "Schedulers": "every strategy side by side",
    "Learn": "a lecture in eight steps",
    "Chips": "two chips on one scale, and your own",
    "What-if": "other buffers, bandwidths and batches",
    "Paper": "the paper's results beside ours",
    "Verification": "are the results right?",
}
"""What the menu says of a page, by its title."""
RUNS_TOGETHER = "a"
"""The run behind which the bar says `vs`."""


def choose(pages: Sequence[StreamlitPage]) -> Choices:
    """Draw the bar and give what is chosen; `pages` are those that its menu lists.

    Raises:
        GraphTurboError: an uploaded file is no longer kept.
    """
    st.html(FOLDER / "bar.css")
    if state.is_presenting():
        st.html(FOLDER / "presenting.css")
    with st.container(
        key="top_bar", horizontal=True, wrap=False, vertical_alignment="center", gap=None
    ):
        menu = _popover("menu", "GraphTurbo **Explorer**")
        names = state.chip_names()
        model_box = _popover("model", labels.model_label())
        chip_box = _popover("chip", labels.chip_label(names[0]))
        page_parts.facts(labels.chip_facts(state.shown_value("chip", names[0])))
        batch_box = st.container(key="batch_place", width="content")
        sides = _run_boxes()
        with _popover("settings", "Settings", icon=":material/tune:"):
            settings = boxes.settings_box()
        page_parts.theme_button([page.url_path for page in pages])
        share_box = _popover("share", "Share")
        st.button("Present", type="primary", key="bar_present", on_click=state.present)
        script_place = st.container(key="bar_page_place", width="content")
    with model_box:
        model = boxes.model_box()
        sizes_place = st.container()
        boxes.model_upload()
    with chip_box:
        chip = boxes.chip_box()
    data, digest, sizes = boxes.sizes_of(model)
    with sizes_place:
        dims = boxes.dimension_boxes(sizes)
    with batch_box, _popover("batch", labels.batch_label(sizes)):
        batch = boxes.batch_box(sizes)
        offer_presets(model, dims)
    profile = state.uploaded(chip)
    choices = Choices(
        model=model, chip=chip,
        source=Source.of(data, profile.data if profile else None, digest),
        sides=sides,
        batch=batch,
        dtype=settings.dtype,
        dims=dims,
        verify=settings.verify,
        best=settings.best,
        rewrites=run_state.are_rewrites_searched(),
        skip_passes=settings.skip_passes,
        emit=(*ALWAYS_EMITTED, *(EMITTED if run_state.are_files_wanted() else ())),
        of_pages=(*chips.named(), *measured.named()),
    )  # fmt: skip
    choices = replace(choices, of_pages=(*choices.of_pages, *compared_link.named(choices)))
    with menu:
        _menu(pages, choices)
    with share_box:
        _share(choices)
    with script_place:
        page_parts.page_script(choices.address(), _defaults(sizes))
    return choices


def _defaults(sizes: Sizes) -> dict[str, str]:
    """What each name of the address has where it is left out."""
    return {
        "model": query.DEFAULT_MODEL,
        "chip": state.chip_names()[0],
        "batch": str(sizes.batch),
        **DEFAULTS,
        "dtype": query.DEFAULT_FORMAT,
        **{query.dimension_key(name): str(size) for name, size in sizes.dims.items()},
    }


def _run_boxes() -> dict[str, Side]:
    """The popovers of A and B, with what is chosen in them."""
    sides = {}
    for key in query.RUN_KEYS:
        with _popover(f"run_{key}", labels.run_label(key, DEFAULTS[key])):
            sides[key] = run_box(key)
        if key == RUNS_TOGETHER:
            st.html('<span class="bar-vs">vs</span>', width="content")
    return sides


def _popover(name: str, label: str, icon: str | None = None) -> DeltaGenerator:
    """A popover of the bar, whose label is the present choice."""
    return st.popover(label, key=f"bar_{name}", type="tertiary", icon=icon, wrap=True)


def _menu(pages: Sequence[StreamlitPage], choices: Choices) -> None:
    """The list of pages; their addresses name the choices.

    Streamlit takes along only what widgets in the browser's page are bound to, and those of closed
    popovers are not there.
    """
    for page in pages:
        named = [*choices.address(), *state.shown_views()]
        label = f"{page.title} :small[{ABOUT[page.title]}]" if page.title in ABOUT else None
        st.page_link(page, label=label, width="stretch", query_params=named)
    page_parts.help_link()


def _share(choices: Choices) -> None:
    """The address that restores what is chosen and in sight, and the command of the same runs."""
    page_parts.copy_buttons(choices.link(), choices.command())
    st.caption("This page's address with")
    st.code(choices.link(), language=None, wrap_lines=True)
    st.caption("The same two runs on the command line")
    st.code(choices.command(), language=None, wrap_lines=True)
    st.button(
        "Add A and B to Compare", key="share_compare", on_click=collecting.add_both,
        args=(choices,), icon=":material/playlist_add:",
        help="They join the comparison of the page Compare.",
    )  # fmt: skip
