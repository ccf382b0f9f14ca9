"""The matrix's sample meets half of the pairs, and its page has every cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from graphturbo_core.frontend.catalogue import sample_names
from graphturbo_core.hardware.profile import profile_names
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.strategies import registry
from tests import matrix
from tests.lowering.nets import STRATEGIES
from tests.matrix import PAGE, main, page, read_page
from tests.matrix_cells import (
    KEPT,
    LIGHT,
    LIGHT_CHIPS,
    LITERAL,
    LONGER,
    OTHER,
    OTHERS,
    PRINTED,
    ROUNDS,
    SEARCHED,
    SEARCHES,
    VARIANTS,
    WHOLE,
    Cell,
    Outcome,
    is_as_told,
    other_cells,
    sampled_cells,
    searched_cells,
    whole_cell,
)
from tests.verify.small_samples import LECTURE_CHIP, chips_with_room

MODELS = tuple(f"m{number}" for number in range(31))
CHIPS = ("c0", "c1", "c2", "c3", "c4")


def test_every_model_meets_half_of_the_chips_and_every_chip_every_strategy() -> None:
    runs = [
        (cell.model, cell.chip, strategy)
        for cell in sampled_cells(MODELS, CHIPS)
        for strategy in (*cell.sound, *cell.replayed)
    ]
    halves = {
        (model, chip)
        for (i, model), (j, chip) in product(enumerate(MODELS), enumerate(CHIPS))
        if (i + j) % 2 == 0
    }
    assert {(m, c) for m, c, _ in runs} == halves
    assert {(c, s) for _, c, s in runs} == set(product(CHIPS, STRATEGIES))
    assert len(runs) == len(set(runs)) == len(halves)


def test_the_tables_have_every_strategy_on_every_chip() -> None:
    cells = [whole_cell("bert-base", chip) for chip in chips_with_room()]
    assert {cell.place[0] for cell in cells} == {WHOLE}
    others = other_cells(["bert-base"], profile_names())
    assert {cell.place[0] for cell in others} == {OTHER}
    runs = [(cell.chip, strategy) for cell in (*cells, *others) for strategy in cell.replayed]
    assert len(runs) == len(set(runs))
    assert set(runs) == set(product(profile_names(), STRATEGIES))
    assert {strategy for cell in cells for strategy in cell.sound} == {*KEPT}


def test_the_third_table_has_its_strategies_on_every_chip() -> None:
    cells = searched_cells(["bert-base", "learn-net", "light-vgg19"], profile_names())
    assert {cell.place[0] for cell in cells} == {SEARCHED}
    found = {(cell.model, cell.chip) for cell in cells}
    assert found == set(product(("bert-base", "learn-net"), profile_names()))
    assert {cell.replayed for cell in cells} == {SEARCHES}


def test_every_strategy_and_level_has_a_table() -> None:
    every = {
        f"{name}:{level}" if level else name
        for name, strategy in registry.STRATEGIES.items()
        for level in strategy.levels or ("",)
    }
    assert every == {*KEPT, *OTHERS, *SEARCHES}


def test_a_search_runs_with_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RunRequest] = []

    def noted(_: object, request: RunRequest, *, has_few_cores: bool) -> str:
        asked.append(request)
        return ""

    monkeypatch.setattr(matrix, "_checked", noted)
    matrix.run_cell(Cell("teaching-resnet", "goya", (), ("taso-like", "ios:greedy")))
    assert [dict(request.options) for request in asked] == [{"taso-like.budget": "4"}, {}]


def test_a_sampled_run_stands_in_the_table_of_its_strategy() -> None:
    for cell in sampled_cells(MODELS, CHIPS):
        (strategy,) = (*cell.sound, *cell.replayed)
        assert cell.place == (OTHER if strategy in OTHERS else WHOLE, cell.model, cell.chip)


def test_the_page_is_as_written_and_no_cell_is_left_out() -> None:
    texts = read_page()
    assert page(texts) == PAGE.read_text(encoding="utf-8")
    small = [model for model in sample_names() if not model.startswith(LIGHT)]
    light = [model for model in sample_names() if model.startswith(LIGHT)]
    assert set(texts) == {
        *product((WHOLE,), sample_names(), chips_with_room()),
        *product((OTHER,), small, profile_names()),
        *product((OTHER,), light, LIGHT_CHIPS),
        *product((SEARCHED,), small, profile_names()),
    }
    assert not [text for text in texts.values() if "WRONG" in text]


def test_a_part_is_written_and_the_rest_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of `dlrm` on a chip changes this model's cells on this chip, one per table."""
    monkeypatch.setattr(matrix, "PAGE", tmp_path / "matrix.md")
    monkeypatch.setattr(matrix, "outcomes_of", refused_everywhere)
    chosen = ["--models", "dlrm", "--chips", "goya", "--write"]
    assert main(["--models", "dlrm,llama", "--chips", f"goya,{LECTURE_CHIP}", "--write"]) == 0
    monkeypatch.setattr(matrix, "outcomes_of", passed_everywhere)
    assert main([*chosen, "--others"]) == 0
    refused, passed = "refused; LB_FULL: every strategy", "replayed"
    assert read_page() == {
        (WHOLE, "dlrm", "goya"): refused,
        (WHOLE, "llama", "goya"): refused,
        (OTHER, "dlrm", "goya"): passed,
        (OTHER, "llama", "goya"): refused,
        (OTHER, "dlrm", LECTURE_CHIP): refused,
        (OTHER, "llama", LECTURE_CHIP): refused,
        **{
            (SEARCHED, model, chip): refused
            for model in ("dlrm", "llama")
            for chip in ("goya", LECTURE_CHIP)
        },
    }
    assert main(chosen[:-1]) == 1, "the first table has another text"
    assert main(chosen) == 0
    assert read_page()[WHOLE, "dlrm", "goya"] == "sound, replayed"
    assert main(chosen[:-1]) == 0


def refused_everywhere(cells: Sequence[Cell]) -> Iterator[Outcome]:
    return (Outcome(c, tuple((run, "LB_FULL") for run in c.runs), (), 0.0) for c in cells)


def passed_everywhere(cells: Sequence[Cell]) -> Iterator[Outcome]:
    return (Outcome(cell, (), (), 0.0) for cell in cells)


def test_a_refusal_that_the_page_does_not_tell_is_found() -> None:
    cell = Cell("m", "c", ("tvm",), ("tvm", "layerwise"))
    plain = Outcome(cell, (), (), 0.0)
    refused = Outcome(cell, (("small tvm", "TOO_LARGE"),), (), 0.0)
    assert is_as_told(plain, plain.text)
    assert is_as_told(refused, refused.text)
    assert not is_as_told(refused, plain.text)
    assert not is_as_told(plain, refused.text)
    assert not is_as_told(plain, "")
    assert is_as_told(plain, "sound, replayed; TOO_LARGE: small graphturbo:gb")


def test_refusals_are_grouped_by_code() -> None:
    cell = Cell("m", "c", (), ("tvm", "xla", "glow"))
    codes = (("small tvm", "LB_FULL"), ("small xla", "GB_FULL"), ("small glow", "LB_FULL"))
    some = Outcome(cell, codes[1:], (), 0.0)
    assert some.text == "replayed; GB_FULL: small xla; LB_FULL: small glow"
    mixed = Outcome(cell, codes, (), 0.0)
    assert mixed.text == "refused; LB_FULL: small tvm, small glow; GB_FULL: small xla"
    full = Outcome(cell, tuple((run, "LB_FULL") for run in cell.runs), (), 0.0)
    assert full.text == "refused; LB_FULL: every strategy"
    outcomes = (some, mixed, full)
    for one, other in product(outcomes, outcomes):
        assert is_as_told(one, other.text) == (one is other)
    sampled = Cell("m", "c", (), ("xla",))
    assert is_as_told(Outcome(sampled, codes[1:2], (), 0.0), mixed.text)
    assert not is_as_told(Outcome(sampled, codes[1:2], (), 0.0), full.text)


def test_a_variant_that_the_page_does_not_tell_is_found() -> None:
    cell = Cell("m", "c", ("tvm", "graphturbo:full"), ("tvm",))
    plain = Outcome(cell, (), (), 0.0)
    rounds = Outcome(cell, (), (), 0.0, (("tvm", ROUNDS), ("graphturbo:full", PRINTED)))
    assert rounds.text == "sound, replayed; one sample a cluster: tvm; as printed: graphturbo:full"
    assert is_as_told(rounds, rounds.text)
    assert not is_as_told(rounds, plain.text)
    assert not is_as_told(plain, rounds.text)
    other = Outcome(cell, (), (), 0.0, (("tvm", ROUNDS), ("graphturbo:full", ROUNDS)))
    assert not is_as_told(other, rounds.text)


def test_some_cores_of_a_chip_may_do_with_less_than_all() -> None:
    cell = Cell("light-m", "c", ("tvm", "graphturbo:full"), ("tvm",), has_few_cores=True)
    refused = (("tvm", "TOO_LARGE"), ("small tvm", "LB_FULL"))
    whole = Outcome(cell, refused, (), 0.0, (("graphturbo:full", PRINTED),))
    assert is_as_told(whole, whole.text)
    less = Outcome(cell, refused[1:], (), 0.0)
    assert not is_as_told(less, whole.text)
    assert is_as_told(replace(less, is_cut=True), whole.text)
    assert not is_as_told(replace(less, is_cut=True, refused=()), whole.text)
    assert not is_as_told(replace(whole, is_cut=True), less.text)


def test_variants_are_run_only_where_they_can_differ() -> None:
    """A light model has one sample; options of `graphturbo` are not those of others."""

    def labels(model: str, strategy: str) -> list[str]:
        cell = Cell(model, "c", (strategy,), ())
        return [v.label for v in VARIANTS if v.is_other(cell, strategy)]

    both = f"{PRINTED}, {ROUNDS}"
    assert labels("bert", "graphturbo:lb") == [ROUNDS, PRINTED, both, LONGER]
    assert labels("bert", "tvm") == [ROUNDS, LONGER]
    assert labels("light-vgg19", "graphturbo:lb") == [PRINTED, LONGER]
    assert labels("light-vgg19", "tvm") == [LONGER]
    told = VARIANTS[2].request(Cell("bert", "c", (), ()), "graphturbo:lb")
    assert (told.strategy, dict(told.options)) == ("graphturbo:lb@1", LITERAL)
    longer = VARIANTS[3].request(Cell("bert", "c", (), ()), "tvm")
    assert (longer, told.max_instructions) == (
        RunRequest("bert", "tvm", "c", max_instructions=4_000_000), None,
    )  # fmt: skip
