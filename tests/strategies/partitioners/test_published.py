"""Partitioners against upstream tests of XLA, Glow and oneDNN: where they agree and where not."""

from __future__ import annotations

import pytest

from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.strategies.partitioners.glow import Glow, stacked_kernels
from graphturbo_core.strategies.partitioners.xla import Xla
from tests.soundness import check_right
from tests.strategies.partitioners import onednn_graphs
from tests.strategies.partitioners.published import (
    ALL,
    AXIS,
    INSTRUCTION_FUSION,
    MULTI_OUTPUT,
    Published,
)
from tests.strategies.partitioners.xla_graphs import MAP, kernels
from tests.strategies.samples import weighted


@pytest.mark.parametrize("one", INSTRUCTION_FUSION, ids=lambda one: one.test)
def test_instruction_fusion_agrees_with_xla(one: Published) -> None:
    found = kernels(one.body, one.inputs, one.outputs, repeat=one.repeat, several=False)
    assert found == one.expected


@pytest.mark.parametrize("one", MULTI_OUTPUT, ids=lambda one: one.test)
def test_multi_output_fusion_agrees_with_xla(one: Published) -> None:
    assert kernels(one.body, one.inputs, one.outputs) == one.expected


@pytest.mark.parametrize("one", (*INSTRUCTION_FUSION[::2], *MULTI_OUTPUT), ids=lambda one: one.test)
def test_kernels_of_published_graphs_are_right(one: Published) -> None:
    """Replayed: an op in several kernels, kernels with several results, scatters."""
    options = {} if one.repeat else {"xla.repeats": "off"}
    request = RunRequest("published", "xla", "generic-4x4", 1, options=options, verify=True)
    check_right(run_report(one.file, request))


DIFFERENT = (
    (
        Published("FloatingPointDivIsCheap", "d = Div(x, y) r = ReduceSum(d, axes)"
                  " z = ReduceMax<axes = [3]>(d)", "d | r | z", f"{AXIS}, {MAP} y",
                  "float[1,4,8,1] r, float[1,4,8,1] z"),
        "d r | d z",
        "Float divisions, exponentials",
    ),
    (
        Published("FloatingPointExpIsCheap", "d = Exp(x) r = ReduceSum(d, axes)"
                  " z = ReduceMax<axes = [3]>(d)", "d | r | z", AXIS,
                  "float[1,4,8,1] r, float[1,4,8,1] z"),
        "d r | d z",
        "Float divisions, exponentials",
    ),
)  # fmt: skip
"""Other kernels than XLA's: ours, XLA's, and the departure. The passes of `INSTRUCTION_FUSION`."""

DIFFERENT_OUTPUTS = (
    (
        Published("MultiOutputFusionDifferentReduceOutputShapes", "c = Conv(x, w) m = Mul(c, c)"
                  " r = ReduceSum(m, every) z = ReduceSum(c, axes)", "c | m r z", f"{ALL}{AXIS}",
                  "float[1,1,1,1] r, float[1,4,8,1] z"),
        "c | m r | z",
        "also requires equal axes",
    ),
    (
        Published("MultiOutputFusionSiblingLoopsDifferentShapes", "c = Conv(x, w) m = Mul(c, c)"
                  " z = ReduceSum(c, apart)", "c | m z", ", int64[2] apart = {1,3}",
                  f"{MAP} m, float[1,1,8,1] z"),
        "c | m | z",
        "always have its operand's shape",
    ),
    (
        Published("MultiOutputFusionTwoLoops", "a = Mul(x, x) z = Div(x, v1)", "a | z",
                  ", float[1] v1", f"{MAP} a, {MAP} z"),
        "a z",
        "of a model's input are no siblings",
    ),
)  # fmt: skip
"""The same of `MULTI_OUTPUT`."""


@pytest.mark.parametrize(
    ("one", "upstream", "departure", "several"),
    [(*each, False) for each in DIFFERENT] + [(*each, True) for each in DIFFERENT_OUTPUTS],
    ids=lambda value: getattr(value, "test", ""),
)
def test_where_xla_differs_a_departure_says_so(
    one: Published, upstream: str, departure: str, several: bool
) -> None:
    found = kernels(one.body, one.inputs, one.outputs, several=several)
    assert found == one.expected != upstream.split(" | ")
    assert any(departure in each for each in Xla.departures)


def test_what_glow_does_not_stack() -> None:
    """Glow's `dataParallelStackingTest`: a sum into a view, then one of a view that overlaps it.

    An ONNX graph says with a concatenation what the first sum writes: it ends the stack. So the
    first two sums are apart, and the last two, which do not write to one another, are a stack.
    """
    text = """g (float[3] x, float[2] v4)
        => (float[2] z) <int64[1] n0 = {0}, int64[1] n1 = {1}, int64[1] n2 = {2},
        int64[1] n3 = {3}> { t = Slice(x, n0, n2) first = Add(t, v4) rest = Slice(x, n2, n3)
        act = Concat<axis = 0>(first, rest) u = Slice(act, n1, n3) second = Add(u, first)
        z = Add(second, first) }"""
    found = [" ".join(kernel.ops) for kernel in stacked_kernels(weighted(text)).kernels]
    assert found == ["t", "first", "rest", "act", "u", "second z"]
    assert any("views of one buffer" in each for each in Glow.departures)


ONEDNN = {
    "cpu_getting_started": (
        "c = Conv(x, w) b = Add(c, vb) r = Relu(b) d = Conv(r, w) e = Add(d, vb) z = Relu(e)",
        ["c b r", "d e z"],
    ),
    "FuseConvSwish": ("c = Conv(x, w) s = Sigmoid(c) z = Mul(c, s)", ["c s z"]),
    "FuseConvSwishSigmoid": (
        "c = Conv(x, w) s = Sigmoid(c) m = Mul(c, s) z = Sigmoid(m)",
        ["c s m z"],
    ),
    "FuseConvBiasClamp": ("c = Conv(x, w) b = Add(c, vb) z = Clip(b, v1, v2)", ["c b z"]),
    "FuseConvBiasSquare": ("c = Conv(x, w) b = Add(c, vb) z = Mul(b, b)", ["c b z"]),
    "FuseConvBiasSum": ("c = Conv(x, w, vs) z = Add(c, y)", ["c z"]),
    "FuseConvBiasaddSumRelu": (
        "c = Conv(x, w) b = Add(c, vb) s = Add(b, y) z = Relu(s)",
        ["c b s z"],
    ),
    "FuseConvBiasBnSumRelu": (
        "c = Conv(x, w, vs) n = BatchNormalization(c, vs, vt, vs, vt) s = Add(n, y) z = Relu(s)",
        ["c n s z"],
    ),
}
"""oneDNN's example of partitions, and `Pass` tests of the unit test `test_pass.cpp`."""


@pytest.mark.parametrize("test", ONEDNN)
def test_partitions_agree_with_onednn(test: str) -> None:
    body, expected = ONEDNN[test]
    assert onednn_graphs.kernels(onednn_graphs.of_maps(body)) == expected


def test_a_second_output_ends_a_chain_as_in_onednn() -> None:
    """`FailToFuseConvBnWithConvSecondOutput`: a batch norm and a Relu read the convolution."""
    body = "c = Conv(x, w) z = BatchNormalization(c, vs, vt, vs, vt) u = Relu(c)"
    text = onednn_graphs.of_maps(body, outputs=f"{MAP} z, {MAP} u")
    assert onednn_graphs.kernels(text) == ["c", "z", "u"]
