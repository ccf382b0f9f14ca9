"""Places: ranks by hand, and boxes that never cover each other's ops."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.report.rows import layout
from graphturbo_core.report.rows.layout import pane_places, preferred_places, ranks, stacked

DIAMOND = [(0, 1), (0, 2), (2, 3), (1, 4), (3, 4)]


def test_rank_is_the_longest_path() -> None:
    assert ranks(5, DIAMOND) == [0, 1, 1, 2, 3]
    assert ranks(2, []) == [0, 0]


def test_branches_stand_side_by_side() -> None:
    wanted = preferred_places(5, DIAMOND)
    places = pane_places(ranks(5, DIAMOND), wanted, [0, 1, 2, 2, 3])
    assert len(wanted) == 5
    assert abs(places[1] - places[2]) >= 2
    assert places[2] == places[3]


def test_ops_of_one_sub_graph_and_rank_take_neighbouring_columns() -> None:
    places = pane_places([0, 1, 1, 1, 2], [0.0, 3.0, 1.0, 2.0, 0.0], [0] * 5)
    left = places[0]
    assert [place - left for place in places] == [0, 2, 0, 1, 0]


def test_a_wide_sub_graph_is_centred_below_what_feeds_it() -> None:
    """Three ops side by side that want column 4 in the mean begin at 4 - (3 - 1) / 2 = 3."""
    places = pane_places([0, 1, 1, 1], [4.0, 4.0, 4.0, 4.0], [0, 1, 1, 1])
    assert [place - places[0] for place in places] == [0, -1, 0, 1]


def test_no_ops_and_no_edges() -> None:
    assert pane_places([], [], []) == []
    assert preferred_places(3, []) == [0.0, 0.0, 0.0]


def test_a_box_goes_right_of_another_where_that_is_nearest() -> None:
    """A box of 10 columns from 0, and one of 2 that wants column 8: 11 is nearer than -3."""
    boxes = {0: layout.SubGraphBox(0, 1, 10, 0.0), 1: layout.SubGraphBox(0, 1, 2, 8.0)}
    assert layout._separated(boxes) == {0: 0.0, 1: 11.0}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[int]]:
    """Edges in topological order and a sub-graph for every op (neighbours, as strategies make)."""
    ops = draw(st.integers(2, 25))
    edges = [
        (draw(st.integers(0, target - 1)), target)
        for target in range(1, ops)
        for _ in range(draw(st.integers(0, 3)))
    ]
    cuts = sorted(draw(st.sets(st.integers(1, ops - 1))))
    owner = [sum(cut <= op for cut in cuts) for op in range(ops)]
    return edges, owner


@given(graphs())
def test_boxes_of_sub_graphs_never_meet(case: tuple[list[tuple[int, int]], list[int]]) -> None:
    edges, owner = case
    rank = ranks(len(owner), edges)
    places = pane_places(rank, preferred_places(len(owner), edges), owner)
    boxes = {}
    for sub_graph in set(owner):
        ops = [op for op, own in enumerate(owner) if own == sub_graph]
        boxes[sub_graph] = [
            [min(v[op] for op in ops), max(v[op] for op in ops)] for v in (rank, places)
        ]
    for first, ((top, bottom), (left, right)) in boxes.items():
        for second, ((other_top, other_bottom), (other_left, other_right)) in boxes.items():
            if first < second and top <= other_bottom and other_top <= bottom:
                assert right + 1 <= other_left or other_right + 1 <= left
    assert len({(r, round(x, 3)) for r, x in zip(rank, places, strict=True)}) == len(owner)


@given(graphs())
def test_the_drawing_is_the_same_every_time(case: tuple[list[tuple[int, int]], list[int]]) -> None:
    edges, owner = case
    assert preferred_places(len(owner), edges) == preferred_places(len(owner), list(edges))


@pytest.mark.parametrize(("limit", "drawn"), [(100, 5), (2, 4), (0, 3)])
def test_the_longest_edges_have_no_say_where_all_pass_too_many_ranks(
    monkeypatch: pytest.MonkeyPatch, limit: int, drawn: int
) -> None:
    # A chain of four with two more edges: 0 to 2 crosses one rank, 0 to 3 crosses two.
    edges = [(0, 1), (1, 2), (2, 3), (0, 2), (0, 3)]
    asked: list[list[tuple[int, int]]] = []
    draw = layout.from_edges

    def recorded(edges: list[tuple[int, int]], **options: object) -> object:
        asked.append(edges)
        return draw(edges, **options)

    monkeypatch.setattr(layout, "from_edges", recorded)
    monkeypatch.setattr(layout, "MAX_PASSED", limit)
    assert len(layout.preferred_places(4, edges)) == 4
    assert len(asked[0]) == drawn
    assert {(0, 1), (1, 2), (2, 3)} <= set(asked[0])


def test_a_rank_is_as_tall_as_the_longest_chain_of_parts_in_any_run():
    # the model: ops at ranks 0, 1, 1, 2; the first run makes a chain of three of one at rank 1
    apart = [(0, 0), (1, 0), (1, 1), (1, 2), (1, 0), (2, 0)]
    whole = [(0, 0), (1, 0), (1, 0), (2, 0)]
    assert stacked(apart, whole) == [[0, 1, 2, 3, 1, 4], [0, 1, 1, 4]]
    assert stacked(whole) == [[0, 1, 1, 2]]
    assert stacked([]) == [[]]
