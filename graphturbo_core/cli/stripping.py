"""A model file -> the same without its weights, and a line on stderr about what was removed."""

from __future__ import annotations

import sys
from dataclasses import replace

from graphturbo_core.cli.output import printable, write_bytes_to
from graphturbo_core.frontend.catalogue import read_model
from graphturbo_core.frontend.strip import strip_weights
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.units import format_bytes


def strip_to(model: str, target: str) -> None:
    """Writes a model's structure without its weights.

    Raises:
        ModelError: as `read_model` and `strip_weights`.
        OptionError: UNWRITABLE.
    """
    limits = DEFAULT_LIMITS
    name, data = read_model(model, replace(limits, max_model_bytes=limits.max_strip_bytes))
    found = strip_weights(data, limits)
    write_bytes_to(target, found.data)
    print(
        f"{printable(name)}: {format_bytes(len(data))} -> {format_bytes(len(found.data))}; "
        f"removed the numbers of {found.removed} weights ({format_bytes(found.removed_bytes)}), "
        f"{found.absent} weights have none, {found.kept} small constants are unchanged",
        file=sys.stderr,
    )
