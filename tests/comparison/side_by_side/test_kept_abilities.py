"""docs/scheduler-abilities.json as the app reads it; tests/pages compares it with plans."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphturbo_core.comparison.side_by_side import kept_abilities as kept
from graphturbo_core.comparison.side_by_side.rewrite_searches import (
    compared_strategies,
    source_of,
)
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.strategies.registry import STRATEGIES


def test_every_compared_strategy_has_an_answer_per_question() -> None:
    found = kept.kept_abilities()
    assert found is not None
    assert list(found.answers) == [*compared_strategies(), "graphturbo:plus"]
    assert {len(row) for row in found.answers.values()} == {len(found.questions)}


def test_rewrite_searches_follow_the_strategies_whose_kernels_they_have() -> None:
    assert compared_strategies() == (
        "layerwise", "tvm", "astitch", "xla", "glow", "onednn", "tensorrt-like", "taso-like",
        "ios", "ios:both", "graphturbo",
    )  # fmt: skip
    unsearched = {name for name, each in STRATEGIES.items() if not each.is_search}
    assert set(compared_strategies()) - unsearched == {"taso-like", "ios:both"}


def test_a_level_has_the_source_of_its_strategy() -> None:
    assert source_of("ios:both") == source_of("ios") == STRATEGIES["ios"].source
    assert source_of("taso-like").startswith("TASO")
    assert source_of("<img>") == ""


def test_text_and_file_are_one() -> None:
    found = kept.kept_abilities()
    assert found is not None
    assert kept.abilities_text(found) == kept.FILE.read_text(encoding="utf-8")


OTHER_FORMS = (
    "[]",
    '{"questions": []}',
    '{"questions": [1], "answers": {}}',
    '{"questions": ["one", "two"], "answers": {"glow": [true]}}',
    '{"questions": [], "answers": {}}' + " " * kept.MAX_BYTES,
)


@pytest.mark.parametrize("text", OTHER_FORMS)
def test_another_form_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(GraphTurboError, match="write it again") as caught:
        kept.read_abilities(path)
    assert caught.value.code == "SCHEDULER_DATA"


def test_no_file_is_no_table(tmp_path: Path) -> None:
    assert kept.read_abilities(tmp_path / "none.json") is None
