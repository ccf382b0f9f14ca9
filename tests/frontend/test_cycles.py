"""A graph with a cycle: the refusal names the ops on it, in the order in which data would flow."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.frontend.parse.structure import topological_order
from tests.models import model_bytes

ROOT = Path(__file__).resolve().parents[2]


def refusal(text: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        import_model(model_bytes(text), ImportOptions("test"))
    assert caught.value.code == "CYCLE"
    return caught.value


def refused_nodes(edges: list[tuple[int, int]], count: int) -> ModelError:
    """The refusal of nodes n0, n1, ... of which each edge's second reads the first."""
    reads: dict[int, list[str]] = {}
    for source, target in edges:
        reads.setdefault(target, []).append(f"v{source}")
    nodes = [
        onnx.helper.make_node("Sum", ["x", *reads.get(index, [])], [f"v{index}"])
        for index in range(count)
    ]
    with pytest.raises(ModelError) as caught:
        topological_order(nodes, [f"n{index}" for index in range(count)], {"x"})
    return caught.value


def test_ops_before_and_behind_the_cycle_are_not_on_it() -> None:
    error = refusal(
        """g (float[2] x) => (float[2] y) {
            y = Exp(c)
            a = Abs(x)
            c = Neg(b)
            b = Add(a, c)
        }"""
    )
    # Exp waits for Neg, and Abs has run: only Neg and Add wait for each other.
    assert error.fields["cycle"] == ("Neg 'Neg_2'", "Add 'Add_3'")
    assert error.where == "Neg 'Neg_2' -> Add 'Add_3' -> Neg 'Neg_2'"
    assert "a cycle of 2 nodes" in error.what


def test_the_path_follows_the_data_whatever_the_order_in_the_file() -> None:
    # 4 -> 2 -> 5 -> 1 -> 4, from its first node on; 0 reads its node 5, and 3 its node 2.
    error = refused_nodes([(4, 2), (2, 5), (5, 1), (1, 4), (5, 0), (2, 3)], 6)
    assert error.where == "n1 -> n4 -> n2 -> n5 -> n1"


def test_one_of_two_cycles_is_named() -> None:
    error = refused_nodes([(0, 1), (1, 0), (2, 3), (3, 2), (3, 0)], 4)
    cycle = error.fields["cycle"]
    assert cycle in [("n0", "n1"), ("n2", "n3")]


def test_a_node_that_reads_itself() -> None:
    assert refused_nodes([(0, 0)], 1).where == "n0 -> n0"


def test_a_long_cycle_is_named_at_both_ends_and_costs_little() -> None:
    count = 20_000
    error = refused_nodes([(index, (index + 1) % count) for index in range(count)], count)
    shown = "n0 -> n1 -> n2 -> n3 -> n4 -> 19991 more -> n19996 -> n19997 -> n19998 -> n19999 -> n0"
    assert error.where == shown
    assert error.fields["cycle"] == tuple(f"n{index}" for index in range(count))


def test_a_sound_model_does_not_pay_for_it() -> None:
    script = (
        "import sys, graphturbo_core.cli\n"
        "assert not {'networkx', 'pydot'} & set(sys.modules), 'imported before it is needed'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
