"""Bindings handed from kernel to kernel, on kernels whose bindings are worked out by hand."""

from __future__ import annotations

from graphturbo_core.products.plan import Binding, Plan, Scope
from tests.strategies.samples import hardware, plan_of, weighted

CORES = (0, 1, 2, 3)
ACROSS = {"graphturbo.binding_of": "instances"}

FALLING = """g (float[1,4,224,224] x, float[4,4,1,1] v, float[4,4,1,1] w)
    => (float[1,1,1,112] u{also})
    <int64[2] above = {{1, 2}}, int64[2] beside = {{1, 3}}> {{
    a = Conv(x, v)
    b = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)
    c = Conv(b, w)
    u = ReduceMax(c, above)
    {more} }}"""
"""x and a take 784 of the 768 KiB of four cores, so a and b come in two pieces of rows."""


def plan(options: dict[str, str], also: str = "", more: str = "") -> Plan:
    text = FALLING.format(also=also, more=more)
    found = plan_of(weighted(text), "graphturbo", hardware("generic-4x4"), options)
    assert [group.pieces for group in found.groups] == [2, 1]
    return found


def test_a_kernel_is_bound_as_its_reader_is() -> None:
    # u is one row: four columns' parts, and so is c. b is cut so too, in place of rows.
    for options, axis in (({}, 2), (ACROSS, 3)):
        *pieces, last = plan(options).kernels
        assert (last.bindings["c"].axes, last.bindings["c"].grid) == ((3,), (4,))
        for kernel in pieces:
            assert kernel.bindings["b"] == Binding((axis,), (4,), kernel.bindings["b"].cores)
            assert sorted(kernel.bindings["b"].cores) == list(CORES)


def test_what_readers_want_differently_is_not_kept() -> None:
    # e is one column: its parts are rows, and it wants b so.
    more = {"also": ", float[1,1,112,1] e", "more": "e = ReduceMax(b, beside)"}
    for options, is_kept in (({}, True), (ACROSS, False)):
        first, second, last = plan(options, **more).kernels
        assert (last.bindings["e"].axes, last.bindings["c"].axes) == ((2,), (3,))
        assert ("b" in second.kept, second.scopes["b"] is Scope.LB) == (is_kept, is_kept)
        assert first.scopes["b"] is Scope.GB
