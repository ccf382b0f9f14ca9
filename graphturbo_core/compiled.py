"""Hot loops as machine code: numba behind wrappers that keep a function's type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
from numba.extending import register_jitable

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function`, compiled at its first call and kept on disk beside its module.

    The kept code is renewed when the function's own file changes, not when a compiled function
    that it calls in another file does: keep a kernel and what it calls in one file. Where neither
    the package nor the user's cache folder can be written, it is compiled anew in each process.

    What costs seconds to compile: an array assigned to a slice of another (its refusal is a text),
    numpy's sorts, `unique` and `diff`; and each further type of an argument, of which a literal
    number is one: what grows from 0 and is handed on begins as `np.int64(0)`.
    """
    try:
        return cast("F", numba.njit(cache=True)(function))
    except RuntimeError:  # numba's answer when it finds no folder for the cache
        return cast("F", numba.njit(function))


def compiled_part(function: F) -> F:
    """`function`, compiled within those that call it, and kept as a part of their code only.

    For what compiled code alone calls: it needs no entry from Python, which costs more to compile
    than a short function. Called from Python it runs as plain Python.

    What is called in a loop takes arrays, not tuples of many: these are copied and their references
    counted at each call.
    """
    return register_jitable(function)
