"""Draft -> types and values of every tensor, op by op.

- `infer.py`: the loop: onnx's inference per op, with the values known so far.
- `guards.py`: refuses attributes that would crash onnx's inference.
- `known_shapes.py`: shapes that onnx leaves open but inputs determine.
- `fused_shapes.py`: shapes of the fused ops of ONNX Runtime's optimiser.
- `values.py`: small constants and shape arithmetic with numpy.
- `indices.py`: larger constants that gathers pick by: are samples independent?

Values flow with shapes. So a Reshape whose target is computed from shapes is static too.
"""
