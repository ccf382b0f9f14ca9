"""Random graphs of maps of one shape, for properties of partitions."""

from __future__ import annotations

from hypothesis import strategies as st

from graphturbo_core.semantics.table import GraphSemantics
from tests.semantics.models import semantics

MAP = "float[1,4,6,6]"

TEMPLATES = (
    "{y} = Relu({a})",
    "{y} = Sigmoid({a})",
    "{y} = Add({a}, {b})",
    "{y} = Mul({a}, {b})",
    "{y} = Conv({a}, w)",
    "{y} = Transpose <perm = [0,1,3,2]> ({a})",
    "{y} = Softmax <axis = 1> ({a})",
    "t{y} = Concat <axis = 1> ({a}, {b}) {y} = Conv(t{y}, v)",
    "p{y}, q{y} = Split <axis = 1, num_outputs = 2> ({a}) {y} = Concat <axis = 1> (q{y}, p{y})",
)


@st.composite
def random_graphs(draw: st.DrawFn) -> GraphSemantics:
    """Up to 14 steps; what nobody reads is a graph output."""
    values = ["x"]
    unread: dict[str, None] = {}
    body = []
    for index in range(draw(st.integers(1, 14))):
        a, b = (draw(st.sampled_from(values[-4:])) for _ in range(2))
        template = draw(st.sampled_from(TEMPLATES))
        body.append(template.format(y=f"y{index}", a=a, b=b))
        for name in (a, b) if "{b}" in template else (a,):
            unread.pop(name, None)
        values.append(f"y{index}")
        unread[f"y{index}"] = None
    outputs = ", ".join(f"{MAP} {name}" for name in unread)
    return semantics(
        f"g ({MAP} x, float[4,4,1,1] w, float[4,8,1,1] v) => ({outputs}) {{ {' '.join(body)} }}"
    )
