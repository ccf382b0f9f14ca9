"""RNN, GRU and LSTM as models of their own, and the sizes that are replayed on every chip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests.verify.small_samples import chips_with_room

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STRATEGIES = ("tvm", "graphturbo")
HIDDEN, DIRECTIONS = (64, 128, 256, 512, 1024), (1, 2)
SMALL_CHIP, SMALL_CHIP_UNITS = "ipu-gc2", 64
"""Its cores have 256 KiB each: the largest size that is asked of it."""
LARGE_CHIPS = (SMALL_CHIP, "ascend910")
"""1,216 and 32 cores in a cluster."""


@dataclass(frozen=True)
class Form:
    """A recurrent op: its sizes, attributes, and which optional inputs and outputs it has."""

    kind: str
    hidden: int = 8
    directions: int = 1
    steps: int = 5
    samples: int = 3
    width: int = 6
    given: str = "B"
    """Optional inputs among B, l (lengths), h, c (first states) and P."""
    outputs: str = "yhc"
    attributes: dict[str, object] = field(default_factory=dict, hash=False)


def model_of(form: Form) -> bytes:
    """The op alone, with seeded weights; input, first states and lengths are inputs."""
    rows, ways = GATES[form.kind] * form.hidden, form.directions
    generator = np.random.default_rng(form.hidden)
    states = (ways, form.samples, form.hidden)
    shapes = {"W": (ways, rows, form.width), "R": (ways, rows, form.hidden),
              "B": (ways, 2 * rows), "P": (ways, 3 * form.hidden)}  # fmt: skip
    weights = [
        numpy_helper.from_array(
            generator.normal(0, form.hidden**-0.5, shape).astype(np.float32), name
        )
        for name, shape in shapes.items()
        if name in f"WR{form.given}"
    ]
    inputs = [_float("x", (form.steps, form.samples, form.width))]
    if "l" in form.given:
        inputs.append(helper.make_tensor_value_info("l", TensorProto.INT32, [form.samples]))
    inputs += [_float(name, states) for name in "hc" if name in form.given]
    places = "WRBlhcP" if form.kind == "LSTM" else "WRBlh"
    names = [name if name in f"WR{form.given}" else "" for name in places]
    results = {"y": (form.steps, *states[:1], *states[1:]), "h": states, "c": states}
    used = [f"out_{name}" if name in form.outputs else "" for name in results]
    used = used[: 3 if form.kind == "LSTM" else 2]
    wanted = [_float(f"out_{n}", shape) for n, shape in results.items() if f"out_{n}" in used]
    two = {"direction": "bidirectional"} if ways > 1 else {}
    node = helper.make_node(
        form.kind, ["x", *names], used, hidden_size=form.hidden, **{**two, **form.attributes}
    )
    graph = helper.make_graph([node], "g", inputs, wanted, weights)
    opset = helper.make_opsetid("", 17)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=9)
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _float(name: str, shape: tuple[int, ...]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def sized(kind: str, hidden: int, directions: int) -> Form:
    """16 time steps of one sample."""
    return Form(kind, hidden, directions, steps=16, samples=1, width=hidden)


@dataclass(frozen=True)
class Size:
    """A case of the sweep: a kind of op, its units and directions, on a chip."""

    chip: str
    kind: str
    hidden: int
    directions: int

    @property
    def form(self) -> Form:
        """The op."""
        return sized(self.kind, self.hidden, self.directions)

    @property
    def name(self) -> str:
        """As a table or a test names it."""
        return f"{self.chip} {self.kind} {self.hidden} {self.directions}"


def all_sizes() -> list[Size]:
    """Every kind, size and number of directions on every chip."""
    every = product(chips_with_room(), GATES, HIDDEN, DIRECTIONS)
    return [Size(*each) for each in every if each[0] != SMALL_CHIP or each[2] <= SMALL_CHIP_UNITS]


def some_sizes() -> Iterator[Size]:
    """Every size once, with kinds, directions and chips of few cores in turn; the smallest beyond.

    The others take up to minutes each: `recurrent_table` has them.
    """
    chips = [name for name in chips_with_room() if name not in LARGE_CHIPS]
    kinds = tuple(GATES)
    for place, hidden in enumerate(HIDDEN):
        kind, ways = kinds[place % len(kinds)], DIRECTIONS[place % len(DIRECTIONS)]
        yield Size(chips[place % len(chips)], kind, hidden, ways)
    for chip, kind in zip(LARGE_CHIPS, kinds, strict=False):
        yield Size(chip, kind, HIDDEN[0], DIRECTIONS[0])
