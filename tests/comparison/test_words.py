"""Ladder, grouping differences and sentences on runs whose numbers are worked out here."""

from __future__ import annotations

import pytest

from benchmarks.paper.rows import LEVELS as ROW_LEVELS
from benchmarks.paper.rows import ROWS
from graphturbo_core.comparison import published
from graphturbo_core.comparison.compared_run import ComparedRun
from graphturbo_core.comparison.equal_batches import missing_choices
from graphturbo_core.comparison.grouping import grouping_changes, groups_text, layers_text
from graphturbo_core.comparison.ladder import ladders
from graphturbo_core.comparison.published import LEVELS, published_steps
from graphturbo_core.comparison.sentences import (
    OTHER_MODELS,
    choice_changes,
    figure_sentences,
    headline,
)
from graphturbo_core.comparison.settings import differing_setting
from tests.comparison.runs import PAPER, grouped, made_up, with_groups


def test_gains_are_ratios_of_neighbours_and_the_paper_stands_beside_them() -> None:
    """8, 4, 4 and 2 ms: gains of 2, 1 and 2. The paper's bars: 0.73, 1.09, 4.27, 7.95."""
    runs = [
        made_up("graphturbo:order@16", 4e-3, cluster_batch=16, **PAPER),
        made_up("graphturbo:gb@16", 8e-3, cluster_batch=16, **PAPER),
        made_up("graphturbo@16", 2e-3, cluster_batch=16, **PAPER),
        made_up("graphturbo:lb@16", 4e-3, cluster_batch=16, **PAPER),
        made_up("best", 1e-3, cluster_batch=32, **PAPER),
    ]
    (found,) = ladders(runs)
    assert [rung.level for rung in found.rungs] == ["gb", "lb", "order", "full", "best"]
    assert [rung.gain for rung in found.rungs] == [1, 2, 1, 2, 2]
    published = [rung.published for rung in found.rungs]
    assert published == [None, 1.09 / 0.73, 4.27 / 1.09, 7.95 / 4.27, None]


def test_steps_of_other_settings_cluster_batches_and_options_are_other_ladders() -> None:
    gb = made_up("graphturbo:gb@16", 8e-3, cluster_batch=16)
    full = made_up("graphturbo@16", 2e-3, cluster_batch=16)
    assert len(ladders([gb, full])) == 1
    assert ladders([gb, made_up("graphturbo@8", 2e-3, cluster_batch=8)]) == ()
    assert ladders([gb, made_up("graphturbo@16", 2e-3, 32, cluster_batch=16)]) == ()
    assert full.choices is not None
    options = full.choices.model_copy(update={"options": {"graphturbo.peak": "literal"}})
    assert ladders([gb, full.model_copy(update={"choices": options})]) == ()
    skips = full.choices.model_copy(update={"skip_passes": ("fold",)})
    assert ladders([gb, full.model_copy(update={"choices": skips})]) == ()
    assert ladders([gb]) == ()
    assert ladders([made_up("tvm@16", 8e-3), made_up("best", 1e-3)]) == ()


@pytest.mark.parametrize(("chosen", "at"), [(8, 8), (16, 16), (2, 16)])
def test_a_search_belongs_to_the_ladder_of_its_cluster_batch(chosen: int, at: int) -> None:
    runs = [
        made_up(f"graphturbo:{level}@{samples}", 1e-3, cluster_batch=samples)
        for samples in (16, 8)
        for level in ("gb", "lb")
    ]
    best = made_up("best", 1e-3, cluster_batch=chosen)
    found = ladders([*runs, best])
    assert [each.cluster_batch for each in found] == [16, 8]
    assert [each.cluster_batch for each in found if each.rungs[-1].level == "best"] == [at]
    other = with_choices(best, options={"graphturbo.peak": "literal"})
    assert all(each.rungs[-1].level == "lb" for each in ladders([*runs, other]))


def test_a_step_left_out_is_skipped_in_the_paper_too() -> None:
    """gb to order: 4.27 / 0.73."""
    runs = [made_up(f"graphturbo:{level}@16", 1e-3, **PAPER) for level in ("gb", "order")]
    (found,) = ladders(runs)
    assert found.rungs[1].published == pytest.approx(4.27 / 0.73)


def test_another_chip_or_model_has_no_published_steps() -> None:
    for changed in ({"profile": "goya"}, {"model": "mine"}, {"model_sha256": "1" * 64}):
        runs = [made_up(f"graphturbo:{n}@16", 1e-3, **{**PAPER, **changed}) for n in ("gb", "lb")]
        (found,) = ladders(runs)
        assert found.paper is None
        assert found.rungs[1].published is None


def test_published_numbers_are_those_of_the_benchmarks() -> None:
    assert LEVELS == ROW_LEVELS
    for row in ROWS.values():
        for variant in row.variants:
            found = published_steps(variant.sample, "stcp920", variant.dims)
            assert found is not None, variant
            assert found.over_tvm == {level: row.over_tvm[level] for level in LEVELS}
            assert (found.title, found.batch) == (row.title, row.batch)
            assert found.cluster_batch == row.batch_of_others
    assert published_steps("bert-base", "stcp920", {"sequence": 100}) is None


def test_without_the_shipped_rows_a_ladder_has_no_papers_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = [made_up(f"graphturbo:{level}@16", 1e-3, **PAPER) for level in ("gb", "lb")]
    assert ladders(runs)[0].paper is not None
    monkeypatch.setattr(published, "kept_paper", lambda: None)
    assert ladders(runs)[0].paper is None


def test_layers_that_are_grouped_differently() -> None:
    """Layers 0 and 1 agree. A joins 2 and 3, B joins 3 and 4: 2 to 4 are one difference."""
    a = with_groups(grouped((0,), (1,), (2, 3), (4,)))
    b = with_groups(grouped((0,), (1,), (2,), (3, 4)))
    (change,) = grouping_changes(a, b)
    assert change.layers == (2, 3, 4)
    assert [group.layers for group in change.a] == [(2, 3), (4,)]
    assert [group.layers for group in change.b] == [(2,), (3, 4)]
    assert grouping_changes(a, a) == ()


def test_other_pieces_are_a_difference() -> None:
    a, b = (with_groups(grouped((0, 1), pieces=pieces)) for pieces in (1, 4))
    (change,) = grouping_changes(a, b)
    assert layers_text(change.layers) == "1 to 2"
    assert groups_text(change.a) == "1 group in one piece"
    assert groups_text(change.b) == "1 group in 4 pieces along axis 0"


def test_layers_as_text() -> None:
    assert layers_text((2, 3, 4, 9)) == "3 to 5, 10"
    every_second = range(0, 46, 2)
    listed = ", ".join(str(layer + 1) for layer in every_second[:20])
    assert layers_text(every_second) == f"{listed} and 3 layers more"
    assert layers_text(every_second[:20]) == listed
    assert groups_text(()) == "no group"
    assert groups_text(grouped((0,), (1,), pieces=2)) == "2 groups, 4 kernels"


def test_choices_that_differ() -> None:
    a, b = made_up("tvm@2", 1e-3), made_up("tvm@16", 1e-3, cluster_batch=16)
    sentences = [change.sentence() for change in choice_changes(a, b)]
    assert sentences == [
        "Strategy: tvm@2 in A, tvm@16 in B.",
        "Samples per cluster at once: 2 in A, 16 in B.",
    ]
    assert choice_changes(a, a) == ()
    other = with_choices(a, model_sha256="1" * 64)
    sentences = [change.sentence() for change in choice_changes(a, other)]
    assert sentences == [f"Model: {a.figures.model} in A, another file of that name in B."]
    saved = a.model_copy(update={"choices": None})
    assert "Plan" not in [change.choice for change in choice_changes(saved, b)]


def test_figures_in_sentences() -> None:
    """3 MiB less activations and 1 MiB more weights: 2 MiB less of 4; 4 times as fast."""
    mib = 2**20
    a = made_up(
        "tvm@2", 8e-3, dram_read_bytes=4 * mib, dram_write_bytes=0,
        dram_ledger={"activation": 3 * mib, "weight_first": mib},
    )  # fmt: skip
    b = made_up(
        "graphturbo@2", 2e-3, dram_read_bytes=2 * mib, dram_write_bytes=0,
        dram_ledger={"activation": 0, "weight_first": 2 * mib}, kernels=26,
    )  # fmt: skip
    found = figure_sentences(a, b)
    assert found[0] == "B is 4× as fast as A (8 ms in A, 2 ms in B)."
    assert found[1] == (
        "B moves 2× less over DRAM (4 MiB in A, 2 MiB in B; the largest part is 3 MiB less for "
        "activations between kernels)."
    )
    assert "Kernels launched: 13 in A, 26 in B (2× as much)." in found
    assert "Share of the lower bound's speed: 12.5 % in A, 50 % in B (4× as much)." in found
    back = figure_sentences(b, a)
    assert back[0] == "B is slower: it reaches 25 % of A's speed (2 ms in A, 8 ms in B)."
    assert "Kernels launched: 26 in A, 13 in B (2× less)." in back
    assert back[1].startswith("B moves 2× as much over DRAM (2 MiB in A, 4 MiB in B")
    assert figure_sentences(a, a) == (
        "B is as fast as A (8 ms in A, 8 ms in B).", "DRAM traffic is the same (4 MiB).",
    )  # fmt: skip


def test_the_sentence_above_the_picture() -> None:
    a, b = made_up("tvm@2", 8e-3), made_up("graphturbo@2", 2e-3)
    assert headline([a, b]) == "graphturbo@2 is the fastest: 4× tvm@2"
    assert (
        headline([a, b, made_up("lb", 4e-3)]) == "graphturbo@2 is the fastest of 3 runs: 4× tvm@2"
    )
    assert headline([b]) == "graphturbo@2 reaches 50 % of the lower bound's speed"
    half = made_up("tvm@2", 8e-3, 32)
    assert headline([a, half]) == "tvm@2 (batch 64) is the fastest: 2× tvm@2 (batch 32)"
    assert headline([a, made_up("tvm@2", 8e-3, model="mine")]) == "2 runs of 2 models"


def test_the_sentence_names_unequal_cluster_batches() -> None:
    """64 samples in 8, 1 and 4 ms: 8 times as fast, 4 times at a cluster batch of 16 for both."""
    a = made_up("tvm@2", 8e-3, cluster_batch=2)
    b = made_up("graphturbo@16", 1e-3, cluster_batch=16)
    equal = made_up("tvm@16", 4e-3, cluster_batch=16)
    unequal = "graphturbo@16 is the fastest: 8× tvm@2 (cluster batches of 16 and 2)"
    assert headline([a, b]) == unequal
    assert headline([a, b, equal]) == (
        "graphturbo@16 is the fastest of 3 runs: 8× tvm@2 (4× at a cluster batch of 16 for both)"
    )
    with_options = with_choices(equal, options={"tvm.passes": "squares"})
    assert headline([a, b, with_options]).endswith("(cluster batches of 16 and 2)")
    other_chip = made_up("tvm@16", 4e-3, cluster_batch=16, profile="goya")
    assert "cluster batches of 16 and 2" in headline([a, b, other_chip])
    assert headline([a, made_up("tvm@16", 1e-3, cluster_batch=16)]).endswith(": 8× tvm@2")


def test_a_sentence_gives_the_speed_at_equal_cluster_batches() -> None:
    """64 samples in 8 ms at 2, in 1 and 4 ms at 16, in 16 ms at 2."""
    a = made_up("tvm@2", 8e-3, cluster_batch=2)
    b = made_up("graphturbo@16", 1e-3, cluster_batch=16)
    at_16 = made_up("tvm@16", 4e-3, cluster_batch=16)
    b_at_2 = made_up("graphturbo@2", 16e-3, cluster_batch=2)
    assert figure_sentences(a, b)[1] == "The cluster batches of A and B are 2 and 16."
    assert figure_sentences(a, b, (), "it waits")[1] == (
        "The cluster batches of A and B are 2 and 16; it waits."
    )
    assert figure_sentences(a, b, (at_16,))[1] == (
        "At a cluster batch of 16 for both, B is 4× as fast as A."
    )
    assert figure_sentences(b, a, (at_16,))[1] == (
        "At a cluster batch of 16 for both, B reaches 25 % of A's speed."
    )
    assert figure_sentences(a, b, (b_at_2,))[1] == (
        "At a cluster batch of 2 for both, B reaches 50 % of A's speed."
    )
    assert figure_sentences(a, b, (b_at_2, at_16))[1].startswith("At a cluster batch of 16")


def test_the_run_that_gives_the_speed_at_equal_cluster_batches() -> None:
    """A's strategy at B's cluster batch; B's at A's where A is a search or has a plan."""
    a = made_up("tvm@2", 8e-3, cluster_batch=2)
    b = made_up("graphturbo@16", 1e-3, cluster_batch=16)
    search = made_up("best", 1e-3, cluster_batch=8)
    planned = with_choices(b, plan="plan: 1")

    def wanted(first: ComparedRun, second: ComparedRun) -> str | None:
        found = missing_choices(first, second)
        return found and found.strategy

    assert wanted(a, b) == "tvm@16"
    assert wanted(b, a) == "graphturbo@2"
    assert wanted(search, a) == "tvm@8"
    assert wanted(a, search) == "tvm@8"
    assert wanted(planned, a) == "tvm@16"
    assert wanted(planned, search) is None
    assert wanted(search, made_up("best", 1e-3, cluster_batch=4)) is None
    assert wanted(a, made_up("tvm@16", 1e-3, cluster_batch=16)) is None
    assert wanted(made_up("none@2", 1e-3, cluster_batch=2), b) == "graphturbo@2"
    kept = with_choices(a, options={"tvm.passes": "squares"}, skip_passes=("fold",))
    found = missing_choices(kept, b)
    assert found is not None
    assert kept.choices is not None
    assert found == kept.choices.model_copy(update={"strategy": "tvm@16"})


def with_choices(run: ComparedRun, **changed: object) -> ComparedRun:
    assert run.choices is not None
    return run.model_copy(update={"choices": run.choices.model_copy(update=changed)})


def test_a_profile_that_has_the_papers_chips_name_is_not_the_papers_chip() -> None:
    runs = [
        with_choices(made_up(f"graphturbo:{level}@16", 1e-3, **PAPER), profile_text="name: mine")
        for level in ("gb", "lb")
    ]
    (found,) = ladders(runs)
    assert found.paper is None


def test_a_run_from_a_plan_file_is_no_step() -> None:
    gb, lb = (made_up(f"graphturbo:{level}@16", 1e-3) for level in ("gb", "lb"))
    assert ladders([gb, with_choices(lb, plan="plan: 1")]) == ()


def test_traffic_and_kernels_of_other_batches_are_compared_per_sample() -> None:
    """4 MiB of 64 samples are 64 KiB each, 1 MiB of 8 are 128; 32 and 8 kernels: 0.5 and 1 each.

    Halos: 0 and 512 KiB of 8 samples, 64 KiB each.
    """
    mib = 2**20
    a = made_up("tvm@2", 8e-3, 64, dram_read_bytes=4 * mib, dram_write_bytes=0, kernels=32,
                rounds=1, dram_ledger={"input": 4 * mib})  # fmt: skip
    b = made_up("tvm@2", 2e-3, 8, dram_read_bytes=mib, dram_write_bytes=0, kernels=8,
                rounds=1, dram_ledger={"input": mib // 2, "halo": mib // 2})  # fmt: skip
    found = figure_sentences(a, b)
    assert found[1] == (
        "B moves 2× as much over DRAM per sample (64 KiB in A, 128 KiB in B; the largest part is "
        "64 KiB more for halos)."
    )
    assert "Kernels launched per sample: 0.5 in A, 1 in B (2× as much)." in found
    same = made_up("tvm@2", 2e-3, 8, dram_read_bytes=mib // 2, dram_write_bytes=0)
    assert figure_sentences(a, same)[1] == "DRAM traffic per sample is the same (64 KiB)."


def test_figures_of_two_models_are_not_compared() -> None:
    a = made_up("tvm@2", 8e-3)
    others = (
        made_up("tvm@2", 2e-3, model="mine"),
        with_choices(made_up("tvm@2", 2e-3), model_sha256="1" * 64),
        with_choices(made_up("tvm@2", 2e-3), dims={"sequence": 128}),
    )
    for other in others:
        assert figure_sentences(a, other) == (OTHER_MODELS,)
        assert headline([a, other]) == "2 runs of 2 models"
    assert differing_setting([a, others[1]]) == ["model file 1", "model file 2"]
    saved = made_up("graphturbo@2", 2e-3).model_copy(update={"choices": None})
    assert headline([a, saved]) == "graphturbo@2 is the fastest: 4× tvm@2"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"options": {"graphturbo.peak": "literal"}}, "graphturbo.peak=literal"),
        ({"skip_passes": ("fold",)}, "without fold"),
        ({"max_instructions": 9000}, "up to 9,000 instructions"),
        ({"profile_text": "name: mine"}, "profile 1"),
        ({"plan": "plan: 1"}, "plan 1"),
    ],
)
def test_runs_that_differ_in_options_or_files_alone_are_told_apart(
    changed: dict[str, object], words: str
) -> None:
    a, b = made_up("tvm@2", 8e-3), with_choices(made_up("tvm@2", 2e-3), **changed)
    assert headline([a, b]) == f"tvm@2 ({words}) is the fastest: 4× tvm@2"


def test_saved_reports_are_told_apart_by_their_options() -> None:
    a, b = made_up("graphturbo@2", 8e-3), made_up("graphturbo@2", 2e-3)
    options = {**b.figures.options, "graphturbo.peak": "literal"}
    figures = b.figures.model_copy(update={"options": options})
    saved = [
        a.model_copy(update={"choices": None}),
        b.model_copy(update={"choices": None, "figures": figures}),
    ]
    assert differing_setting(saved) == ["", "graphturbo.peak=literal"]


def test_a_cause_that_changed_the_other_way_is_no_reason() -> None:
    """1 MiB more on the whole, while the only cause that is known has less."""
    mib = 2**20
    a = made_up("tvm@2", 1e-3, dram_read_bytes=mib, dram_write_bytes=0, dram_ledger={"halo": 9})
    b = made_up("tvm@2", 1e-3, dram_read_bytes=2 * mib, dram_write_bytes=0, dram_ledger={})
    assert figure_sentences(a, b)[1] == "B moves 2× as much over DRAM (1 MiB in A, 2 MiB in B)."
