"""Draft -> types and values of every tensor, op by op.

- `infer.py`: the loop: onnx's inference per op, with the values known so far.
- `guards.py`: attributes that would crash onnx's inference are refused first.
- `known_shapes.py`: shapes that onnx leaves open and that inputs decide.
- `fused_shapes.py`: shapes of ops that ONNX Runtime's optimiser writes.
- `values.py`: small constants and shape arithmetic with numpy.

Values flow with shapes. So a Reshape whose target is computed from shapes is static too.
"""
