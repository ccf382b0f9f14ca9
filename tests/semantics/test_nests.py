"""Loop nests of a layer and the values between their ops."""

from __future__ import annotations

from hypothesis import given, settings

from graphturbo_core.semantics.nests import loop_nests, nest_slots
from graphturbo_core.semantics.table import GraphSemantics
from tests.full import examples
from tests.semantics.models import semantics
from tests.semantics.random_graphs import random_graphs

WEIGHT = "float[4,4,1,1] w"


def nests(body: str, kept: tuple[str, ...] = (), out: str = "y") -> list[tuple[list[str], int]]:
    """Ops and slots of every nest, the whole graph being the layer."""
    sem = semantics(f"""g (float[1,4,6,6] x, float[1,4,6,6] s, {WEIGHT}) =>
        (float[1,4,6,6] {out}) {{ {body} }}""")
    names = [op.name for op in sem.graph.ops]
    found = loop_nests(sem, names, lambda tensor: tensor in kept)
    assert sorted(name for nest in found for name in nest.ops) == sorted(names)
    return [(list(nest.ops), nest_slots(sem, nest)) for nest in found]


def test_residual_epilogue_is_one_nest() -> None:
    """The sum overwrites the convolution's values, the relu writes the output: one slot."""
    assert nests("c = Conv(x, w) a = Add(c, s) y = Relu(a)") == [(["c", "a", "y"], 1)]


def test_diamond_is_one_nest_with_two_slots() -> None:
    """Swish as two ops: the convolution's values and the sigmoid live together."""
    assert nests("c = Conv(x, w) g = Sigmoid(c) y = Mul(c, g)") == [(["c", "g", "y"], 2)]


def test_an_operand_is_finished_before_its_reader_starts() -> None:
    """An elementwise op before a convolution is a nest of its own."""
    assert nests("r = Relu(x) y = Conv(r, w)") == [(["r"], 0), (["y"], 0)]


def test_a_value_that_only_says_a_type_is_not_read() -> None:
    """CastLike looks at the type of the convolution's values: it starts a nest, and joins none."""
    found = nests("c = Conv(x, w) r = Relu(c) l = CastLike(s, c) y = Add(r, l)")
    assert found == [(["c"], 0), (["r"], 0), (["l", "y"], 1)]


def test_a_value_that_stays_ends_the_nest() -> None:
    """The convolution's result outlives the layer: it is written, the relu reads it again."""
    assert nests("c = Conv(x, w) y = Relu(c)", kept=("c",)) == [(["c"], 0), (["y"], 0)]


def test_a_diamond_with_a_kept_end_falls_apart() -> None:
    """The sigmoid outlives the layer, so nothing after it may join."""
    found = nests("c = Conv(x, w) g = Sigmoid(c) y = Mul(c, g)", kept=("g",))
    assert found == [(["c"], 0), (["g"], 0), (["y"], 0)]


def test_side_operands_come_first() -> None:
    """The relu of the shortcut does not wait for the convolution, whose epilogue needs it."""
    assert nests("c = Conv(x, w) r = Relu(s) y = Add(c, r)") == [(["r"], 0), (["c", "y"], 1)]


def test_concat_scale_relu_is_one_nest() -> None:
    """DenseNet's pattern: two slots never live at once."""
    sem = semantics("""g (float[1,2,6,6] x, float[1,3,6,6] z, float[5] s, float[5] b) =>
        (float[1,5,6,6] y) <float[1,5,6,6] t> {
        c = Concat <axis = 1> (x, z) t = graphturbo.ScaleShift(c, s, b) y = Relu(t) }""")
    found = loop_nests(sem, ["c", "t", "y"], lambda _: False)
    assert [nest.ops for nest in found] == [("c", "t", "y")]
    assert found[0].output == "y"
    assert nest_slots(sem, found[0]) == 1


def test_a_broadcast_result_does_not_share_tiles() -> None:
    """A gate of one pixel is finished before it multiplies the map."""
    sem = semantics("""g (float[1,4,6,6] x, float[1,4,1,1] z) => (float[1,4,6,6] y) {
        g = Sigmoid(z) y = Mul(x, g) }""")
    found = loop_nests(sem, ["g", "y"], lambda _: False)
    assert [nest.ops for nest in found] == [("g",), ("y",)]


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(sem=random_graphs())
def test_nests_run_in_order_and_keep_their_values(sem: GraphSemantics) -> None:
    """Each op once; operands come from before; only the output leaves a nest."""
    found = loop_nests(sem, [op.name for op in sem.graph.ops], lambda _: False)
    done = [name for nest in found for name in nest.ops]
    assert sorted(done) == sorted(op.name for op in sem.graph.ops)
    place = {name: index for index, name in enumerate(done)}
    for nest in found:
        for name in nest.ops:
            op = sem.graph.op_by_name[name]
            producers = [sem.graph.producer[i] for i in op.inputs if i in sem.graph.producer]
            assert all(place[producer.name] < place[name] for producer in producers)
            inner = [tensor for tensor in op.outputs if len(nest.ops) > 1 and tensor != nest.output]
            for tensor in inner:
                assert {reader.name for reader in sem.graph.consumers[tensor]} <= set(nest.ops)
                assert tensor not in sem.graph.outputs
        assert nest_slots(sem, nest) < len(nest.ops)
