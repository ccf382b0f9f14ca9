"""Hot loops as machine code: numba behind a wrapper that keeps a function's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function`, compiled at its first call and kept on disk beside its module.

    The kept code is renewed when the function's own file changes, not when a compiled function
    that it calls in another file does: keep a kernel and what it calls in one file. Where neither
    the package nor the user's cache folder can be written, it is compiled anew in each process.
    """
    try:
        return cast("F", numba.njit(cache=True)(function))
    except RuntimeError:  # numba's answer when it finds no folder for the cache
        return cast("F", numba.njit(function))
