"""The drawing of one sub-graph: its ops, what comes in, what goes out, and no name as DOT."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.group_dot import MAX_OPS, group_dot_text
from graphturbo_core.report.report import Report
from tests.export.dot_reader import parsed
from tests.ui.synthetic import synthetic_report


def node(index: int, group: int, name: str = "") -> dict[str, object]:
    return {"index": index, "op": name or f"op{index}", "op_type": "Add", "group": group}


def edge(source: int, target: int, tensor: str) -> dict[str, object]:
    return {"source": source, "target": target, "tensor": tensor, "shape": f"{source + 2}x3"}


def report(*nodes: dict[str, object], edges: tuple[dict[str, object], ...]) -> Report:
    made = synthetic_report()
    groups = ({"name": "g1"}, {"name": "g2"}, {"name": "g3"})
    tables = {**made.tables, "graph_nodes": nodes, "graph_edges": edges, "groups": groups}
    return replace(made, tables=tables)


def parts(text: str) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Labels of the nodes by id, and the edges with theirs."""
    graph = parsed(text)
    nodes = {
        each.get_name(): str(each.get_label())
        for each in graph.get_nodes()
        if each.get_name() not in ("node", "edge", '"\\n"')
    }
    edges = [
        (str(each.get_source()), str(each.get_destination()), str(each.get_label()))
        for each in graph.get_edges()
    ]
    return nodes, sorted(edges)


CHAIN = report(
    node(0, 0), node(1, 1), node(2, 1), node(3, 2),
    edges=(
        edge(-1, 0, "x"), edge(0, 1, "a"), edge(1, 2, "b"), edge(0, 2, "a"), edge(2, 3, "c"),
        edge(1, 3, "b"),
    ),
)  # fmt: skip


def test_a_group_is_drawn_with_what_comes_in_and_goes_out() -> None:
    nodes, edges = parts(group_dot_text(CHAIN, 1))
    assert nodes == {
        "1": '"Add\\nop1"', "2": '"Add\\nop2"', "4": '"a"', "5": '"c"', "6": '"b"',
    }  # fmt: skip
    assert edges == [
        ("1", "2", '"3x3"'), ("1", "6", '"3x3"'), ("2", "5", '"4x3"'), ("4", "1", '"2x3"'),
        ("4", "2", '"2x3"'),
    ]  # fmt: skip


def test_a_graph_input_comes_from_outside() -> None:
    nodes, edges = parts(group_dot_text(CHAIN, 0))
    assert nodes == {"0": '"Add\\nop0"', "4": '"x"', "5": '"a"'}
    assert edges == [("0", "5", '"2x3"'), ("4", "0", '"1x3"')]


def test_two_tensors_between_two_ops_are_two_edges() -> None:
    both = report(node(0, 0), node(1, 0), edges=(edge(0, 1, "q"), edge(0, 1, "k")))
    assert parts(group_dot_text(both, 0))[1] == [("0", "1", '"2x3"')] * 2


def test_names_are_shown_as_asked_and_are_no_dot() -> None:
    text = group_dot_text(
        report(node(0, 0, '"]; evil -> x; "'), edges=(edge(-1, 0, "x"),)),
        0,
        show=lambda name: f"<{name}>",
    )
    nodes, edges = parts(text)
    assert nodes == {"0": '"Add\\n<\\"]; evil -> x; \\">"', "1": '"<x>"'}
    assert len(edges) == 1


def test_lines_and_texts_have_the_colour_of_the_page() -> None:
    text = group_dot_text(CHAIN, 1, ink="#e6edf5")
    assert text.count('"#e6edf5"') == 4
    assert "black" not in text


def test_a_large_group_is_refused() -> None:
    fits = [node(index, 0) for index in range(MAX_OPS)]
    group_dot_text(report(*fits, edges=()), 0)
    with pytest.raises(CapacityError) as caught:
        group_dot_text(report(*fits, node(MAX_OPS, 0), edges=()), 0)
    assert caught.value.code == "GROUP_TOO_LARGE"
