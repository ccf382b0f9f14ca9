"""The onnx package's node suite: the harness detects faults.

The models: python -m tests.verify.node_table (`make test-all`). The harness is `slow` as it is run
there alone, and the suite takes seconds to collect.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.verify import node_suite
from tests.verify.node_suite import Case, Outcome, cases, imported, run_case
from tests.verify.node_table import CHUNK, page, summary

pytestmark = pytest.mark.slow


def case(name: str) -> Case:
    return next(case for case in cases() if case.name == name)


def test_the_suite_is_the_one_that_the_page_is_about() -> None:
    assert len(cases()) == 1884
    assert len({case.name for case in cases()}) == 1884


def test_a_wrong_number_is_not_right() -> None:
    right = case("test_add")
    wrong = right.expected["sum"].copy()
    wrong[2, 3, 4] += 1e-3
    assert run_case(right).kind == "exact"
    assert run_case(replace(right, expected={"sum": wrong})).kind == "SUITE_DIFFERS"


def test_a_missing_output_is_not_right() -> None:
    assert run_case(replace(case("test_add"), expected={})).kind == "TRACEBACK"


def test_a_traceback_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise KeyError("nowhere")

    monkeypatch.setattr(node_suite, "traced", broken)
    found = run_case(case("test_add"))
    assert found.kind == "TRACEBACK"
    assert "nowhere" in found.reason


def test_a_model_that_hangs_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_suite, "SECONDS_PER_MODEL", 1)
    monkeypatch.setattr(node_suite, "traced", lambda *_: time.sleep(30))
    assert run_case(case("test_add")).kind == "TOO_SLOW"


@pytest.mark.parametrize(
    ("name", "baked"),
    [
        ("test_add", ()),
        ("test_clip", ()),
        ("test_expand_dim_changed", ("new_shape",)),
        ("test_reshape_negative_dim", ("shape",)),
        ("test_compress_0", ("condition",)),
        ("test_if", ("cond",)),
    ],
)
def test_only_what_a_shape_or_a_branch_depends_on_is_a_constant(
    name: str, baked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data stays an input; of `test_if`, whose branches are constants, nothing is left."""
    known: list[tuple[str, ...]] = []
    monkeypatch.setattr(node_suite, "_baked", _noting(known, node_suite._baked))
    if name == "test_if":
        assert run_case(case(name)).kind == "NOTHING_TO_RUN"
    else:
        assert imported(case(name))[2] == baked
    assert sum(known, ()) == baked


def _noting(known: list[tuple[str, ...]], function: Callable[..., Any]) -> Callable[..., Any]:
    def noted(model: Any, names: tuple[str, ...], given: Case) -> Any:
        known.append(names)
        return function(model, names, given)

    return noted


def test_an_expanded_model_has_the_row_of_its_op() -> None:
    assert case("test_gelu_tanh_1").op == "Gelu"
    assert case("test_gelu_tanh_1_expanded").op == "Gelu, expanded"


def test_the_page_counts_and_names() -> None:
    outcomes = [
        Outcome("test_a", "Add", "exact"),
        Outcome("test_b", "Add", "opaque", baked=("n",)),
        Outcome("test_c", "Scan", "SUB_GRAPH", "Scan | no"),
    ]
    text = page(outcomes)
    assert "**2 of 3 models are right.**" in text
    assert "| Add | 2 | 1 | 1 |  |" in text
    assert "| Scan | 1 |  |  | 1 SUB_GRAPH |" in text
    assert "| test_c | SUB_GRAPH | Scan / no |" in text
    assert summary(outcomes, 4.2) == "2 of 3 right in 4 s: 1 exact, 1 opaque, 1 SUB_GRAPH"
    assert len(cases()) > CHUNK * 2
