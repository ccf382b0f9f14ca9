"""DOT files: one worked out by hand, hostile names, and every run read back by pydot's parser."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pydot
import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.export.dot import MAX_EDGES, MAX_OPS, dot_text, quoted
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from tests.export.dot_reader import parsed
from tests.export.dot_reports import HOSTILE, edge, group, node, report_of

ROOT = Path(__file__).resolve().parents[2]


def test_two_groups_by_hand() -> None:
    nodes = [node(0, "c", 0, "Conv"), node(1, "r", 1), node(2, "s", 0, "Mul")]
    edges = [edge(-1, 0, "x", "8x3"), edge(0, 1, "t"), edge(0, 2, "t"), edge(0, 2, "t")]
    report = report_of(nodes, edges, [group(0, 4, 0), group(1)])
    assert dot_text(report).split("\n") == [
        "digraph run {",
        'label="m, graphturbo@8 on chip, batch 8";',
        "node [shape=box];",
        "subgraph cluster_0 {",
        'label="g1: 4 pieces along axis 0";',
        r'op0 [label="Conv\nc"];',
        r'op2 [label="Mul\ns"];',
        "}",
        "subgraph cluster_1 {",
        'label="g2: not split";',
        r'op1 [label="Relu\nr"];',
        "}",
        'input0 [label="x", shape=plaintext];',
        'input0 -> op0 [label="8x3"];',
        'op0 -> op1 [label="8x4"];',
        # Mul reads the same tensor twice.
        'op0 -> op2 [label="8x4"];',
        'op0 -> op2 [label="8x4"];',
        "}",
        "",
    ]


def written(label: str) -> str:
    """What Graphviz draws of a label, by its own rules: escapes first, then entities."""
    assert label[0] == label[-1] == '"'
    inner, drawn, at = label[1:-1], "", 0
    while at < len(inner):
        assert inner[at] != '"', "an unescaped quote ends the string"
        if inner[at] == "\\":
            drawn += {"n": "\n", "\\": "\\", '"': '"'}[inner[at + 1]]
        else:
            drawn += inner[at]
        at += 2 if inner[at] == "\\" else 1
    return drawn.replace("&amp;", "&")


def labels(graph: pydot.Graph) -> dict[str, str]:
    """Names and labels of the nodes, those inside of clusters too."""
    found = {each.get_name(): each.get("label") for each in graph.get_nodes()}
    for cluster in graph.get_subgraphs():
        found.update(labels(cluster))
    return {name: str(label) for name, label in found.items() if label is not None}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_drawn_as_it_is_written(name: str) -> None:
    nodes = [node(0, name, 0, name), node(1, "next", 0)]
    edges = [edge(-1, 0, name), edge(0, 1, name)]
    report = report_of(nodes, edges, [group(0, name=name)])
    graph = parsed(dot_text(report))
    found = labels(graph)
    assert sorted(found) == ["input0", "op0", "op1"]
    assert written(found["op0"]) == f"{name}\n{name}"
    assert written(found["input0"]) == name
    (cluster,) = graph.get_subgraphs()
    assert written(str(cluster.get("label"))) == f"{name}: not split"
    assert len(graph.get_edges()) == 2


def test_what_cannot_be_printed_is_seen_as_that() -> None:
    # A nul, an escape, a change of direction, half a surrogate pair, a carriage return.
    assert quoted("a\0b\x1b\u202ec\ud800\r") == '"a\ufffdb\ufffd\ufffdc\ufffd\ufffd"'
    quoted("\ud800").encode()


@pytest.mark.parametrize("strategy", ["layerwise", "graphturbo@4"])
def test_a_run_read_back(strategy: str) -> None:
    request = RunRequest("teaching-resnet", strategy, "generic-4x4", 64)
    report = run_report(load_sample("teaching-resnet"), request)
    graph = parsed(dot_text(report))
    clusters = [
        sorted(written(label).split("\n")[1] for label in labels(cluster).values())
        for cluster in graph.get_subgraphs()
    ]
    groups = report.contract["groups"]
    assert isinstance(groups, list)
    assert clusters == [sorted(each["ops"]) for each in groups]
    shapes = [written(str(each.get("label"))) for each in graph.get_edges()]
    assert sorted(shapes) == sorted(str(row["shape"]) for row in report.tables["graph_edges"])


@pytest.mark.slow
def test_the_same_bytes_whatever_the_hash_seed() -> None:
    script = (
        "import sys\n"
        "from graphturbo_core.export.dot import dot_text\n"
        "from tests.export.dot_reports import HOSTILE, edge, group, node, report_of\n"
        "nodes = [node(i, name, i % 3) for i, name in enumerate(HOSTILE)]\n"
        "edges = [edge(at, i, name) for i, name in enumerate(HOSTILE) for at in (-1, i - 1)]\n"
        "report = report_of(nodes, edges, [group(i) for i in range(3)])\n"
        "sys.stdout.buffer.write(dot_text(report).encode())\n"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_too_many_ops_or_edges_are_refused_by_name() -> None:
    nodes = [node(index, f"n{index}", 0) for index in range(MAX_OPS)]
    dot_text(report_of(nodes, [], [group(0)]))
    with pytest.raises(CapacityError, match=r"5001 ops, a DOT file may have 5000, leave --dot out"):
        dot_text(report_of([*nodes, node(MAX_OPS, "n", 0)], [], [group(0)]))
    with pytest.raises(CapacityError, match="20001 edges") as caught:
        dot_text(report_of(nodes[:2], [edge(0, 1, "t")] * (MAX_EDGES + 1), [group(0)]))
    assert caught.value.code == "DOT_TOO_LARGE"
