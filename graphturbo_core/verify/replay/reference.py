"""The unsplit model on whole inputs, by ONNX Runtime: the reference of a replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import as_imported
from graphturbo_core.frontend.parse.element_types import numpy_dtype
from graphturbo_core.ir.graph import Graph
from graphturbo_core.verify.single_op import IR_VERSION, Array, errors_of, session_options

MOST_TEXT = 500
"""Characters of ONNX Runtime's message in a refusal: its signatures alone take 280."""


def reference_outputs(
    data: bytes, whole: Graph, feeds: Mapping[str, Array], runtime: Any
) -> dict[str, Array]:
    """Every output of the model in the file, without our clean-up passes.

    A file with a fixed batch runs once per part of that size. The results are joined along the
    leading axis.

    Raises:
        ModelError: NO_REFERENCE with ONNX Runtime's message; BATCH_PARTS where the batch is not a
            multiple of the file's.
    """
    results = _run(data, whole.outputs, feeds, runtime)
    return {
        name: _joined([result[name] for result in results], whole.tensors[name].shape)
        for name in whole.outputs
    }


def computed_weights(
    data: bytes, names: Sequence[str], feeds: Mapping[str, Array], runtime: Any
) -> dict[str, Array]:
    """Values that depend on weights only and that import did not compute.

    They may be in a function or a branch, so the model is the file's model after import.

    Raises:
        ModelError: NO_REFERENCE with ONNX Runtime's message.
    """
    model = as_imported(data, {name: array.shape for name, array in feeds.items()})
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return _run(model.SerializeToString(), names, feeds, runtime)[0]


def _run(
    data: bytes, outputs: Sequence[str], feeds: Mapping[str, Array], runtime: Any
) -> list[dict[str, Array]]:
    """The outputs per part of the batch."""
    try:
        session = runtime.InferenceSession(
            _readable(data),
            session_options(runtime, is_optimised=True),
            providers=["CPUExecutionProvider"],
        )
        known = {value.name: value for value in session.get_inputs()}
        given = {name: feeds[name] for name in known if name in feeds}
        spare = {name: _spare(value) for name, value in known.items() if name not in feeds}
        parts = _parts({name: known[name].shape for name in given}, given)
        found = [session.run(list(outputs), {**part, **spare}) for part in parts]
    except errors_of(runtime) as error:
        raise ModelError(
            "NO_REFERENCE",
            f"ONNX Runtime cannot run the model: {str(error).strip().splitlines()[0][:MOST_TEXT]}",
            change="run without --verify",
        ) from error
    return [
        {name: np.asarray(result) for name, result in zip(outputs, results, strict=True)}
        for results in found
    ]


def _readable(data: bytes) -> bytes:
    """The model as a file of a version that ONNX Runtime reads: onnx may be newer, ops may not."""
    model = onnx.load_model_from_string(data)
    if model.ir_version <= IR_VERSION:
        return data
    model.ir_version = IR_VERSION
    return bytes(model.SerializeToString())


def _spare(value: Any) -> Array:
    """Zeros for an input that no output depends on; ONNX Runtime requires it."""
    shape = [size if isinstance(size, int) else 1 for size in value.shape]
    kind = value.type.removeprefix("tensor(").removesuffix(")")
    names = {"float": "float32", "double": "float64"}
    dtype = numpy_dtype(names.get(kind, kind))
    return np.full(shape, "" if dtype.kind == "O" else 0, dtype=dtype)


def _parts(shapes: Mapping[str, list[Any]], feeds: Mapping[str, Array]) -> list[dict[str, Array]]:
    """The feeds cut along the leading axis to the sizes that are fixed in the file."""
    fixed = {
        name: shapes[name][0]
        for name, array in feeds.items()
        if shapes[name] and isinstance(shapes[name][0], int) and shapes[name][0] != array.shape[0]
    }
    if not fixed:
        return [dict(feeds)]
    name, size = next(iter(fixed.items()))
    count, rest = divmod(feeds[name].shape[0], size)
    if rest:
        raise ModelError(
            "BATCH_PARTS",
            f"the file's batch is fixed at {size}, so a batch of {feeds[name].shape[0]} cannot be "
            "compared with it",
            "--verify",
            f"choose a multiple of {size}",
        )
    return [
        {
            key: array[part * fixed[key] : (part + 1) * fixed[key]] if key in fixed else array
            for key, array in feeds.items()
        }
        for part in range(count)
    ]


def _joined(parts: list[Array], shape: tuple[int, ...]) -> Array:
    if len(parts) == 1 or parts[0].shape == shape:
        return parts[0]
    return np.concatenate(parts)
