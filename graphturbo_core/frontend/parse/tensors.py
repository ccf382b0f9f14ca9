"""TensorProto and shapes -> Tensor, checked: sizes as Python ints, values read-only."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.element_types import dtype_name
from graphturbo_core.ir.graph import Tensor, TensorKind
from graphturbo_core.limits import Limits


def read_weight(proto: onnx.TensorProto, name: str, limits: Limits) -> Tensor:
    """Returns a weight; its value is None if the bytes are in another file, which is not opened.

    Raises:
        ModelError: BAD_WEIGHT when the bytes in the file do not fit the shape.
    """
    dtype = dtype_name(proto.data_type, f"weight {name!r}")
    shape = checked_shape(proto.dims, f"weight {name!r}", limits)
    if proto.data_location == onnx.TensorProto.EXTERNAL:
        return Tensor(name, shape, dtype, TensorKind.WEIGHT)
    try:
        value = numpy_helper.to_array(proto)
    except (ValueError, TypeError, UnicodeDecodeError) as error:
        raise ModelError(
            "BAD_WEIGHT",
            f"the bytes of weight {name!r} do not fit its shape {list(shape)} of {dtype}",
            change="export the model again; the file may be damaged",
        ) from error
    return Tensor(name, shape, dtype, TensorKind.WEIGHT, read_only(value))


def read_only(value: np.ndarray) -> np.ndarray:
    """A read-only view of the numbers."""
    view = value.view()
    view.flags.writeable = False
    return view


def checked_shape(dims: Sequence[int], where: str, limits: Limits) -> tuple[int, ...]:
    """Returns the dimensions as Python ints; `where` names the tensor or op.

    Raises:
        ModelError: BAD_SHAPE for a negative one, RANK_TOO_HIGH, SHAPE_TOO_LARGE.
    """
    shape = tuple(int(dim) for dim in dims)
    if any(dim < 0 for dim in shape):
        raise ModelError(
            "BAD_SHAPE",
            f"shape {list(shape)} has a negative dimension",
            where,
            "correct the shape in the model",
        )
    if len(shape) > limits.max_rank:
        raise ModelError(
            "RANK_TOO_HIGH",
            f"a tensor has {len(shape)} axes and the limit is {limits.max_rank}",
            where,
            "merge axes in the model",
        )
    if prod(shape) > limits.max_elements:
        raise ModelError(
            "SHAPE_TOO_LARGE",
            f"shape {list(shape)} has {prod(shape)} elements, more than {limits.max_elements}",
            where,
            "use smaller dimensions",
        )
    return shape
