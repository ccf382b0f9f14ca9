"""Published numbers beside ours, worked out by hand from the paper's columns."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graphturbo_core.report.paper.comparisons import (
    ABOVE_BOUND,
    BEYOND,
    OUTCOMES,
    TABLES,
    WITHIN,
    PaperComparison,
    comparisons,
    families,
    find_row,
    matching,
)
from graphturbo_core.report.paper.data import PaperData, kept_paper
from graphturbo_core.report.paper.ladder import ladder, runs_of_mover, runs_of_row, same_row
from graphturbo_core.report.paper.movers import tornado
from graphturbo_core.report.paper.sentences import (
    headline,
    knowledge,
    means_text,
    published_text,
    reach_text,
    reasons,
    small_text,
    summary,
    verdict,
)


@pytest.fixture(scope="module")
def data() -> PaperData:
    found = kept_paper()
    assert found is not None
    return found


def row(data: PaperData, key: str) -> PaperComparison:
    found = find_row(data, key)
    assert found is not None, key
    return found[2]


def test_row_a_by_hand(data: PaperData) -> None:
    """TVM 1,064 images/s and 7.95 times as much; ours 11,280.5 and 1,251.87."""
    rate = row(data, "throughput.full.A")
    assert rate.published == pytest.approx(1064 * 7.95)
    assert rate.error == pytest.approx(1064 * 0.05)
    assert rate.ratio == pytest.approx(11280.5 / 8458.8)
    assert rate.is_within and not rate.is_above_bound
    over = row(data, "over-tvm.full.A")
    assert (over.published, over.error) == (7.95, 0.05)
    assert over.ours == pytest.approx(11280.5 / 1251.87)


def test_row_e_is_published_above_its_bound(data: PaperData) -> None:
    """324 times 7.23 is 2,343; BERT-base at 512 tokens allows 1,233 on this chip."""
    rate = row(data, "throughput.full.E")
    assert rate.published == pytest.approx(2342.52)
    assert round(rate.bound) == 1233
    assert rate.is_above_bound and not rate.is_within
    assert "No schedule of this model on this chip" in verdict(TABLES[0], rate)


def test_a_gain_divides_neighbours(data: PaperData) -> None:
    """Row B: 7.91 over 3.45 by instruction scheduling; 3.45 over 3.45 by ordering."""
    gain = row(data, "gains.full.B")
    assert gain.published == pytest.approx(7.91 / 3.45)
    assert gain.error == pytest.approx(7.91 / 3.45 * (0.05 / 7.91 + 0.05 / 3.45))
    assert gain.factor == 1.25
    assert row(data, "gains.order.B").published == 1
    assert gain.is_above_bound


def test_printed_numbers_have_no_reading_error(data: PaperData) -> None:
    printed = {
        each.key
        for series in ("lb", "order", "full")
        for each in comparisons(data, "throughput", series)
        if not each.error
    }
    assert printed == {
        "throughput.lb.H", "throughput.order.H", "throughput.full.H", "throughput.full.I",
    }  # fmt: skip
    assert published_text(TABLES[0], row(data, "throughput.full.H")) == "1,000, printed"
    assert "± 53, read off a bar chart" in published_text(TABLES[0], row(data, "throughput.full.A"))


def test_every_series_has_rows_and_every_row_its_name(data: PaperData) -> None:
    for table in TABLES:
        for series in table.series:
            rows = comparisons(data, table.key, series)
            assert rows
            for each in rows:
                assert find_row(data, each.key) == (table, series, each)
                assert each.series == series


@pytest.mark.parametrize(
    "name",
    ["", "A", "throughput.full.Z", "throughput.vendor.A", "rates.full.A", "throughput.astitch.H",
     "stages.full.9", "throughput.full.A;", "throughput.full.a", "x" * 500],
)  # fmt: skip
def test_a_name_that_is_no_row_is_none(data: PaperData, name: str) -> None:
    assert find_row(data, name) is None


def test_filters_divide_the_rows(data: PaperData) -> None:
    rows = comparisons(data, "throughput", "full")
    kept = {name: matching(rows, [name], [], data) for name in OUTCOMES}
    assert [each.letter for each in kept[WITHIN]] == ["A", "B", "D"]
    assert [each.letter for each in kept[BEYOND]] == list("CEFGHIJ")
    assert [each.letter for each in kept[ABOVE_BOUND]] == ["C", "E"]
    assert matching(rows, [WITHIN, BEYOND], [], data) == rows
    assert [r.letter for r in matching(rows, [], ["speech"], data)] == ["J"]
    assert [r.letter for r in matching(rows, [WITHIN], ["transformer"], data)] == ["B", "D"]
    by_family = [len(matching(rows, [], [name], data)) for name in families(data)]
    assert sum(by_family) == len(rows)


def test_a_ladder_has_all_steps_of_a_row(data: PaperData) -> None:
    assert [each.level for each in ladder(data, "A")] == [
        "tvm", "astitch", "gb", "lb", "order", "full",
    ]  # fmt: skip
    assert "astitch" not in [each.level for each in ladder(data, "H")]


def test_the_same_row_of_another_series(data: PaperData) -> None:
    assert same_row(data, "gains", "order", "C") == "gains.order.C"
    assert same_row(data, "throughput", "astitch", "H") == "throughput.astitch.A"
    assert same_row(data, "stages", "full", "C") == "stages.full.1"


def test_runs_of_rows_have_the_papers_batches(data: PaperData) -> None:
    runs = runs_of_row(data, row(data, "throughput.full.B"))
    assert (runs.model, dict(runs.dims), runs.batch) == ("bert-base", {"sequence": 128}, 32)
    assert (runs.a, runs.b) == ("tvm@4", "graphturbo@8")
    gain = runs_of_row(data, row(data, "gains.order.A"))
    assert (gain.a, gain.b) == ("graphturbo:lb@16", "graphturbo:order@16")
    squares = runs_of_row(data, row(data, "stages.squares.3"))
    assert (squares.a, squares.b) == ("tvm@2", "tvm@2")
    assert squares.options_b == {"tvm.passes": "squares"}


def test_the_hand_written_code_is_beside_a_search(data: PaperData) -> None:
    found = row(data, "over-tvm.vendor.A")
    assert found.published == 8.0
    runs = runs_of_row(data, found)
    assert (runs.a, runs.b) == ("tvm@2", "tuned@16")
    assert runs.options_b == {"tuned.starts": "others", "tuned.evaluations": "64"}
    assert "no run of ours reproduces it" in reasons(data, found)[0]
    words = "Another plan than the paper's: our search is 1.13 of its number."
    assert verdict(TABLES[1], found) == words
    assert find_row(data, "over-tvm.vendor.J") is None


def test_no_hand_written_code_is_reproduced_or_not(data: PaperData) -> None:
    """Row A: 8.0 by hand; ours 1.13 of it by a search, which is another plan."""
    rows = comparisons(data, "over-tvm", "vendor")
    assert len(rows) == 7
    assert [each.is_within for each in rows] == [None] * 7
    assert [matching(rows, [name], [], data) for name in OUTCOMES] == [()] * 3
    assert matching(rows, [], [], data) == rows
    text = summary(TABLES[1], rows)
    assert text.startswith("The paper's bar is the vendor's hand-written code, which is not public")
    assert "The best plan of a search of ours, over its number: A 1.13, B 0.65," in text
    for word in ("Not reproduced", "within a factor"):
        assert word not in text


def test_effects_are_ratios_with_the_largest_first(data: PaperData) -> None:
    """Row A: 430.224 per second where each core fetches its own weights, 1,251.87 as taken."""
    found = tornado(data, "A", "tvm")
    assert (found.drawn[0].name, found.drawn[0].value) == ("weights", "each core fetches its own")
    assert found.drawn[0].ratio == pytest.approx(430.224 / 1251.87)
    assert found.needed == pytest.approx(1064 / 1251.87)
    launch = {each.value: each.ratio for each in found.drawn if each.name == "launch cycles"}
    assert set(launch) == {"halved", "doubled"} and launch["doubled"] < 1 < launch["halved"]
    sizes = [each.size for each in found.drawn if each.name not in ("division", "launch cycles")]
    assert sizes == sorted(sizes, reverse=True)
    assert all(abs(each.ratio - 1) < 0.005 for each in found.small)
    assert "barrier cycles halved" in small_text(found)
    assert len(found.drawn) + len(found.small) == sum(
        mover.level == "tvm" for mover in data.configuration("A").movers
    )


def test_whether_one_change_reaches_the_published_number(data: PaperData) -> None:
    assert "No single change reaches it" in reach_text(tornado(data, "E", "full"))
    assert "One change alone reaches it" in reach_text(tornado(data, "A", "tvm"))
    assert reach_text(tornado(data, "H", "astitch")) == ""


def test_the_run_of_an_effect(data: PaperData) -> None:
    movers = data.configuration("A").movers
    by_name = {(each.name, each.value): each for each in movers if each.level in ("tvm", "full")}
    fence = runs_of_mover(data, "A", by_name["graphturbo.fence", "on"])
    assert (fence.a, fence.b) == ("graphturbo@16", "graphturbo@16")
    assert fence.options_b == {"graphturbo.fence": "on"} and fence.options_a == {}
    assert runs_of_mover(data, "A", by_name["launch", "halved"]) is None
    chip = runs_of_mover(data, "A", by_name["capacity in Algorithm 1", "10 MiB"])
    assert chip.chip == "stcp920-10mib"


def test_sentences_name_what_is_not_reproduced(data: PaperData) -> None:
    rows = comparisons(data, "throughput", "full")
    text = summary(TABLES[0], rows)
    assert text.startswith("3 of 10 rows are within a factor of 1.5 of the published number.")
    assert "C 0.57, E 0.27, F 44.44, G 3.31, H 2.05, I 1.86, J 1.85" in text
    assert text.endswith("Published above the bound of chip and model: C, E.")
    assert summary(TABLES[0], ()) == "The paper has no such row."
    assert headline(data) == (
        "GraphTurbo is 7.74× as fast as TVM in simulation (6.51× at equal cluster batches); "
        "the paper reports 11.15×"
    )
    lacking = replace(data.configuration("A"), movers=())
    fewer = replace(data, configurations=(lacking, *data.configurations[1:]))
    assert "equal" not in headline(fewer)
    assert "over TVM 7.74 (abstract 11.15, bars 9.64)" in means_text(data)


def test_what_is_known_of_a_row_has_its_mark(data: PaperData) -> None:
    assert knowledge(data, "B") == [
        ("given", "batch 32; samples per cluster at once: TVM 4, GraphTurbo 8"),
        ("derived", "model bert-base, sequence 128"),
        ("assumed", "number format fp16; inputs start in DRAM, outputs end there"),
        ("derived", "upper bound of this model on stcp920: 4,947 per second"),
    ]


def test_every_row_beyond_the_factor_has_a_reason(data: PaperData) -> None:
    for series in TABLES[0].series:
        for each in comparisons(data, "throughput", series):
            sentences = reasons(data, each)
            assert sentences and all(sentences)
            if not each.is_within:
                assert f"{each.ratio:.2f} of the paper's rate" in sentences[0]


def test_the_readme_counts_the_reproduced_rows_as_the_page_does(data: PaperData) -> None:
    within = [row for row in comparisons(data, "throughput", "full") if row.is_within]
    count = ("No", "One", "Two", "Three", "Four", "Five", "Six")[len(within)]
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    assert f"- {count} of the paper's ten throughputs" in readme
    assert f"within a factor of {data.factor:g}" in readme
