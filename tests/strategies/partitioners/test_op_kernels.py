"""Kernels of a partitioner: their order, and which of them hands out a repeated op's result."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.strategies.partitioners.op_kernels import OpKernel, in_legal_order
from tests.semantics.models import semantics
from tests.strategies.samples import weighted

TEXT = """g (float[1,4,8,8] x, float[4,4,1,1] w) => (float[1,4,8,8] z) {
    s = Neg(x) c = Conv(s, w) a = Relu(c) z = Add(a, s) }"""


def order(*kernels: OpKernel) -> list[str]:
    """Per kernel its ops and, after a slash, the tensors that it hands out."""
    found = in_legal_order(weighted(TEXT).graph, kernels)
    return [f"{' '.join(ops)} / {' '.join(handed)}" for ops, handed in found]


def test_producers_come_first_whatever_the_order_given() -> None:
    kernels = OpKernel(("z", "a")), OpKernel(("c",)), OpKernel(("s",))
    assert order(*kernels) == ["s / s", "c / c", "a z / z"]


def test_a_repeated_op_is_handed_out_by_the_kernel_whose_root_it_is() -> None:
    """The kernel with the sum computes `s` again, wherever it stands."""
    own = OpKernel(("s",), ("s",))
    again = OpKernel(("s", "a", "z"), ("z",))
    expected = ["s / s", "c / c", "s a z / z"]
    assert order(own, again, OpKernel(("c",), ("c",))) == expected
    assert order(again, own, OpKernel(("c",), ("c",))) == expected


def test_kernels_that_need_each_other_are_refused() -> None:
    with pytest.raises(InvariantError, match="need each other"):
        order(OpKernel(("s", "z")), OpKernel(("c", "a")))


def test_results_of_one_op_are_handed_out_in_its_order() -> None:
    """Names whose order differs from that of the results: the order of a set would show."""
    names = [f"t{(7 * n) % 16}" for n in range(16)]
    text = f"""g (float[16,8] x) => ({", ".join(f"float[1,8] {name}" for name in names)}) {{
        {", ".join(names)} = Split <num_outputs = 16, axis = 0> (x) }}"""
    graph = semantics(text, 18).graph
    ((_, handed),) = in_legal_order(graph, [OpKernel((graph.ops[0].name,))])
    assert list(handed) == names
