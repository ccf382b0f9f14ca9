"""Symbolic dimensions of the inputs, and the sizes that the user binds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import onnx

from graphturbo_core.errors import ModelError, OptionError
from graphturbo_core.frontend.options import ImportOptions
from graphturbo_core.frontend.parse.proposals import MAX_SIZE

DEFAULT_BATCH = 64
"""Default size of a symbolic dimension named `batch` (design, 7)."""

_BATCH_NAME = "batch"
_UNKNOWN_SIZE = -1


@dataclass(frozen=True, slots=True)
class InputDim:
    """A dimension to bind: input, axis, symbol, and the size that the file proposes."""

    input: str
    axis: int
    symbol: str
    proposed: int | None = None


@dataclass(frozen=True)
class DimBinding:
    """A size for every symbol, the batch symbol (None: the batch is fixed), and notes."""

    sizes: Mapping[str, int]
    batch_symbol: str | None
    notes: tuple[str, ...]


def symbolic_dims(inputs: Sequence[onnx.ValueInfoProto]) -> tuple[InputDim, ...]:
    """All symbolic dimensions, in order; one without a name is called `input:axis`."""
    return tuple(
        InputDim(value.name, axis, symbol)
        for value in inputs
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
        if (symbol := symbol_of(dim, value.name, axis)) is not None
    )


def with_proposals(dims: Sequence[InputDim], proposed: Mapping[str, int]) -> tuple[InputDim, ...]:
    """The dimensions, each with the file's proposal for its symbol."""
    return tuple(replace(dim, proposed=proposed.get(dim.symbol)) for dim in dims)


def symbol_of(dim: onnx.TensorShapeProto.Dimension, value_name: str, axis: int) -> str | None:
    """Returns the dimension's symbol; None if the file gives a size, even a wrong one.

    -1 is not a size: exporters such as Paddle's write it for unknown.
    """
    if dim.WhichOneof("value") == "dim_value" and dim.dim_value != _UNKNOWN_SIZE:
        return None
    return dim.dim_param or f"{value_name}:{axis}"


def bind(
    inputs: Sequence[onnx.ValueInfoProto],
    recorded: Sequence[onnx.ValueInfoProto],
    options: ImportOptions,
    proposed: Mapping[str, int],
) -> DimBinding:
    """Returns a size for every symbolic dimension of the inputs.

    1. `dims` binds by name: a symbol of the inputs, or one that only `recorded` has (types in the
       file of custom ops' outputs). The latter has the given size at every batch, with a note.
    2. `batch` binds the batch symbol: the leading symbolic dimension of the first input with two
       or more axes (of the first input if there is none), under any name.
    3. A symbol still without a size takes the file's proposal, with a note.
    4. One named `batch` is 64 by default, with a note.

    Raises:
        ModelError: UNBOUND_DIM for a symbol without a size.
        OptionError: UNKNOWN_DIM, BAD_DIM, DIM_CONFLICT.
    """
    symbols = tuple(dict.fromkeys(dim.symbol for dim in symbolic_dims(inputs)))
    own_symbols = {dim.symbol for dim in symbolic_dims(recorded)}.difference(symbols)
    _check_options((*symbols, *sorted(own_symbols)), options)
    batch_symbol = _batch_symbol(inputs)
    sizes = dict(options.dims)
    notes = _own_notes(own_symbols, options)
    if batch_symbol is not None and options.batch is not None:
        sizes.setdefault(batch_symbol, options.batch)
        _check_agreement(options, batch_symbol)
    defaults = dict(proposed) if options.batch else {_BATCH_NAME: DEFAULT_BATCH, **proposed}
    for symbol in symbols:
        if symbol not in sizes and symbol in defaults:
            sizes[symbol] = defaults[symbol]
            notes = (*notes, f"symbolic dimension {symbol!r} was not given: {sizes[symbol]}")
    for dim in symbolic_dims(inputs):
        if dim.symbol not in sizes:
            raise _unbound(dim, batch_symbol)
    return DimBinding(sizes, batch_symbol, notes)


def _check_agreement(options: ImportOptions, batch_symbol: str) -> None:
    """Check that `batch` and `dims` give the same size for the batch."""
    named = options.dims.get(batch_symbol, options.batch)
    if named != options.batch:
        raise OptionError(
            "DIM_CONFLICT",
            f"batch {options.batch} and {batch_symbol}={named} disagree",
            change=f"give only one of --batch and --dim {batch_symbol}=N",
        )


def _own_notes(own_symbols: Collection[str], options: ImportOptions) -> tuple[str, ...]:
    return tuple(
        f"dimension {name!r}, which no input has, is taken as {size} and follows no bound batch"
        for name, size in options.dims.items()
        if name in own_symbols
    )


def _check_options(symbols: Sequence[str], options: ImportOptions) -> None:
    for name, size in options.dims.items():
        if name not in symbols:
            raise OptionError(
                "UNKNOWN_DIM",
                f"the model has no symbolic dimension {name!r}",
                change=f"choose from: {', '.join(symbols) or 'none, all are fixed'}",
            )
        _check_size(f"--dim {name}", size)
    if options.batch is not None:
        _check_size("--batch", options.batch)


def _check_size(option: str, size: int) -> None:
    if not 1 <= size <= MAX_SIZE:
        raise OptionError(
            "BAD_DIM", f"{option} is {size}", change=f"give a whole number from 1 to {MAX_SIZE}"
        )


def batch_input(inputs: Sequence[onnx.ValueInfoProto]) -> onnx.ValueInfoProto | None:
    """The input whose leading axis is the batch: the first with two or more axes, else any."""
    ranked = [value for value in inputs if value.type.tensor_type.shape.dim]
    return next((v for v in ranked if len(v.type.tensor_type.shape.dim) > 1), None) or next(
        iter(ranked), None
    )


def _batch_symbol(inputs: Sequence[onnx.ValueInfoProto]) -> str | None:
    value = batch_input(inputs)
    if value is None:
        return None
    return symbol_of(value.type.tensor_type.shape.dim[0], value.name, 0)


def _unbound(dim: InputDim, batch_symbol: str | None) -> ModelError:
    also = " or --batch N" if dim.symbol == batch_symbol else ""
    return ModelError(
        "UNBOUND_DIM",
        f"dimension {dim.symbol!r} has no size",
        f"axis {dim.axis} of input {dim.input!r}",
        f"give --dim {dim.symbol}=N{also}",
        dim=dim.symbol,
        input=dim.input,
        axis=dim.axis,
    )
