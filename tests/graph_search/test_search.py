"""The search over graphs with made-up costs: what it takes, in which order, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.substitutions.graph_steps import applied, substitutions
from graphturbo_core.graph_search.search import (
    MOST_WHOLE,
    MatchCost,
    TakenGraph,
    WholeGraph,
    reached_graphs,
    whole_graphs,
)
from graphturbo_core.graph_search.segment_costs import SegmentCost
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


GraphCycles = Callable[[Graph], int | None]


def costs_of(cycles: GraphCycles) -> Callable[[Graph], MatchCost]:
    """Costs of matches by cycles of whole graphs; None: refused."""

    def of_graph(graph: Graph) -> MatchCost:
        return lambda match: SegmentCost(match, cycles(graph), cycles(applied(graph, match)))

    return of_graph


def search(
    name: str, cycles: GraphCycles, graphs: int = ENOUGH, percent: int = 5, seed: int = 0
) -> list[TakenGraph]:
    budget = GraphBudget("taso-like.graph", "unchanged", graphs, percent, seed)
    graph = graph_of_model(name)
    return list(reached_graphs(graph, cycles(graph) or 0, budget, costs_of(cycles)))


def names_of(taken: TakenGraph) -> list[str]:
    """The convolutions of each match that led to a graph."""
    return [" ".join(cost.match.ops) for cost in taken.changes]


def best_of(taken: Sequence[TakenGraph]) -> TakenGraph:
    return min(taken, key=lambda each: (each.cycles, len(each.steps)))


def by_names(changes: Mapping[str, int]) -> Callable[[Graph], int]:
    """Cycles with a change per op that is in the graph, by its name."""
    return lambda graph: PLAIN + sum(changes.get(op.name, 0) for op in graph.ops)


@pytest.mark.parametrize("change", [-1, 0, 1, 49])
def test_the_cost_is_that_of_the_graph_before_plus_the_change(change: int) -> None:
    """A graph that is slower, or as fast, is taken too: less than 1.05 times as slow."""
    taken = search("two", by_names({"c/merged": change}))
    assert [(each.steps, each.cycles) for each in taken] == [((), PLAIN), ((0,), PLAIN + change)]


LATER = {"c/enlarged3x3/merged": -100}
"""A merge that only a larger kernel allows."""


@pytest.mark.parametrize(
    ("percent", "worse", "steps"),
    [(5, 49, (0, 0)), (5, 50, ()), (6, 50, (0, 0)), (0, 1, ()), (0, 0, ()), (0, -1, (0, 0))],
)
def test_a_worse_graph_within_alpha_is_changed_further(
    percent: int, worse: int, steps: tuple[int, ...]
) -> None:
    """1,049 of 1,000 cycles are less than 1.05 times as many; 1,050 are not."""
    cycles = by_names({"c/enlarged3x3": worse, **LATER})
    found = best_of(search("wide", cycles, percent=percent))
    assert (found.steps, found.cycles) == (steps, PLAIN - 100 if steps else PLAIN)


@pytest.mark.parametrize(("worse", "least"), [(44, PLAIN - 200), (45, PLAIN - 100)])
def test_alpha_is_of_the_cheapest_graph_taken_so_far(worse: int, least: int) -> None:
    """The merge of `e` is taken first: 944 cycles are less than 1.05 times 900, 945 are not."""
    changes = {"e/merged": -100, "c/enlarged3x3": worse, **LATER}
    taken = search("both", by_names(changes))
    assert names_of(taken[1]) == ["e f"]
    assert best_of(taken).cycles == least


def test_a_graph_that_waits_is_not_taken_once_a_much_cheaper_one_is() -> None:
    """1,045 wait. The merge of `e` has 900, so 945 and more are not taken."""
    taken = search("both", by_names({"e/merged": -100, "c/enlarged3x3": 45}))
    assert [each.cycles for each in taken] == [PLAIN, PLAIN - 100]
    taken = search("both", by_names({"e/merged": -100, "c/enlarged3x3": 44}))
    assert PLAIN - 56 in [each.cycles for each in taken]


def test_the_cheapest_graph_is_taken_first() -> None:
    """Four merges gain 1, 2, 4 and 8: 15 are reached by the largest gains first."""
    cycles = by_names({"c/merged": -1, "e/merged": -2, "g/merged": -4, "i/merged": -8})
    taken = search("sites", cycles, 5)
    assert [each.cycles for each in taken] == [PLAIN - gain for gain in (0, 8, 12, 14, 15)]
    assert names_of(taken[4]) == ["i j", "g h", "e f", "c d"]


def test_of_equal_cycles_fewer_steps_come_first() -> None:
    """`c`, `c e` are taken, then `i`. So `c e g` waits before `g i`, and both have 1,010 cycles."""
    table = {"": PLAIN, "c": 990, "ce": 995, "i": PLAIN, "ceg": 1010, "gi": 1010}

    def cycles(graph: Graph) -> int:
        merged = (op.name[0] for op in graph.ops if op.name.endswith("/merged"))
        return table.get("".join(sorted(merged)), 1040)

    taken = search("sites", cycles, 6)
    found = ["".join(sorted(name[0] for name in names_of(each))) for each in taken]
    assert found == ["", "c", "ce", "i", "gi", "ceg"]


@pytest.mark.parametrize("graphs", [1, 2, 3, 4, 5, 6])
def test_the_budget_is_kept_exactly(graphs: int) -> None:
    """Two enlargements, both, and the merge: five graphs with the unchanged one."""
    asked: list[int] = []

    def counted(graph: Graph) -> int:
        asked.append(len(graph.ops))
        return by_names(LATER)(graph)

    taken = search("cross", counted, graphs)
    assert len(taken) == min(graphs, 5)
    assert best_of(taken).cycles == (PLAIN - 100 if graphs >= 5 else PLAIN)
    if graphs == 1:
        assert len(asked) == 1, "no match is costed whose graph cannot be taken"


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
@pytest.mark.parametrize("seed", range(3))
def test_a_large_budget_is_exhaustive(name: str, count: int, seed: int) -> None:
    """Every graph once, whatever the order of the steps to it and of equal costs."""
    graphs = every_graph(graph_of_model(name))
    taken = search(name, drawn(seed), percent=1000, seed=seed)
    assert len(taken) == len(graphs) == count
    assert sorted(each.cycles for each in taken) == sorted(map(drawn(seed), graphs.values()))


def refusing(name: str) -> Callable[[Graph], int | None]:
    """Graphs with this op are refused; all others have fewer cycles, the more are changed."""
    return lambda graph: (
        None if name in graph.op_by_name else PLAIN - sum(bool(op.origin) for op in graph.ops)
    )


def test_a_refused_graph_is_left_and_not_changed_further() -> None:
    taken = search("cross", refusing("c/enlarged3x3"))
    assert [(names_of(each), each.cycles) for each in taken] == [([], PLAIN), (["d"], PLAIN - 1)]


def test_with_seed_0_equal_costs_have_the_order_of_the_matches() -> None:
    taken = search("sites", lambda _: PLAIN, 5)
    assert [names_of(each) for each in taken] == [[], ["c d"], ["e f"], ["g h"], ["i j"]]


def test_other_seeds_take_other_graphs() -> None:
    """Three graphs of 16, all of equal cost; with one seed always the same ones."""
    found = {}
    for seed in range(8):
        taken = search("sites", lambda _: PLAIN, 3, seed=seed)
        assert taken == search("sites", lambda _: PLAIN, 3, seed=seed)
        found[seed] = frozenset(str(names_of(each)) for each in taken)
    assert found[0] != found[1]
    assert len(set(found.values())) > 2


def test_the_seed_decides_among_equal_costs_alone() -> None:
    cycles = by_names({"c/merged": -1, "e/merged": -2, "g/merged": -4, "i/merged": -8})
    searches = [search("sites", cycles, percent=0, seed=seed) for seed in (0, 1, 2)]
    assert searches[0] == searches[1] == searches[2]


def taken_graphs(*cycles: int) -> list[TakenGraph]:
    """Graphs of no, one, two ... steps with these expected cycles."""
    return [TakenGraph((0,) * steps, each) for steps, each in enumerate(cycles)]


def wholes(taken: list[TakenGraph], cycles: Mapping[int, int | None]) -> list[WholeGraph]:
    """Simulated graphs; `cycles`: by the number of steps."""
    return list(whole_graphs(taken, 1000, lambda steps: cycles[len(steps)]))


def test_the_unchanged_graph_and_the_cheapest_are_simulated_as_a_whole() -> None:
    """Of six graphs the three with 700, 800 and 900; a result may be another than expected."""
    taken = taken_graphs(1000, 950, 700, 990, 900, 800)
    found = wholes(taken, {2: 720, 4: None, 5: 710})
    assert MOST_WHOLE == 4
    assert [(len(each.taken.steps), each.cycles) for each in found] == [
        (0, 1000), (2, 720), (5, 710), (4, None),
    ]  # fmt: skip


def test_of_equal_expected_cycles_fewer_steps_are_simulated() -> None:
    taken = taken_graphs(1000, 800, 800, 800, 800)
    found = wholes([taken[0], *reversed(taken[1:])], {1: 1, 2: 1, 3: 1})
    assert [len(each.taken.steps) for each in found] == [0, 1, 2, 3]


def test_a_graph_that_costs_more_is_simulated_too() -> None:
    """Its expected cycles may be wrong."""
    found = wholes(taken_graphs(1000, 1001), {1: 999})
    assert [each.cycles for each in found] == [1000, 999]


def test_two_searches_are_equal() -> None:
    assert search("sites", drawn(3), 9, seed=4) == search("sites", drawn(3), 9, seed=4)


def test_weights_of_taken_graphs_have_no_numbers() -> None:
    """The search needs none; the graph of the import has all of them."""
    graph = graph_of_model("twice")
    seen: list[Graph] = []

    def of_graph(changed: Graph) -> MatchCost:
        seen.append(changed)
        return lambda match: SegmentCost(match, 0, -1)

    budget = GraphBudget("taso-like.graph", "unchanged", 5, 5)
    list(reached_graphs(graph, PLAIN, budget, of_graph))
    made = [seen[-1].tensors[name] for name in seen[-1].tensors.keys() - graph.tensors.keys()]
    assert made and all(tensor.value is None and not tensor.joins for tensor in made)
    kept = [seen[1].tensors[name] for name in seen[1].tensors.keys() & {"w1", "w3"}]
    assert kept and all(tensor.value is not None for tensor in kept), "those of the model have"
