"""Graphs with the structure of the upstream tests of XLA, Glow and oneDNN; kernels by hand.

The graphs are ours, the conditions are those that the named test checks. In them:

- A convolution stands for `send` or `rng`: a call that takes part in no fusion.
- XLA's tests begin with parameters. Here the readers of a model's input are no siblings, so a
  convolution comes before siblings.
- A tuple at the end is several results of the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from onnx import helper, numpy_helper

from tests.models import model_of
from tests.strategies.partitioners.xla_graphs import MAP, W

Y = f", {MAP} y"
AXIS = ", int64[1] axes = {3}"
ALL = ", int64[4] every = {0,1,2,3}"
WIDE = ", int64[4] shape = {2,4,8,8}"


@dataclass(frozen=True)
class Published:
    """An upstream test: a graph of the same structure, and its kernels."""

    test: str
    body: str
    kernels: str
    inputs: str = ""
    outputs: str = f"{MAP} z"
    repeat: bool = True

    @property
    def expected(self) -> list[str]:
        return self.kernels.split(" | ")

    @property
    def file(self) -> bytes:
        """An ONNX file with random weights."""
        model = model_of(f"g ({MAP} x, {W}{self.inputs}) => ({self.outputs}) {{ {self.body} }}")
        given = {tensor.name for tensor in model.graph.initializer}
        read = {name for node in model.graph.node for name in node.input}
        rng = np.random.default_rng(0)
        for value in list(model.graph.input):
            if value.name.startswith(("w", "v")) and value.name in read:
                kind = value.type.tensor_type
                shape = [dim.dim_value for dim in kind.shape.dim]
                numbers = rng.integers(1, 5, size=shape)
                numbers = numbers.astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
                model.graph.initializer.append(numpy_helper.from_array(numbers, value.name))
                given.add(value.name)
            if value.name in given or value.name not in read:
                model.graph.input.remove(value)
        return bytes(model.SerializeToString(deterministic=True))


INSTRUCTION_FUSION = (
    Published(
        "AvoidDuplicationIfNotAllFusible",
        "s = Add(x, y) c = Conv(s, w) z = Abs(s)", "s | c | z",
        Y, f"{MAP} c, {MAP} z",
    ),
    Published(
        "AvoidDuplicationIfNotAllFusibleRecursively, 1: a call on one of two paths",
        "s = Add(x, y) a = Abs(s) c = Conv(a, w) b = Abs(c) z = Sub(b, s)", "s | a | c | b z",
        Y,
    ),
    Published(
        "AvoidDuplicationIfNotAllFusibleRecursively, 2: an expensive op with two readers",
        "s = Add(x, y) a = Abs(s) l = Log(a) c = Conv(l, w) b = Abs(l) z = Sub(b, s)",
        "s | a l | c | b z", Y, f"{MAP} c, {MAP} z",
    ),
    Published(
        "AvoidDuplicationIfNotAllFusibleRecursively, 3: not on a path from the sum",
        "s = Add(x, y) l = Log(x) c = Conv(l, w) t = Add(l, s) z = Sub(s, t)",
        "l | s t z | c", Y, f"{MAP} c, {MAP} z",
    ),
    Published(
        "AvoidDuplicationIfNotAllFusibleRecursively, 4: the sum before a refused sum",
        "s = Add(x, y) t = Add(s, y) l = Log(t) c = Conv(l, w) d = Sub(l, t) e = Sub(t, s)",
        "s | t | l | c | d | e", Y, f"{MAP} c, {MAP} d, {MAP} e",
    ),
    Published("FuseCheapNonDuplicatableOps", "s = Add(x, x) z = Sub(s, s)", "s z"),
    Published(
        "AllowUnaryDuplication",
        "s = Floor(x) c = Conv(s, w) z = Abs(s)", "s | s z | c",
        outputs=f"{MAP} c, {MAP} z",
    ),
    Published(
        "AllowEffectiveUnaryDuplication",
        "b = Expand(p, shape) s = Add(b, x) c = Conv(s, w) z = Abs(s)", "b s | b s z | c",
        ", float[8] p, int64[4] shape = {1,4,8,8}", f"{MAP} c, {MAP} z",
    ),
    Published(
        "AllowEffectiveUnaryDuplication, broadcast by the sum itself",
        "s = Add(p, x) c = Conv(s, w) z = Abs(s)", "s | s z | c",
        ", float[8] p", f"{MAP} c, {MAP} z",
    ),
    Published(
        "AllowBinarySameValueOperandsDuplication",
        "s = Add(x, x) a = Abs(s) c = Conv(a, w) b = Abs(c) z = Sub(b, s)", "s a | c | s b z",
    ),
    *(
        Published(
            f"FuseDiamondGraphs{'Allow' if repeat else 'No'}Duplication",
            "s = Add(x, y) a = Slice(s, n0, n7, n3) b = Slice(s, n1, n8, n3) z = Add(a, b)",
            "s a b z",
            f"{Y}, int64[1] n0 = {{0}}, int64[1] n1 = {{1}}, int64[1] n3 = {{3}},"
            " int64[1] n7 = {7}, int64[1] n8 = {8}",
            "float[1,4,8,7] z", repeat,
        )
        for repeat in (False, True)
    ),
    Published(
        "WideningConvertsAreAlwaysDuplicableIntoConsumers",
        "c = Cast<to = 1>(q) a = Add(c, c) z = Mul(c, c)", "c a | c z",
        ", int8[1,4,8,8] q", f"{MAP} a, {MAP} z", False,
    ),
    Published(
        "BroadcastsAreAlwaysDuplicableIntoConsumers",
        "c = Expand(x, shape) a = Add(c, c) z = Mul(c, c)", "c a | c z",
        WIDE, "float[2,4,8,8] a, float[2,4,8,8] z", False,
    ),
    Published(
        "CostlyProducerAndOperandElementReusingConsumerNotFused",
        "l = Log(x) z = Expand(l, shape)", "l | z", WIDE, "float[2,4,8,8] z",
    ),
    Published(
        "NonCostlyProducerAndOperandElementReusingConsumerFused",
        "n = Neg(x) z = Expand(n, shape)", "n z", WIDE, "float[2,4,8,8] z",
    ),
    Published(
        "CostlyProducerAndNonOperandElementReusingConsumerFused_Reshape",
        "e = Exp(x) z = Reshape(e, flat)", "e z", ", int64[2] flat = {4,64}", "float[4,64] z",
    ),
    Published(
        "CostlyProducerAndNonOperandElementReusingConsumerFused_Transpose",
        "e = Exp(x) z = Transpose<perm = [0,2,1,3]>(e)", "e z", outputs="float[1,8,4,8] z",
    ),
    Published(
        "BroadcastIntoReduce",
        "b = Expand(p, shape) z = ReduceSum(b, every)", "b z",
        f"{ALL}{WIDE}, float[1,1,1,1] p", "float[1,1,1,1] z",
    ),
    Published(
        "DoNotRepeatLargeReduceWindow",
        "p = AveragePool<kernel_shape = [9,9]>(q) z = Gather<axis = 3>(p, i)", "p | z",
        ", float[1,1,16,16] q, int64[32] i", "float[1,1,8,32] z",
    ),
    Published(
        "IntegerDivIsNotCheap",
        "d = Div(p, q) r = ReduceSum(d, axes) z = ReduceMax<axes = [3]>(d)", "d | r | z",
        f"{AXIS}, int32[1,4,8,8] p, int32[1,4,8,8] q", "int32[1,4,8,1] r, int32[1,4,8,1] z",
    ),
    Published(
        "GpuIsExpensiveS32",
        "d = Div(p, v1) r = ReduceSum(d, axes) z = ReduceMax<axes = [3]>(d)", "d r | d z",
        f"{AXIS}, int32[1,4,8,8] p, int32[1] v1", "int32[1,4,8,1] r, int32[1,4,8,1] z",
    ),
    Published(
        "DotOutputFusionImpossible",
        "c = MatMul(p, q) d = Mul(c, c) z = Mul(d, v1)", "c | d z",
        ", float[1,4,3] p, float[3,4] q, float[1] v1", "float[1,4,4] z",
    ),
    Published(
        "MultiOutputFusion", "s = Sub(x, y) z = Add(s, y)", "s | z", Y, f"{MAP} s, {MAP} z",
    ),
    Published(
        "FuseReverse",
        "s = Add(x, x) z = Slice(s, n7, n9, n3, back)", "s z",
        ", int64[1] n7 = {7}, int64[1] n9 = {-9}, int64[1] n3 = {3}, int64[1] back = {-1}",
    ),
)  # fmt: skip
"""XLA's `instruction_fusion_test.cc`, of the service and of its GPU backend: no other pass runs."""

MULTI_OUTPUT = (
    Published(
        "FuseIntoScatter",
        "a = Add(x, x) j = Add(i, i) u = Add(q, q) s = ScatterElements<axis = 3>(a, j, u)"
        " z = Add(s, s)", "a j u s | z", ", int64[1,4,8,1] i, float[1,4,8,1] q",
    ),
    Published(
        "MultiOutputFusionSiblingReduceAndReduceFusion",
        "c = Conv(x, w) m = Mul(c, c) r = ReduceSum(m, axes) z = ReduceSum(c, axes)",
        "c | m r z", AXIS, "float[1,4,8,1] r, float[1,4,8,1] z",
    ),
    Published(
        "MultiOutputFusionDifferentReduceInputShapes",
        "c = Conv(x, w) m = Mul(c, c) r = ReduceSum(m, every) t = Reshape(c, flat)"
        " z = ReduceProd<axes = [0,1], keepdims = 1>(t)", "c | m r | t z",
        f"{ALL}, int64[2] flat = {{4,64}}", "float[1,1,1,1] r, float[1,1] z",
    ),
    Published(
        "MultiOutputFusionTwoLoops",
        "c = Conv(x, w) a = Mul(c, c) z = Div(c, v1)", "c | a z",
        ", float[1] v1", f"{MAP} a, {MAP} z",
    ),
    Published(
        "MultiOutputFusionSiblingLoopAndMultiOutputLoop",
        "c = Conv(x, w) a = Mul(c, c) e = Exp(c) z = Add(c, v1)", "c | a e z",
        ", float[1] v1", f"{MAP} a, {MAP} e, {MAP} z",
    ),
    Published(
        "ProducerConsumerFusionElementwiseAndReduce",
        "e = Exp(x) z = ReduceSum(e, axes)", "e z", AXIS, f"{MAP} e, float[1,4,8,1] z",
    ),
    Published(
        "ProducerConsumerFusionLoopFusionAndReduce",
        "s = Add(x, y) z = ReduceSum(s, axes)", "s z",
        f"{Y}{AXIS}", f"{MAP} s, float[1,4,8,1] z",
    ),
    Published(
        "ProducerConsumerFusionDoNotFuseLoopReduceFusion",
        "s = Add(x, y) m = Mul(s, s) b = Expand(m, shape) z = ReduceSum(b, axes)", "s | m b z",
        f"{Y}{AXIS}{WIDE}", f"{MAP} s, float[2,4,8,1] z",
    ),
    Published(
        "ProducerConsumerFusionAvoidsCycles",
        "s = Add(x, x) m = Mul(q, q) f = Slice(m, n0, n8, n3) t = Add(s, f)"
        " r = ReduceSum(t, axes) p = Pad(s, ends) u = Mul(p, m) z = ReduceSum(u, axes)",
        "m | s f t r | p u z",
        f"{AXIS}, float[1,4,8,16] q, int64[1] n0 = {{0}}, int64[1] n8 = {{8}},"
        " int64[1] n3 = {3}, int64[8] ends = {0,0,0,4,0,0,0,4}",
        f"{MAP} s, float[1,4,8,1] r, float[1,4,8,1] z, float[1,4,8,16] m",
    ),
    Published(
        "PreferFuseProducerIntoFusionConsumer",
        "s = Add(x, x) f = Slice(q, n0, n8, n3) t = Add(s, f) r = ReduceSum(t, axes)"
        " z = ReduceSum(s, axes)", "s f t r z",
        f"{AXIS}, float[1,4,8,16] q, int64[1] n0 = {{0}}, int64[1] n8 = {{8}}, int64[1] n3 = {{3}}",
        f"{MAP} s, float[1,4,8,1] r, float[1,4,8,1] z",
    ),
)  # fmt: skip
"""`FuseIntoScatter` with all passes, and XLA's `multi_output_fusion_test.cc` of the GPU backend."""
