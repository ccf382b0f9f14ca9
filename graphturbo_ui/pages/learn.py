"""Learn: a lecture in steps, each with a picture that moves, a control and a question."""

from __future__ import annotations

from functools import partial

import streamlit as st

from graphturbo_ui.components.sources import FOLDER, LEARN
from graphturbo_ui.learn.lesson import knobs, lesson
from graphturbo_ui.learn.yours.step import Found, offer, your_step
from graphturbo_ui.session import learn, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.what_if.point_desk import let_go


def show(choices: Choices) -> None:
    """The whole page: one screen, drawn from kept results or from runs of the bar's choices."""
    presenting = state.presenting_query()
    start = learn.place(knobs())
    for style in ("page.css", "presenting.css")[: 1 + bool(presenting)]:
        st.html(FOLDER / LEARN.name / style)
    found = your_step(choices, start.step) if start.is_yours else Found()
    if not found.has_points:
        let_go()
    with st.container(key="learn_place"):
        LEARN.draw(
            lesson(start, presenting, offer(choices, start.step, found)),
            on_place_change=partial(learn.take_place, knobs()),
        )
    if found.wait is not None:
        with st.container(key="learn_wait"):
            found.wait()
