"""One-op models of ops along an axis, of gather and scatter, and of resampling."""

from __future__ import annotations

from tests.semantics.op_cases.cases import Case


def _loose(name: str, text: str, opset: int = 18) -> Case:
    return Case(name, text, opset, is_tight=False)


_SCANS = (
    _loose("cumulative product", "g (float[3,4] x) => (float[3,4] y) <int64 a = {-2}> "
           "{ y = CumProd(x, a) }", 26),
    _loose("cumulative sum reversed", "g (float[3,4] x) => (float[3,4] y) <int64 a = {0}> "
           "{ y = CumSum <reverse = 1, exclusive = 1> (x, a) }"),
    _loose("top k", "g (float[3,6] x) => (float[3,2] y, int64[3,2] z) <int64[1] k = {2}> "
           "{ y, z = TopK(x, k) }"),
    _loose("top k first axis", "g (float[6,3] x) => (float[2,3] y, int64[2,3] z) "
           "<int64[1] k = {2}> { y, z = TopK <axis = 0, largest = 0> (x, k) }"),
    _loose("reverse sequence", "g (float[4,3] x, int64[3] l) => (float[4,3] y) "
           "{ y = ReverseSequence(x, l) }"),
    _loose("reverse sequence batch first", "g (float[3,4] x, int64[3] l) => (float[3,4] y) "
           "{ y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, l) }"),
    _loose("compress", "g (float[3,4] x) => (float[3,2] y) <bool[4] c = {1,0,1,0}> "
           "{ y = Compress <axis = 1> (x, c) }"),
    _loose("compress all", "g (float[3,2] x) => (float[2] y) <bool[4] c = {1,0,0,1}> "
           "{ y = Compress(x, c) }"),
    _loose("upper triangle", "g (float[2,4,5] x) => (float[2,4,5] y) { y = Trilu(x) }"),
    _loose("lower triangle", "g (float[4,5] x) => (float[4,5] y) <int64 k = {-1}> "
           "{ y = Trilu <upper = 0> (x, k) }"),
    _loose("triangle of data", "g (float[4,5] x, int64 k) => (float[4,5] y) { y = Trilu(x, k) }"),
    _loose("eye", "g (float[4,5] x) => (float[4,5] y) { y = EyeLike <k = 1> (x) }"),
)  # fmt: skip

_INDEXING = (
    _loose("gather elements", "g (float[4,3] x, int64[4,2] i) => (float[4,2] y) "
           "{ y = GatherElements <axis = 1> (x, i) }"),
    _loose("gather elements fewer", "g (float[4,3] x, int64[2,2] i) => (float[2,2] y) "
           "{ y = GatherElements <axis = 1> (x, i) }"),
    _loose("gather elements by default", "g (float[4,3] x, int64[2,3] i) => (float[2,3] y) "
           "{ y = GatherElements(x, i) }"),
    _loose("gather nd", "g (float[2,3,4] x, int64[5,2] i) => (float[5,4] y) "
           "{ y = GatherND(x, i) }"),
    _loose("gather nd batched", "g (float[2,3,4] x, int64[2,5,1] i) => (float[2,5,4] y) "
           "{ y = GatherND <batch_dims = 1> (x, i) }"),
    _loose("scatter elements", "g (float[4,3] x, int64[2,3] i, float[2,3] u) => (float[4,3] y) "
           "{ y = ScatterElements(x, i, u) }"),
    _loose("scatter elements added", "g (float[4,3] x, int64[4,2] i, float[4,2] u) => "
           '(float[4,3] y) { y = ScatterElements <axis = 1, reduction = "add"> (x, i, u) }'),
    _loose("scatter few elements", "g (float[4,3] x, int64[2,2] i, float[2,2] u) => "
           '(float[4,3] y) { y = ScatterElements <axis = 0, reduction = "add"> (x, i, u) }'),
    _loose("scatter", "g (float[4,3] x, int64[2,3] i, float[2,3] u) => (float[4,3] y) "
           "{ y = Scatter(x, i, u) }", 10),
    _loose("scatter nd", "g (float[4,3,2] x, int64[3,1] i, float[3,3,2] u) => (float[4,3,2] y) "
           '{ y = ScatterND <reduction = "add"> (x, i, u) }'),
    _loose("scatter nd pairs", "g (float[4,3,2] x, int64[3,2] i, float[3,2] u) => "
           '(float[4,3,2] y) { y = ScatterND <reduction = "max"> (x, i, u) }'),
    _loose("tensor scatter", "g (float[2,3,6,2] x, float[2,3,2,2] u, int64[2] w) => "
           "(float[2,3,6,2] y) { y = TensorScatter(x, u, w) }", 24),
    _loose("tensor scatter from the start", "g (float[2,6,2] x, float[2,2,2] u) => "
           "(float[2,6,2] y) { y = TensorScatter(x, u) }", 24),
    _loose("one hot", "g (int64[2,3] i, float[2] v) => (float[2,3,4] y) <int64 d = {4}> "
           "{ y = OneHot(i, d, v) }"),
    _loose("one hot first", "g (int64[2,3] i, float[2] v) => (float[4,2,3] y) <int64 d = {4}> "
           "{ y = OneHot <axis = 0> (i, d, v) }"),
    _loose("tile", "g (float[2,3] x) => (float[4,3] y) <int64[2] r = {2,1}> { y = Tile(x, r) }"),
    Case("tile one", "g (float[2,1] x) => (float[2,3] y) <int64[2] r = {1,3}> { y = Tile(x, r) }"),
)  # fmt: skip


def _resize(name: str, scales: str, y: str, attributes: str, x: str = "1,1,7,6") -> Case:
    return _loose(
        f"resize {name}",
        f"g (float[{x}] x) => (float[{y}] y) <float[4] s = {{{scales}}}> "
        f"{{ y = Resize <{attributes}> (x, , s) }}",
    )


def _placed(mode: str, coordinates: str) -> str:
    return f'mode = "{mode}", coordinate_transformation_mode = "{coordinates}"'


_RESIZING = (
    *(_resize(f"{mode} {coordinates} {name}", scales, y, _placed(mode, coordinates))
      for mode in ("linear", "cubic", "nearest")
      for coordinates in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                          "half_pixel_symmetric")
      for name, scales, y in (("larger", "1,1,2.0,1.5", "1,1,14,9"),
                              ("smaller", "1,1,0.6,0.4", "1,1,4,2"))),
    *(_resize(f"nearest {rounding}", "1,1,1.7,0.7", "1,1,11,4",
              f'nearest_mode = "{rounding}", coordinate_transformation_mode = "asymmetric"')
      for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")),
    *(_resize(f"{mode} antialiased", "1,1,0.4,0.6", "1,1,2,3",
              f'mode = "{mode}", antialias = 1') for mode in ("linear", "cubic")),
    _resize("cubic without outside", "1,1,2.0,0.7", "1,1,14,4",
            'mode = "cubic", exclude_outside = 1'),
    _loose("resize to sizes linear", "g (float[1,1,7,6] x) => (float[1,1,9,4] y) "
           '<int64[4] s = {1,1,9,4}> { y = Resize <mode = "linear"> (x, , , s) }'),
    _loose("resize two axes", "g (float[1,1,7,6] x) => (float[1,1,14,9] y) <float[2] s = {1.5,2}> "
           '{ y = Resize <mode = "linear", axes = [3,2]> (x, , s) }'),
    _loose("resize keeping aspect", "g (float[1,1,6,4] x) => (float[1,1,9,6] y) "
           '<int64[2] s = {9,8}> { y = Resize <mode = "linear", axes = [2,3], '
           'keep_aspect_ratio_policy = "not_larger"> (x, , , s) }'),
    _loose("resize a region", "g (float[1,1,6,4] x) => (float[1,1,3,3] y) "
           "<float[8] r = {0,0,0.2,0.3,1,1,0.7,0.9}, int64[4] s = {1,1,3,3}> "
           '{ y = Resize <mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"> '
           "(x, r, , s) }"),
    _loose("resize 10", "g (float[1,1,6,4] x) => (float[1,1,9,8] y) "
           '<float[4] s = {1,1,1.5,2}> { y = Resize <mode = "linear"> (x, s) }', 10),
    _loose("upsample", "g (float[1,1,6,4] x) => (float[1,1,12,8] y) "
           '<float[4] s = {1,1,2,2}> { y = Upsample <mode = "linear"> (x, s) }', 9),
)  # fmt: skip

_SAMPLING = (
    _loose("grid sample", "g (float[2,3,4,5] x, float[2,3,2,2] g) => (float[2,3,3,2] y) "
           "{ y = GridSample(x, g) }", 20),
    _loose("grid sample cubic", "g (float[2,3,4,5] x, float[2,3,2,2] g) => (float[2,3,3,2] y) "
           '{ y = GridSample <mode = "cubic", padding_mode = "border"> (x, g) }', 20),
    _loose("affine grid", "g (float[2,2,3] x) => (float[2,3,4,2] y) <int64[4] s = {2,1,3,4}> "
           "{ y = AffineGrid(x, s) }", 20),
    _loose("roi align", "g (float[2,3,6,6] x, float[4,4] r, int64[4] b) => (float[4,3,2,2] y) "
           "{ y = RoiAlign <output_height = 2, output_width = 2, sampling_ratio = 2> (x, r, b) }"),
    _loose("max roi pool", "g (float[2,3,6,6] x, float[4,5] r) => (float[4,3,2,2] y) "
           "{ y = MaxRoiPool <pooled_shape = [2,2]> (x, r) }"),
    _loose("center crop and pad", "g (float[5,4] x) => (float[2,7] y) <int64[2] s = {2,7}> "
           "{ y = CenterCropPad(x, s) }"),
    _loose("columns to image", "g (float[2,8,9] x) => (float[2,2,4,4] y) <int64[2] s = {4,4}, "
           "int64[2] b = {2,2}> { y = Col2Im(x, s, b) }"),
    _loose("max unpool", "g (float[1,1,2,2] x, int64[1,1,2,2] i) => (float[1,1,4,4] y) "
           "<int64[4] s = {1,1,4,4}> "
           "{ y = MaxUnpool <kernel_shape = [2,2], strides = [2,2]> (x, i, s) }"),
)  # fmt: skip

CASES = (*_SCANS, *_INDEXING, *_RESIZING, *_SAMPLING)
