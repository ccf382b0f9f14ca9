"""The matrix's sample meets every pair, and its page is whole."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from graphturbo_core.pipeline import RunRequest
from tests.lowering.nets import STRATEGIES
from tests.matrix import (
    KEPT,
    LITERAL,
    LONGER,
    PAGE,
    PRINTED,
    ROUNDS,
    SAMPLED,
    VARIANTS,
    Cell,
    Outcome,
    is_as_told,
    page,
    read_page,
    sampled_cells,
    whole_cell,
)

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


def test_the_page_leaves_out_what_is_sampled() -> None:
    cell = whole_cell("bert-base", "goya")
    assert cell.sound == cell.replayed == KEPT
    assert {*KEPT, *SAMPLED} == set(STRATEGIES)
    assert len(KEPT) + len(SAMPLED) == len(STRATEGIES)
    assert page(read_page()) == PAGE.read_text(encoding="utf-8")


def test_a_refusal_that_the_page_does_not_tell_is_found() -> None:
    cell = Cell("m", "c", ("tvm",), ("tvm", "layerwise"))
    plain = Outcome(cell, (), (), 0.0)
    refused = Outcome(cell, (("small tvm", "TOO_LARGE"),), (), 0.0)
    assert is_as_told(plain, plain.text)
    assert is_as_told(refused, refused.text)
    assert not is_as_told(refused, plain.text)
    assert not is_as_told(plain, refused.text)
    assert not is_as_told(plain, "")
    assert is_as_told(plain, "sound, replayed; small graphturbo:gb: TOO_LARGE")


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
