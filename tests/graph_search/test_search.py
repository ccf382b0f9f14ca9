"""The search over graphs with made-up costs: what it takes, keeps, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.substitutions.graph_steps import applied, substitutions
from graphturbo_core.graph_search.search import GraphCost, SearchedGraph, search_graphs
from graphturbo_core.ir.graph import Graph
from graphturbo_core.strategies.strategy import GraphBudget
from tests.frontend.passes.branch_models import branches_file, relus
from tests.models import imported

ENOUGH = 1000
PLAIN = 1000
"""Cycles of the unchanged graph."""
TWO = relus("Conv(x, w1)", "Conv(x, w2)")
WIDE = relus("Conv(x, w1)", "Conv<pads = [1,1,1,1]>(x, w3)")
CROSS = relus("Conv<pads = [0,1,0,1]>(x, wr)", "Conv<pads = [1,0,1,0]>(x, wl)")
BOTH = f"e = Conv(y, w1) f = Conv(y, w1) r = Relu(e) s = Relu(f) {WIDE}"
SITES = """c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) q = Relu(d)
    e = Conv(y, w1) f = Conv(y, w1) r = Relu(e) s = Relu(f)
    g = Conv(p, w5) h = Conv(p, w5) t = Relu(g) u = Relu(h)
    i = Conv(r, w5) j = Conv(r, w5) v = Relu(i) z = Relu(j)"""
"""Four sets of two: those of `p` and `r` have equal shapes."""
THREE = "c = Conv(x, w1) d = Conv(x, w2) e = Conv(x, w1) p = Relu(c) q = Relu(d) r = Relu(e)"
TWICE = f"""{WIDE} e = Conv(y, w1) f = Conv<pads = [1,1,1,1]>(y, w3)
    r = Relu(e) s = Relu(f)"""
MODELS = {
    "two": (TWO, "p, q"),
    "wide": (WIDE, "p, q"),
    "cross": (CROSS, "p, q"),
    "both": (BOTH, "p, q, r, s"),
    "three": (THREE, "p, q, r"),
    "twice": (TWICE, "p, q, r, s"),
    "sites": (SITES, "q, s, t, u, v, z"),
}


def graph_of_model(name: str) -> Graph:
    body, outputs = MODELS[name]
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


@dataclass
class Costs:
    """Made-up cycles of graphs, and the steps of all that were asked for, in their order."""

    cycles: Callable[[Graph], int | None]
    asked: list[tuple[int, ...]] = field(default_factory=list)
    told: list[tuple[int, int]] = field(default_factory=list)

    def __call__(self, steps: tuple[int, ...], graph: Graph) -> int | None:
        self.asked.append(steps)
        return self.cycles(graph)

    def search(self, name: str, graphs: int = ENOUGH, percent: int = 5) -> SearchedGraph:
        budget = GraphBudget("taso-like.graph", "unchanged", graphs, percent)
        found = search_graphs(
            graph_of_model(name), budget, self, lambda *parts: self.told.append(parts)
        )
        assert found is not None
        return found


def by_names(changes: Mapping[str, int]) -> Callable[[Graph], int]:
    """Cycles with a change per op that is in the graph, by its name."""
    return lambda graph: PLAIN + sum(changes.get(op.name, 0) for op in graph.ops)


def test_what_is_better_is_taken_and_what_is_not_is_left() -> None:
    better = Costs(by_names({"c/merged": -1})).search("two")
    assert (better.steps, better.cycles) == ((0,), PLAIN - 1)
    for change in (0, 1):
        left = Costs(by_names({"c/merged": change})).search("two")
        assert (left.steps, left.cycles) == ((), PLAIN)
        assert [trial.cycles for trial in left.trials] == [PLAIN + change]


LATER = {"c/enlarged3x3/merged": -100}
"""A merge that only a larger kernel allows."""


@pytest.mark.parametrize(
    ("percent", "worse", "steps"),
    [(5, 49, (0, 0)), (5, 50, ()), (6, 50, (0, 0)), (0, 1, ()), (0, -1, (0, 0))],
)
def test_a_worse_graph_within_alpha_is_changed_further(
    percent: int, worse: int, steps: tuple[int, ...]
) -> None:
    """1,049 of 1,000 cycles are less than 1.05 times as many; 1,050 are not."""
    found = Costs(by_names({"c/enlarged3x3": worse, **LATER})).search("wide", percent=percent)
    assert found.steps == steps
    assert found.cycles == (PLAIN - 100 if steps else PLAIN)


@pytest.mark.parametrize(("worse", "steps"), [(44, (0, 0, 0)), (45, (0,))])
def test_alpha_is_of_the_best_graph(worse: int, steps: tuple[int, ...]) -> None:
    """The merge of `e` comes first: 944 cycles are less than 1.05 times 900, 945 are not."""
    changes = {"e/merged": -100, "c/enlarged3x3": worse, **LATER}
    found = Costs(by_names(changes)).search("both")
    assert (found.steps, found.cycles) == (steps, PLAIN - 100 * (1 + len(steps) // 2))


@pytest.mark.parametrize("graphs", [1, 2, 3, 4, 5, 6])
def test_the_budget_is_kept_exactly(graphs: int) -> None:
    """Two enlargements, both, and the merge: five graphs with the unchanged one."""
    costs = Costs(by_names({"c/enlarged3x3/merged": -1}))
    found = costs.search("cross", graphs)
    count = min(graphs, 5)
    assert len(costs.asked) == count == len(found.trials) + 1
    assert costs.told == [(done, graphs) for done in range(1, count + 1)]
    assert len(found.steps) == (3 if graphs >= 5 else 0)


def every_graph(graph: Graph) -> dict[str, Graph]:
    """All graphs that substitutions reach, by their ops."""
    found, ahead = {}, [graph]
    while ahead:
        last = ahead.pop()
        if str(last.ops) not in found:
            found[str(last.ops)] = last
            ahead += [applied(last, match) for match in substitutions(last)]
    return found


def drawn(seed: int) -> Callable[[Graph], int]:
    """Cycles that look random, equal for equal graphs."""
    return lambda graph: 100 + int(sha256(f"{seed}{graph.ops}".encode()).hexdigest(), 16) % 900


COUNTS = {"two": 2, "wide": 3, "cross": 5, "three": 5, "both": 6, "sites": 16}
"""Graphs that substitutions reach, the unchanged one included."""


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
@pytest.mark.parametrize("seed", range(5))
def test_a_large_budget_is_exhaustive(name: str, count: int, seed: int) -> None:
    """Every graph once, whatever the order of the steps to it; the fastest of all is found."""
    graphs = every_graph(graph_of_model(name))
    costs = Costs(drawn(seed))
    found = costs.search(name, percent=10_000)
    assert len(costs.asked) == len(graphs) == count
    assert found.cycles == min(map(drawn(seed), graphs.values()))


def test_of_equally_fast_graphs_the_one_with_fewer_steps_is_taken() -> None:
    """`c` and `d` as 3x3 are as fast as one of them."""
    worse, better = {"c/enlarged3x3": -5, "d/enlarged3x3": 0}, {"c/enlarged3x3": -5}
    assert Costs(by_names(worse)).search("cross").steps == (0,)
    assert Costs(by_names(better)).search("cross").steps == (0,)
    assert Costs(lambda _: PLAIN).search("sites").steps == ()


def refusing(name: str) -> Callable[[Graph], int | None]:
    """Graphs with this op are refused; all others have fewer cycles, the more are changed."""
    return lambda graph: (
        None if name in graph.op_by_name else PLAIN - sum(bool(op.origin) for op in graph.ops)
    )


def test_a_refused_graph_is_left_and_not_changed_further() -> None:
    costs = Costs(refusing("c/enlarged3x3"))
    found = costs.search("cross")
    assert found.steps == (1,)
    assert [(trial.steps, trial.cycles) for trial in found.trials] == [
        ((0,), None), ((1,), PLAIN - 1), ((1, 0), None),
    ]  # fmt: skip


def test_nothing_is_searched_where_the_unchanged_graph_is_refused() -> None:
    costs = Costs(lambda _: None)
    budget = GraphBudget("taso-like.graph", "unchanged", ENOUGH, 5)
    cost: GraphCost = costs
    assert search_graphs(graph_of_model("two"), budget, cost, lambda *_: None) is None
    assert costs.asked == [()]


def test_equal_shapes_have_equal_expected_gains() -> None:
    """The merge of `e` gains nothing; that of `g` does, so that of `i` is next, before `e`'s."""
    costs = Costs(by_names({"c/merged": 7, "e/merged": 9, "g/merged": -10, "i/merged": -10}))
    found = costs.search("sites", 6)
    assert [" ".join(trial.match.subject) for trial in found.trials] == [
        "c d", "e f", "g h", "i j", "c d",
    ]  # fmt: skip
    assert found.cycles == PLAIN - 20 and len(found.steps) == 2


def test_of_equal_expectations_an_unknown_one_comes_first() -> None:
    """The merge behind the larger kernel of `c`, before the larger kernel of `e`: both 1,010."""
    costs = Costs(by_names({"c/enlarged3x3": 10, "e/enlarged3x3": 10}))
    assert [trial.steps for trial in costs.search("twice", 3).trials] == [(0,), (0, 0)]


def test_two_searches_are_equal() -> None:
    found = [Costs(drawn(3)).search("sites", 9) for _ in range(2)]
    assert found[0] == found[1]
