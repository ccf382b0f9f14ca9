"""What-if: numbers of the chip over ranges, what would help most, and the smallest buffers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from graphturbo_ui.session import state, what_if
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.what_if.answers import asked_points, draw, nearest_first, picture
from graphturbo_ui.what_if.below import ToCome, below, progress, show_faults, wait
from graphturbo_ui.what_if.controls import question, question_box, say_searches
from graphturbo_ui.what_if.point_desk import Hands, check_count, shared_point_desk
from graphturbo_ui.what_if.points import Bench

STYLE = Path(__file__).parents[1] / "what_if" / "what_if.css"


def show(choices: Choices) -> None:
    """The whole page.

    Raises:
        GraphTurboError: the chip is refused, or too many points are asked for.
    """
    st.html(STYLE)
    if state.is_presenting():
        st.html(STYLE.with_name("presenting.css"))
    bench = Bench.of(choices)
    with st.container(key="what_if_head", horizontal=True, vertical_alignment="center"):
        ask = question_box()
        progress_place = st.container()
    asked = question(ask, bench)
    points = what_if.asked(choices, asked, lambda: asked_points(bench, asked))
    check_count(points)
    desk, hands = shared_point_desk(), what_if.hands(Hands)
    desk.learn(bench.known(points))
    in_turn = nearest_first(points, asked)
    desk.advance(in_turn, hands)
    answers = desk.answers(points, hands)
    to_come = ToCome.of(points, answers)
    with progress_place:
        place = progress(len(points), to_come, hands)
    say_searches(bench, asked, to_come.searches)
    show_faults(bench, points, answers, hands)
    draw(picture(bench, asked, points, answers))
    below(bench, asked, points, answers)
    if to_come.all and not hands.is_stopped:
        wait(desk, in_turn, hands, place)
