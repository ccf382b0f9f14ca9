"""The picture of Schedulers as HTML: boxes worked out here, names made safe."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import pytest

from graphturbo_core.comparison.side_by_side.kept_abilities import SchedulerAbilities
from graphturbo_core.comparison.side_by_side.kernel_picture import (
    WHOLE,
    KernelPicture,
    KernelStretch,
    ModelPart,
    Part,
)
from graphturbo_ui.schedulers.below import abilities_html, head_html, why_html
from graphturbo_ui.schedulers.collecting import SchedulerAnswer, Schedulers
from graphturbo_ui.schedulers.columns import HEIGHT, LEAST_PIXELS, columns_html
from tests.comparison.runs import made_up

EVIL = "<img src=x onerror=alert(1)>"
PARTS = (ModelPart("stem", 0, 0), ModelPart(EVIL, 1, 3))
HALVES: tuple[Part, ...] = ((0.0, 0.5, 0.0, 1.0), (0.5, 1.0, 0.0, 1.0))


@dataclass(frozen=True)
class AskedFor:
    """The part of a request that the picture reads."""

    strategy: str


@dataclass(frozen=True)
class Wanted:
    """A run that is asked for."""

    request: AskedFor


@dataclass(frozen=True)
class Address:
    """Choices by their address."""

    named: list[tuple[str, str]] = field(default_factory=list)

    def address(self) -> list[tuple[str, str]]:
        return self.named


def picture(*stretches: KernelStretch, layers: int = 4) -> KernelPicture:
    return KernelPicture(layers, PARTS, stretches)


def stretch(top: float, foot: float, parts: tuple[Part, ...] = (WHOLE,)) -> KernelStretch:
    return KernelStretch(top, foot, len(parts), parts)


def answer(strategy: str, seconds: float, drawn: KernelPicture, **path: float) -> SchedulerAnswer:
    return SchedulerAnswer(strategy, made_up(strategy, seconds, critical_path=path).figures, drawn)


def of(*answers: SchedulerAnswer, waiting: tuple[str, ...] = ()) -> Schedulers:
    names = (*(each.strategy for each in answers), *waiting)
    wanted = tuple(Wanted(AskedFor(name)) for name in names)
    return Schedulers(wanted, {each.strategy: each for each in answers})  # type: ignore[arg-type]


def html_of(now: Schedulers, window: tuple[int, int] = (0, 3)) -> str:
    return columns_html(now, Address(), window)  # type: ignore[arg-type]


def boxes(html: str) -> list[tuple[str, str]]:
    """Place and fill of each box: top, right, foot, left in per cent of the column."""
    return re.findall(r'class="box(?: many)?" style="inset:([^;]+);--f:([^"]+)"', html)


def test_boxes_stand_at_their_layers_and_samples() -> None:
    """Four layers: the first in two kernels, layers 2 and 3 in one, half of layer 4 each."""
    drawn = picture(stretch(0, 1, HALVES), stretch(1, 3), stretch(3, 3.5), stretch(3.5, 4))
    assert boxes(html_of(of(answer("tvm@2", 1e-3, drawn)))) == [
        ("0% 50% 75% 0%", "var(--g0)"),
        ("0% 0% 75% 50%", "var(--g0)"),
        ("25% 0% 25% 0%", "var(--g1)"),
        ("75% 0% 12.5% 0%", "var(--g1)"),
        ("87.5% 0% 0% 0%", "var(--g1)"),
    ]


def test_a_kernel_of_several_parts_of_the_model_has_bands() -> None:
    """One of four layers is the stem."""
    ((_, fill),) = boxes(html_of(of(answer("tvm@2", 1e-3, picture(stretch(0, 4))))))
    assert fill == "linear-gradient(var(--g0) 0% 25%,var(--g1) 25% 100%)"


def test_layers_of_no_part_are_grey() -> None:
    (found,) = boxes(html_of(of(answer("tvm@2", 1e-3, picture(stretch(4, 5), layers=5))), (0, 4)))
    assert found[1] == "var(--rest)"


def test_too_many_kernels_are_stripes_that_say_how_many() -> None:
    many = KernelStretch(0, 4, 99, (WHOLE,))
    html = html_of(of(answer("tvm@2", 1e-3, picture(many))))
    assert 'class="box many"' in html
    assert 'title="layers 1 to 4: 99 kernels side by side"' in html
    one = html_of(of(answer("tvm@2", 1e-3, picture(stretch(0, 4)))))
    assert 'class="box many"' not in one
    assert 'title="layers 1 to 4: 1 kernel"' in one


def test_only_layers_of_the_window_are_drawn() -> None:
    """Of layers 1 to 4 the last two: a kernel of layers 2 and 3 has its second half there."""
    drawn = picture(stretch(0, 1), stretch(1, 3), stretch(3, 4))
    found = boxes(html_of(of(answer("tvm@2", 1e-3, drawn)), (2, 3)))
    assert [place for place, _ in found] == ["0% 0% 50% 0%", "50% 0% 0% 0%"]


def test_kernels_without_room_share_lines() -> None:
    """At three pixels a layer there is room for one line of its four kernels."""
    count = HEIGHT // LEAST_PIXELS + 40
    parts = tuple(stretch(n / 4, (n + 1) / 4) for n in range(4))
    drawn = KernelPicture(count, (ModelPart("stem", 0, count - 1),), parts)
    found = boxes(html_of(of(answer("glow@2", 1e-3, drawn)), (0, count - 1)))
    assert len(found) == 1
    assert f"--high:{LEAST_PIXELS * count}px" in html_of(of(answer("glow@2", 1, drawn)),
                                                        (0, count - 1))  # fmt: skip


def test_bars_are_a_share_of_the_slowest_and_divided_by_the_critical_path() -> None:
    slow = answer("tvm@2", 8e-3, picture(stretch(0, 4)), dram=6e-3, matrix=2e-3)
    fast = answer("graphturbo@2", 2e-3, picture(stretch(0, 4)), matrix=2e-3)
    html = html_of(of(slow, fast))
    assert re.findall(r'side-bar"><span style="width:([0-9.]+)%', html) == ["100.00", "25.00"]
    assert re.findall(r"flex-grow:([0-9.]+)", html) == ["250.00", "750.00", "1000.00"]
    assert re.findall(r'side-time( best)?">', html) == ["", "", " best"]


def test_a_refusal_and_a_wait_are_said_in_their_columns() -> None:
    refused = SchedulerAnswer("tvm@2", refusal=f"error: TOO_MANY_INSTRUCTIONS: {EVIL}")
    html = html_of(of(refused, waiting=("glow@2",)))
    assert "TOO_MANY_INSTRUCTIONS: &lt;img" in html
    assert "<p>waiting</p>" in html
    stopped = replace(of(refused, waiting=("glow@2",)), is_stopped=True)
    assert "<p>not run</p>" in html_of(stopped)
    assert boxes(html) == []


def test_names_are_made_safe_and_open_explore_with_this_strategy_as_b() -> None:
    now = of(answer("graphturbo:plus@2", 1e-3, picture(stretch(0, 4))))
    named = [("model", EVIL), ("b", "tvm@2"), ("set_b", "x=1"), ("plan_b", "0"), ("a", "glow")]
    html = columns_html(now, Address(named), (0, 3))  # type: ignore[arg-type]
    assert EVIL not in html
    (link,) = re.findall(r'href="([^"]+)"', html)
    assert link.endswith("&amp;a=glow&amp;b=graphturbo%3Aplus%402")
    assert "set_b" not in link
    assert "plan_b" not in link


@pytest.mark.parametrize(("names", "said"), [(0, "All strategies side by side"), (2, "2.0×")])
def test_the_heading_needs_two_runs(names: int, said: str) -> None:
    answers = [answer(f"s{n}@2", (n + 1) * 1e-3, picture(stretch(0, 4))) for n in range(names)]
    assert said in head_html(of(*answers), EVIL)
    assert EVIL not in head_html(of(*answers), EVIL)


def test_the_reasons_are_of_all_but_the_fastest() -> None:
    answers = [answer(name, s, picture(stretch(0, 4)), matrix=s)
               for name, s in (("slow@2", 3e-3), ("fast@2", 1e-3), ("mid@2", 2e-3))]  # fmt: skip
    assert re.findall("<dt>([a-z]+)</dt>", why_html(of(*answers))) == ["mid", "slow"]
    assert why_html(of()) == why_html(of(answers[0])) == ""


def test_the_table_has_a_tick_per_yes_and_its_source() -> None:
    found = SchedulerAbilities(("one", EVIL), {"glow": (True, False), EVIL: (True, True)})
    html = abilities_html(found)
    assert html.count("✓") == 3
    assert "Optimizations.md" in html
    level = SchedulerAbilities(("one",), {"ios:both": (True,)})
    assert "MLSys 2021" in abilities_html(level)
    assert EVIL not in html


def test_the_key_says_what_the_width_stands_for() -> None:
    drawn = picture(stretch(0, 4))
    assert "across the pieces of its split." in html_of(of(answer("tvm@2", 1e-3, drawn)))
    idle = replace(drawn, clusters=4)
    assert "across the chip's 4 clusters" in html_of(of(answer("tvm@2", 1e-3, idle)))


def test_a_stretch_of_two_layers_is_no_line() -> None:
    """The second half of layer 11 and the first half of layer 12, each three pixels high."""
    count = 200
    drawn = KernelPicture(count, (ModelPart("stem", 0, count - 1),), (stretch(10.5, 11.5),))
    thin = KernelPicture(count, drawn.parts, (stretch(10.75, 11.25),))
    for each, place in ((drawn, "5.25% 0% 94.25% 0%"), (thin, "5.375% 0% 94.38% 0%")):
        found = boxes(html_of(of(answer("tvm@2", 1e-3, each)), (0, count - 1)))
        assert [where for where, _ in found] == [place]


def test_the_page_has_a_limit_whatever_the_model() -> None:
    """320 layers in six kernels of 24 pieces each would be 460,800 boxes."""
    parts: tuple[Part, ...] = tuple((n / 24, (n + 1) / 24, 0.0, 1.0) for n in range(24))
    stretches = tuple(stretch(n / 6, (n + 1) / 6, parts) for n in range(6 * 320))
    drawn = KernelPicture(320, (ModelPart("stem", 0, 319),), stretches)
    answers = [answer(f"s{n}@2", 1e-3, drawn) for n in range(10)]
    html = html_of(of(*answers), (0, 319))
    assert len(html) < 2e6
    assert html.count("box many") == 10 * 320


def test_equal_times_are_marked_alike() -> None:
    drawn = picture(stretch(0, 4))
    runs = [answer(f"s{n}@2", s, drawn) for n, s in enumerate((1e-3, 1.001e-3, 2e-3))]
    assert re.findall(r'side-time( best)?">', html_of(of(*runs))) == ["", " best", " best", ""]
