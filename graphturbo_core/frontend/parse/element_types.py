"""ONNX element type numbers <-> the names used in tensors."""

from __future__ import annotations

import numpy as np
import onnx

from graphturbo_core.errors import ModelError

_RENAMED = {"float": "float32", "double": "float64"}
_NAME_OF: dict[int, str] = {
    number: _RENAMED.get(name.lower(), name.lower())
    for name, number in onnx.TensorProto.DataType.items()
    if name != "UNDEFINED"
}
_NUMBER_OF: dict[str, int] = {name: number for number, name in _NAME_OF.items()}


def dtype_name(element_type: int, where: str) -> str:
    """Returns the numpy-like name of an ONNX element type, e.g. `float32`.

    Raises:
        ModelError: UNKNOWN_TYPE; `where` names the tensor or node.
    """
    if element_type not in _NAME_OF:
        raise ModelError(
            "UNKNOWN_TYPE",
            f"element type {element_type} is not known",
            where,
            "export the model with a standard ONNX element type",
        )
    return _NAME_OF[element_type]


def element_type(dtype: str) -> int:
    """The ONNX number of a dtype name."""
    return _NUMBER_OF[dtype]


def numpy_dtype(dtype: str) -> np.dtype:
    """The numpy type for a dtype's values."""
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(_NUMBER_OF[dtype]))
