"""Models, chips and plans for the tests of lowering."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import onnx
from hypothesis import strategies as st

from graphturbo_core.frontend.importer import ImportOptions
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.lowering import lower as lowering
from graphturbo_core.lowering import placing_far
from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Program
from graphturbo_core.semantics.table import GraphSemantics, analyse
from graphturbo_core.strategies import registry
from sample_models import build_samples
from sample_models.builder import Builder
from tests.models import imported
from tests.strategies.plans import make_plan

STRATEGIES = tuple(
    f"{info.name}:{level}" if level else name
    for name, info in registry.STRATEGIES.items()
    if not info.is_search
    for level in info.levels or ("",)
    if level != "plus" and (name != "ios" or level == info.default_level)
)
"""Without searches: what `tuned` finds is made by `graphturbo`'s own steps, the tests of strategies
replay some, and in a matrix of all models each cell would take minutes. And without `plus`, which
is `full` where one cluster has the round to itself. Of `ios` only the level that searches: merges
are replayed by tests/strategies/ios."""


@cache
def chip(name: str) -> Hardware:
    """A profile, or `tiny`: memories so small that small maps stream, spill and cut K."""
    if name == "tiny":
        return replace(
            load_profile("generic-4x4"),
            name="tiny",
            matrix_rows=8,
            matrix_columns=8,
            lb_data_bytes=8192,
            lb_weight_bytes=4096,
            staging_bytes=4096,
            gb_bytes=32768,
            split_capacity_bytes=4 * 8192,
        )
    return load_profile(name)


def tiny_profile(**sizes: int) -> bytes:
    """The chip `tiny` with the array of `generic-4x4`, and these numbers, as a file."""
    text = Path("hardware_profiles/generic-4x4.yaml").read_text(encoding="utf-8")
    memories = {
        "lb_data_bytes": 8192, "lb_weight_bytes": 4096, "staging_bytes": 4096, "gb_bytes": 32768,
    }  # fmt: skip
    for key, size in {**memories, **sizes}.items():
        text, count = re.subn(rf"{key}: {{value: \d+", f"{key}: {{value: {size}", text)
        assert count == 1, key
    return text.encode()


def analysed(model: onnx.ModelProto, batch: int) -> GraphSemantics:
    """Semantics of a model with a symbolic batch."""
    return analyse(imported(model.SerializeToString(), ImportOptions("test", batch=batch)))


def plan_of(sem: GraphSemantics, strategy: str, hardware: Hardware) -> Plan:
    """A checked plan."""
    plan = make_plan(registry.parse_strategy(strategy), sem, hardware, "fp16", {})
    plan.check()
    return plan


def tvm(sem: GraphSemantics, hardware: Hardware, options: Mapping[str, str]) -> Plan:
    """A checked plan of TVM's kernels with these options."""
    plan = make_plan(registry.parse_strategy("tvm"), sem, hardware, "fp16", options)
    plan.check()
    return plan


def with_residency(plan: Plan, residency: Residency) -> Plan:
    """The plan with all weights held the same way."""
    kernels = (
        replace(kernel, residency=dict.fromkeys(kernel.residency, residency))
        for kernel in plan.kernels
    )
    return replace(plan, kernels=tuple(kernels))


def placements_of(plan: Plan) -> list[KernelPlacement]:
    """What lowering decides of the plan before it emits."""
    return lowered_with_placements(plan)[1]


def lowered_with_placements(plan: Plan) -> tuple[Program, list[KernelPlacement]]:
    """A plan's program, and what was decided of it before."""
    found: list[KernelPlacement] = []
    place_far = placing_far.place_clusters_far

    def spy(plan: Plan, placements: list[KernelPlacement], numbering: ChipNumbering) -> object:
        found[:] = placements
        return place_far(plan, placements, numbering)

    placing_far.place_clusters_far = spy  # type: ignore[assignment]
    try:
        return lowering.lower(plan), found
    finally:
        placing_far.place_clusters_far = place_far


MODELS: dict[str, tuple[Callable[[], onnx.ModelProto], int]] = {
    "teaching-resnet": (build_samples.teaching_resnet, 4),
    "resnet": (lambda: build_samples.resnet("slim", (2, 1), 8, 32, 10), 4),
    "densenet": (lambda: build_samples.densenet((2, 1), 32, 10), 2),
    "mobilenet": (lambda: build_samples.mobilenet_v2(((1, 8, 1, 1), (6, 16, 2, 2)), 32, 10), 2),
}


@cache
def small_model(name: str) -> GraphSemantics:
    """One of MODELS."""
    build, batch = MODELS[name]
    return analysed(build(), batch)


def conv_net(
    steps: Sequence[tuple[str, int, int]], channels: int, resolution: int
) -> onnx.ModelProto:
    """Convolutions, sums, concatenations and pools in a row; every map is of even size or 1.

    A step is (what, number, index of an earlier value to combine with). Values of another shape
    are left out of sums, of another size out of concatenations.
    """
    builder = Builder("net")
    values = [(builder.conv("stem", "image", (3, channels), kernel=3), channels, resolution)]
    for index, (what, number, back) in enumerate(steps):
        operands = (values[-1], values[back % len(values)])
        values.append(_step(builder, f"s{index}", (what, number), operands))
    x, width, _ = values[-1]
    return builder.image_model(builder.classifier(x, width, 5), resolution, 5)


Value = tuple[str, int, int]


def _step(
    builder: Builder, name: str, how: tuple[str, int], operands: tuple[Value, Value]
) -> Value:
    what, number = how
    (x, width, size), (other, other_width, other_size) = operands
    if what == "add" and (width, size) == (other_width, other_size):
        y = builder.conv(f"{name}/conv", x, (width, width), kernel=3)
        total = builder.op("Add", f"{name}/add", (y, other))
        return builder.relu(f"{name}/relu", total), width, size
    if what == "concat" and size == other_size:
        return builder.op("Concat", f"{name}/cat", (x, other), axis=1), width + other_width, size
    if what == "pool" and size > 3:
        y = builder.op(
            "MaxPool", f"{name}/pool", (x,), kernel_shape=(3, 3), strides=(2, 2),
            pads=(1, 1, 1, 1),
        )  # fmt: skip
        return y, width, (size + 1) // 2
    if what == "depthwise":
        return builder.conv(f"{name}/dw", x, (width, width), kernel=3, group=width), width, size
    if what == "relu":
        return builder.relu(f"{name}/relu", x), width, size
    kernel = 1 if what == "pointwise" else 3
    y = builder.conv(f"{name}/conv", x, (width, number), kernel=kernel)
    return builder.relu(f"{name}/relu", y), number, size


KINDS = ("conv", "conv", "pointwise", "add", "add", "concat", "pool", "depthwise", "relu")


@st.composite
def conv_nets(draw: st.DrawFn) -> GraphSemantics:
    """Small networks with branches, batch 1 to 5."""
    steps = [
        (
            draw(st.sampled_from(KINDS)),
            draw(st.sampled_from([3, 8, 17, 32])),
            draw(st.integers(0, 5)),
        )
        for _ in range(draw(st.integers(1, 6)))
    ]
    channels = draw(st.sampled_from([4, 8, 20]))
    resolution = draw(st.sampled_from([6, 9, 14]))
    return analysed(conv_net(steps, channels, resolution), draw(st.integers(1, 5)))
