"""Sets of convolutions that can be one: both sides of every condition by hand; replays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from graphturbo_core.errors import OptionError
from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.frontend.passes.clean_up import MERGE_SETS, SUBSTITUTE, decomposed
from graphturbo_core.frontend.passes.substitutions import convolution_sets as sets
from graphturbo_core.frontend.passes.substitutions.convolution_sets import (
    ConvolutionSet,
    convolution_sets,
)
from graphturbo_core.ir.graph import Graph
from graphturbo_core.pipeline import RunRequest, run_report
from tests.frontend.passes.branch_models import branches_file, relus
from tests.models import imported, op_types

PADDED = "Conv<pads = [1,1,1,1]>"
ROW = "Conv<pads = [0,1,0,1]>(x, wr)"
COLUMN = "Conv<pads = [1,0,1,0]>(x, wl)"
THREE = f"c = Conv(x, w1) d = {PADDED}(x, w3) e = {ROW} p = Relu(c) q = Relu(d) r = Relu(e)"


def graph_of(body: str, outputs: str = "p, q") -> Graph:
    return imported(branches_file(body, outputs), ImportOptions("test", batch=2))


def merged(body: str, steps: str, outputs: str = "p, q") -> Graph:
    graph = decomposed(graph_of(body, outputs), (f"{MERGE_SETS}:{steps}",))
    graph.check()
    return graph


def replayed(body: str, steps: str, outputs: str = "p, q", chip: str = "generic-4x4") -> int:
    """Kernels of a run whose outputs equal ONNX Runtime's on the file."""
    request = RunRequest(
        "branches", "ios:merge@1", chip, 2, options={"merge.graph": steps}, verify=True
    )
    contract = run_report(branches_file(body, outputs), request).contract
    found: dict[str, object] = dict(contract["verify"])  # type: ignore[call-overload]
    assert found["ok"], found
    return int(str(contract["kernels"]))


@dataclass(frozen=True)
class Case:
    """Two convolutions `c` and `d`; the maxima of kernel and padding if they differ in these."""

    body: str
    kernel: tuple[int, ...] = ()
    pads: tuple[int, ...] = ()


SETS = {
    "equal kernels": Case(relus("Conv(x, w1)", "Conv(x, w2)")),
    "1x1 beside 3x3": Case(relus("Conv(x, w1)", f"{PADDED}(x, w3)"), (3, 3), (1, 1, 1, 1)),
    "1x3 beside 3x1": Case(relus(ROW, COLUMN), (3, 3), (1, 1, 1, 1)),
    "an even kernel": Case(
        relus("Conv(x, w1)", "Conv<pads = [1,0,0,1]>(x, we)"), (2, 2), (1, 0, 0, 1)
    ),
    "own padding": Case(
        relus("Conv<pads = [1,0,1,0]>(x, w1)", "Conv<pads = [2,1,2,1]>(x, w3)"),
        (3, 3), (2, 1, 2, 1),
    ),
    "padding on different sides": Case(
        relus("Conv<pads = [1,0,0,0]>(x, w1)", "Conv<pads = [0,0,1,0]>(x, w1)"),
        (2, 1), (1, 0, 1, 0),
    ),
    "equal strides": Case(
        relus("Conv<strides = [2,1]>(x, w1)", "Conv<strides = [2,1], pads = [1,1,1,1]>(x, w3)"),
        (3, 3), (1, 1, 1, 1),
    ),
    "equal dilations and kernels": Case(
        relus("Conv<dilations = [2,2]>(x, w3)", "Conv<dilations = [2,2]>(x, w4)")
    ),
    "equal padding by name": Case(
        relus('Conv<auto_pad = "SAME_UPPER">(x, w3)', 'Conv<auto_pad = "SAME_UPPER">(x, w4)')
    ),
    "biases": Case(relus("Conv(x, w1, v1)", f"{PADDED}(x, w3, v1)"), (3, 3), (1, 1, 1, 1)),
    "equal activations": Case(
        relus("Conv(x, w1)", "Conv(x, w2)").replace("Relu", "Tanh")
    ),
    "no activations": Case(
        f"p = Conv(x, w1) q = {PADDED}(x, w3)", (3, 3), (1, 1, 1, 1)
    ),
}  # fmt: skip

APART = {
    "results of another size": relus("Conv(x, w1)", "Conv(x, w3)"),
    "size that only rounding makes equal": relus(
        "Conv<strides = [2,2]>(x, w1)", "Conv<strides = [2,2], pads = [0,0,1,1]>(x, w1)"
    ),
    "other inputs": relus("Conv(x, w1)", "Conv(y, w1)"),
    "strides": relus("Conv<strides = [2,1]>(x, w1)", f"{PADDED}(x, w3)"),
    "dilations": relus("Conv(x, w1)", "Conv<dilations = [2,2], pads = [2,2,2,2]>(x, w3)"),
    "equal dilations, other kernels": relus(
        "Conv<dilations = [2,2]>(x, w1)", "Conv<dilations = [2,2], pads = [2,2,2,2]>(x, w3)"
    ),
    "padding by name, other kernels": relus("Conv(x, w1)", 'Conv<auto_pad = "SAME_UPPER">(x, w3)'),
    "groups": relus("Conv<group = 2>(x, wg)", f"{PADDED}(x, w3)"),
    "biases": relus("Conv(x, w1, v1)", f"{PADDED}(x, w3)"),
    "activations": relus("Conv(x, w1)", "Conv(x, w2)").replace("Relu(d)", "Tanh(d)"),
    "an activation behind one": "c = Conv(x, w1) q = Conv(x, w2) p = Relu(c)",
    "a weight from data": relus("Conv(x, k)", f"{PADDED}(x, w3)"),
    "a sum": "u = Conv(y, w1) c = Conv(x, w1) d = Conv(x, w1) p = Add(c, u) q = Add(d, u)",
}


@pytest.mark.parametrize("case", SETS.values(), ids=SETS)
def test_two_that_can_be_one(case: Case) -> None:
    ops = ("p", "q") if "c =" not in case.body else ("c", "d")
    (found,) = convolution_sets(graph_of(case.body))
    assert found == ConvolutionSet(ops, 0, case.kernel, case.pads)
    graph = merged(case.body, "0")
    one = graph.op_by_name[graph.ops[0].name]
    kernel = graph.tensors[one.inputs[1]].shape[2:]
    if case.kernel:
        assert (kernel, one.attributes["pads"]) == (case.kernel, case.pads)
    assert [op.op_type for op in graph.ops[:3]] == ["Conv", "Slice", "Slice"]
    assert replayed(case.body, "0") == 1


@pytest.mark.parametrize("body", APART.values(), ids=APART)
def test_two_that_stay_apart(body: str) -> None:
    assert convolution_sets(graph_of(body)) == ()


def test_three_have_three_pairs_and_one_set_of_three() -> None:
    """1x1, 3x3 and 1x3: two of them need rows of zeros, the pair of flat ones none."""
    found = convolution_sets(graph_of(THREE, "p, q, r"))
    all_sides, sides = (1, 1, 1, 1), (0, 1, 0, 1)
    assert [(each.ops, each.kernel, each.pads) for each in found] == [
        (("c", "d"), (3, 3), all_sides), (("c", "e"), (1, 3), sides),
        (("d", "e"), (3, 3), all_sides), (("c", "d", "e"), (3, 3), all_sides),
    ]  # fmt: skip
    assert {each.run for each in found} == {0}
    assert [replayed(THREE, str(step), "p, q, r") for step in range(4)] == [2, 2, 2, 1]


@pytest.mark.parametrize("chip", ["stcp920", "goya"])
def test_a_set_with_zeros_replays_on_other_chips(chip: str) -> None:
    assert replayed(THREE, "3", "p, q, r", chip) == 1


def test_zeros_and_channels_by_hand() -> None:
    """The merged weights: `w1` in the middle of 3x3, then `w3`, then `wr` in the middle row."""
    before, graph = graph_of(THREE, "p, q, r"), merged(THREE, "3", "p, q, r")
    weights = graph.tensors[graph.ops[0].inputs[1]].value
    expected = np.zeros((6 + 6 + 4, 8, 3, 3), np.float32)
    for start, name, rows, columns in ((0, "w1", 1, 1), (6, "w3", 3, 3), (12, "wr", 1, 3)):
        own = before.tensors[name].value
        assert own is not None
        first_row, first_column = (3 - rows) // 2, (3 - columns) // 2
        expected[
            start : start + len(own), :,
            first_row : first_row + rows, first_column : first_column + columns,
        ] = own  # fmt: skip
    assert weights is not None and np.array_equal(weights, expected)


def test_a_set_is_what_the_same_substitutions_give() -> None:
    """Enlarge `c` to `d`, then merge; names and order are equal too."""
    body = relus("Conv(x, w1)", f"{PADDED}(x, w3)")
    both = merged(body, "0"), decomposed(graph_of(body), (f"{SUBSTITUTE}:0.0",))
    assert both[0].ops == both[1].ops


def test_inputs_are_merged_apart_and_share_no_run() -> None:
    body = relus("Conv(x, w1)", "Conv(x, w2)") + " e = Conv(y, w1) f = Conv(y, w2)"
    body += " r = Relu(e) s = Relu(f)"
    found = convolution_sets(graph_of(body, "p, q, r, s"))
    assert [(each.ops, each.run) for each in found] == [(("c", "d"), 0), (("e", "f"), 1)]
    graph = merged(body, "0.1", "p, q, r, s")
    assert op_types(graph).count("Conv") == 2
    assert merged(body, "1.0", "p, q, r, s").ops == graph.ops
    assert replayed(body, "0.1", "p, q, r, s") == 2


def test_many_convolutions_are_cut_into_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of two: the third one of three is alone."""
    monkeypatch.setattr(sets, "MOST_IN_SET", 2)
    found = convolution_sets(graph_of(THREE, "p, q, r"))
    assert [each.ops for each in found] == [("c", "d")]


def test_a_merged_convolution_is_in_no_set() -> None:
    """It reads the input of the third one, with no activation behind it either."""
    body = "p = Conv(x, w1) q = Conv(x, w2) r = Conv(x, w1)"
    assert len(convolution_sets(graph_of(body, "p, q, r"))) == 4
    assert convolution_sets(merged(body, "0", "p, q, r")) == ()


@pytest.mark.parametrize(
    ("steps", "message"),
    [("4", "step 4 of '4' is not one of 4 sets"), ("0.1", "step 1 of '0.1' shares a convolution")],
)
def test_refused_steps(steps: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        merged(THREE, steps, "p, q, r")


def test_no_steps_leave_the_graph_as_it_is() -> None:
    graph = graph_of(THREE, "p, q, r")
    assert decomposed(graph, (f"{MERGE_SETS}:",)) is graph
