"""The lens: which prefetch is pointed out, and which stretch is magnified first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.report.overview.hues import BANDED, Hues
from graphturbo_core.report.overview.lens import ZOOM, callout, first_window, focus_of
from graphturbo_core.report.report import Report
from tests.report.overview.made import (
    ACTIVATION,
    DMA,
    MATRIX,
    MOVE,
    WEIGHT,
    Issued,
    in_turn,
    made_report,
)
from tests.report.overview.reports import report_of

COMPUTES = [Issued(0, 40, MATRIX, 1), Issued(40, 60, MATRIX, 2)]
FOUR = [[0, 1], [2, 3, 4]]


def prefetch(start: int, hold: int, layer: int, size: int = 8, tensor: int = WEIGHT) -> Issued:
    return Issued(start, hold, DMA, layer, tensor, size)


def test_the_prefetch_with_most_lead_times_length_is_pointed_out() -> None:
    # Layer 3 arrives two layers ahead for 15 cycles: 30; layer 2 one ahead for 35: 35.
    report = made_report(FOUR, issued=[*COMPUTES, prefetch(10, 15, 3), prefetch(2, 35, 2)])
    assert callout(report) == [
        {"layer": 2, "computes": 1, "from_cycle": 2, "to_cycle": 37, "bytes": 8}
    ]
    # Ten cycles more and layer 3 is first: 50.
    report = made_report(FOUR, issued=[*COMPUTES, prefetch(10, 25, 3), prefetch(2, 35, 2)])
    assert callout(report)[0]["layer"] == 3


def test_the_pieces_of_a_layer_s_weights_are_one_prefetch_per_kernel() -> None:
    issued = [*COMPUTES, prefetch(10, 5, 3, 8), prefetch(20, 10, 3, 4)]
    assert callout(made_report(FOUR, issued=issued)) == [
        {"layer": 3, "computes": 1, "from_cycle": 10, "to_cycle": 30, "bytes": 12}
    ]
    issued = [*COMPUTES, prefetch(10, 5, 3, 8), prefetch(20, 10, 3, 4)._replace(kernel=1)]
    assert callout(made_report(FOUR, issued=issued))[0]["bytes"] == 4


def test_a_prefetch_below_a_hundredth_of_the_bytes_is_not_pointed_out() -> None:
    most, least = prefetch(10, 15, 3, 8), prefetch(2, 35, 2, 1)
    other = Issued(70, 5, DMA, 3, ACTIVATION, 91)
    found = callout(made_report(FOUR, issued=[*COMPUTES, most, least, other]))
    assert [row["layer"] for row in found] == [2]
    other = other._replace(dram_bytes=92)
    found = callout(made_report(FOUR, issued=[*COMPUTES, most, least, other]))
    assert [row["layer"] for row in found] == [3]


def test_another_weight_of_the_layer_does_not_stretch_a_prefetch() -> None:
    """A bias that is fetched much later: nothing of the first weight arrives meanwhile."""
    issued = [*COMPUTES, prefetch(10, 15, 3), prefetch(70, 1, 3, 2)]
    report = made_report(FOUR, issued=issued)
    assert callout(report)[0]["to_cycle"] == 71
    tensors = ({"kind": "weight"}, *report.tables["tensors"])
    moved = report.arrays["moved_tensor"] + 1
    moved[-1] = 0
    apart = replace(
        report,
        arrays={**report.arrays, "moved_tensor": moved},
        tables={**report.tables, "tensors": tensors},
    )
    assert callout(apart) == [
        {"layer": 3, "computes": 1, "from_cycle": 10, "to_cycle": 25, "bytes": 8}
    ]


def test_the_layer_that_computes_most_meanwhile_is_named() -> None:
    # 30–60: ten cycles of layer 1, twenty of layer 2.
    (found,) = callout(made_report(FOUR, issued=[*COMPUTES, prefetch(30, 30, 4)]))
    assert found["computes"] == 2
    (found,) = callout(made_report(FOUR, issued=[*COMPUTES, prefetch(20, 30, 4)]))
    assert found["computes"] == 1
    # Of two that compute as long the later one: 35–45.
    (found,) = callout(made_report(FOUR, issued=[*COMPUTES, prefetch(35, 10, 4)]))
    assert found["computes"] == 2


@pytest.mark.parametrize(
    "other",
    [
        prefetch(10, 20, 3, tensor=ACTIVATION),
        Issued(10, 20, MOVE, 3, WEIGHT, gb_bytes=8),
        prefetch(10, 20, 1),
        prefetch(200, 20, 3),
    ],
    ids=["activation", "from GB", "its own layer computes", "nothing computes"],
)
def test_what_is_no_prefetch_is_not_pointed_out(other: Issued) -> None:
    assert callout(made_report(FOUR, issued=[*COMPUTES, other])) == []


def test_a_real_prefetch_arrives_while_an_earlier_layer_computes() -> None:
    report = report_of("graphturbo@16")
    (found,) = callout(report)
    arrays = report.arrays
    kinds = [row["kind"] for row in report.tables["engines"]]
    busy = dict.fromkeys(range(len(report.tables["layers"])), 0)
    for start, hold, engine, layer in zip(
        *(arrays[name].tolist() for name in ("start", "hold", "engine", "layer")), strict=True
    ):
        if kinds[engine] == "matrix":
            inside = min(start + hold, found["to_cycle"]) - max(start, found["from_cycle"])
            busy[layer] += max(0, inside)
    assert busy[found["computes"]] == max(busy.values())
    assert found["computes"] < found["layer"]
    assert callout(report_of("tvm@16")) == []


STAGES = Hues("stage", ("one", "two", "three"), (0, 0, 1, 1, 2), (BANDED,))
GROUPS = Hues("group", ("one", "two"), (0, 0, 1, 1, 1), (0, 1))


def pair(
    a_seconds: float, issued: list[Issued], groups: list[list[int]] = FOUR, b_seconds: float = 1.2
) -> tuple[Report, Report]:
    """B takes 1200 cycles, a millisecond each; of A's time every layer has a fifth."""
    of_a = in_turn(*[200] * 5) if len(groups) > 1 else issued
    a = made_report([[n] for n in range(5)], issued=of_a, cycles=1000, latency_s=a_seconds)
    b = made_report(groups, issued=issued, cycles=1200, latency_s=b_seconds)
    return a, b


def window(a_seconds: float, issued: list[Issued]) -> tuple[float, float]:
    a, b = pair(a_seconds, issued)
    return first_window(a, b, GROUPS, focus_of(a, b, GROUPS))


def test_a_short_run_is_magnified_as_a_whole() -> None:
    assert window(2.4, COMPUTES) == (0, 1200)


def test_a_longer_one_where_what_takes_longest_begins() -> None:
    # B is faster. Layers 2 to 4 load at 600 and compute from 650; a twelfth of 1200 cycles.
    issued = [Issued(0, 40, MATRIX, 0), Issued(600, 50, DMA, 3), Issued(650, 90, MATRIX, 2)]
    assert ZOOM == 12
    assert focus_of(*pair(1.9, issued), GROUPS) == {"group": 1, "hue": -1, "loses_s": 0}
    assert window(1.9, issued) == (600, 700)
    # Where none of them computes: from their first instruction.
    assert window(1.9, issued[:2]) == (550, 650)
    # Never beyond the ends of the run.
    assert window(1.9, [Issued(10, 600, MATRIX, 2)]) == (0, 100)
    assert window(1.9, [Issued(1190, 5, MATRIX, 2)]) == (1100, 1200)


def test_a_slower_one_where_the_sub_graph_begins_that_loses_most() -> None:
    # A has two and three fifths of 0.9 s: 0.36 s and 0.54 s. B takes 0.4 s and 0.7 s.
    issued = [Issued(100, 400, MATRIX, 0), Issued(500, 700, MATRIX, 2)]
    a, b = pair(0.9, issued)
    found = focus_of(a, b, GROUPS)
    assert (found["group"], found["hue"]) == (1, -1)
    assert found["loses_s"] == pytest.approx(0.16)
    # A's first sub-graph in 0.16 s, its second in 0.9 s: then the first one loses.
    of_a = in_turn(80, 80, 300, 300, 300)
    a = made_report([[n] for n in range(5)], issued=of_a, cycles=1100, latency_s=1.1)
    found = focus_of(a, b, GROUPS)
    assert found["group"] == 0
    assert found["loses_s"] == pytest.approx(0.24)
    assert first_window(a, b, GROUPS, found) == (50, 150)


def test_layers_of_one_round_count_for_all_samples() -> None:
    a, b = pair(0.9, COMPUTES)
    rounds = ({"count": 2, "samples": 4, "is_drawn": True},)
    own = in_turn(*[100] * 5)
    twice = made_report(
        [[n] for n in range(5)], issued=own, cycles=500, latency_s=0.9, rounds=rounds
    )
    assert focus_of(twice, b, GROUPS)["loses_s"] == pytest.approx(focus_of(a, b, GROUPS)["loses_s"])


def test_one_sub_graph_where_the_hue_begins_that_loses_most() -> None:
    whole = [[0, 1, 2, 3, 4]]
    one = [Issued(0, 300, MATRIX, 0), Issued(300, 300, MATRIX, 2), Issued(600, 400, MATRIX, 4)]
    two = [Issued(0, 100, MATRIX, 0), Issued(100, 700, MATRIX, 2), Issued(800, 400, MATRIX, 4)]
    a, _ = pair(1.0, one, whole)
    _, b = pair(1.0, two, whole)
    # A: 0.3, 0.3 and 0.4 s of 1000 cycles; B: 0.1, 0.7 and 0.4 s of 1200.
    found = focus_of(a, b, STAGES)
    assert (found["group"], found["hue"]) == (-1, 1)
    assert found["loses_s"] == pytest.approx(0.4)
    assert first_window(a, b, STAGES, found) == (50, 150)
    # B in 0.6 s is faster; the same stage takes longest.
    _, b = pair(1.0, two, whole, 0.6)
    assert focus_of(a, b, STAGES) == {"group": -1, "hue": 1, "loses_s": 0}
