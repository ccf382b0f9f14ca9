"""Hot loops as machine code: numba behind wrappers that keep a function's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Returns `function`, compiled at its first call and cached on disk beside its module.

    The cache is renewed when the function's own file changes. It is not renewed when a compiled
    function of another file changes: put a kernel and its callees into one file. Each process
    compiles again where neither the package nor the user's cache folder is writable.

    Slow to compile (seconds): an array assigned to a slice of another (its error has a text),
    numpy's sorts, `unique` and `diff`, and each further type of an argument. A literal number has
    a type of its own: start a counter that is passed on as `np.int64(0)`.
    """
    try:
        return cast("F", numba.njit(cache=True)(function))
    except RuntimeError:  # numba's answer when it finds no folder for the cache
        return cast("F", numba.njit(function))


def compiled_part(function: F) -> F:
    """Returns `function`, compiled only as a part of its compiled callers.

    For functions that only compiled code calls. They need no entry point from Python, which costs
    more to compile than a short function. Called from Python, the function runs as plain Python.

    A function called in a loop gets arrays, not tuples of many arrays: each call copies the tuple
    and counts its references.
    """
    return register_jitable(function)
