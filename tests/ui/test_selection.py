"""What is selected: its text form, and the ops it stands for."""

from __future__ import annotations

import pytest

from graphturbo_ui.selection import Selection
from tests.ui.synthetic import OPS_PER_LAYER, synthetic_report


def test_what_is_written_is_read():
    for text in ("a-group-0", "b-layer-12", "a-op-1234567"):
        found = Selection.read(text)
        assert found is not None
        assert found.text() == text


@pytest.mark.parametrize(
    "text", [None, 3, "", "c-group-1", "a-kernel-1", "a-group--1", "a-group-12345678", "a-group-1 "]
)
def test_anything_else_selects_nothing(text: object):
    assert Selection.read(text) is None


def test_a_selection_stands_for_the_same_ops_by_any_kind():
    report = synthetic_report(layers=6, layers_per_group=2)
    second_group = range(2 * OPS_PER_LAYER, 4 * OPS_PER_LAYER)
    assert Selection("B", "group", 1).ops(report) == frozenset(second_group)
    assert Selection("B", "layer", 2).ops(report) == frozenset(second_group[:OPS_PER_LAYER])
    assert Selection("B", "op", 7).ops(report) == {7}
    assert Selection("B", "group", 99).ops(report) == frozenset()
