"""Element types: ONNX spelling, and bytes per element on the chip."""

from __future__ import annotations

from graphturbo_core.errors import OptionError

FLOAT_DTYPES = frozenset({"float16", "bfloat16", "float32", "float64"})
"""ONNX floating types whose width the run's number format sets."""

NUMBER_FORMATS = {"fp32": 4, "fp16": 2, "bf16": 2, "int8": 1}
"""The chip's number formats and their bytes per element."""

_OWN_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 4, "uint64": 4, "complex64": 8, "complex128": 16, "string": 16,
}  # fmt: skip


def element_bytes(dtype: str, number_format: str) -> int:
    """Bytes of one element on the chip.

    Floating types have the run's number format; others have their own width, int64 indices count
    4 (design, section 2). A type not listed (sub-byte, float8) counts 1.

    Raises:
        OptionError: the number format is unknown.
    """
    if number_format not in NUMBER_FORMATS:
        raise OptionError(
            "UNKNOWN_DTYPE",
            f"number format {number_format!r} is not known",
            change=f"choose one of {', '.join(NUMBER_FORMATS)}",
        )
    if dtype in FLOAT_DTYPES:
        return NUMBER_FORMATS[number_format]
    return _OWN_BYTES.get(dtype, 1)
