"""What-if without a browser: points, pictures and sentences of hand-made answers."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import pytest

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import parse_profile
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.sweep.axes import axes_of
from graphturbo_core.sweep.knobs import KNOBS, Knob
from graphturbo_core.sweep.tasks import points_of, run_at
from graphturbo_ui.jobs import run_key
from graphturbo_ui.runs import Source
from graphturbo_ui.session import query
from graphturbo_ui.session.choices import Choices, Side
from graphturbo_ui.session.what_if import FIGURES, GAINS, RANGE
from graphturbo_ui.what_if.answers import asked_points, nearest_first
from graphturbo_ui.what_if.below import commands
from graphturbo_ui.what_if.buffer_sizes import buffer_figure, sizes_of
from graphturbo_ui.what_if.controls import Question, without_batches
from graphturbo_ui.what_if.curve import Ink, Series, colours_of, curve_figure, knee_of
from graphturbo_ui.what_if.gain_bars import changes_of, gain_figure, gains_of, left_out, ranked
from graphturbo_ui.what_if.heat_map import heat_map_figure
from graphturbo_ui.what_if.metrics import METRICS
from graphturbo_ui.what_if.point_desk import MOST_POINTS, Answer, check_count
from graphturbo_ui.what_if.points import (
    Bench,
    Span,
    Variant,
    factors_between,
    strategy_names,
)
from graphturbo_ui.what_if.words import (
    buffer_sentence,
    curve_notes,
    curve_sentence,
    gain_notes,
    gain_sentence,
    map_sentence,
)

MODEL, CHIP, INK = "teaching-resnet", "generic-4x4", Ink("light", "#000000")
SIDES = {"a": Side("tvm@2", {}), "b": Side("graphturbo@2", {"lowering.pool_share": "0.3"})}


def knob(label: str) -> Knob:
    return next(each for each in KNOBS if each.label == label)


def bench(sides: Mapping[str, Side] = SIDES, **more: object) -> Bench:
    source = Source.of(load_sample(MODEL), None)
    return Bench.of(Choices(MODEL, CHIP, source, sides, 8, "fp16", {}, verify=False, **more))


def answer(speed: float, kernels: int = 3, dram_mib: float = 1.0, batch: int = 2) -> Answer:
    return Answer(
        {
            "throughput_per_s": speed, "latency_s": 8 / speed, "lower_bound_s": 4 / speed,
            "batch": 8, "kernels": kernels, "instructions": 10, "cluster_batch": batch,
            "gap": 2.0, "mac_utilization": 0.5, "dram_read_bytes": int(dram_mib * 2**20),
            "dram_write_bytes": 0,
        }
    )  # fmt: skip


REFUSED = Answer(refusal="error: NO_ROOM: it does not fit")
GB = Span(knob("GB size"), 2**21, factors_between(-2, 1))  # 512 KiB, 1 MiB, 2 MiB, 4 MiB


def series(name: str, *answers: Answer | None) -> Series:
    """Answers of `B · gt`, or of a strategy."""
    letter, dot, strategy = name.rpartition(" · ")
    variant = Variant(strategy, {}, letter) if dot else Variant(name)
    return Series(variant, "#123456", answers, [f"{name} {n}" for n in range(len(answers))])


def speeds(name: str, *found: float) -> Series:
    return series(name, *map(answer, found))


def test_every_metric_by_hand() -> None:
    """10 samples/s; 8 samples in 800 ms; 2 MiB of 8 samples; a half; 400 ms of 800 ms."""
    figures = answer(10, dram_mib=2).figures
    values = [metric.value(figures) for metric in METRICS]
    assert values == pytest.approx([10, 800, 0.25, 50, 50])


def test_a_span_has_each_number_once_and_the_chips_own() -> None:
    assert GB.numbers == (2**19, 2**20, 2**21, 2**22)
    assert GB.texts == ("512 KiB", "1 MiB", "2 MiB", "4 MiB")
    assert GB.own_place == 2
    dma = Span(knob("DMA engines"), 1, factors_between(-3, 1))
    assert dma.numbers == (1, 2)  # parts of one engine are one engine
    assert factors_between(0, 1, is_fine=True) == (1, Fraction(3, 2), 2)


def test_points_are_the_runs_of_the_sweep_with_their_sides_options() -> None:
    points = bench().points([GB], bench().variants([]))
    assert len(points) == 8
    assert [point.request.strategy for point in points[:2]] == ["tvm@2", "graphturbo@2"]
    assert dict(points[0].request.options) == {}
    assert dict(points[1].request.options) == {"lowering.pool_share": "0.3"}
    sizes = [parse_profile(p.source.profile or b"", CHIP).gb_bytes for p in points[::2]]
    assert sizes == list(GB.numbers)
    assert len({point.key for point in points}) == 8


def test_without_a_choice_a_and_b_are_run_each_with_its_options() -> None:
    a, b = bench().variants([])
    assert (a.name, a.who, dict(a.options)) == ("A · tvm@2", "A", {})
    assert (b.name, b.who) == ("B · graphturbo@2", "B")
    assert dict(b.options) == {"lowering.pool_share": "0.3"}
    (other,) = bench().variants(["layerwise"])
    assert (other.name, other.who, dict(other.options)) == ("layerwise", "layerwise", {})


def test_one_strategy_with_two_sets_of_options_is_two_variants() -> None:
    same = {"a": Side("tvm@2", {}), "b": Side("tvm@2", {"lowering.pool_share": "0.3"})}
    assert [each.name for each in bench(same).variants([])] == ["A · tvm@2", "B · tvm@2"]
    equal = {"a": Side("tvm@2", {}), "b": Side("tvm@2", {})}
    assert [each.name for each in bench(equal).variants([])] == ["A · tvm@2"]


def test_a_side_bound_to_a_plan_has_no_letter() -> None:
    sides = {"a": Side("tvm@2", {}), "b": Side("graphturbo@2", {}, plan="x", plan_digest="y")}
    assert [each.name for each in bench(sides).variants([])] == ["A · tvm@2", "graphturbo@2"]


def test_a_search_of_a_side_runs_where_it_is_named() -> None:
    sides = {"a": Side("best", {}), "b": Side("graphturbo@2", {})}
    assert [each.name for each in bench(sides).variants([])] == ["B · graphturbo@2"]
    named = bench(sides).variants(["best", "tuned"])
    assert [each.name for each in named] == ["A · best", "tuned"]
    (point,) = bench(sides).at([], named[:1])
    assert point.request.strategy == "best" and set(bench(sides).known([point])) == {point.key}


def test_a_varied_cluster_batch_replaces_that_of_a_strategy() -> None:
    here = bench({"a": Side("graphturbo@1", {}), "b": Side("graphturbo@2", {})})
    span = Span(knob("Cluster batch"), 2, factors_between(-1, 2), here.most(knob("Cluster batch")))
    assert here.own(span.knob) == 2  # that of B
    assert span.numbers == (1, 2)  # 8 samples on 4 clusters: no cluster has more than 2
    variants = without_batches(here.variants([]))
    assert [each.name for each in variants] == ["graphturbo"]
    points = here.points([span], variants)
    assert [point.request.strategy for point in points] == ["graphturbo@1", "graphturbo@2"]


def test_runs_of_explore_are_known_at_the_chip_as_it_is() -> None:
    here = bench()
    points = here.points([GB], here.variants([]))
    known = here.known(points)
    assert set(known) == {points[4].key, points[5].key}  # 2 MiB, both strategies
    assert known[points[4].key][0] == here.choices.request("a")


def test_another_model_or_format_is_not_the_run_of_explore() -> None:
    """An upload may have a sample's name: its file decides."""
    here = bench()
    other = Source.of(load_sample("dlrm"), None)
    named_so = Bench.of(replace(here.choices, source=other))
    points = named_so.points([GB], here.variants([]))
    assert here.known(points) == {}
    skipped = Bench.of(replace(here.choices, dtype="int8"))
    assert here.known(skipped.points([GB], here.variants([]))) == {}


def test_points_near_the_chip_come_first() -> None:
    asked = Question(RANGE, (Variant("tvm@2"),), (GB,))
    points = asked_points(bench(), asked)
    order = [dict(p.point.values)["cluster.gb_bytes"] for p in nearest_first(points, asked)]
    assert order == [2**21, 2**20, 2**22, 2**19]


def test_every_strategy_is_a_choice() -> None:
    names = strategy_names(bench().choices)
    assert names[:2] == ["tvm@2", "graphturbo@2"]
    assert {"best", "tuned", "graphturbo:plus", "layerwise"} <= set(names)
    assert [name for name in names if query.is_search(name)] == ["taso-like", "best", "tuned"]
    assert query.is_search("tuned@2") and not query.is_search("none")


def test_typed_numbers_count_instead_of_multiples() -> None:
    typed = replace(GB, typed=(2**20, 3 * 2**20))
    assert typed.texts == ("1 MiB", "3 MiB") and typed.own_place is None
    lb = Span(knob("LB size"), 2**18, factors_between(-1, 1), typed=(2**18, 3 * 2**17))
    assert lb.axis.values == ("x1", "x3/2") and lb.numbers == (2**18, 3 * 2**17)
    assert lb.own_place == 0
    points = bench().points([typed], bench().variants([]))
    sizes = [parse_profile(p.source.profile or b"", CHIP).gb_bytes for p in points[::2]]
    assert sizes == [2**20, 3 * 2**20]
    # the chip's 2 MiB is no point, and the picture has it where it lies between two
    found = speeds("B · gt", 50, 100)
    texts = [e.text for e in curve_figure(typed, [found], METRICS[0], "#000").layout.annotations]
    assert texts == ["the chip: 2 MiB"]
    beyond = replace(GB, typed=(2**22, 2**23))
    assert not curve_figure(beyond, [found], METRICS[0], "#000").layout.annotations
    assert curve_sentence(typed, [found]) == "GB size: B has 95 % of its best speed at 3 MiB"


FAULTY = Answer(fault="KeyError: '<b>x'")


def test_a_bug_is_shown_apart_from_refusals() -> None:
    found = series("B · gt", REFUSED, FAULTY, answer(10), answer(10))
    figure = curve_figure(GB, [found], METRICS[0], "#000")
    marks = {trace.name: trace for trace in figure.data}
    assert list(marks["refused"].x) == [2**19] and list(marks["bug of ours"].x) == [2**20]
    assert "KeyError: &#x27;&lt;b&gt;x" in marks["bug of ours"].customdata[0]
    assert marks["refused"].marker.symbol != marks["bug of ours"].marker.symbol
    (note,) = [each for each in curve_notes(GB, [found]) if "refused" in each]
    assert "512 KiB" in note and "1 MiB" not in note
    lb = Span(knob("LB size"), 2**18, factors_between(0, 0))
    assert list(heat_map_figure([lb, GB], [found], METRICS[0], INK).data[0].text[0]) == [
        "refused", "bug", "10", "10",
    ]  # fmt: skip


def test_nothing_is_faster_than_a_run_with_a_bug() -> None:
    a, b = speeds("A · tvm", 5, 5, 5, 5), series("B · gt", FAULTY, *map(answer, (9, 9, 9)))
    notes = curve_notes(GB, [a, b])
    assert notes[0] == "B is faster, except at 512 KiB: a run met a bug."
    equal = speeds("A · tvm", 5, 5, 9, 5)
    assert curve_notes(GB, [equal, b])[0] == (
        "B is faster, except at 2 MiB: equally fast; at 512 KiB: a run met a bug."
    )
    same = speeds("A · tvm", 9, 9, 9, 9)
    assert curve_notes(GB, [same, b])[0] == (
        "All are equally fast, except at 512 KiB: a run met a bug."
    )
    texts = [e.text for e in curve_figure(GB, [a, b], METRICS[0], "#000").layout.annotations]
    assert texts == ["the chip: 2 MiB"]


def test_a_bug_on_the_chip_as_it_is_is_said() -> None:
    changes = changes_of(bench(), Fraction(2))[:2]
    found = [series("B · gt", FAULTY, answer(6))]
    gains = [gains_of(answer(5), found[0].answers)]
    assert list(gain_figure(changes, found, [answer(5)], gains).data[0].text) == ["+20 %", "bug"]
    none = [gains_of(FAULTY, found[0].answers)]
    assert gain_sentence(changes, found, [FAULTY], none) == (
        "A bug of ours ends B on the chip as it is"
    )
    sizes = sizes_of(bench(), [GB], {"m": [answer(1)] * 4}, {"m": FAULTY})
    assert buffer_sentence(sizes, ["m"]) == (
        "On the chip as it is, a bug of ours ends the run of m"
    )


def test_too_many_points_are_refused() -> None:
    points = bench().points([GB], bench().variants(["tvm@2"]))
    check_count(points)
    with pytest.raises(OptionError, match=f"more than the {MOST_POINTS}"):
        check_count(points * MOST_POINTS)
    searches = bench().points([GB], bench().variants(["best"]))
    check_count(searches * 10)
    with pytest.raises(OptionError, match="44 searches are more than the 40 of one picture"):
        check_count(searches * 11)


def test_a_curve_marks_knee_cliff_chip_and_break_even() -> None:
    # B: 10 -> 50 is five times for twice the bytes, a cliff; 95 of 100 keeps the speed
    a, b = speeds("A · tvm", 20, 20, 20, 20), speeds("B · gt", 10, 50, 95, 100)
    figure = curve_figure(GB, [a, b], METRICS[0], "#000")
    named = {trace.name: trace for trace in figure.data}
    assert list(named["B · gt"].y) == [10, 50, 95, 100]
    cliff = next(trace for name, trace in named.items() if name.startswith("cliff"))
    assert list(cliff.x) == [2**19, 2**20, None] and list(cliff.y) == [10, 50, None]
    knees = [trace for trace in figure.data if trace.name.startswith("knee")]
    assert [list(trace.x) for trace in knees] == [[2**19], [2**21]]
    texts = [each.text for each in figure.layout.annotations]
    assert texts == ["the chip: 2 MiB", "◂ A · tvm faster · B · gt ▸"]
    assert figure.layout.xaxis.title.text == "GB size per cluster"
    assert figure.layout.yaxis.title.text == "speed (samples/s)"
    assert curve_sentence(GB, [a, b]) == (
        "GB size: 2 MiB, as it is, gives 95 % of B's best speed or more"
    )
    notes = curve_notes(GB, [a, b])
    assert notes[0].startswith("Break-even between 512 KiB and 1 MiB: A is faster up to 512 KiB")
    assert notes[1].startswith("Cliff of B between 512 KiB and 1 MiB: speed changes 5×")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ([95, 96, 99, 100], "512 KiB is enough for 95 % of B's best speed; the chip has 2 MiB"),
        ([10, 20, 30, 100], "4 MiB is needed for 95 % of B's best speed; the chip has 2 MiB"),
    ],
)
def test_the_sentence_of_a_curve(found: Sequence[float], words: str) -> None:
    assert curve_sentence(GB, [speeds("B · gt", *found)]) == f"GB size: {words}"


def test_less_of_a_cost_is_better() -> None:
    launch = Span(knob("Launch"), 2000, factors_between(-1, 1))  # 1000, 2000, 4000 cycles
    found = speeds("B · gt", 100, 97, 60)
    assert knee_of(launch, found.answers) == 1
    assert "2,000 cycles, as it is" in curve_sentence(launch, [found])


def test_what_is_refused_and_what_is_to_come() -> None:
    found = series("B · gt", REFUSED, answer(10), None, answer(10))
    figure = curve_figure(GB, [found], METRICS[0], "#000")
    refused = next(trace for trace in figure.data if trace.name == "refused")
    assert list(refused.x) == [2**19] and "does not fit" in refused.customdata[0]
    assert not any(trace.name.startswith("knee") for trace in figure.data)
    assert curve_sentence(GB, [found]) == "GB size over a range"
    assert curve_notes(GB, [found]) == []
    none = series("B · gt", *[REFUSED] * 4)
    assert curve_sentence(GB, [none]) == "B runs with none of these values"
    assert "refused at 512 KiB, 1 MiB" in curve_notes(GB, [none])[-1]


EVIL = "[x](http://e) · <b>m</b>.onnx (0123456789abcdef)"


def test_names_are_made_safe() -> None:
    found = series("<b>x</b>", answer(1), answer(1), answer(1), answer(1))
    figure = curve_figure(GB, [found], METRICS[0], "#000")
    assert "<b>x" not in figure.data[0].name
    sizes = sizes_of(bench(), [GB], {EVIL: [answer(1)] * 4}, {EVIL: answer(1)})
    said = buffer_sentence(sizes, [EVIL])
    assert "[x](" not in said and "<b>" not in said
    assert all("<b>m" not in text for row in buffer_figure(sizes, INK).data[0].customdata
               for text in row)  # fmt: skip


def test_equal_speeds_have_no_winner() -> None:
    a, b = speeds("A · tvm", 10, 20, 20, 20), speeds("B · gt", 12, 20, 20.05, 20)
    figure = curve_figure(GB, [a, b], METRICS[0], "#000")
    assert [each.text for each in figure.layout.annotations] == ["the chip: 2 MiB"]
    notes = curve_notes(GB, [a, b])
    assert notes[0] == "B is faster, except at 1 MiB, 2 MiB, 4 MiB: equally fast."
    assert curve_notes(GB, [a, a])[0] == "All are equally fast."
    lb = Span(knob("LB size"), 2**18, factors_between(-1, 0))
    pair = [speeds("A · tvm", *[5] * 8), speeds("B · gt", *[5] * 8)]
    assert map_sentence([lb, GB], pair).endswith("none is faster in any of 8 cells")


@pytest.mark.parametrize("skip", [(), ("fold_constants",)])
def test_the_command_asks_for_the_same_runs(skip: tuple[str, ...]) -> None:
    here = bench(skip_passes=skip)
    asked = Question(RANGE, here.variants([]), (GB,))
    points = here.points([GB], asked.variants)
    found = []
    for line in commands(here, asked).splitlines():
        words = shlex.split(line)
        given = dict(zip(words[5::2], words[6::2], strict=True))
        request = RunRequest(
            words[4], profile=given["--profile"], batch=int(given["--batch"]),
            dtype=given["--dtype"], skip_passes=skip if "--skip-pass" in given else (),
            options=dict([given["--set"].split("=")]) if "--set" in given else {},
        )  # fmt: skip
        axes = axes_of([given["--vary"]], CHIP)
        found += [
            run_at(replace(request, strategy=point.strategy), point, here.tree)
            for point in points_of(axes, given["--strategies"].split(","))
        ]
    keys = [run_key(request, Source.of(load_sample(MODEL), chip)) for request, chip in found]
    assert sorted(keys) == sorted(point.key for point in points)


def test_maps_on_one_scale_and_their_ratio() -> None:
    lb = Span(knob("LB size"), 2**18, factors_between(-1, 0))
    pair = [speeds("A · tvm", *range(1, 9)), speeds("B · gt", *[8] * 7, 4)]
    figure = heat_map_figure([lb, GB], pair, METRICS[0], INK)
    a, b, ratio = figure.data
    assert [list(row) for row in a.z] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert a.zmax == b.zmax == 8 and a.zmin == b.zmin == 0
    assert ratio.text[0][0] == "8×" and ratio.text[1][3] == "0.5×"
    assert ratio.zmin == -ratio.zmax == -3  # 8 times is three doublings
    frame = figure.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)
    assert map_sentence([lb, GB], pair) == "B is faster in 7 of 8 cells"


def test_gains_are_ranked_by_the_last_strategy() -> None:
    found = changes_of(bench(), Fraction(2))
    texts = [change.text for change in found]
    assert "GB size: 2 → 4 MiB" in texts and "Launch: 2,000 → 1,000 cycles" in texts
    assert not any(text.startswith(("Batch", "LB data")) for text in texts)
    three = found[:3]
    pair = [speeds("A · tvm", 2, 1, 1), speeds("B · gt", 10, 15, 9)]
    base = [answer(1), answer(10)]
    gains = [gains_of(own, each.answers) for own, each in zip(base, pair, strict=True)]
    assert gains == [[1, 0, 0], [0, 0.5, pytest.approx(-0.1)]]
    assert ranked(gains) == [1, 0, 2]
    figure = gain_figure(three, pair, base, gains)
    assert list(figure.data[1].x) == [50, 0, pytest.approx(-10)]
    assert list(figure.data[1].text) == ["+50 %", "0 %", "-10 %"]
    assert gain_sentence(three, pair, base, gains) == f"{three[1].text} helps B most: 1.5× as fast"


def test_whole_numbers_that_change_by_more_are_left_out() -> None:
    # generic-4x4 has 4 clusters, 4 cores, 2 DMA engines: 20 % more is 5 (+25 %) and 3 (+50 %)
    found = {change.knob.label: change for change in changes_of(bench(), Fraction(6, 5))}
    assert found["Cores"].factor == 1.25
    assert found["Launch"].after == 1667
    assert left_out(bench(), Fraction(6, 5)) == ("DMA engines",)
    assert left_out(bench(), Fraction(2)) == ()


def test_a_chip_that_is_refused_as_it_is_says_so() -> None:
    changes = changes_of(bench(), Fraction(2))[:2]
    found = [speeds("B · gt", 5, 6)]
    gains = [gains_of(REFUSED, found[0].answers)]
    assert gains == [[None, None]]
    assert gain_sentence(changes, found, [REFUSED], gains) == ("B is refused on the chip as it is")
    assert "does not fit" in gain_notes(changes, found, [REFUSED], gains)[0]
    sizes = sizes_of(bench(), [GB], {"m": [answer(1)] * 4}, {"m": REFUSED})
    assert buffer_sentence(sizes, ["m"]) == ("On the chip as it is, the strategy is refused for m")


def test_another_cluster_batch_is_said_at_the_bar() -> None:
    changes = changes_of(bench(), Fraction(2))[:1]
    found = [series("B · gt", answer(5, batch=1))]
    figure = gain_figure(changes, found, [answer(10)], [[-0.5]])
    assert figure.data[0].text[0] == "-50 %, cluster batch 1 instead of 2"


def test_the_first_points_of_gains_are_the_chip_as_it_is() -> None:
    asked = Question(GAINS, bench().variants([]), change="twice")
    points = asked_points(bench(), asked)
    assert [point.point.values for point in points[:2]] == [(), ()]
    assert len(points) == 2 + 2 * len(changes_of(bench(), Fraction(2)))


def test_the_smallest_sizes_keep_the_speed_of_every_model() -> None:
    # generic-4x4: 4 clusters x (2 MiB + 4 x 256 KiB) = 12 MiB
    here = bench()
    lb = Span(knob("LB size"), 2**18, factors_between(-1, 0))
    gb = Span(knob("GB size"), 2**21, factors_between(-1, 0))
    answers = {
        "m": [answer(s) for s in (90, 96, 98, 100)],
        "n": [answer(s) for s in (10, 9.6, 9.7, 10)],
    }
    sizes = sizes_of(here, [lb, gb], answers, {"m": answer(100), "n": answer(10)})
    assert sizes.own_bytes == 12 * 2**20
    # 4 x (1 MiB + 4 x 128 KiB) = 6 MiB, 4 x (2 + .5) = 10, 4 x (1 + 1) = 8, 12 MiB
    assert [each // 2**20 for each in sizes.size_bytes] == [6, 10, 8, 12]
    assert sizes.shares == pytest.approx((0.9, 0.96, 0.97, 1.0))
    assert sizes.chosen == 2
    assert buffer_sentence(sizes, ["m", "n"]) == (
        "LB 256 KiB and GB 1 MiB keep 95 % or more of the speed of all 2 models: "
        "66.7 % of the chip's bytes"
    )
    figure = buffer_figure(sizes, INK)
    front = next(trace for trace in figure.data if "none is faster" in (trace.name or ""))
    assert list(front.x) == [6, 8, 12]
    assert list(front.y) == pytest.approx([1 / 0.9, 1 / 0.97, 1])


def test_what_a_link_may_draw_is_what_can_be_drawn() -> None:
    assert tuple(metric.name for metric in METRICS) == FIGURES


def test_colours_of_the_sides() -> None:
    variants = [Variant("tvm", {}, "A"), Variant("gt", {}, "B"), Variant("x"), Variant("y")]
    colours = colours_of(variants, "#111111")
    assert colours[1] == "#111111" and len(set(colours)) == 4
