"""Plans of one or two layers, each for one rule of lowering."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.products.plan import Binding, Plan
from tests.lowering.chips import bare
from tests.lowering.nets import chip, placements_of, plan_of, small_model
from tests.strategies.samples import weighted

GEMM = "g (float[16,16] x, float[16,12] w) => (float[16,12] y) { y = MatMul (x, w) }"

HALO_ROWS = (
    "g (float[1,8,{rows},8] x, float[8,8,3,3] w) => (float[1,8,{rows},8] y)"
    "{{ y = Conv <pads = [1,1,1,1]> (x, w) }}"
)


def by_rows(rows: int, cores: int) -> Plan:
    """A convolution of 3 x 3, its rows cut over the cores."""
    plan = plan_of(weighted(HALO_ROWS.format(rows=rows)), "layerwise", chip("generic-4x4"))
    (kernel,) = plan.kernels
    binding = Binding((2,), (cores,), tuple(range(cores)))
    return replace(plan, kernels=(replace(kernel, bindings={"y": binding}),))


CONV = (
    "g (float[4,{c},16,16] x, float[{c},{c},3,3] w, float[{c}] wb) => (float[4,{c},16,16] y)"
    "{{ y = Conv <pads = [1,1,1,1]> (x, w, wb) }}"
)


def one_conv(channels: int, strategy: str = "graphturbo:lb") -> tuple[Plan, KernelPlacement]:
    """A convolution of four samples on the four cores of generic-4x4, one each."""
    plan = plan_of(weighted(CONV.format(c=channels)), strategy, chip("generic-4x4"))
    (placement,) = placements_of(plan)
    return plan, placement


HALO = (
    "g (float[1,8,16,16] x, float[8,8,3,3] w, float[8,8,3,3] v) => (float[1,8,16,16] y)"
    "{ a = Conv <pads = [1,1,1,1]> (x, w) y = Conv <pads = [1,1,1,1]> (a, v) }"
)


def teaching(strategy: str = "graphturbo:full", name: str = "generic-4x4") -> Plan:
    """The small residual network."""
    return plan_of(small_model("teaching-resnet"), strategy, chip(name))


def halo() -> Plan:
    """Two convolutions of one sample over four cores, the map between them in LB."""
    return plan_of(weighted(HALO), "graphturbo:full", chip("generic-4x4"))


def k_cut() -> Plan:
    """Two cuts of K, two rows each."""
    return one_conv(64)[0]


def batches() -> Plan:
    """Pieces along the batch; the third and later ones are copies of the second."""
    text = HALO.replace("float[1,", "float[16,")
    small = replace(chip("tiny"), lb_data_bytes=32768, split_capacity_bytes=32768)
    plan = plan_of(weighted(text), "graphturbo:full", small)
    assert plan.groups[0].pieces > 2
    assert plan.groups[0].split_axis == 0
    return plan


def rows_of_a_map() -> Plan:
    """Pieces along the rows of a map, which overlap in the input by two rows above and below."""
    text = HALO.replace("16,16]", "64,16]")
    small = replace(chip("tiny"), lb_data_bytes=16384, split_capacity_bytes=16384)
    plan = plan_of(weighted(text), "graphturbo:full", small)
    assert (plan.groups[0].pieces, plan.groups[0].split_axis) == (4, 2)
    return plan


CHAIN_OPS = 12
CHAIN_BODY = "\n".join(f"t{i + 1} = Softmax <axis = 3> (t{i})" for i in range(CHAIN_OPS))
CHAIN = f"g (float[4,1,64,96] t0) => (float[4,1,64,96] t{CHAIN_OPS}) {{ {CHAIN_BODY} }}"


def turned(cores: int) -> Plan:
    """Rows of `a` lie on four cores; what reads them is cut by columns."""
    text = "a = Exp (x) s = Softmax <axis = 0> (a) y = Exp (s)"
    sem = weighted(f"g (float[4,16] x) => (float[4,16] y) {{ {text} }}")
    plan = plan_of(sem, "graphturbo:order", chip("generic-4x4"))
    rows, columns = Binding((0,), (4,), (0, 1, 2, 3)), Binding((1,), (cores,), tuple(range(cores)))
    (kernel,) = plan.kernels
    bindings = {"a": rows, "s": columns, "y": columns}
    return replace(plan, kernels=(replace(kernel, bindings=bindings),))


TURNED_BACK = "a = Exp (x) s = Softmax <axis = 1> (a) t = Softmax <axis = 2> (s) y = Add (a, t)"
"""Of `a` columns are read, and then the rows that the core computed itself."""
TURNED_LATER = "a = Exp (x) b = Softmax <axis = 2> (a) s = MatMul (b, a) y = Softmax <axis = 2> (s)"
"""The rows first."""


def turned_back(
    lb_data_bytes: int,
    text: str = TURNED_BACK,
    *,
    width: int = 32,
    last: tuple[int, ...] = (0, 1, 2, 3),
    on: Hardware | None = None,
) -> Plan:
    """One kernel, its tensors cut in four by rows, `s` by columns; by default without a GB.

    `last`: the cores of `y`.
    """
    sem = weighted(f"g (float[2,16,{width}] x) => (float[2,16,{width}] y) {{ {text} }}")
    small = replace(on or bare(), lb_data_bytes=lb_data_bytes, split_capacity_bytes=1 << 20)
    plan = plan_of(sem, "graphturbo:order", small)
    (kernel,) = plan.kernels
    rows, columns = (Binding((axis,), (4,), (0, 1, 2, 3)) for axis in (1, 2))
    bindings = dict.fromkeys(kernel.bindings, rows)
    bindings |= {"s": columns, "y": rows._replace(cores=last)}
    scopes = {"y": kernel.scopes["y"]}
    return replace(plan, kernels=(replace(kernel, bindings=bindings, scopes=scopes),))


LONG_NEST = (
    "g (float[8,64] x, float[64,64] w) => (float[8,64] y) { a = MatMul (x, w) "
    "b = Relu (a) c = Sigmoid (b) d = Exp (c) y = Tanh (d) }"
)


def long_nest() -> Plan:
    """A product and four ops on its result, one kernel."""
    return plan_of(weighted(LONG_NEST), "tvm", chip("tiny"))


def two_convolutions() -> Plan:
    """In LB, two rows per core: cores 1 and 2 get a row from each side, the outer ones from one."""
    text = (
        "g (float[1,8,8,8] x, float[8,8,3,3] w, float[8,8,3,3] v) => (float[1,8,8,8] y)"
        "{ a = Conv <pads = [1,1,1,1]> (x, w) y = Conv <pads = [1,1,1,1]> (a, v) }"
    )
    plan = plan_of(weighted(text), "graphturbo:order", chip("generic-4x4"))
    (kernel,) = plan.kernels
    rows = Binding((2,), (4,), (0, 1, 2, 3))
    return replace(plan, kernels=(replace(kernel, bindings={"a": rows, "y": rows}),))


TWICE = (
    "g (float[16,16] x, float[16,16] w) => (float[16,16] y) { a = MatMul (x, w) y = MatMul (a, w) }"
)
"""Two products by one weight."""
