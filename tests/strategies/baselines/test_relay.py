"""Group counts of TVM's own tests, and layers of networks."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings

from graphturbo_core.semantics.access import FusionKind
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.layers.relay import relay_layers
from tests.full import examples
from tests.semantics.models import semantics
from tests.semantics.random_graphs import random_graphs


def groups(sem: GraphSemantics) -> list[set[str]]:
    """Op names of every layer."""
    return [set(layer.ops) for layer in relay_layers(sem)]


ONE = "<float one = {1}>"


def test_add_exp_squeeze_is_one_layer() -> None:
    """TVM test_fuse_simple: broadcast, elementwise, injective."""
    sem = semantics(f"""g (float[10,20] x) => (float[10,20] w) {ONE} {{
        y = Add(x, one) z = Exp(y) w = Squeeze(z) }}""")
    assert groups(sem) == [{"y", "z", "w"}]


def test_two_convolutions_never_meet() -> None:
    """TVM test_conv2d_fuse: the last add joins the convolution that comes first."""
    sem = semantics(f"""g (float[1,16,8,8] x, float[16,16,3,3] w1, float[16,16,1,1] w2,
            float[16,16,3,3] w3) => (float[1,16,8,8] z) {ONE} {{
        x1 = Add(x, one)
        y = Conv <pads = [1,1,1,1]> (x1, w1)
        y1 = Add(one, y)
        y2 = Add(y, y1)
        z2 = Conv (y2, w2)
        z3 = Conv <pads = [1,1,1,1]> (y2, w3)
        z = Add(z2, z3) }}""")
    assert sorted(map(sorted, groups(sem))) == [["x1"], ["y", "y1", "y2"], ["z", "z2"], ["z3"]]


def test_a_broadcast_further_on_keeps_a_convolution_out() -> None:
    """Both ways from the convolution start elementwise; the sum repeats them over the batch."""
    sem = semantics("""g (float[1,4,6,6] x, float[4,4,1,1] w, float[2,4,6,6] big) =>
        (float[2,4,6,6] y) { c = Conv(x, w) a = Relu(c) b = Sigmoid(c) y = Sum(a, b, big) }""")
    assert groups(sem) == [{"c"}, {"a", "b", "y"}]


CONCATENATED = """
        pooled = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)
        up = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor">
            (pooled, , scales)"""
SCALES = "float[4] scales = {1, 1, 2, 2}"


def test_concat_takes_its_injective_operands() -> None:
    """TVM test_concatenate: phase 2 fuses the upsampling into the tuple of the concat."""
    sem = semantics(f"""g (float[1,16,8,8] x) => (float[1,32,8,8] out)
        <{SCALES}, float one = {{1}}> {{ {CONCATENATED}
        cat = Concat <axis = 1> (up, x) out = Add(cat, one) }}""")
    assert groups(sem) == [{"pooled"}, {"up", "cat", "out"}]


def test_a_returned_tuple_takes_nothing() -> None:
    """TVM test_tuple_root: the tuple itself is no layer, and the upsampling does not join it."""
    sem = semantics(f"""g (float[1,16,8,8] x) => (float[1,16,8,8] up, float[1,16,8,8] same)
        <{SCALES}> {{ {CONCATENATED} same = Identity(x) }}""")
    assert groups(sem) == [{"pooled"}, {"up"}, {"same"}]


def test_a_returned_input_stands_in_the_tuple() -> None:
    """TVM test_tuple_root as written: two layers, the second output is the input itself."""
    sem = semantics(f"""g (float[1,16,8,8] x) => (float[1,16,8,8] up)
        <{SCALES}> {{ {CONCATENATED} }}""")
    returned = analyse(replace(sem.graph, outputs=("up", "x")))
    assert groups(returned) == [{"pooled"}, {"up"}]


def test_long_chain_breaks_after_256() -> None:
    """TVM test_fuse_max_num: 300 = 256 + 44."""
    chain = " ".join(f"t{i + 1} = Exp(t{i})" for i in range(300))
    sem = semantics(f"g (float[4] t0) => (float[4] t300) {{ {chain} }}")
    assert [len(layer.ops) for layer in relay_layers(sem)] == [256, 44]


def test_parallel_injective_is_one_layer() -> None:
    """TVM test_fuse_parallel_injective: both branches meet in an elementwise op."""
    sem = semantics(f"""g (float[10,20] x) => (float[10,20] out) {ONE} {{
        y = Add(x, one) z = Squeeze(y) u = Transpose <perm = [0,1]> (y) out = Mul(z, u) }}""")
    assert len(groups(sem)) == 1


INCEPTION = """
        c{i}0 = Conv <pads = [1,1,1,1]> ({x}, w{i}0) r{i}0 = Relu(c{i}0)
        c{i}1 = Conv <pads = [1,1,1,1]> ({x}, w{i}1) r{i}1 = Relu(c{i}1)
        {y} = Concat <axis = 1> (r{i}0, r{i}1)"""


def test_inception_like_block() -> None:
    """TVM test_inception_like: four convolutions with their relu, two concats."""
    first, second = INCEPTION.format(i=0, x="x", y="m"), INCEPTION.format(i=1, x="m", y="out")
    sem = semantics(f"""g (float[1,16,8,8] x, float[16,16,3,3] w00, float[16,16,3,3] w01,
        float[16,32,3,3] w10, float[16,32,3,3] w11) => (float[1,32,8,8] out) {{ {first} {second} }}
    """)
    assert groups(sem) == [
        {"c00", "r00"}, {"c01", "r01"}, {"m"}, {"c10", "r10"}, {"c11", "r11"}, {"out"},
    ]  # fmt: skip


def test_split_items_join_their_readers() -> None:
    """TVM test_fuse_tuple_get_elemwise: the product alone, split and all its readers."""
    sem = semantics("""g (float[1,10] x, float[10,30] w) => (float[1,10] out) {
        m = MatMul(x, w)
        s0, s1, s2 = Split <axis = 1, num_outputs = 3> (m)
        a = Sigmoid(s0) b = Tanh(s1) c = Exp(s2) d = Mul(b, c) out = Add(a, d) }""")
    assert groups(sem) == [{"m"}, {"s0", "a", "b", "c", "d", "out"}]


def test_split_stays_out_of_a_product() -> None:
    """TVM test_tuple_get_root: injective never joins a contraction."""
    sem = semantics("""g (float[1,30] x, float[10,10] w) => (float[1,10] out) {
        s0, s1, s2 = Split <axis = 1, num_outputs = 3> (x)
        out = MatMul(s0, w) }""")
    assert groups(sem) == [{"s0"}, {"out"}]


def test_intermediate_tuple_joins() -> None:
    """TVM test_tuple_intermediate: one layer."""
    sem = semantics("""g (float[1,16,4,4] x) => (float[48,4,4] out)
        <float one = {1}, int64[1] zero = {0}> {
        inj = Identity(x)
        y1 = Add(inj, one)
        t = Identity(inj) t1 = Add(t, one) y2 = Add(t1, one)
        y3 = Add(inj, one)
        cat = Concat <axis = 1> (y1, y2, y3)
        q = Squeeze(cat, zero)
        out = Add(q, one) }""")
    assert len(groups(sem)) == 1


def test_consecutive_tuples() -> None:
    """TVM test_tuple_consecutive: nested concats are one layer, then pool and add, then add."""
    inner = " ".join(
        f"""a{i} = Add(x, one) b{i} = Add(x, one) c{i} = Add(x, one)
        t{i} = Concat <axis = 1> (a{i}, b{i}, c{i}) y{i} = Add(t{i}, one)"""
        for i in range(3)
    )
    sem = semantics(f"""g (float[1,16,8,8] x) => (float[1,144,4,4] o1, float[1,144,4,4] o2) {ONE} {{
        {inner}
        cat = Concat <axis = 1> (y0, y1, y2)
        p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (cat)
        o1 = Add(p, one) o2 = Add(o1, one) }}""")
    assert [len(layer.ops) for layer in relay_layers(sem)] == [16, 2, 1]


BLOCK = """
        a{i} = Conv ({x}, wa{i}) ra{i} = Relu(a{i})
        b{i} = Conv <pads = [1,1,1,1]> (ra{i}, wb{i}) rb{i} = Relu(b{i})
        c{i} = Conv (rb{i}, wc{i}) {extra} s{i} = Add(c{i}, {skip}) y{i} = Relu(s{i})"""


def resnet50() -> GraphSemantics:
    """ResNet-50 after clean-up, batch norm folded: 53 convolutions, two pools, flatten, product."""
    weights, body = ["float[64,3,7,7] w"], []
    width, x, index = 64, "p", 0
    for blocks, inner in ((3, 64), (4, 128), (6, 256), (3, 512)):
        for _ in range(blocks):
            skip, extra = x, ""
            weights += [
                f"float[{inner},{width},1,1] wa{index}",
                f"float[{inner},{inner},3,3] wb{index}",
                f"float[{inner * 4},{inner},1,1] wc{index}",
            ]
            if width != inner * 4:
                weights.append(f"float[{inner * 4},{width},1,1] wd{index}")
                skip, extra = f"d{index}", f"d{index} = Conv ({x}, wd{index})"
            body.append(BLOCK.format(i=index, x=x, skip=skip, extra=extra))
            width, x, index = inner * 4, f"y{index}", index + 1
    return semantics(f"""g (float[1,3,32,32] x, {", ".join(weights)}, float[2048,1000] wf)
        => (float[1,1000] out) {{
        c = Conv <pads = [3,3,3,3], strides = [2,2]> (x, w) r = Relu(c)
        p = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (r)
        {" ".join(body)}
        g = GlobalAveragePool({x}) f = Flatten(g) out = Gemm(f, wf) }}""")


def test_resnet50_has_a_layer_per_convolution() -> None:
    """53 convolutions + maximum pool + average pool + flatten + product = 57 layers."""
    layers = relay_layers(resnet50())
    assert len(layers) == 53 + 1 + 1 + 1 + 1
    assert [layer.index for layer in layers] == list(range(57))
    by_name = {layer.name: layer.ops for layer in layers}
    assert by_name["c1"] == ("c1", "s1", "y1")
    assert sum("s0" in layer.ops for layer in layers) == 1


@settings(max_examples=examples(80), deadline=None, derandomize=True)
@given(sem=random_graphs())
def test_layers_of_random_graphs(sem: GraphSemantics) -> None:
    """Each op once, producers in the same or an earlier layer, one contraction a layer at most."""
    layers = relay_layers(sem)
    place = {name: layer.index for layer in layers for name in layer.ops}
    assert sum(len(layer.ops) for layer in layers) == len(place) == len(sem.graph.ops)
    for op in sem.graph.ops:
        producers = [sem.graph.producer[name] for name in op.inputs if name in sem.graph.producer]
        assert all(place[producer.name] <= place[op.name] for producer in producers)
    for layer in layers:
        kinds = [sem.by_op[name].fusion for name in layer.ops]
        assert kinds.count(FusionKind.CONTRACTION) <= 1
        assert FusionKind.OPAQUE not in kinds or len(kinds) == 1
