"""Small multiples and the ladder as HTML: widths worked out here, names made safe."""

from __future__ import annotations

import hashlib
import re

import pytest

from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.figures import GroupLayers, PartSeconds
from graphturbo_core.comparison.ladder import ladders
from graphturbo_core.comparison.settings import differing_setting, shared_setting
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_ui.compare.picture import picture_html
from graphturbo_ui.compare.run_table import grouping_rows, run_rows
from graphturbo_ui.compare.scales import Scales
from graphturbo_ui.compare.waterfall import paper_text, waterfall_html
from graphturbo_ui.palette import CAUSE_COLOURS
from tests.comparison.runs import PAPER, grouped, made_up

EVIL = "<img src=x onerror=alert(1)>"
PARTS = (PartSeconds(title="stem", seconds=1e-3), PartSeconds(title=EVIL, seconds=5e-3))
SLOW = made_up("tvm@16", 8e-3, parts=PARTS, other_s=2e-3)
FAST = made_up("graphturbo@16", 2e-3, parts=(), other_s=0.0)


def ends(html: str) -> list[float]:
    """Where the bars of time and bytes end, as shares of their scales."""
    return [float(found) for found in re.findall(r'"end" style="--w:([0-9.]+)"', html)]


def test_bars_end_at_their_share_of_the_largest() -> None:
    """2 ms of 8 ms is a quarter; both move the same bytes."""
    assert ends(picture_html([SLOW, FAST], {})) == [1, 1, 0.25, 1]


def test_parts_have_hues_in_their_order_and_a_run_without_parts_is_grey() -> None:
    """1, 5 and 2 ms of 8: 125, 625 and 250 of 1,000."""
    html = picture_html([SLOW], {})
    parts = re.findall(r"flex-grow:([0-9.]+);background:(var\(--\w+\))", html)
    assert parts == [("125.00", "var(--g0)"), ("625.00", "var(--g1)"), ("250.00", "var(--rest)")]
    grey = re.findall(r"flex-grow:([0-9.]+);background:(var\(--\w+\))", picture_html([FAST], {}))
    assert grey == [("1000.00", "var(--rest)")]
    assert "not divided" in picture_html([FAST], {})


def test_bytes_have_the_colours_of_their_causes() -> None:
    """Of 4,000 bytes 1,000 are input, 500 output, 2,000 weights, 500 activations."""
    ledger = {"activation": 500, "weight_first": 2000, "output": 500, "input": 1000, "spill": 0}
    run = made_up("tvm@16", 8e-3, dram_ledger=ledger, dram_read_bytes=3000, dram_write_bytes=1000)
    found = re.findall(r"flex-grow:([0-9.]+);background:(#\w+)", picture_html([run], {}))
    shares = {"input": 250, "output": 125, "weight_first": 500, "activation": 125}
    assert found == [(f"{share}.00", CAUSE_COLOURS[cause]) for cause, share in shares.items()]


def test_engines_and_the_bound_fill_their_share_and_no_more() -> None:
    """No share is that of the move engines; a bar of 120 % is full. 2 ms of 8 ms is a quarter."""
    busy = {"matrix": 0.5, "vector": 0.051, "dma": 1.2}
    html = picture_html([made_up("tvm@16", 8e-3, utilization=busy, lower_bound_s=2e-3)], {})
    found = re.findall(r'class="share" style="--w:([0-9.]+);[^>]*>([^<]*)<', html)
    texts = ["50 %", "5 %", "0 %", "120 %", "25 %"]
    assert found == list(
        zip(["0.5000", "0.0510", "0.0000", "1.0000", "0.2500"], texts, strict=True)
    )


def test_a_short_bar_keeps_its_parts() -> None:
    """1 µs of 10 s: each half is far below a pixel of the scale, and half of its own bar."""
    halves = tuple(PartSeconds(title=title, seconds=5e-7) for title in ("one", "two"))
    short = made_up("tvm@16", 1e-6, parts=halves, other_s=0.0, lower_bound_s=1e-6)
    html = picture_html([made_up("tvm@2", 10.0), short], {})
    assert html.count("flex-grow:500.00") == 2


def test_the_lower_bound_is_marked_on_the_scale_of_time() -> None:
    """1 ms of 8 ms."""
    assert picture_html([SLOW, FAST], {}).count('<em style="--w:0.12500"></em>') == 2


def test_runs_of_other_batches_compare_per_sample() -> None:
    """8 ms of 64 and 2 ms of 8 samples: 125 and 250 µs."""
    runs = [SLOW, made_up("tvm@8", 2e-3, 8)]
    scales = Scales.of(runs)
    assert scales.is_per_sample
    assert scales.most_s == pytest.approx(250e-6)
    assert ends(picture_html(runs, {}))[::2] == [0.5, 1]
    assert "Time of one sample" in picture_html(runs, {})
    assert differing_setting(runs) == ["batch 64", "batch 8"]
    assert shared_setting(runs) == "teaching-resnet · generic-4x4 · fp16"
    assert shared_setting([SLOW, FAST]) == "teaching-resnet · generic-4x4 · batch 64 · fp16"
    assert shared_setting([]) == ""
    assert differing_setting([]) == []


def test_columns_of_totals_say_so() -> None:
    (row,) = run_rows([made_up("tvm@2", 2e-3, 8)])
    assert row["time of the whole batch (ms)"] == pytest.approx(2)
    totals = [name for name in row if name.endswith(("(ms)", "(MiB)")) and "peak" not in name]
    assert all("of the whole batch" in name for name in (*totals, "kernels of the whole batch"))
    assert len(totals) == 3


def test_names_are_made_safe_everywhere() -> None:
    evil = SLOW.model_copy(update={"name": EVIL, "note": EVIL})
    old = evil.figures.model_copy(update={"version": EVIL, "model": EVIL})
    other = evil.model_copy(update={"figures": old})
    html = picture_html([evil, other], {evil.key: "A"})
    assert "<img" not in html
    assert html.count("&lt;img") >= 4


def test_cells_of_tables_turn_no_text_around_and_are_short() -> None:
    """A sign that reverses what follows, and a name of 500 characters."""
    turned = f"\u202e{'n' * 500}"
    names = dict.fromkeys(("model", "profile", "strategy", "dtype", "version"), turned)
    figures = SLOW.figures.model_copy(update=names)
    run = SLOW.model_copy(update={"name": turned, "note": turned, "figures": figures})
    (row,) = run_rows([run])
    assert [name for name, cell in row.items() if "\u202e" in str(cell)] == []
    cut = {name for name, cell in row.items() if len(str(cell)) == DEFAULT_LIMITS.max_name_length}
    assert cut == {"run", "model", "chip", "strategy", "format", "version"}
    assert str(row["run"]).startswith("\ufffdnnn")
    group = GroupLayers(name="g", pieces=4, along=turned, layers=(0,))
    other = grouped((0,))
    (cells,) = grouping_rows(made_up("a", 1e-3, groups=(group,)), made_up("b", 1e-3, groups=other))
    assert "\u202e" not in str(cells["A"])
    assert len(str(cells["A"])) == DEFAULT_LIMITS.max_name_length


def test_marks_pins_and_versions_are_shown() -> None:
    old = FAST.figures.model_copy(update={"version": "0.0.1"})
    run = FAST.model_copy(update={"is_pinned": True, "figures": old})
    html = picture_html([SLOW, run], {SLOW.key: "A", run.key: "B"})
    assert '<span class="badge a">A</span>' in html
    assert '<span class="badge b">B</span>' in html
    assert html.count('class="pin"') == 1
    assert "v0.0.1" in html


@pytest.mark.parametrize(("count", "size"), [(9, "roomy"), (10, "close"), (19, "tight")])
def test_rows_are_lower_where_there_are_many(count: int, size: str) -> None:
    runs = [made_up(f"tvm@{number + 1}", 1e-3) for number in range(count)]
    assert f'class="compare-card {size}"' in picture_html(runs, {})


def ladder(*latencies_s: float, **figures: object) -> str:
    levels = ("gb", "lb", "order", "full")
    runs = [
        made_up(f"graphturbo:{level}@16", each, cluster_batch=16, **figures)
        for level, each in zip(levels, latencies_s, strict=False)
    ]
    (found,) = ladders(runs)
    return waterfall_html(found)


def test_a_step_begins_where_the_one_before_ended() -> None:
    """8, 4 and 2 ms: 1, 2 and 4 times as fast, over 4: quarters."""
    html = ladder(8e-3, 4e-3, 2e-3)
    rises = re.findall(r'class="rise" style="--f:([0-9.]+);--w:([0-9.]+)"', html)
    assert rises == [("0.00000", "0.25000"), ("0.25000", "0.25000"), ("0.50000", "0.50000")]
    assert "order is 4× as fast as gb; the largest step is lb: 2×" in html
    assert "The paper has no steps for this model and chip." in html


@pytest.mark.parametrize("second_s", [4e-3, 8e-3])
def test_where_no_step_gains_none_is_the_largest(second_s: float) -> None:
    html = ladder(4e-3, second_s)
    assert "as fast as gb; no step gains" in html
    assert "largest" not in html


def test_a_slower_step_is_a_loss() -> None:
    assert 'class="loss" style="--f:0.50000;--w:0.50000"' in ladder(4e-3, 8e-3)


def test_the_papers_steps_have_one_scale_with_ours() -> None:
    """The paper's full is 7.95 / 0.73 = 10.89 times its gb: the scale's end; ours is 4 of it."""
    html = ladder(8e-3, 8e-3, 8e-3, 2e-3, **PAPER)
    assert "paper 10.9×" in html
    assert ends(html)[-2:] == [pytest.approx(4 / (7.95 / 0.73), abs=1e-5), 1]
    assert "batch 64, 16 samples per cluster;" in html


def test_the_papers_other_batch_is_said() -> None:
    runs: list[ComparedRun] = [
        made_up(f"graphturbo:{level}@8", 1e-3, cluster_batch=8, **PAPER) for level in ("gb", "lb")
    ]
    assert "(other than here)" in paper_text(ladders(runs)[0])


def test_which_of_the_papers_numbers_were_read_off_is_said() -> None:
    """Of ViT the paper states lb, order and full in numbers; of ResNet-50 it draws all four."""
    vit = {**PAPER, "model": "vit-b16"}
    vit["model_sha256"] = hashlib.sha256(load_sample("vit-b16")).hexdigest()
    texts = [
        paper_text(ladders([made_up(f"graphturbo:{n}@8", 1e-3, **own) for n in ("gb", "lb")])[0])
        for own in (PAPER, vit)
    ]
    assert "cluster (other than here); read off its bar charts to within 0.05" in texts[0]
    assert "lb, order, full as its text states; gb read off its bar charts" in texts[1]


def test_grouping_rows_say_which_layers_differ() -> None:
    a = made_up("tvm@2", 1e-3, groups=grouped((0,), (1,), (2,)))
    b = made_up("tvm@2", 1e-3, groups=grouped((0,), (1, 2), pieces=4))
    assert grouping_rows(a, b) == [
        {"layers": "1", "A": "1 group in one piece", "B": "1 group in 4 pieces along axis 0"},
        {"layers": "2 to 3", "A": "2 groups, 2 kernels", "B": "1 group in 4 pieces along axis 0"},
    ]
