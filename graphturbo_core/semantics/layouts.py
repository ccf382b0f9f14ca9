"""Op types that tell what the axes of a model's tensors are: pictures, sequences, heads."""

from __future__ import annotations

CONVOLUTION, PRODUCT = "Conv", "MatMul"
ATTENTION = frozenset({"Attention", "MultiHeadAttention", "Softmax"})
"""Ops of a model whose tensors of three axes are sequences."""
