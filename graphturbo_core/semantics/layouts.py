"""Op types and ranks of a model's results -> names of their axes: pictures and sequences."""

from __future__ import annotations

from collections.abc import Iterable

PICTURE = ("channels", "rows", "columns")
"""Axes 1 to 3 of what a convolution of pictures gives."""
_CONVOLUTION, _PRODUCT, _DENSE = "Conv", "MatMul", "Gemm"
_ATTENTION = frozenset({"Attention", "MultiHeadAttention", "Softmax"})


def is_convolution(op_type: str) -> bool:
    """Whether the results of such an op of a picture are pictures."""
    return op_type == _CONVOLUTION


class Layout:
    """What the axes of a model's results are, where its ops leave no doubt."""

    def __init__(self, results: Iterable[tuple[str, int]], *, is_of_images: bool) -> None:
        """`results`: op type and rank of each; `is_of_images`: one sample is an image."""
        made = set(results)
        self._is_of_images = is_of_images
        self._has_features = (_DENSE, 2) in made
        self._has_heads = (_PRODUCT, 4) in made
        self._is_sequence = (_CONVOLUTION, 3) not in made and any(
            op_type in _ATTENTION for op_type, _ in made
        )

    def name(self, axis: int, rank: int, *, is_with_convolution: bool) -> str:
        """Name of an axis from 1 on of a result of a sub-graph; empty if not sure.

        Four axes of a model with heads of attention are a picture where there is a convolution.
        """
        is_picture = self._is_of_images and (not self._has_heads or is_with_convolution)
        if rank == 1 + len(PICTURE) and is_picture:
            return PICTURE[axis - 1]
        if (rank, axis) == (2, 1) and self._has_features:
            return "features"
        return "tokens" if (rank, axis) == (3, 1) and self._is_sequence else ""
