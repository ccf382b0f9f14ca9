"""Models as PyTorch's two exporters write them, without weights: what is in the files here.

Each is `NAME.struct.onnx.xz`: exporters repeat themselves, so a file shrinks 20 to 50 times.
"""

from __future__ import annotations

import lzma
from pathlib import Path

FOLDER = Path(__file__).parent
SUFFIX = ".struct.onnx.xz"


def export_names() -> tuple[str, ...]:
    """All that are here."""
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}")))


def exported(name: str) -> bytes:
    """The model file: initializers above 1 KB are said to be in a file that does not exist.

    Indices of the last pooling stay in `convnext_tiny_dynamo` and `swin_t_fixed_dynamo`.
    """
    return lzma.decompress((FOLDER / f"{name}{SUFFIX}").read_bytes())
