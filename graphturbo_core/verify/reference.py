"""The unsplit model on whole inputs, by ONNX Runtime: what a replay is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphturbo_core.errors import ModelError
from graphturbo_core.ir.graph import Graph
from graphturbo_core.verify.single_op import Array, errors_of, session_options


def reference_outputs(
    data: bytes, whole: Graph, feeds: Mapping[str, Array], runtime: Any
) -> dict[str, Array]:
    """Every output of the model in the file, as it is there: before any clean-up of ours.

    A file whose batch is fixed is run once for each of its batches, and the results are joined
    along the leading axis.

    Raises:
        ModelError: NO_REFERENCE with what ONNX Runtime says; BATCH_PARTS where the batch is not a
            multiple of the file's.
    """
    try:
        session = runtime.InferenceSession(
            data, session_options(runtime, is_optimised=True), providers=["CPUExecutionProvider"]
        )
        known = {value.name: value.shape for value in session.get_inputs()}
        names = [name for name in known if name in feeds]
        parts = _parts(known, {name: feeds[name] for name in names})
        results = [
            session.run(list(whole.outputs), {name: part[name] for name in names}) for part in parts
        ]
    except errors_of(runtime) as error:
        raise ModelError(
            "NO_REFERENCE",
            f"ONNX Runtime cannot run the model: {str(error).strip().splitlines()[0][:300]}",
            change="run without --verify",
        ) from error
    return {
        name: _joined([np.asarray(result[place]) for result in results], whole.tensors[name].shape)
        for place, name in enumerate(whole.outputs)
    }


def _parts(known: Mapping[str, list[Any]], feeds: Mapping[str, Array]) -> list[dict[str, Array]]:
    """The feeds cut to the sizes that the file insists on along the leading axis."""
    fixed = {
        name: known[name][0]
        for name, array in feeds.items()
        if known[name] and isinstance(known[name][0], int) and known[name][0] != array.shape[0]
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
