"""Parts of the sub-graphs that share a layer, by the cycles of their work."""

from __future__ import annotations

from graphturbo_core.report.overview.hues import Hues
from graphturbo_core.report.overview.lens import focus_of
from graphturbo_core.report.overview.shared_layers import layer_shares
from graphturbo_core.report.report import Report
from tests.report.overview.made import Issued, in_turn, made_report

MATRIX = 0
GROUPS = [[0], [0, 1]]
KERNELS = [(0, 0, 30), (1, 30, 60)]
ISSUED = [
    Issued(0, 30, MATRIX, 0, kernel=0),
    Issued(30, 10, MATRIX, 0, kernel=1),
    Issued(40, 20, MATRIX, 1, kernel=1),
]


def run_of(groups: list[list[int]], seconds: list[float], latency_s: float) -> Report:
    return made_report(
        groups, seconds, ISSUED, cycles=60, latency_s=latency_s, kernels=KERNELS[: len(groups)]
    )


def test_a_layer_is_divided_by_work() -> None:
    """Layer 0: 30 of 40 cycles in the first sub-graph, 10 in the second."""
    report = run_of(GROUPS, [1.0, 1.0], 60.0)
    assert layer_shares(report, GROUPS) == [[0.75], [0.25, 1.0]]


def test_a_layer_of_one_sub_graph_is_its_own() -> None:
    report = run_of([[0], [1]], [1.0, 1.0], 60.0)
    assert layer_shares(report, [[0], [1]]) == [[1.0], [1.0]]


def test_a_shared_layer_without_work_is_divided_equally() -> None:
    report = run_of([[0, 2], [1, 2]], [1.0] * 3, 60.0)
    assert layer_shares(report, [[0, 2], [1, 2]])[0][1] == 0.5


def test_the_loss_of_a_part_is_against_its_part_of_the_layer() -> None:
    """A takes 40 s for layer 0 and 10 s for layer 1, so 30 and 20 s for B's parts; B 30 s each.

    Against the whole layer both would seem to gain.
    """
    a = made_report([[0], [1]], issued=in_turn(40, 10), cycles=50, latency_s=50.0)
    b = run_of(GROUPS, [40.0, 20.0], 60.0)
    hues = Hues("group", ("one", "two"), (0, 0), (0, 1))
    found = focus_of(a, b, hues)
    assert (found["group"], found["hue"]) == (1, -1)
    assert round(found["loses_s"], 6) == 10
