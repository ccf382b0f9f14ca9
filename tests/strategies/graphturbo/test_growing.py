"""Splits and orders that are mended as groups grow say what they would say worked out anew."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate

import pytest

from graphturbo_core.strategies.graphturbo import grouping
from graphturbo_core.strategies.graphturbo.grouping import group_layers
from graphturbo_core.strategies.graphturbo.live.growing import grow
from graphturbo_core.strategies.graphturbo.live.live_bytes import LiveBytes
from graphturbo_core.strategies.graphturbo.mended_order import MendedOrder
from graphturbo_core.strategies.layers.layer_graph import LayerGraph
from graphturbo_core.strategies.steps.splitting import SplitInfo, Splitter, SubGraph
from tests.strategies.samples import layers_of

MAP = "float[8,4,6,6]"
WEIGHT = "float[4,4,1,1] w"


def ladder(seed: int, layers: int = 24) -> LayerGraph:
    """Convolutions, poolings and sums; some read an old value or the second input again."""
    draw = random.Random(seed)
    names, lines = ["x"], []
    for number in range(layers):
        old = draw.choice(["y", *names[-4:]])
        lines.append(
            draw.choice(
                (
                    f"t{number} = Conv({names[-1]}, w)",
                    f"t{number} = MaxPool <kernel_shape = [1,1]> ({names[-1]})",
                    f"t{number} = Add({names[-1]}, {old})",
                    f"t{number} = Softmax <axis = 1> ({names[-1]})",
                )
            )
        )
        names.append(f"t{number}")
    body = "\n".join(lines)
    return layers_of(f"g ({MAP} x, {MAP} y, {WEIGHT}) => ({MAP} {names[-1]}) {{ {body} }}")


def as_first(part: SubGraph, splitter: Splitter) -> SplitInfo:
    found = splitter(part)
    assert found is not None
    return found


@pytest.mark.parametrize("capacity_bytes", [10_000, 4_000, 2_400])
def test_grown_splits_are_those_of_all_layers(capacity_bytes: int) -> None:
    splitter = Splitter(capacity_bytes)
    grown = 0
    for seed in range(12):
        graph = ladder(seed)
        split = as_first(SubGraph(graph, (0,)), splitter)
        growing = grow(splitter, SubGraph(graph, (0,)), split)
        for layer in range(1, len(graph.layers)):
            whole = SubGraph(graph, tuple(range(layer + 1)))
            found = growing.add((layer,)) if growing else None
            expected = splitter(whole)
            if found is not None:
                grown += 1
                assert found == expected
                continue
            growing = grow(splitter, whole, expected) if expected else None
    assert grown > 50


def bush(seed: int, layers: int = 24) -> LayerGraph:
    """Readers of one value, some of the value after another axis or of a second one too."""
    draw = random.Random(seed)
    plain = (
        "s{0} = Conv(a, w)",
        "s{0} = Softmax <axis = 1> (a)",
        "s{0} = Add(a, y)",
        "m{0} = Conv(a, w)\ns{0} = Softmax <axis = 2> (m{0})",
    )
    rare = (
        "s{0} = Softmax <axis = 0> (a)",
        "s{0} = Transpose <perm = [1,0,2,3]> (v)",
        "s{0} = Conv(y, w)",
        "s{0} = Add(a, u)",
    )[seed % 4]
    lines = [(rare if draw.random() < 0.1 else draw.choice(plain)).format(i) for i in range(layers)]
    results = ", ".join(f"{MAP} s{i}" for i in range(layers))
    body = "\n".join(("a = Conv(x, w)", *lines))
    inputs = f"{MAP} x, {MAP} y, float[4,8,6,6] v, {WEIGHT}"
    body = f"u = Transpose <perm = [1,0,2,3]> (v)\n{body}"
    return layers_of(f"g ({inputs}) => ({results}) {{ {body} }}")


@pytest.mark.parametrize("capacity_bytes", [200_000, 40_000, 20_000])
def test_splits_of_readers_of_one_value_are_those_of_all_of_them(capacity_bytes: int) -> None:
    splitter = Splitter(capacity_bytes)
    grown = 0
    for seed in range(12):
        graph = bush(seed)
        first = SubGraph(graph, (2,))
        growing = grow(splitter, first, as_first(first, splitter))
        for layer in range(3, len(graph.layers)):
            whole = SubGraph(graph, tuple(range(2, layer + 1)))
            found = growing.add((layer,)) if growing else None
            expected = splitter(whole)
            if found is not None:
                grown += 1
                assert found == expected
                continue
            growing = grow(splitter, whole, expected) if expected else None
    assert grown > 30


def test_readers_of_one_value_are_grouped_in_line_with_their_number() -> None:
    counted = Counted(Splitter(10**9))
    results = ", ".join(f"{MAP} s{i}" for i in range(100))
    lines = "\n".join(f"s{i} = Conv(a, w)" for i in range(100))
    text = f"g ({MAP} x, {WEIGHT}) => ({results}) {{ a = Conv(x, w)\n{lines} }}"
    found = group_layers(layers_of(text), counted, grow=counted.grow)  # type: ignore[arg-type]
    assert [len(part.layers) for part in found.parts] == [101]
    # Each alone, the first reader once more as it starts to grow, then all with what they read:
    # as it starts to grow, and worked out anew.
    assert counted.layers == 101 + 1 + 1 + 101


def readers_in_pieces(length: int, shape: str = "float[1,8,6,6]") -> LayerGraph:
    """Readers of one value with one sample: where they fill a core, they are cut by channels."""
    results = ", ".join(f"{shape} s{i}" for i in range(length))
    lines = "\n".join(f"s{i} = Softmax <axis = 2> (a)" for i in range(length))
    return layers_of(f"g ({shape} x) => ({results}) {{ a = Softmax <axis = 2> (x)\n{lines} }}")


def test_readers_in_several_pieces_grow_where_an_axis_before_theirs_is_full() -> None:
    splitter, graph, grown = Splitter(4 * 577), readers_in_pieces(30), 0
    first = SubGraph(graph, (1,))
    growing = grow(splitter, first, as_first(first, splitter))
    for layer in range(2, 31):
        whole = SubGraph(graph, tuple(range(1, layer + 1)))
        expected = splitter(whole)
        found = growing.add((layer,)) if growing else None
        assert found in (None, expected)
        grown += found is not None
        if found is None:
            growing = grow(splitter, whole, expected) if expected else None
    # 1, 2, 4 and 8 pieces: three changes, of which the splitter works out one each.
    assert grown == 26


def test_a_full_part_is_asked_a_few_times() -> None:
    """So many readers that a part is full: the others after it ask it `MAX_REFUSALS` times."""
    counted = Counted(Splitter(4 * 577))
    graph = readers_in_pieces(120)
    found = group_layers(graph, counted, grow=counted.grow)  # type: ignore[arg-type]
    refused = [d for d in found.decisions if d.step == "branch" and not d.is_taken]
    assert len(found.parts) > 2
    assert len(refused) <= len(found.parts) * grouping.MAX_REFUSALS


def test_an_operand_read_again_is_no_longer_written_over() -> None:
    # b is written over x, which dies there; once d reads x too, both are live: 2 * 2,304 bytes.
    graph = layers_of(f"""g ({MAP} x, {WEIGHT}) => ({MAP} d) {{
        b = Relu(x)
        c = Conv(b, w)
        d = Add(c, x) }}""")
    splitter = Splitter(10_000)
    part = SubGraph(graph, (0,))
    growing = grow(splitter, part, as_first(part, splitter))
    assert growing is not None
    assert as_first(part, splitter).peak_bytes == 2_304
    found = growing.add((1,))
    assert found == splitter(SubGraph(graph, (0, 1)))
    assert found is not None and found.peak_bytes == 3 * 2_304


def test_another_operand_is_written_over_instead() -> None:
    # b is written over x at first; once d reads x again, over y: x, u and b are live, y is not.
    graph = layers_of(f"""g ({MAP} x, {MAP} y, {MAP} u, {WEIGHT}) => ({MAP} d) {{
        a = Add(x, y)
        b = Add(a, u)
        c = Conv(b, w)
        d = Add(c, x) }}""")
    splitter = Splitter(10_000)
    part = SubGraph(graph, (0,))
    growing = grow(splitter, part, as_first(part, splitter))
    assert growing is not None
    assert growing.add((1,)) == splitter(SubGraph(graph, (0, 1)))


def test_an_axis_that_was_never_legal_is_passed_over() -> None:
    # a mixes samples, so it is split along channels; b could be split along samples, both cannot.
    graph = layers_of(f"""g ({MAP} x) => ({MAP} b) {{
        a = Softmax <axis = 0> (x)
        b = MaxPool <kernel_shape = [1,1]> (a) }}""")
    splitter = Splitter(100_000)
    part = SubGraph(graph, (0,))
    assert as_first(part, splitter).axis == 1
    growing = grow(splitter, part, as_first(part, splitter))
    assert growing is not None
    found = growing.add((1,))
    assert found is not None
    assert found == splitter(SubGraph(graph, (0, 1)))


def test_an_operand_that_no_longer_splits_along_is_left_to_the_splitter() -> None:
    # a takes a share of y by its first axis; b takes it by its second: a piece holds all of y.
    square = "float[8,8,6,6]"
    graph = layers_of(f"""g ({square} x, {square} y) => ({square} b) {{
        s = Softmax <axis = 3> (x)
        a = Add(s, y)
        m = Softmax <axis = 3> (a)
        z = Transpose <perm = [1,0,2,3]> (y)
        n = Softmax <axis = 3> (z)
        b = Add(m, n) }}""")
    for capacity_bytes in range(4_000, 20_000, 1_000):
        splitter = Splitter(capacity_bytes)
        for end in range(1, len(graph.layers)):
            part = SubGraph(graph, tuple(range(end)))
            split = splitter(part)
            growing = grow(splitter, part, split) if split else None
            rest = tuple(range(end, len(graph.layers)))
            found = growing.add(rest) if growing else None
            assert found is None or found == splitter(SubGraph(graph, (*part.layers, *rest)))


def test_an_axis_that_stops_is_left_to_the_splitter() -> None:
    # Samples carry through a, not through b, which mixes them.
    graph = layers_of(f"""g ({MAP} x, {WEIGHT}) => ({MAP} b) {{
        a = Conv(x, w)
        b = Softmax <axis = 0> (a) }}""")
    splitter = Splitter(100_000)
    part = SubGraph(graph, (0,))
    growing = grow(splitter, part, as_first(part, splitter))
    assert growing is not None
    assert growing.add((1,)) is None


class Counted:
    """A splitter that counts the layers it is asked about."""

    def __init__(self, splitter: Splitter) -> None:
        self.splitter, self.layers = splitter, 0

    def __call__(self, part: SubGraph) -> SplitInfo | None:
        self.layers += len(part.layers)
        return self.splitter(part)

    def grow(self, part: SubGraph, split: SplitInfo) -> object:
        self.layers += len(part.layers)
        return grow(self.splitter, part, split)


def chain(length: int) -> LayerGraph:
    lines = "\n".join(f"t{i + 1} = Conv(t{i}, w)" for i in range(length))
    return layers_of(f"g ({MAP} t0, {WEIGHT}) => ({MAP} t{length}) {{ {lines} }}")


def test_a_chain_is_grouped_in_line_with_its_length() -> None:
    counted = Counted(Splitter(10_000))
    found = group_layers(chain(200), counted, grow=counted.grow)  # type: ignore[arg-type]
    assert [len(part.layers) for part in found.parts] == [200]
    # Each layer once on its own, and the first one once more as it starts to grow.
    assert counted.layers == 201


@pytest.mark.parametrize(("limit", "widest"), [(100, 61), (20, 0)])
def test_a_wide_diamond_is_not_followed_to_its_end(
    monkeypatch: pytest.MonkeyPatch, limit: int, widest: int
) -> None:
    # All 60 layers read t0, which the first one makes: a fork whose join is the last of them.
    monkeypatch.setattr(grouping, "MAX_DIAMOND_PARTS", limit)
    lines = "\n".join(f"s{i} = Conv(t{i}, w)\nt{i + 1} = Add(s{i}, t0)" for i in range(60))
    text = f"g ({MAP} x, {WEIGHT}) => ({MAP} t60) {{ t0 = Conv(x, w)\n{lines} }}"

    def alone(part: SubGraph) -> SplitInfo | None:
        return SplitInfo(True, len(part.ops), 1, 0, 0) if len(part.layers) == 1 else None

    found = group_layers(layers_of(text), alone)
    assert len(found.parts) == 61
    assert max((len(d.subject) for d in found.decisions if d.step == "diamond"), default=0) == (
        widest
    )


def test_siblings_far_apart_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten readers of a, none of which may merge: 9 + 8 + ... pairs, of two before each 1 + 2 * 8.
    monkeypatch.setattr(grouping, "MAX_SIBLINGS", 2)
    results = ", ".join(f"{MAP} b{i}" for i in range(10))
    lines = "\n".join(f"b{i} = Conv(a, w)" for i in range(10))
    text = f"g ({MAP} x, {WEIGHT}) => ({results}) {{ a = Conv(x, w)\n{lines} }}"

    def alone(part: SubGraph) -> SplitInfo | None:
        return SplitInfo(True, len(part.ops), 1, 0, 0) if len(part.layers) == 1 else None

    found = group_layers(layers_of(text), alone)
    assert sum(d.step == "branch" for d in found.decisions) == 17


@pytest.mark.parametrize("seed", range(4))
def test_live_bytes_are_running_sums(seed: int) -> None:
    draw = random.Random(seed)
    live, changes = LiveBytes(), [0] * 400
    for _ in range(300):
        step, size = draw.randrange(400), draw.randrange(-50, 100)
        changes[step] += size
        live.change(step, size)
        assert live.peak_bytes == max(0, *accumulate(changes))


def is_topological(order: MendedOrder, readers: dict[int, set[int]]) -> bool:
    return all(order[part] < order[reader] for part in readers for reader in readers[part])


def contracted(readers: dict[int, set[int]], parts: Sequence[int], merged: int) -> None:
    for edges in readers.values():
        if not edges.isdisjoint(parts):
            edges.difference_update(parts)
            edges.add(merged)
    readers[merged] = set().union(*(readers.pop(part) for part in parts)) - {merged, *parts}


def reaches(readers: dict[int, set[int]], start: int) -> set[int]:
    found, stack = set(), [start]
    while stack:
        for reader in readers[stack.pop()] - found:
            found.add(reader)
            stack.append(reader)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_a_mended_order_stays_topological(seed: int) -> None:
    draw = random.Random(seed)
    count = 30
    readers = {p: {q for q in range(p + 1, count) if draw.random() < 0.12} for p in range(count)}
    order = MendedOrder(range(count))
    for merged in range(count, count + 20):
        pair = draw.sample(sorted(readers), 2)
        ahead = {part: reaches(readers, part) for part in readers}
        first, second = pair
        between = (ahead[first] | ahead[second]) & {
            part for part in readers if part not in pair and not ahead[part].isdisjoint(pair)
        }
        if between:
            continue
        order.contract(pair, merged, readers)
        contracted(readers, pair, merged)
        assert is_topological(order, readers)
