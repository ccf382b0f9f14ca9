"""Substitutions on graphs worked out by hand: both sides of every condition; replays."""

from __future__ import annotations

import numpy as np
import pytest

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.clean_up import HORIZONTAL, SUBSTITUTE, decomposed
from graphturbo_core.frontend.passes.horizontal import RULE_MERGED
from graphturbo_core.frontend.passes.substitutions.branches import RULE_ENLARGED
from graphturbo_core.frontend.passes.substitutions.graph_steps import steps_of, substitutions
from graphturbo_core.frontend.passes.substitutions.match import Substitution
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report
from tests.frontend.passes.branch_models import branches_file, relus
from tests.models import imported, op_types

PADDED = "Conv<pads = [1,1,1,1]>"
TWO = relus("Conv(x, w1)", f"{PADDED}(x, w3)")
"""A 1x1 convolution `c` and a 3x3 one `d`."""
CROSS = relus("Conv<pads = [0,1,0,1]>(x, wr)", "Conv<pads = [1,0,1,0]>(x, wl)")
THREE = "c = Conv(x, w1) d = Conv(x, w2) e = Conv(x, w1) p = Relu(c) q = Relu(d) r = Relu(e)"


def graph_of_branches(body: str, outputs: str = "p, q") -> Graph:
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


def after(body: str, steps: str, outputs: str = "p, q") -> Graph:
    graph = decomposed(graph_of_branches(body, outputs), (f"{SUBSTITUTE}:{steps}",))
    graph.check()
    return graph


def enlargements(body: str) -> list[Substitution]:
    found = substitutions(graph_of_branches(body))
    return [match for match in found if match.rule == RULE_ENLARGED]


def replayed(body: str, steps: str, outputs: str = "p, q", profile: str = "generic-4x4") -> int:
    """Kernels of a run whose outputs equal ONNX Runtime's on the file."""
    request = RunRequest(
        "branches", "taso-like@1", profile, 2, options={"taso-like.graph": steps}, verify=True
    )
    contract = run_report(branches_file(body, outputs), request).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    return int(str(contract["kernels"]))


ENLARGED = {
    "1x1 beside 3x3": (TWO, "c", "3x3", (1, 1, 1, 1)),
    "the later one": (relus(f"{PADDED}(x, w3)", "Conv(x, w1)"), "d", "3x3", (1, 1, 1, 1)),
    "default padding": (
        relus("Conv<pads = [0,0,0,0]>(x, w1)", f"{PADDED}(x, w3)"), "c", "3x3", (1, 1, 1, 1),
    ),
    "padding on one side": (
        relus("Conv(x, w1)", "Conv<pads = [2,0,0,2]>(x, w3)"), "c", "3x3", (2, 0, 0, 2),
    ),
    "own padding": (
        relus("Conv<pads = [1,0,1,0]>(x, w1)", "Conv<pads = [2,1,2,1]>(x, w3)"),
        "c", "3x3", (2, 1, 2, 1),
    ),
    "more padding than the kernel": (
        relus("Conv<pads = [3,3,3,3]>(x, w1)", "Conv<pads = [4,4,4,4]>(x, w3)"),
        "c", "3x3", (4, 4, 4, 4),
    ),
    "one axis": (
        relus("Conv<pads = [0,1,0,1]>(x, wr)", f"{PADDED}(x, w3)"), "c", "3x3", (1, 1, 1, 1),
    ),
    "an even kernel": (
        relus("Conv(x, w1)", "Conv<pads = [1,0,0,1]>(x, we)"), "c", "2x2", (1, 0, 0, 1),
    ),
    "strides": (
        relus("Conv<strides = [2,1]>(x, w1)", "Conv<strides = [2,1], pads = [1,1,1,1]>(x, w3)"),
        "c", "3x3", (1, 1, 1, 1),
    ),
    "biases": (relus("Conv(x, w1, v1)", f"{PADDED}(x, w3, v1)"), "c", "3x3", (1, 1, 1, 1)),
    "no padding by name": (
        relus('Conv<auto_pad = "VALID">(x, w1)', f"{PADDED}(x, w3)"), "c", "3x3", (1, 1, 1, 1),
    ),
    "a kernel shape in words": (
        relus("Conv<kernel_shape = [1,1]>(x, w1)", f"{PADDED}(x, w3)"), "c", "3x3", (1, 1, 1, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "name", "kernel", "pads"), ENLARGED.values(), ids=ENLARGED)
def test_a_smaller_kernel_gets_zeros(
    body: str, name: str, kernel: str, pads: tuple[int, ...]
) -> None:
    """Alone it changes no result; then both convolutions are one."""
    (match,) = enlargements(body)
    assert (match.ops, match.subject[0], match.pads) == ((name,), name, pads)
    assert match.numbers["to"] == kernel
    graph = after(body, "0")
    one = graph.op_by_name[f"{name}/enlarged{kernel}"]
    assert (one.origin, one.attributes["pads"]) == (name, pads)
    assert op_types(graph) == "Conv Conv Relu Relu"
    assert replayed(body, "0") == 2
    assert op_types(after(body, "0.0")) == "Conv Slice Slice Relu Relu"
    assert replayed(body, "0.0") == 1


def test_zeros_of_a_weight_by_hand() -> None:
    """A row of three, one row above and one below it."""
    body = relus("Conv<pads = [0,1,0,1]>(x, wr)", f"{PADDED}(x, w3)")
    before, graph = graph_of_branches(body), after(body, "0")
    own = before.tensors["wr"].value
    wide = graph.tensors["c/enlarged3x3/weight"].value
    assert own is not None and wide is not None
    assert wide.shape == (4, 8, 3, 3) and not wide.flags.writeable
    assert np.array_equal(wide[:, :, 1:2, :], own)
    assert not wide[:, :, (0, 2), :].any()
    assert "wr" not in graph.tensors


SAME = {
    "equal kernels": relus("Conv(x, w1)", "Conv(x, w2)"),
    "results of another size": relus("Conv(x, w1)", "Conv(x, w3)"),
    "more padding than the kernel is larger": relus("Conv(x, w1)", "Conv<pads = [2,2,2,2]>(x, w3)"),
    "less padding before": relus("Conv<pads = [1,0,0,0]>(x, w1)", "Conv<pads = [0,1,2,1]>(x, w3)"),
    "equal kernels, other padding": relus("Conv(x, w1)", f"{PADDED}(x, w1)"),
    "strides": relus("Conv<strides = [2,1]>(x, w1)", "Conv<pads = [1,1,1,1]>(x, w3)"),
    "dilations": relus("Conv(x, w1)", "Conv<dilations = [2,2], pads = [2,2,2,2]>(x, w3)"),
    "own dilations": relus("Conv<dilations = [2,2]>(x, w1)", f"{PADDED}(x, w3)"),
    "both dilations": relus(
        "Conv<dilations = [2,2]>(x, w1)", "Conv<dilations = [2,2], pads = [1,1,1,1]>(x, w3)"
    ),
    "padding by name": relus("Conv(x, w1)", 'Conv<auto_pad = "SAME_UPPER">(x, w3)'),
    "own padding by name": relus('Conv<auto_pad = "SAME_UPPER">(x, w1)', f"{PADDED}(x, w3)"),
    "groups": relus("Conv<group = 2>(x, wg)", f"{PADDED}(x, w3)"),
    "biases": relus("Conv(x, w1, v1)", f"{PADDED}(x, w3)"),
    "activations": TWO.replace("Relu(d)", "Tanh(d)"),
    "a weight from data": relus("Conv(x, k)", f"{PADDED}(x, w3)"),
    "a sum": f"c = Conv(x, w1) d = {PADDED}(x, w3) p = Add(c, u) q = Add(d, u)".replace(
        "c =", "u = Conv(y, w1) c =", 1
    ),
    "other inputs": relus("Conv(x, w1)", f"{PADDED}(y, w3)"),
}


@pytest.mark.parametrize("body", SAME.values(), ids=SAME)
def test_other_convolutions_are_not_enlarged(body: str) -> None:
    assert enlargements(body) == []


def test_two_kernels_that_do_not_contain_each_other_are_both_enlarged() -> None:
    """1x3 and 3x1 are 3x3; each order of the steps gives the same graph."""
    found = enlargements(CROSS)
    assert [(match.ops, match.numbers["to"]) for match in found] == [
        (("c",), "3x3"),
        (("d",), "3x3"),
    ]
    graph = after(CROSS, "0.0.0")
    assert graph.ops == after(CROSS, "1.0.0").ops
    assert [op.name for op in graph.ops[:3]] == [
        "c/enlarged3x3/merged", "c/enlarged3x3/slice", "d/enlarged3x3/slice",
    ]  # fmt: skip
    assert [replayed(CROSS, steps) for steps in ("0", "0.0", "0.0.0")] == [2, 2, 1]


def test_a_kernel_is_enlarged_twice_under_the_name_of_the_last() -> None:
    """1x1 to 1x3 to 3x3, or at once."""
    body = (
        "c = Conv(x, w1) d = Conv<pads = [0,1,0,1]>(x, wr) e = Conv<pads = [1,1,1,1]>(x, w3)"
        " p = Relu(c) q = Relu(d) r = Relu(e)"
    )
    found = substitutions(graph_of_branches(body, "p, q, r"))
    assert [(match.subject, match.numbers["to"]) for match in found] == [
        (("c", "d"), "1x3"), (("c", "e"), "3x3"), (("d", "e"), "3x3"),
    ]  # fmt: skip
    once, twice = after(body, "1", "p, q, r"), after(body, "0.1", "p, q, r")
    assert steps_of(graph_of_branches(body, "p, q, r"), "0.1")[-1].ops == ("c/enlarged1x3",)
    assert once.ops == twice.ops
    name = "c/enlarged3x3/weight"
    assert np.array_equal(once.tensors[name].value, twice.tensors[name].value)  # type: ignore[arg-type]
    assert replayed(body, "0.1", "p, q, r") == 3


def test_three_equal_convolutions_have_one_set_and_three_pairs() -> None:
    found = substitutions(graph_of_branches(THREE, "p, q, r"))
    assert [match.subject for match in found] == [
        ("c", "d", "e"), ("c", "d"), ("c", "e"), ("d", "e"),
    ]  # fmt: skip
    assert [dict(match.numbers) for match in found][:2] == [
        {"convolutions": 3, "channels": 22}, {"convolutions": 2, "channels": 16},
    ]  # fmt: skip
    assert [replayed(THREE, str(step), "p, q, r") for step in range(4)] == [1, 2, 2, 2]


def test_the_whole_set_is_what_a_horizontal_merge_gives() -> None:
    merged = decomposed(graph_of_branches(THREE, "p, q, r"), (HORIZONTAL,))
    assert after(THREE, "0", "p, q, r") == merged


@pytest.mark.parametrize("step", ["0", "1", "2", "3"])
def test_a_merged_convolution_has_no_further_match(step: str) -> None:
    """Without activations the merged one and the third have equal conditions."""
    body = "c = Conv(x, w1) d = Conv(x, w2) e = Conv(x, w1) p = Neg(c) q = Neg(d) r = Neg(e)"
    assert substitutions(after(body, step, "p, q, r")) == ()


def test_equal_looks_are_matches_of_equal_shapes() -> None:
    body = """c = Conv(x, w1) d = Conv(x, w2) p = Relu(c) q = Relu(d)
        e = Conv(y, w1) f = Conv(y, w2) r = Relu(e) s = Relu(f)
        g = Conv<pads = [1,1,1,1]>(y, w3) t = Relu(g)"""
    found = substitutions(graph_of_branches(body, "p, q, r, s, t"))
    looks = {" ".join(match.subject): match.look for match in found}
    assert looks["c d"] == looks["e f"]
    assert len(set(looks.values())) == len(looks) - 1


def test_no_step_leaves_the_graph() -> None:
    graph = graph_of_branches(TWO)
    assert decomposed(graph, (f"{SUBSTITUTE}:",)) is graph


def test_layers_and_origins_are_those_of_the_file() -> None:
    graph = after(TWO, "0.0")
    assert {op.name: op.origin for op in graph.ops} == {
        "c/enlarged3x3/merged": "c", "c/enlarged3x3/slice": "c", "d/slice": "d", "p": "", "q": "",
    }  # fmt: skip
    assert graph.undecomposed == graph_of_branches(TWO)
    assert [match.rule for match in steps_of(graph.whole, "0.0")] == [RULE_ENLARGED, RULE_MERGED]


@pytest.mark.parametrize("steps", ["1", "0.1", "0.0.0"])
def test_a_step_that_there_is_not_is_refused(steps: str) -> None:
    with pytest.raises(OptionError, match=r"step \d of .* is not one of [01] substitutions"):
        after(TWO, steps)


def test_weights_without_numbers_are_computed_for_the_replay() -> None:
    """Import does not compute the first weight: the enlarged and the merged one have its steps."""
    body = "late = Softplus(w1) " + relus("Conv(x, late)", f"{PADDED}(x, w3)")
    wide = after(body, "0").tensors["c/enlarged3x3/weight"]
    assert (wide.value, wide.source, wide.shape) == (None, "late", (6, 8, 3, 3))
    assert [replayed(body, steps) for steps in ("0", "0.0")] == [2, 1]


@pytest.mark.parametrize("profile", ["stcp920", "goya", "ascend910", "ipu-gc2"])
def test_other_chips_replay(profile: str) -> None:
    assert replayed(CROSS, "0.0.0", profile=profile) == 1
