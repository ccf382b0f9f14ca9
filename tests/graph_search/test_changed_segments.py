"""Segments of small graphs worked out by hand: their ops, inputs, outputs, and which are equal."""

from __future__ import annotations

import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.substitutions.graph_steps import applied, substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.graph_search import segment_costs
from graphturbo_core.graph_search.changed_segments import (
    ChangedSegment,
    KernelOps,
    SegmentCuts,
    part_of_graph,
    structure_of,
)
from graphturbo_core.graph_search.segment_costs import SegmentCosts
from graphturbo_core.ir.graph import Graph, TensorKind
from graphturbo_core.semantics.table import GraphSemantics, analyse
from tests.frontend.passes.branch_models import branches_file, relus
from tests.models import imported

WIDE = relus("Conv(x, w1)", "Conv<pads = [1,1,1,1]>(x, w3)")
TWO = relus("Conv(x, w1)", "Conv(x, w2)")
SITES = f"""{TWO} e = Conv(y, w1) f = Conv(y, w2) r = Relu(e) s = Relu(f)
    g = Conv(p, w5) t = Relu(g)"""
POOL = "k2 = AveragePool<kernel_shape = [3,3]>(x) p = Relu(k2) q = Relu(p)"


def graph_of_model(body: str, outputs: str) -> Graph:
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


def kernels(text: str) -> KernelOps:
    """Kernels from a text with a comma between two kernels and a space between two ops."""
    sets = [frozenset(ops.split()) for ops in text.split(",")]
    return {op: ops for ops in sets for op in ops}


SITE_KERNELS = kernels("c p, d q, e r, f s, g t")


def match_of(graph: Graph, *ops: str) -> Substitution:
    return next(match for match in substitutions(graph) if match.ops == ops)


def segment(body: str, outputs: str, known: KernelOps, *ops: str) -> ChangedSegment:
    graph = graph_of_model(body, outputs)
    return SegmentCuts(graph, graph, known).segment(match_of(graph, *ops))


def names(graph: Graph) -> str:
    return " ".join(op.name for op in graph.ops)


def test_a_segment_has_the_kernels_of_a_match_and_no_others() -> None:
    """The reader `g` of `p` is in another kernel, and `e`, `f` read another input."""
    found = segment(SITES, "q, r, s, t", SITE_KERNELS, "c", "d")
    assert names(found.before) == "c d p q"
    assert names(found.after) == "c/merged c/slice d/slice p q"
    for part in (found.before, found.after):
        assert part.inputs == ("x",) and set(part.outputs) == {"p", "q"}
        part.check()
    assert found.before.undecomposed is None
    assert found.after.undecomposed is not None
    assert names(found.after.undecomposed) == "c d p q"


def test_kernels_that_are_wider_make_the_segment_wider() -> None:
    found = segment(SITES, "q, r, s, t", kernels("c p g t, d q, e r, f s"), "c", "d")
    assert names(found.before) == "c d p q g t"
    assert set(found.before.outputs) == {"q", "t"}


def test_tensors_from_outside_are_inputs_and_read_ones_are_outputs() -> None:
    """`g` alone: `p` is an activation outside and an input here."""
    graph = graph_of_model(SITES, "q, r, s, t")
    part = part_of_graph(graph, {"g"})
    assert (part.inputs, part.outputs) == (("p",), ("g",))
    assert part.tensors["p"].kind is TensorKind.INPUT
    assert graph.tensors["p"].kind is TensorKind.ACTIVATION
    assert set(part.tensors) == {"p", "w5", "g"}
    part = part_of_graph(graph, {"c", "p", "g"})
    assert part.outputs == ("g",), "the result p has no reader outside"
    part = part_of_graph(graph_of_model(SITES, "p, q, r, s, t"), {"c", "p", "g"})
    assert part.outputs == ("p", "g"), "a result of the model is one of the part"


def test_a_writer_of_another_type_brings_the_readers_kernels() -> None:
    """A Relu may join a convolution that was a pool; the Relu after it is no reader of that."""
    found = segment(POOL, "q", kernels("k2, p, q"), "k2")
    assert names(found.before) == "k2 p"
    assert names(found.after) == "k2/convolution p"
    assert found.before.outputs == ("p",)


def test_a_writer_of_the_same_type_does_not() -> None:
    found = segment(WIDE, "p, q", kernels("c, d, p, q"), "c")
    assert (names(found.before), names(found.after)) == ("c", "c/enlarged3x3")


def test_a_later_segment_has_parts_of_earlier_steps() -> None:
    graph, known = graph_of_model(WIDE, "p, q"), kernels("c p, d q")
    changed = applied(graph, match_of(graph, "c"))
    found = SegmentCuts(graph, changed, known).segment(match_of(changed, "c/enlarged3x3", "d"))
    assert names(found.before) == "c/enlarged3x3 d p q"
    for part in (found.before, found.after):
        assert part.undecomposed is not None and names(part.undecomposed) == "c d p q"


def test_a_segment_has_all_parts_of_a_merged_convolution() -> None:
    """The kernel of `q`, `k2` and `z` has the slice of `d`: `c`, merged with it, comes along."""
    body = f"""{TWO} k2 = AveragePool<kernel_shape = [1,1]>(y) z = Concat<axis = 1>(q, k2)
        r = Relu(z)"""
    graph, known = graph_of_model(body, "p, r"), kernels("c p, d q k2 z, r")
    changed = applied(graph, match_of(graph, "c", "d"))
    pool = match_of(changed, "k2")
    found = SegmentCuts(graph, changed, known).segment(pool)
    assert names(found.before) == "c/merged c/slice d/slice p q k2 z"
    assert names(SegmentCuts(graph, graph, known).segment(pool).before) == "d q k2 z"


def structure(body: str, outputs: str, ops: str) -> object:
    return structure_of(analyse(part_of_graph(graph_of_model(body, outputs), set(ops.split()))))


def test_structures_are_equal_where_names_alone_differ() -> None:
    assert structure(SITES, "q, r, s, t", "c p") == structure(SITES, "q, r, s, t", "e r")
    assert structure(SITES, "q, r, s, t", "c d p q") == structure(SITES, "q, r, s, t", "e f r s")


@pytest.mark.parametrize(
    ("body", "outputs", "ops"),
    [
        (SITES, "q, r, s, t", "d q"),
        (SITES, "q, r, s, t", "g t"),
        (SITES, "q, r, s, t", "c"),
        (SITES.replace("Relu(c)", "Sigmoid(c)"), "q, r, s, t", "c p"),
        (SITES.replace("Relu(c)", "Abs(c)"), "q, r, s, t", "c p"),
        (SITES.replace("c = Conv(x, w1)", "c = Conv(x, w1, v1)"), "q, r, s, t", "c p"),
        (SITES, "c, q, r, s, t", "c p"),
    ],
)
def test_structures_differ_otherwise(body: str, outputs: str, ops: str) -> None:
    """Other weights, another input's shape, fewer ops, other op types, a bias, an output more.

    Relu and Abs have equal semantics, but one of them joins a convolution.
    """
    assert structure(SITES, "q, r, s, t", "c p") != structure(body, outputs, ops)


def test_structures_differ_by_the_graph_before() -> None:
    """`d`, merged with `c`, and an equal slice of the model's own."""
    graph = graph_of_model(TWO, "p, q")
    merged = SegmentCuts(graph, graph, kernels("c p, d q")).segment(match_of(graph, "c", "d")).after
    plain = Graph(merged.name, merged.ops, merged.tensors, merged.inputs, merged.outputs)
    assert structure_of(analyse(merged)) != structure_of(analyse(plain))


class Simulated:
    """Counts simulated segments; a segment has 10 cycles per op, a Conv 100."""

    def __init__(self, refused: str = "") -> None:
        self.parts: list[str] = []
        self.refused = refused

    def __call__(self, part: GraphSemantics) -> int | None:
        self.parts.append(names(part.graph))
        if self.refused in part.graph.op_by_name:
            return None
        return sum(100 if op.op_type == "Conv" else 10 for op in part.graph.ops)


def test_equal_segments_are_simulated_once() -> None:
    """Before: 2 Conv, 2 Relu; after: 1 Conv, 2 slices, 2 Relu. The second site is the same."""
    graph, simulated = graph_of_model(SITES, "q, r, s, t"), Simulated()
    costs = SegmentCosts(graph, SITE_KERNELS, simulated)
    first = costs.of(graph)(match_of(graph, "c", "d"))
    assert (first.before, first.after, first.change) == (220, 140, -80)
    assert costs.of(graph)(match_of(graph, "e", "f")) is first
    assert simulated.parts == ["c d p q", "c/merged c/slice d/slice p q"]
    assert costs.simulated == [first]


def test_a_match_of_a_changed_graph_is_known_where_its_kernels_are_unchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Then the segment is not even built."""
    graph, simulated = graph_of_model(SITES, "q, r, s, t"), Simulated()
    costs = SegmentCosts(graph, SITE_KERNELS, simulated)
    first = costs.of(graph)(match_of(graph, "e", "f"))
    changed = applied(graph, match_of(graph, "c", "d"))
    monkeypatch.setattr(segment_costs, "analyse", None)
    assert costs.of(changed)(match_of(changed, "e", "f")) is first
    assert len(simulated.parts) == 2


def test_a_segment_before_several_changes_is_simulated_once() -> None:
    """A convolution of four groups may have two, or one."""
    graph, simulated = graph_of_model("p = Conv<group = 4>(x, wq)", "p"), Simulated()
    costs = SegmentCosts(graph, kernels("p"), simulated).of(graph)
    assert [costs(match).change for match in substitutions(graph)] == [0, 0]
    assert simulated.parts == ["p", "p/groups2", "p/groups1"]


def test_a_changed_kernel_is_simulated_again() -> None:
    """`c` and `d` are merged where `c` is 3x3 already: a kernel of another graph."""
    body = """c = Conv<pads = [0,1,0,1]>(x, wr) d = Conv<pads = [1,0,1,0]>(x, wl)
        p = Relu(c) q = Relu(d)"""
    graph, simulated = graph_of_model(body, "p, q"), Simulated()
    costs = SegmentCosts(graph, kernels("c p, d q"), simulated)
    costs.of(graph)(match_of(graph, "c"))
    changed = applied(graph, match_of(graph, "c"))
    costs.of(changed)(match_of(changed, "d"))
    both = applied(changed, match_of(changed, "d"))
    costs.of(both)(match_of(both, "c/enlarged3x3", "d/enlarged3x3"))
    assert simulated.parts == [
        "c p", "c/enlarged3x3 p", "d q", "d/enlarged3x3 q",
        "c/enlarged3x3 d/enlarged3x3 p q",
        "c/enlarged3x3/merged c/enlarged3x3/slice d/enlarged3x3/slice p q",
    ]  # fmt: skip


@pytest.mark.parametrize("refused", ["c", "c/merged"])
def test_a_refused_segment_has_no_change(refused: str) -> None:
    graph = graph_of_model(TWO, "p, q")
    costs = SegmentCosts(graph, kernels("c p, d q"), Simulated(refused))
    found = costs.of(graph)(match_of(graph, "c", "d"))
    assert found.change is None
    assert (found.before is None) == (refused == "c")
    assert (found.after is None) == (refused == "c/merged")


def test_a_neighbour_that_another_step_changed_is_another_segment() -> None:
    """The pool's segment has the kernel of its reader, a convolution with groups."""
    body = "k2 = AveragePool<kernel_shape = [3,3]>(x) p = Conv<group = 4>(k2, wq)"
    graph, simulated = graph_of_model(body, "p"), Simulated()
    costs = SegmentCosts(graph, kernels("k2, p"), simulated)
    costs.of(graph)(match_of(graph, "k2"))
    changed = applied(graph, next(m for m in substitutions(graph) if m.ops == ("p",)))
    costs.of(changed)(match_of(changed, "k2"))
    assert simulated.parts == [
        "k2 p", "k2/convolution p", "k2 p/groups2", "k2/convolution p/groups2",
    ]  # fmt: skip
