"""What a search may decide: orders of instances, layers that are alike, groups of a point."""

from __future__ import annotations

import pytest

from graphturbo_core.cli import main
from graphturbo_core.errors import OptionError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.register import check_register
from graphturbo_core.strategies.graphturbo.fitting import section_of
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.plus.cuts import GroupCut, carry_of
from graphturbo_core.strategies.steps.instances import InstanceGraph, instance_graph
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.steps.splitting import SubGraph
from graphturbo_core.strategies.tuned.layer_classes import layer_classes
from graphturbo_core.strategies.tuned.orders import ORDERS, in_regions
from graphturbo_core.strategies.tuned.shaping import Shaper
from graphturbo_core.strategies.tuned.space import SearchSpace
from graphturbo_core.strategies.tuned.starts import Start
from tests.lowering.nets import chip
from tests.strategies.samples import layers_of, plan_of

BLOCKS = """
net (float[8, 16] x, float[16, 32] w1, float[32, 16] w2, float[16, 32] w3, float[32, 16] w4)
  => (float[8, 16] y) {
  a = MatMul(x, w1)
  b = MatMul(a, w2)
  c = MatMul(b, w3)
  y = MatMul(c, w4)
}
"""
"""Two blocks of two products; the results of a and c, and of b and y, have the same shape."""


def instances(pieces: int, groups: int = 2) -> InstanceGraph:
    """The first products as groups of so many pieces of rows; b/k reads a/k, c/k reads b/k."""
    graph = layers_of(BLOCKS)
    sections = []
    for place in range(4):
        part, cut = SubGraph(graph, (place,)), GroupCut((place,), 0, pieces)
        sections.append(section_of(part, f"g{place + 1}", carry_of(part, cut), pieces))
    return instance_graph(graph.semantics, sections[:groups])


@pytest.mark.parametrize(
    ("name", "order"),
    [
        # a/1 a/2 a/3 are numbers 0 1 2, b/1 b/2 b/3 are 3 4 5; the newest ready one runs.
        ("depth first", [2, 5, 1, 4, 0, 3]),
        ("depth first, lowest piece first", [0, 3, 1, 4, 2, 5]),
        ("breadth first", [0, 1, 2, 3, 4, 5]),
        ("breadth first, back and forth", [0, 1, 2, 5, 4, 3]),
    ],
)
def test_orders(name: str, order: list[int]) -> None:
    assert list(ORDERS[name](instances(3))) == order


def test_every_other_group_goes_back() -> None:
    order = ORDERS["breadth first, back and forth"](instances(2, groups=4))
    assert order == (0, 1, 3, 2, 4, 5, 7, 6)


def test_a_group_that_waits_begins_a_region() -> None:
    graph = instances(3)
    assert in_regions(graph, ORDERS["depth first"](graph), [1]) == (2, 1, 0, 5, 4, 3)
    assert in_regions(graph, (2, 5, 1, 4, 0, 3), []) == (2, 5, 1, 4, 0, 3)


def test_layers_of_blocks_that_repeat_are_alike() -> None:
    assert layer_classes(layers_of(BLOCKS)) == (0, 1, 0, 1)


@pytest.mark.parametrize(("most", "classes"), [(3, (0, 1, 2)), (2, (0, 1, 0)), (1, (0, 0, 0))])
def test_where_there_are_many_classes_less_tells_them_apart(
    most: int, classes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes (8, 32), (8, 16) and (1, 8, 32): all differ; last sizes 32, 16, 32; MatMul all."""
    text = """
    net (float[8, 16] x, float[16, 32] w1, float[16, 16] w2, float[16, 32] w3, float[1, 8, 16] z)
      => (float[8, 32] a, float[8, 16] b, float[1, 8, 32] c) {
      a = MatMul(x, w1)
      b = MatMul(x, w2)
      c = MatMul(z, w3)
    }
    """
    monkeypatch.setattr(f"{layer_classes.__module__}.MAX_CLASSES", most)
    assert layer_classes(layers_of(text)) == classes


def shaper(*starts: Start) -> Shaper:
    graph: LayerGraph = layers_of(BLOCKS)
    plan = plan_of(graph.semantics, "graphturbo", chip("generic-4x4"))
    target = Target(plan.semantics, plan.hardware, "fp16", binder=None)  # type: ignore[arg-type]
    return Shaper(target, SearchSpace(graph, plan.hardware, starts))


ONE = Start("one", (GroupCut((0, 1, 2, 3), 0, 2),))
PAIRS = Start("pairs", (GroupCut((0, 1), 0, 2), GroupCut((2, 3), 0, 4)))


def cuts(start: Start, **point: str) -> list[tuple[tuple[int, ...], int]]:
    """Layers and pieces of each group; `pieces_0` stands for the variable `pieces 0`."""
    named = {name.replace("_", " "): value for name, value in point.items()}
    shaped = shaper(start)
    object.__setattr__(shaped, "_fitted", lambda layers, axis: GroupCut(layers, axis or 0, 1))
    return [(cut.layers, cut.pieces) for cut in shaped.cuts(named)]


def test_a_point_takes_groups_apart_and_joins_them() -> None:
    """Class 0 is a and c, class 1 is b and y: `merge 0 1` is a-b and c-y, `merge 1 0` is b-c."""
    assert cuts(ONE) == [((0, 1, 2, 3), 2)]
    assert cuts(ONE, merge_1_0="the other way") == [((0, 1), 1), ((2, 3), 1)]
    assert cuts(PAIRS, merge_1_0="the other way") == [((0, 1, 2, 3), 1)]
    apart = cuts(PAIRS, merge_0_1="the other way")
    assert apart == [((0,), 1), ((1,), 1), ((2,), 1), ((3,), 1)]


def test_pieces_go_up_and_down_the_divisors() -> None:
    """8 rows: 1, 2, 4, 8 pieces; the group's last layer is of class 1."""
    assert cuts(PAIRS, pieces="one more") == [((0, 1), 4), ((2, 3), 8)]
    assert cuts(PAIRS, pieces="two more") == [((0, 1), 8), ((2, 3), 8)]
    assert cuts(PAIRS, pieces="two fewer") == [((0, 1), 1), ((2, 3), 1)]
    assert cuts(PAIRS, pieces="one more", pieces_1="whole") == [((0, 1), 1), ((2, 3), 1)]
    assert cuts(PAIRS, pieces_0="one more") == [((0, 1), 2), ((2, 3), 4)]


def test_no_register_of_a_search(capsys: pytest.CaptureFixture[str]) -> None:
    check_register(RunRequest("teaching-resnet", "graphturbo"))
    with pytest.raises(OptionError, match="would search once for each assumption"):
        check_register(RunRequest("teaching-resnet", "tuned@2"))
    assert main(["run", "teaching-resnet", "--strategy", "tuned", "--assumptions"]) == 2
    assert "SEARCH_AND_ASSUMPTIONS" in capsys.readouterr().err
