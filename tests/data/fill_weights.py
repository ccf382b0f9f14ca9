"""Fills the weights that a model file leaves out, with seeded random numbers.

`python -m tests.data.fill_weights IN OUT [SEED]` writes a complete model.
"""

from __future__ import annotations

import sys
from pathlib import Path

import onnx

from graphturbo_core.frontend.numbers import with_numbers
from graphturbo_core.limits import DEFAULT_LIMITS


def fill_weights(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """A copy in which every absent weight has numbers, the same ones for the same seed."""
    data = with_numbers(model.SerializeToString(), seed, DEFAULT_LIMITS).data
    return onnx.load_model_from_string(data)


def main(arguments: list[str]) -> None:
    """Fill the file IN and write it to OUT."""
    model = onnx.load_model_from_string(Path(arguments[0]).read_bytes())
    seed = int(arguments[2]) if len(arguments) > 2 else 0
    Path(arguments[1]).write_bytes(fill_weights(model, seed).SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1:])
