"""One-op models of every family for the tests that compare with ONNX's reference evaluator."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """`is_tight`: the first and last slice of each needed box really change the result.

    `is_opaque`: there is no entry for it, on purpose. `is_tiled`: whoever runs the whole op runs a
    part of it right as well (onnx's LRN takes the batch for the number of channels).
    """

    name: str
    text: str
    opset: int = 18
    is_tight: bool = True
    is_opaque: bool = False
    is_tiled: bool = True


def _unary(op: str) -> Case:
    return Case(op, f"g (float[2,3,4] x) => (float[2,3,4] y) {{ y = {op}(x) }}")


def _conv(name: str, attributes: str, shapes: tuple[str, str, str], op: str = "Conv") -> Case:
    x, w, y = shapes
    return Case(
        name,
        f"g (float[{x}] x, float[{w}] w) => (float[{y}] y) {{ y = {op} <{attributes}> (x, w) }}",
        is_tight=op == "Conv",
    )


_CONVOLUTIONS = (
    _conv("conv 3x3 padded", "pads = [1,1,1,1]", ("2,3,6,5", "4,3,3,3", "2,4,6,5")),
    _conv("conv strided", "strides = [2,3]", ("1,2,9,9", "2,2,3,3", "1,2,4,3")),
    _conv("conv dilated", "dilations = [2,2]", ("1,2,9,9", "2,2,3,3", "1,2,5,5")),
    _conv("conv uneven pads", "pads = [0,1,1,0]", ("1,1,5,5", "1,1,3,2", "1,1,4,5")),
    _conv("conv same upper", 'auto_pad = "SAME_UPPER", strides = [2,2]',
          ("1,1,6,6", "1,1,3,3", "1,1,3,3")),
    _conv("conv same lower", 'auto_pad = "SAME_LOWER", strides = [2,2]',
          ("1,1,6,6", "1,1,3,3", "1,1,3,3")),
    _conv("conv grouped", "group = 2", ("1,4,4,4", "6,2,1,1", "1,6,4,4")),
    _conv("conv depthwise", "group = 4, pads = [1,1,1,1]", ("1,4,5,5", "4,1,3,3", "1,4,5,5")),
    _conv("conv depth multiplier", "group = 3", ("1,3,4,4", "6,1,1,1", "1,6,4,4")),
    _conv("conv 1d", "strides = [1]", ("2,3,8", "4,3,3", "2,4,6")),
    _conv("transposed stride 1", "pads = [1,1,1,1]", ("1,2,5,5", "2,3,3,3", "1,3,5,5"),
          "ConvTranspose"),
    _conv("transposed blocks", "strides = [2,2]", ("1,2,3,3", "2,3,2,2", "1,3,6,6"),
          "ConvTranspose"),
    _conv("transposed overlapping", "strides = [2,2], pads = [1,1,1,1]",
          ("1,2,3,3", "2,3,3,3", "1,3,5,5"), "ConvTranspose"),
    _conv("transposed as in a generator", "strides = [2,2], pads = [1,1,1,1]",
          ("1,2,4,3", "2,3,4,4", "1,3,8,6"), "ConvTranspose"),
    _conv("transposed with more output",
          "strides = [2,3], pads = [1,0,1,0], output_padding = [1,2]",
          ("1,2,4,3", "2,3,3,2", "1,3,8,10"), "ConvTranspose"),
    _conv("transposed dilated", "strides = [2,2], dilations = [2,3]",
          ("1,2,3,3", "2,3,3,2", "1,3,9,8"), "ConvTranspose"),
    _conv("transposed to a shape", "strides = [2,2], output_shape = [6,7]",
          ("1,2,3,3", "2,3,3,3", "1,3,6,7"), "ConvTranspose"),
    Case("conv bias", "g (float[1,2,4,4] x, float[3,2,1,1] w, float[3] b) => (float[1,3,4,4] y) "
         "{ y = Conv(x, w, b) }"),
)  # fmt: skip


def _product(name: str, a: str, b: str, y: str) -> Case:
    return Case(name, f"g (float[{a}] a, float[{b}] b) => (float[{y}] y) {{ y = MatMul(a, b) }}")


_PRODUCTS = (
    _product("matmul", "3,4", "4,5", "3,5"),
    _product("matmul rows", "2,3,4", "4,5", "2,3,5"),
    _product("matmul batched", "2,3,4", "2,4,5", "2,3,5"),
    _product("matmul broadcast left", "3,4", "2,4,5", "2,3,5"),
    _product("matmul broadcast both", "2,1,3,4", "1,3,4,2", "2,3,3,2"),
    _product("matmul vector left", "4", "4,5", "5"),
    _product("matmul vector right", "2,3,4", "4", "2,3"),
    Case("gemm", "g (float[3,4] a, float[4,5] b, float[5] c) => (float[3,5] y) "
         "{ y = Gemm(a, b, c) }"),
    Case("gemm transposed", "g (float[4,3] a, float[5,4] b, float[3,1] c) => (float[3,5] y) "
         "{ y = Gemm <transA = 1, transB = 1> (a, b, c) }"),
)  # fmt: skip


def _pool(name: str, op: str, attributes: str, y: str) -> Case:
    return Case(name, f"g (float[2,3,7,7] x) => (float[{y}] y) {{ y = {op} <{attributes}> (x) }}")


_POOLS = (
    _pool("max pool", "MaxPool", "kernel_shape = [3,3], strides = [2,2]", "2,3,3,3"),
    _pool("max pool padded", "MaxPool",
          "kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]", "2,3,4,4"),
    _pool("max pool ceil", "MaxPool", "kernel_shape = [2,2], strides = [2,2], ceil_mode = 1",
          "2,3,4,4"),
    _pool("average pool", "AveragePool", "kernel_shape = [2,3], strides = [1,2]", "2,3,6,3"),
    Case("global average", "g (float[2,3,4,4] x) => (float[2,3,1,1] y) "
         "{ y = GlobalAveragePool(x) }"),
    Case("global max", "g (float[2,3,4,4] x) => (float[2,3,1,1] y) { y = GlobalMaxPool(x) }"),
    Case("lrn", "g (float[7,7,1,2] x) => (float[7,7,1,2] y) "
         "{ y = LRN <size = 3, alpha = 1.0> (x) }"),
    Case("lrn even", "g (float[7,7,1,2] x) => (float[7,7,1,2] y) "
         "{ y = LRN <size = 4, alpha = 1.0> (x) }", is_tiled=False),
)  # fmt: skip

_BROADCASTS = (
    Case("add", "g (float[2,3,4] a, float[2,3,4] b) => (float[2,3,4] y) { y = Add(a, b) }"),
    Case("mul broadcast", "g (float[2,1,4] a, float[3,1] b) => (float[2,3,4] y) "
         "{ y = Mul(a, b) }", is_tight=False),
    Case("sub scalar", "g (float[2,3] a, float b) => (float[2,3] y) { y = Sub(a, b) }"),
    Case("prelu", "g (float[2,3,4] a, float[3,1] s) => (float[2,3,4] y) { y = PRelu(a, s) }",
         is_tight=False),
    Case("sum", "g (float[2,3] a, float[3] b, float[2,1] c) => (float[2,3] y) "
         "{ y = Sum(a, b, c) }"),
    Case("mean", "g (float[2,3] a, float[3] b) => (float[2,3] y) { y = Mean(a, b) }"),
    Case("clip bounds", "g (float[2,3] x) => (float[2,3] y) <float lo = {0}, float hi = {6}> "
         "{ y = Clip(x, lo, hi) }"),
    Case("expand", "g (float[2,1,4] x) => (float[2,3,4] y) <int64[3] s = {2,3,4}> "
         "{ y = Expand(x, s) }"),
    Case("batch norm", "g (float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => "
         "(float[2,3,4] y) { y = BatchNormalization(x, s, b, m, v) }"),
)  # fmt: skip

_WHOLES = (
    Case("softmax 13", "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax <axis = 1> (x) }"),
    Case("log softmax", "g (float[2,3,4] x) => (float[2,3,4] y) { y = LogSoftmax(x) }"),
    Case("layer norm", "g (float[2,3,4] x, float[3,4] s, float[3,4] b) => (float[2,3,4] y) "
         "{ y = LayerNormalization <axis = 1> (x, s, b) }"),
    Case("instance norm", "g (float[2,3,4,4] x, float[3] s, float[3] b) => (float[2,3,4,4] y) "
         "{ y = InstanceNormalization(x, s, b) }"),
)  # fmt: skip

_REDUCTIONS = (
    Case("reduce mean", "g (float[2,3,4] x) => (float[2,1,4] y) <int64[1] a = {1}> "
         "{ y = ReduceMean(x, a) }"),
    Case("reduce sum dropped", "g (float[2,3,4] x) => (float[3] y) <int64[2] a = {0,-1}> "
         "{ y = ReduceSum <keepdims = 0> (x, a) }"),
    Case("reduce max all", "g (float[2,3] x) => (float[1,1] y) { y = ReduceMax(x) }"),
    Case("reduce l2 attribute", "g (float[2,3,4] x) => (float[2,3] y) "
         "{ y = ReduceL2 <axes = [2], keepdims = 0> (x) }", 13),
    Case("arg max", "g (float[2,3,4] x) => (int64[2,4] y) "
         "{ y = ArgMax <axis = 1, keepdims = 0> (x) }", is_tight=False),
)  # fmt: skip


def _reshape(x: str, y: str, is_tight: bool = False) -> Case:
    rank = len(y.split(","))
    return Case(
        f"reshape {x} to {y}",
        f"g (float[{x}] x) => (float[{y}] y) <int64[{rank}] s = {{{y}}}> {{ y = Reshape(x, s) }}",
        is_tight=is_tight,
    )


_SHAPINGS = (
    _reshape("2,6,3", "2,2,3,3"), _reshape("2,3,4", "2,12"), _reshape("2,12", "2,3,4"),
    _reshape("2,3,4", "4,3,2"), _reshape("6,4", "4,6"), _reshape("1,8,1,1", "1,8", True),
    _reshape("2,4,6", "8,6"), _reshape("4,6", "1,4,1,6", True), _reshape("3,2,6", "6,2,3"),
    _reshape("2,7,4", "2,4,7"), _reshape("2,3,10", "3,4,5"),
    Case("flatten", "g (float[2,3,4] x) => (float[2,12] y) { y = Flatten(x) }", is_tight=False),
    Case("unsqueeze", "g (float[2,3] x) => (float[2,1,3] y) <int64[1] a = {1}> "
         "{ y = Unsqueeze(x, a) }"),
    Case("transpose", "g (float[2,3,4] x) => (float[4,2,3] y) "
         "{ y = Transpose <perm = [2,0,1]> (x) }"),
    Case("transpose reversed", "g (float[2,3,4] x) => (float[4,3,2] y) { y = Transpose(x) }"),
    Case("depth to space", "g (float[1,8,2,2] x) => (float[1,2,4,4] y) "
         "{ y = DepthToSpace <blocksize = 2> (x) }", is_tight=False),
    Case("depth to space crd", "g (float[1,8,2,2] x) => (float[1,2,4,4] y) "
         '{ y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }', is_tight=False),
    Case("space to depth", "g (float[1,2,4,4] x) => (float[1,8,2,2] y) "
         "{ y = SpaceToDepth <blocksize = 2> (x) }", is_tight=False),
)  # fmt: skip

_SELECTIONS = (
    Case("concat", "g (float[2,3] a, float[2,1] b, float[2,2] c) => (float[2,6] y) "
         "{ y = Concat <axis = -1> (a, b, c) }"),
    Case("concat twice the same", "g (float[2,3] a, float[2,1] b) => (float[2,7] y) "
         "{ y = Concat <axis = 1> (a, b, a) }", is_tight=False),
    Case("split", "g (float[2,6] x) => (float[2,1] y, float[2,3] z, float[2,2] u) "
         "<int64[3] s = {1,3,2}> { y, z, u = Split <axis = 1> (x, s) }"),
    Case("slice", "g (float[8,6] x) => (float[3,2] y) <int64[2] b = {1,-4}, int64[2] e = {7,-2}, "
         "int64[2] a = {0,1}, int64[2] s = {2,1}> { y = Slice(x, b, e, a, s) }"),
    Case("slice backwards", "g (float[6] x) => (float[6] y) <int64[1] b = {-1}, "
         "int64[1] e = {-9}, int64[1] a = {0}, int64[1] s = {-1}> { y = Slice(x, b, e, a, s) }",
         is_tight=False),
    Case("pad", "g (float[3,4] x) => (float[6,5] y) <int64[4] p = {1,0,2,1}> { y = Pad(x, p) }"),
    Case("pad reflecting", "g (float[3,4] x) => (float[3,6] y) <int64[4] p = {0,1,0,1}> "
         '{ y = Pad <mode = "reflect"> (x, p) }', is_tight=False),
    Case("gather rows", "g (float[5,4] x, int64[2,3] i) => (float[2,3,4] y) { y = Gather(x, i) }",
         is_tight=False),
    Case("gather inner", "g (float[2,5,4] x, int64[3] i) => (float[2,3,4] y) "
         "{ y = Gather <axis = 1> (x, i) }", is_tight=False),
    Case("resize half pixel", "g (float[1,2,3,3] x) => (float[1,2,6,9] y) "
         "<float[4] s = {1,1,2,3}> { y = Resize(x, , s) }"),
    Case("resize floor", "g (float[1,2,3,3] x) => (float[1,2,6,6] y) <float[4] s = {1,1,2,2}> "
         '{ y = Resize <coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> '
         "(x, , s) }"),
    Case("resize to sizes", "g (float[1,2,3,3] x) => (float[1,2,6,6] y) <int64[4] s = {1,2,6,6}> "
         "{ y = Resize(x, , , s) }"),
    Case("resize linear", "g (float[1,1,3,3] x) => (float[1,1,6,6] y) <float[4] s = {1,1,2,2}> "
         '{ y = Resize <mode = "linear"> (x, , s) }', is_tight=False),
    Case("cumulative sum", "g (float[3,4] x) => (float[3,4] y) <int64 a = {1}> "
         "{ y = CumSum(x, a) }", is_tight=False),
)  # fmt: skip

CASES = (
    *map(_unary, ("Relu", "LeakyRelu", "Sigmoid", "Exp", "HardSwish", "Identity", "Softplus")),
    *_CONVOLUTIONS, *_PRODUCTS, *_POOLS, *_BROADCASTS, *_WHOLES, *_REDUCTIONS, *_SHAPINGS,
    *_SELECTIONS,
)  # fmt: skip
