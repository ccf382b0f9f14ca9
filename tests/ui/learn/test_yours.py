"""What the page says of steps on Explore's model: texts, answers to choose from, and pictures."""

from __future__ import annotations

from fractions import Fraction

import pytest

from graphturbo_core.lecture.yours.cutting import TriedCount, YourCut
from graphturbo_core.lecture.yours.traffic import KernelPile, YourTraffic
from graphturbo_core.lecture.yours.waiting import KernelEnd, YourOrder
from graphturbo_ui.learn.yours.cut_step import cut_step
from graphturbo_ui.learn.yours.limit_step import SAME, LbPoint, Stair, limit_step
from graphturbo_ui.learn.yours.order_step import order_step
from graphturbo_ui.learn.yours.runs import LimitPoints
from graphturbo_ui.learn.yours.step import BUG, your_step
from graphturbo_ui.learn.yours.texts import YourStep, answers
from graphturbo_ui.learn.yours.traffic_step import MOST_SQUARES, square_bytes, traffic_step
from graphturbo_ui.session.choices import Choices, Side
from graphturbo_ui.what_if.point_desk import Answer
from graphturbo_ui.what_if.points import AskedPoint

KIB, MIB = 1024, 1024**2
NAMES = {"a": "A · tvm", "b": "B · graphturbo"}


def question_of(step: YourStep) -> tuple[str, list[str]]:
    """The right answer and all of them."""
    assert step.question is not None
    choices = list(step.question.choices)
    assert len(set(choices)) == len(choices) <= 5  # keys 1 to 5
    return choices[step.question.answer], choices


def test_answers_rise_and_equal_texts_are_there_once() -> None:
    assert answers("4", [(2, "2"), (4, "4"), (8, "8")], 4) == (["2", "4", "8"], 1)
    assert answers("1 MiB", [(1.001, "1 MiB")], 1) == (["1 MiB"], 0)
    assert len(answers("0", [(n, str(n)) for n in range(1, 9)], 0)[0]) == 4


def traffic(scale: int) -> YourTraffic:
    causes = {
        "input": 4 * scale,
        "weight_first": 3 * scale,
        "activation": 8 * scale,
        "output": scale,
    }
    pile = KernelPile(1, 1, "conv1", {"input": 4 * scale, "weight_first": 3 * scale}, {})
    more = KernelPile(
        2, 5, "", {"activation": 4 * scale}, {"activation": 4 * scale, "output": scale}
    )
    return YourTraffic(samples=2, kernels=5, causes=causes, piles=(pile, more))


def test_step_1_asks_for_the_needed_bytes() -> None:
    """Of 16 MiB, 4 of inputs, 3 of weights and 1 of results are needed: 8, half of all."""
    step = traffic_step({"a": traffic(MIB), "b": traffic(MIB // 2)}, NAMES)
    assert step.claim == "Over DRAM, A moves 16 MiB per cluster, B 8 MiB"
    assert question_of(step) == ("8 MiB", ["4 MiB", "8 MiB", "16 MiB"])
    assert step.question is not None
    assert "Inputs of 4 MiB, weights of 3 MiB and results of 1 MiB: 8 MiB" in step.question.why
    assert step.takeaway == "Of what A moves, 50 % is redundant; of what B moves, 50 %."
    assert [value.result for value in step.knob.values] == [
        "16 MiB cross DRAM in 5 kernels. 8 MiB of them are results that another kernel reads.",
        "8 MiB cross DRAM in 5 kernels. 4 MiB of them are results that another kernel reads.",
    ]
    assert step.data["runs"]["a"]["has_several"]  # type: ignore[index]


def test_squares_of_step_1_are_few_and_have_all_bytes() -> None:
    data = traffic_step({"a": traffic(MIB), "b": traffic(MIB // 2)}, NAMES).data
    unit, a = data["unit"], data["runs"]["a"]  # type: ignore[index]
    assert unit == square_bytes(16 * MIB) == 128 * KIB
    assert a["dram"] / KIB == 16 * MIB / unit == 128
    sizes = [size for k in a["kernels"] for way in ("reads", "writes") for _, size in k[way]]
    assert sum(sizes) == a["dram"] == sum(a["causes"].values())
    assert [kernel["names"] for kernel in a["kernels"]] == [["conv1", "1"], ["kernels 2–5", "2–5"]]
    assert square_bytes(1) == KIB
    for most in (MOST_SQUARES * KIB, MOST_SQUARES * KIB + 1, 10**13):
        assert most / square_bytes(most) <= MOST_SQUARES


def a_cut(pieces: int, *tried: int, capacity: int = 16 * KIB, whole: int = 48 * KIB) -> YourCut:
    counts = tuple(TriedCount(count, whole // count) for count in tried)
    return YourCut("g1", 2, 8, 4, capacity, whole, pieces, counts)


def test_step_2_offers_the_count_that_bytes_alone_would_ask_for() -> None:
    """48 into 16: three by bytes, but eight samples are cut into 1, 2, 4 or 8."""
    step = cut_step(a_cut(4, 1, 2, 4, 8))
    assert question_of(step) == ("4", ["2", "3", "4", "8"])
    assert [value.is_hidden for value in step.knob.values] == [False, True, True, True]
    assert step.knob.revealed == "4"
    marks = [(each["pieces"], each["fits"]) for each in step.data["candidates"]]  # type: ignore[index,attr-defined]
    assert marks == [(1, False), (2, False), (4, True), (8, True)]
    ends = [value.result.split(". ", 1)[1] for value in step.knob.values]
    assert ends == [
        "The LBs have 16 KiB: refused.",
        "The LBs have 16 KiB: refused.",
        "The LBs have 16 KiB: it fits.",
        "It fits too, but each further piece costs a launch.",
    ]


def test_step_2_says_where_only_a_core_s_part_does_not_fit() -> None:
    step = cut_step(a_cut(4, 1, 2, 4, whole=24 * KIB))
    assert "a core's part does not fit its own" in step.knob.values[1].result


def test_squares_of_step_2_are_few() -> None:
    unit = cut_step(a_cut(8, 1, 8, whole=2**40, capacity=MIB)).data["unit"]
    assert 2**40 / unit <= 640  # type: ignore[operator]


def order(*waiting: int) -> YourOrder:
    kernels = [KernelEnd(f"g1/{n}", 0, n, n + 1, size) for n, size in enumerate(waiting)]
    return YourOrder(cycles=len(waiting), gb_bytes=8 * MIB, kernels=tuple(kernels))


@pytest.mark.parametrize(
    ("depth", "breadth", "said"),
    [
        (2, 4, "Same pieces, another order: 2 MiB wait instead of 4 MiB."),
        (4, 4, "In either order 4 MiB wait: here the order makes no difference in GB."),
        (4, 2, "Here depth first has more to wait: 4 MiB against 2 MiB."),
    ],
)
def test_step_4_says_which_order_has_less_to_wait(depth: int, breadth: int, said: str) -> None:
    orders = {"depth": order(MIB, depth * MIB, 0), "breadth": order(breadth * MIB, 0)}
    step = order_step(orders, {"depth": [0], "breadth": [0]})
    assert step.takeaway == said
    right, choices = question_of(step)
    assert right == f"{depth} MiB"
    assert f"{breadth} MiB" in choices


def point(factor: float, a: float | None, b: float | None) -> LbPoint:
    return LbPoint(f"x{factor:g}", f"{factor:g} MiB", factor, a, b)


STAIRS = [Stair("layerwise", "One kernel per op", 9.0, 100), Stair("tvm", "Fused", None, 0)]


def limits(*points: LbPoint) -> YourStep:
    return limit_step(STAIRS, points, 1.0, NAMES)


def test_step_8_asks_at_the_smallest_lb_at_which_both_run() -> None:
    points = (point(0.25, 5, None), point(0.5, 3, 4), point(1, 4, 2), point(2, 4, 1))
    step = limits(*points)
    assert step.claim == "B is 2.00 times as fast, and takes 2.00 times the lower bound"
    assert question_of(step) == ("A", ["A", "B", SAME])
    assert step.question is not None
    assert step.question.ask == "With an LB of 0.5 MiB per core, which is faster?"
    assert step.data["hidden"] == ["x0.25", "x0.5"]
    assert (step.knob.first, step.knob.revealed) == ("x1", "x0.5")
    assert step.takeaway == "A is faster where LB has 0.5 MiB."
    assert step.knob.values[0].result == "A 5 s, B refused."


def test_step_8_in_part_has_the_staircase_and_no_question() -> None:
    step = limit_step(STAIRS, [point(1, 4, 2)], 1.0, NAMES, is_partial=True)
    shown = step.shown(8)
    assert shown["is_partial"] is True and shown["question"] is None
    assert step.takeaway.startswith("Other sizes of LB are being simulated")
    assert [each["text"] for each in step.data["stairs"]] == ["9 s", "refused"]  # type: ignore[attr-defined]
    assert limits(point(1, 4, 2)).shown(8)["is_partial"] is False


def test_step_8_without_another_size_asks_nothing() -> None:
    step = limits(point(0.5, None, None), point(1, 2, 2.01))
    assert step.question is None
    assert step.claim == "A and B take 2.01 s, 2.01 times the lower bound"
    assert step.takeaway == "B is not slower at any size at which both run."
    assert (
        limits(point(1, 2, 1), point(2, 2, 1)).takeaway == "B is not slower at any of these sizes."
    )
    assert limits(point(1, 1, 3)).claim.startswith("A is 3.00 times as fast")
    assert limits(point(1, 1, None)).claim == "Coarse wins while its pieces fit"
    stairs = step.data["stairs"]
    assert [each["text"] for each in stairs] == ["9 s", "refused"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("faulty", [0, 1])
def test_step_8_names_a_bug_of_a_run_wherever_it_is(
    faulty: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in the staircase or at an LB is an error of ours, never a limit of the chip."""
    answers = [Answer(figures={"latency_s": 1.0, "lower_bound_s": 1.0}) for _ in range(2)]
    answers[faulty] = Answer(fault="ZeroDivisionError")
    asked = AskedPoint.__new__(AskedPoint)
    found = LimitPoints(
        {"tvm": (asked, answers[0])}, {Fraction(1): ((asked, answers[1]),)}, {Fraction(1): "1 MiB"}
    )
    monkeypatch.setattr("graphturbo_ui.learn.yours.runs.limit_points", lambda _: found)
    sides = {"a": Side("tvm", {}), "b": Side("graphturbo", {})}
    choices = Choices("m", "c", object(), sides, 8, "fp16", {}, verify=False)  # type: ignore[arg-type]
    assert your_step(choices, 8).why == BUG
