"""Random small networks, chips and plans: every lower bound must be below their latencies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np
from onnx import numpy_helper

from graphturbo_core.frontend.importer import ImportOptions, import_model
from graphturbo_core.hardware.hardware import Hardware, MatrixModel
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies.options import strategy_options
from tests.lowering.nets import STRATEGIES, chip
from tests.models import model_of

KIB = 1024
FORMATS = ("fp16", "fp32", "bf16", "int8")
MAP_STEPS = (
    "{y} = Conv<kernel_shape = [1, 1]>({a}, w1)",
    "{y} = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>({a}, w3)",
    "{y} = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1], group = {c}>({a}, wd)",
    "{y} = Conv<kernel_shape = [1, 1], group = 2>({a}, wg)",
    "{y} = Relu({a})",
    "{y} = Exp({a})",
    "{y} = Add({a}, {b})",
    "{y} = Mul({a}, {b})",
    "{y} = Softmax<axis = 1>({a})",
    "{y} = Transpose<perm = [0, 1, 3, 2]>({a})",
    "t{y} = Concat<axis = 1>({a}, {b}) {y} = Conv<kernel_shape = [1, 1]>(t{y}, w2)",
    "t{y} = Slice({a}, two, half, one) {y} = Concat<axis = 1>(t{y}, t{y})",
)
"""Steps on maps of [N, C, H, H]; w1, w3, w2: products, wd and wg: grouped ones."""
ROW_STEPS = (
    "{y} = MatMul({a}, v)",
    "{y} = Relu({a})",
    "{y} = Add({a}, {b})",
    "{y} = Softmax<axis = -1>({a})",
    "s{y} = Transpose<perm = [0, 2, 1]>({a}) t{y} = MatMul({b}, s{y}) {y} = MatMul(t{y}, {a})",
    "t{y} = MatMul({a}, v3) q{y}, k{y}, {y} = Split<axis = 2>(t{y}, parts)",
)
"""Steps on rows of [N, R, C]; one of packed products uses a part of them."""


@dataclass(frozen=True)
class Schedule:
    """One random choice of everything."""

    text: str
    model: bytes
    hardware: Hardware
    strategy: str
    options: dict[str, str]
    number_format: str

    def semantics(self) -> GraphSemantics:
        """Of the model, imported."""
        return analyse(import_model(self.model, ImportOptions("random")))


def random_schedule(seed: int, samples: int | None = None) -> Schedule:
    """The schedule of a seed; `samples`: of the batch, else one to four."""
    random = Random(seed)
    batch = samples or random.randint(1, 4)
    text = _maps(random, batch) if random.random() < 0.6 else _rows(random, batch)
    names = [n for n in strategy_options() if n.split(".")[0] not in ("plus", "tuned")]
    options = {
        name: random.choice(strategy_options()[name].values)
        for name in random.sample(names, random.choice((0, 0, 1, 2)))
    }
    return Schedule(
        text, file_of(text), _chip(random), random.choice(STRATEGIES), options,
        random.choice(FORMATS),
    )  # fmt: skip


def _maps(random: Random, batch: int) -> str:
    channels, size = random.choice((2, 4, 6, 32)), random.choice((2, 5, 8, 14))
    shape = f"float[{batch}, {channels}, {size}, {size}]"
    weights = (
        f"float[{channels}, {channels}, 1, 1] w1, float[{channels}, {channels}, 3, 3] w3, "
        f"float[{channels}, 1, 3, 3] wd, float[{channels}, {channels // 2}, 1, 1] wg, "
        f"float[{channels}, {2 * channels}, 1, 1] w2"
    )
    constants = f"int64[1] two = {{0}}, int64[1] half = {{{channels // 2}}}, int64[1] one = {{1}}"
    return _graph(random, (shape, weights, constants), MAP_STEPS, str(channels))


def _rows(random: Random, batch: int) -> str:
    rows, columns = random.choice((1, 5, 16, 40)), random.choice((3, 8, 24, 64))
    shape = f"float[{batch}, {rows}, {columns}]"
    weights = f"float[{columns}, {columns}] v, float[{columns}, {3 * columns}] v3"
    constants = f"int64[3] parts = {{{columns}, {columns}, {columns}}}"
    return _graph(random, (shape, weights, constants), ROW_STEPS, str(columns))


def _graph(
    random: Random, values_of: tuple[str, str, str], steps: tuple[str, ...], width: str
) -> str:
    """Up to six steps in a row; operands are among the last three values."""
    shape, weights, constants = values_of
    values, body = ["x"], []
    for index in range(random.randint(1, 6)):
        a, b = values[-1], random.choice(values[-3:])
        step = random.choice(steps)
        for name, text in (("{y}", f"y{index}"), ("{a}", a), ("{b}", b), ("{c}", width)):
            step = step.replace(name, text)
        body.append(step)
        values.append(f"y{index}")
    return (
        f"g ({shape} x, {weights}) => ({shape} {values[-1]}) <{constants}> {{ {' '.join(body)} }}"
    )


def file_of(text: str) -> bytes:
    """The model with its weights as initializers."""
    model = model_of(text)
    inputs = list(model.graph.input)
    del model.graph.input[1:]
    used = {name for node in model.graph.node for name in node.input}
    for value in inputs[1:]:
        if value.name in used:
            dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            zeros = np.full(dims, 0.5, np.float32)
            model.graph.initializer.append(numpy_helper.from_array(zeros, value.name))
    return bytes(model.SerializeToString(deterministic=True))


def _chip(random: Random) -> Hardware:
    """Chips around generic-4x4, some so fast in all but one thing that this decides."""
    cores = random.choice((1, 2, 3, 4, 8))
    data, weight = random.choice((64, 512)) * KIB, random.choice((16, 64)) * KIB
    scarce = random.choice(("", "matrix", "vector", "dram"))
    fast = 10**15 if scarce else 10**9
    rates = {name: random.choice((1, 2, 4)) for name in FORMATS}
    waits = 0 if scarce else 1
    return replace(
        chip("generic-4x4"),
        name="random",
        clusters=random.choice((1, 2, 4)),
        cores=cores,
        matrix_rows=1 if scarce == "matrix" else random.choice((4, 8, 64)),
        matrix_columns=1 if scarce == "matrix" else random.choice((4, 8, 32)),
        matrix_depth=random.choice((1, 1, 4)),
        matrix_model=random.choice(tuple(MatrixModel)),
        matrix_rate=rates,
        vector_lanes=1 if scarce == "vector" else random.choice((8, 64, 512)),
        vector_rate=dict(reversed(rates.items())),
        shared_engine=random.choice(("none", "none", "none", "matrix")),
        lb_data_bytes=data,
        lb_weight_bytes=weight,
        gb_bytes=random.choice((256, 4096)) * KIB,
        split_capacity_bytes=cores * data,
        lb_bandwidth=random.choice((16, 512)) * fast,
        gb_bandwidth=random.choice((16, 512)) * fast,
        dram_bandwidth=random.choice((3, 27, 64)) * (10**7 if scarce == "dram" else fast),
        link_bandwidth=random.choice((16, 64)) * fast,
        dram_latency_cycles=waits * random.choice((0, 150)),
        gb_latency_cycles=waits * random.choice((0, 40)),
        launch_cycles=waits * random.choice((0, 2000)),
        barrier_cycles=waits * random.choice((0, 200)),
    )
