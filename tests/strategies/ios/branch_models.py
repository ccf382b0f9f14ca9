"""Models with branches, for `ios` on clusters and on parts of the cores of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tests.data.exports import exported
from tests.models import model_bytes
from tests.strategies.ios.wired import random_wired, squeezenet

BRANCHES = """g (float[N,8,16,16] x) => (float[N,24,16,16] z) {{
    {weights}
    a = Conv<pads = [1,1,1,1]> (x, w0) b = Conv<pads = [1,1,1,1]> (x, w1)
    c = Conv<pads = [1,1,1,1]> (x, w2) d = Conv<pads = [1,1,1,1]> (c, w3)
    z = Concat<axis = 1> (a, b, d)
}}"""


def branches() -> bytes:
    """Three branches of a convolution, the last of two, joined by a concatenation."""
    random = np.random.default_rng(3)
    weights = "\n".join(
        f"w{n} = Constant <value = float[8,8,3,3] "
        f"{{{','.join(f'{v:.3f}' for v in random.normal(size=576))}}}> ()"
        for n in range(4)
    )
    return model_bytes(BRANCHES.format(weights=weights))


MODELS: Mapping[str, Callable[[], bytes]] = {
    "branches": branches,
    "squeezenet": squeezenet,
    "wired 1": lambda: random_wired(1),
    "wired 2": lambda: random_wired(2),
    "inception": lambda: exported("inception_v3_ts"),
}
