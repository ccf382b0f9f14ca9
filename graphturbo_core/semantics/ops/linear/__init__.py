"""Entries of ops that multiply and accumulate.

- `products.py`, `einsum.py`: Gemm, MatMul, and products by equation.
- `convolution.py`: plain, grouped, depthwise and transposed.
- `attention.py`, `states.py`: attention, rotary embeddings, states along a sequence.
- `recurrent.py`: recurrent ops: samples and directions are independent, time is not.
- `quantised.py`: quantisation, and 8-bit products and convolutions.
- `channels_last.py`: 8-bit convolutions and pools with channels first or last.
- `fused.py`, `fused_attention.py`: ops that ONNX Runtime's optimiser writes.
- `entries.py`: joins them for `semantics/entries.py`.
"""
