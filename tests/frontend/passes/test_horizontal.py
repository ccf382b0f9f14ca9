"""Horizontal merges on graphs worked out by hand: both sides of every condition; replays."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.clean_up import HORIZONTAL, decomposed
from graphturbo_core.frontend.passes.horizontal import (
    ACTIVATIONS,
    RULE_AFTER,
    RULE_BIAS,
    RULE_DILATIONS,
    RULE_GROUPS,
    RULE_KERNEL,
    RULE_MERGED,
    RULE_PADDING,
    RULE_STRIDES,
    RULE_SUM,
    RULE_WEIGHT,
    HorizontalPair,
    horizontal_pairs,
    merge_horizontal,
)
from graphturbo_core.ir.graph import Graph, TensorKind
from graphturbo_core.pipeline import RunRequest, run_report
from tests.frontend.passes.branch_models import branches, branches_file, relus
from tests.models import imported, op_types

MERGED = "Conv Slice Slice Relu Relu"
"""Ops of a model made by `relus`."""


def graph_of_branches(body: str, outputs: str = "p, q") -> Graph:
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


def merged(body: str, outputs: str = "p, q") -> Graph:
    graph = decomposed(graph_of_branches(body, outputs), (HORIZONTAL,))
    graph.check()
    return graph


def pair(body: str, outputs: str = "p, q") -> HorizontalPair:
    (found,) = horizontal_pairs(graph_of_branches(body, outputs))
    return found


def replayed(data: bytes, profile: str = "generic-4x4") -> int:
    """Kernels of a run whose outputs equal ONNX Runtime's on the file."""
    request = RunRequest("branches", "tensorrt-like@1", profile, 2, verify=True)
    contract = run_report(data, request).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    return int(str(contract["kernels"]))


CLIP = "c = Conv(x, w1) d = Conv(x, w2) {} p = Clip(c, low, high) q = Clip(d, low, {})"
LIMITS = (
    "low = Constant <value = float {-0.5}> () high = Constant <value = float {1.5}> ()"
    " higher = Constant <value = float {2.5}> ()"
)
SUM = "c = Conv(x, w1) d = Conv(x, w1) p = Add(c, {}) q = Add(d, {})"

EQUAL = {
    "1x1": relus("Conv(x, w1)", "Conv(x, w2)"),
    "3x3": relus("Conv(x, w3)", "Conv(x, w4)"),
    "strides": relus("Conv<strides = [2,1]>(x, w3)", "Conv<strides = [2,1]>(x, w4)"),
    "default strides": relus("Conv<strides = [1,1]>(x, w1)", "Conv(x, w2)"),
    "dilations": relus("Conv<dilations = [2,1]>(x, w3)", "Conv<dilations = [2,1]>(x, w4)"),
    "default dilations": relus("Conv(x, w3)", "Conv<dilations = [1,1]>(x, w4)"),
    "pads": relus("Conv<pads = [1,0,2,1]>(x, w3)", "Conv<pads = [1,0,2,1]>(x, w4)"),
    "default pads": relus("Conv<pads = [0,0,0,0]>(x, w3)", "Conv(x, w4)"),
    "no padding by name": relus('Conv<auto_pad = "VALID">(x, w3)', "Conv(x, w4)"),
    "padding by name": relus(
        'Conv<auto_pad = "SAME_UPPER", strides = [2,2]>(x, w3)',
        'Conv<auto_pad = "SAME_UPPER", strides = [2,2]>(x, w4)',
    ),
    "one group by name": relus("Conv<group = 1>(x, w1)", "Conv(x, w2)"),
    "kernel shape by name": relus("Conv<kernel_shape = [3,3]>(x, w3)", "Conv(x, w4)"),
    "biases": relus("Conv(x, w1, v1)", "Conv(x, w2, v2)"),
    "activations with limits": CLIP.format(LIMITS, "high"),
    "activations with attributes": "c = Conv(x, w1) d = Conv(x, w2)"
    " p = LeakyRelu<alpha = 0.5>(c) q = LeakyRelu<alpha = 0.5>(d)",
    "no activations": "c = Conv(x, w1) d = Conv(x, w2) p = Neg(c) q = GlobalMaxPool(d)",
    "sums with a constant": SUM.format("one", "one").replace(
        "p =", "one = Constant <value = float {1.0}> () p ="
    ),
    "one weight": relus("Conv(x, w1)", "Conv(x, w1)"),
    "a weight that others read": relus("Conv(x, w1)", "Conv(x, w2)").replace(
        "q = Relu(d)", "e = Conv(y, w2) f = Relu(d) q = Add(e, f)"
    ),
    "results of the model": "p = Conv(x, w1) q = Conv(x, w2)",
    "no result of the model": relus("Conv(x, w1)", "Conv(x, w2)").replace("Relu(c)", "Neg(c)")
    .replace("Relu(d)", "Neg(d)"),
}  # fmt: skip


@pytest.mark.parametrize("body", EQUAL.values(), ids=EQUAL)
def test_equal_convolutions_of_one_input_are_one(body: str) -> None:
    found = pair(body)
    assert (found.rule, found.is_merged) == (RULE_MERGED, True)
    graph = merged(body)
    sizes = [graph.undecomposed.tensors[n].shape[1] for n in _results(body)]  # type: ignore[union-attr]
    assert dict(found.numbers) == {"convolutions": 2, "channels": sum(sizes)}
    one = next(op for op in graph.ops if op.op_type == "Conv")
    assert graph.tensors[one.outputs[0]].shape[1] == sum(sizes)
    replayed(branches_file(body))


def _results(body: str) -> tuple[str, str]:
    return ("c", "d") if "c =" in body else ("p", "q")


UNEQUAL = {
    "kernels": (RULE_KERNEL, relus("Conv(x, w1)", "Conv(x, w3)"), "1x1", "3x3"),
    "kernel axes": (RULE_KERNEL, relus("Conv(x, wr)", "Conv(x, w3)"), "1x3", "3x3"),
    "strides": (
        RULE_STRIDES, relus("Conv<strides = [2,1]>(x, w1)", "Conv<strides = [1,2]>(x, w2)"),
        "2x1", "1x2",
    ),
    "dilations": (
        RULE_DILATIONS, relus("Conv<dilations = [2,1]>(x, w3)", "Conv<dilations = [1,2]>(x, w4)"),
        "2x1", "1x2",
    ),
    "pads": (
        RULE_PADDING, relus("Conv<pads = [1,0,1,0]>(x, w3)", "Conv<pads = [0,1,0,1]>(x, w4)"),
        "1x0x1x0", "0x1x0x1",
    ),
    "ends of pads": (
        RULE_PADDING, relus("Conv<pads = [1,1,0,0]>(x, w3)", "Conv<pads = [0,0,1,1]>(x, w4)"),
        "1x1x0x0", "0x0x1x1",
    ),
    "padding by name": (
        RULE_PADDING,
        relus('Conv<auto_pad = "SAME_UPPER">(x, w3)', 'Conv<auto_pad = "SAME_LOWER">(x, w4)'),
        "SAME_UPPER", "SAME_LOWER",
    ),
    "biases": (RULE_BIAS, relus("Conv(x, w1, v1)", "Conv(x, w2)"), "bias", "none"),
    "activations": (
        RULE_AFTER, "c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) q = Tanh(d)", "Relu", "Tanh",
    ),
    "one activation": (
        RULE_AFTER, "c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) q = Neg(d)", "Relu", "none",
    ),
    "limits": (
        RULE_AFTER, CLIP.format(LIMITS, "higher"), "Clip low high", "Clip low higher",
    ),
    "attributes": (
        RULE_AFTER, "c = Conv(x, w1) d = Conv(x, w2) p = LeakyRelu<alpha = 0.5>(c)"
        " q = LeakyRelu<alpha = 0.25>(d)", "LeakyRelu alpha=0.5", "LeakyRelu alpha=0.25",
    ),
    "a result of the model": (
        RULE_AFTER, "p = Conv(x, w1) d = Conv(x, w2) q = Relu(d) e = Relu(p) r = Neg(e)",
        "none", "Relu",
    ),
    "two readers": (
        RULE_AFTER, "c = Conv(x, w1) d = Conv(x, w2) q = Relu(d) e = Relu(c) p = Mul(c, e)",
        "none", "Relu",
    ),
    "groups": (RULE_GROUPS, relus("Conv<group = 2>(x, wg)", "Conv<group = 2>(x, wg)"), "", ""),
    "one with groups": (RULE_GROUPS, relus("Conv(x, w2)", "Conv<group = 2>(x, wg)"), "", ""),
    "a weight from data": (RULE_WEIGHT, relus("Conv(x, k)", "Conv(x, w2)"), "", ""),
    "both weights from data": (RULE_WEIGHT, relus("Conv(x, k)", "Conv(x, k)"), "", ""),
    "two reasons": (RULE_WEIGHT, relus("Conv<group = 2>(x, wg)", "Conv(x, k)"), "", ""),
    "a bias from data": (RULE_WEIGHT, relus("Conv(x, w1, b)", "Conv(x, w2, v2)"), "", ""),
    "sums": (RULE_SUM, SUM.format("u", "u").replace("c =", "u = Conv(y, w1) c ="), "", ""),
    "one sum": (
        RULE_SUM, "u = Conv(y, w1) c = Conv(x, w1) d = Conv(x, w2) p = Add(u, c) q = Neg(d)",
        "", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("rule", "body", "first", "second"), UNEQUAL.values(), ids=UNEQUAL)
def test_unequal_convolutions_are_not_merged(rule: str, body: str, first: str, second: str) -> None:
    outputs = "p, q, r" if " r =" in body else "p, q"
    found = pair(body, outputs)
    assert (found.rule, found.is_merged) == (rule, False)
    assert dict(found.numbers) == ({"first": first, "second": second} if first else {})
    graph = graph_of_branches(body, outputs)
    assert merge_horizontal(graph) is graph
    replayed(branches_file(body, outputs))


def test_pads_beside_a_padding_by_name_do_not_count() -> None:
    """ONNX Runtime refuses such a file, so there is no replay."""
    first = 'Conv<auto_pad = "VALID", pads = [1,1,1,1]>(x, w3)'
    assert pair(relus(first, "Conv(x, w4)")).is_merged
    second = "Conv<pads = [1,1,1,1]>(x, w4)"
    assert pair(relus(first, second)).rule == RULE_PADDING


def test_convolutions_of_other_inputs_and_one_alone_are_no_pair() -> None:
    for body in (
        relus("Conv(x, w1)", "Conv(y, w2)"),
        "p = Conv(x, w1) q = Relu(y)",
        "p = Conv(x, w1) q = ConvTranspose(x, wt)",
    ):
        assert horizontal_pairs(graph_of_branches(body)) == ()


BRANCHES = """c1 = Conv(x, w1) a1 = Relu(c1) d1 = Conv(a1, w5) e1 = Relu(d1)
    c2 = Conv(x, w3) a2 = Tanh(c2)
    c3 = Conv(x, w2) a3 = Relu(c3)
    c4 = Conv(x, w4) a4 = Tanh(c4)
    c5 = Conv(x, w1) a5 = Relu(c5)
    c6 = Conv(x, w2) a6 = Tanh(c6)
    d2 = Conv(a1, w5) e2 = Relu(d2)
    t = Concat <axis = 1> (a1, a3, a5, e1, e2) p = GlobalMaxPool(t)
    u = Concat <axis = 1> (a2, a4) q = GlobalMaxPool(u) r = Neg(a6)"""
"""Three convolutions of `x` are one, two others are one, one is alone; two of `a1` are one."""
NAMES = {
    "c1/merged": "c1", "c1/slice": "c1", "a1": "", "d1/merged": "d1", "d1/slice": "d1", "e1": "",
    "c2/merged": "c2", "c2/slice": "c2", "a2": "", "c3/slice": "c3", "a3": "", "c4/slice": "c4",
    "a4": "", "c5/slice": "c5", "a5": "", "c6": "", "a6": "", "d2/slice": "d2", "e2": "",
    "t": "", "p": "", "u": "", "q": "", "r": "",
}  # fmt: skip


def test_sets_of_one_graph_by_hand() -> None:
    """Parts stand where their convolutions stood; the merged one where the first one stood."""
    graph = merged(BRANCHES, "p, q, r")
    assert {op.name: op.origin for op in graph.ops} == NAMES
    assert [op.name for op in graph.ops] == list(NAMES)
    spans = {
        op.origin: (op.attributes["starts"], op.attributes["ends"], op.attributes["axes"])
        for op in graph.ops
        if op.op_type == "Slice"
    }
    assert spans == {
        "c1": ((0,), (6,), (1,)), "c3": ((6,), (16,), (1,)), "c5": ((16,), (22,), (1,)),
        "c2": ((0,), (6,), (1,)), "c4": ((6,), (10,), (1,)),
        "d1": ((0,), (7,), (1,)), "d2": ((7,), (14,), (1,)),
    }  # fmt: skip
    assert graph.undecomposed == graph_of_branches(BRANCHES, "p, q, r")
    weights = graph.undecomposed.tensors
    one = graph.tensors[graph.op_by_name["c1/merged"].inputs[1]]
    expected = np.concatenate([weights[name].value for name in ("w1", "w2", "w1")])
    assert one.value is not None and np.array_equal(one.value, expected)
    assert not one.value.flags.writeable
    assert {"w3", "w4", "w5"}.isdisjoint(graph.tensors) and "w2" in graph.tensors
    assert merged(BRANCHES, "p, q, r") == graph


def test_pairs_of_one_graph_by_hand() -> None:
    """The fifth is a convolution of the first set; the sixth differs from the first one."""
    found = [
        (each.first, each.second, each.rule, *each.numbers.values())
        for each in horizontal_pairs(graph_of_branches(BRANCHES, "p, q, r"))
    ]
    assert found == [
        ("c1", "c2", RULE_KERNEL, "1x1", "3x3"),
        ("c1", "c3", RULE_MERGED, 2, 16),
        ("c2", "c4", RULE_MERGED, 2, 10),
        ("c1", "c5", RULE_MERGED, 3, 22),
        ("c1", "c6", RULE_AFTER, "Relu", "Tanh"),
        ("d1", "d2", RULE_MERGED, 2, 14),
    ]


@pytest.mark.parametrize("profile", ["generic-4x4", "goya", "stcp920"])
def test_several_sets_replay(profile: str) -> None:
    """Kernels: the sets are 3, `c6` and its activation, pools and the negation.

    `t` is in the kernel of `d1` and `d2`, `u` in that of `c2` and `c4`.
    """
    assert replayed(branches_file(BRANCHES, "p, q, r"), profile) == 3 + 1 + 2 + 1


@pytest.mark.parametrize("name", sorted(ACTIVATIONS - {"Gelu"}))
def test_any_activation(name: str) -> None:
    body = relus("Conv(x, w1)", "Conv(x, w2)").replace("Relu", name)
    assert op_types(merged(body)) == MERGED.replace("Relu", name)


def test_weights_without_numbers_are_computed_for_the_replay() -> None:
    """Import does not compute the second weight, so the merged one has its parts alone."""
    body = "late = Softplus(w1) " + relus("Conv(x, w1, v1)", "Conv(x, late, v1)")
    graph = merged(body)
    one = graph.tensors[graph.op_by_name["c/merged"].inputs[1]]
    assert (one.kind, one.shape) == (TensorKind.WEIGHT, (12, 8, 1, 1))
    assert one.value is None
    parts = [(each.name, each.value is None) for each in one.joins]
    assert parts == [("w1", False), ("late", True)]
    assert replayed(branches_file(body)) == 1


def test_a_file_without_weights_is_merged_too() -> None:
    """Shapes alone decide: numbers are drawn for a replay."""
    model = branches(relus("Conv(x, w1)", "Conv(x, w2)"))
    for weight in model.graph.initializer:
        weight.ClearField("raw_data")
        weight.data_location = onnx.TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="weights.bin")
    data = bytes(model.SerializeToString())
    graph = decomposed(imported(data, ImportOptions("test", batch=2)), (HORIZONTAL,))
    assert op_types(graph) == MERGED
    assert replayed(data) == 1
