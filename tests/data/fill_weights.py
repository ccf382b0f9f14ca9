"""Fills the weights that a model file leaves out, with seeded random numbers.

`python tests/data/fill_weights.py IN OUT [SEED]` writes a complete model.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

_BLOCK = 1_000_003
"""Numbers drawn at most for a weight; larger ones repeat them (a prime, so rows differ)."""


def fill_weights(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """A copy in which every absent weight has numbers, the same ones for the same seed.

    Weights are scaled by the square root of their fan-in, so that activations keep their size
    through a deep network; a variance must be positive, so vectors lie between 0.5 and 1.5.
    """
    random = np.random.default_rng(seed)
    filled = onnx.ModelProto()
    filled.CopyFrom(model)
    for proto in filled.graph.initializer:
        if proto.data_location == onnx.TensorProto.EXTERNAL:
            name, dtype = proto.name, onnx.helper.tensor_dtype_to_np_dtype(proto.data_type)
            value = _numbers(random, tuple(proto.dims)).astype(dtype, copy=False)
            proto.CopyFrom(numpy_helper.from_array(value, name))
    return filled


def _numbers(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) < 2:
        return random.random(shape, np.float32) + np.float32(0.5)
    block = random.standard_normal(min(_BLOCK, int(np.prod(shape))), np.float32)
    return np.resize(block / np.float32(np.sqrt(np.prod(shape[1:]))), shape)


def main(arguments: list[str]) -> None:
    """Fill the file IN and write it to OUT."""
    model = onnx.load_model_from_string(Path(arguments[0]).read_bytes())
    seed = int(arguments[2]) if len(arguments) > 2 else 0
    Path(arguments[1]).write_bytes(fill_weights(model, seed).SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1:])
