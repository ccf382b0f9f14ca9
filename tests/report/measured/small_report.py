"""A report of three layers, with only what measured times are compared with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

LAYERS = ("stem/conv", "block/conv", "head/fc")
WINDOWS_S = (0.002, 0.006, 0.002)
OPS = (("stem/conv", 0), ("stem/relu", 0), ("block/conv", 1), ("block/add", 1), ("head/fc", 2))
SAMPLES = 4


def small_report(layers: tuple[str, ...] = LAYERS, windows_s: tuple[float, ...] = WINDOWS_S) -> Any:
    """Layers with their windows in seconds, and the ops of `OPS`."""
    return SimpleNamespace(
        tables={
            "layers": [
                {"index": index, "name": name, "window_s": window_s}
                for index, (name, window_s) in enumerate(zip(layers, windows_s, strict=True))
            ],
            "graph_nodes": [{"op": op, "layer": layer} for op, layer in OPS],
            "rounds": [
                {"samples": 9, "is_drawn": False}, {"samples": SAMPLES, "is_drawn": True}
            ],
        }
    )  # fmt: skip
