"""Algorithm 4 on nests whose bindings are worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from graphturbo_core.ir.boxes import full_box, intersect, volume
from graphturbo_core.products.plan import Binding, Scope
from graphturbo_core.semantics.access import AxisKind, AxisMap, InputAccess
from graphturbo_core.semantics.nests import loop_nests
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps import kernels, redistribution
from graphturbo_core.strategies.steps.axes import AxisRank, NestAxes, kernel_axes
from graphturbo_core.strategies.steps.binding import (
    Binder,
    KernelBinding,
    _moved_little,
    infer_binding,
    plain_by_kind,
    plain_literal,
    plain_outermost,
)
from graphturbo_core.strategies.steps.redistribution import (
    Arrival,
    choose_cores,
    relabel,
)
from tests.strategies.graphturbo.readings import GATED
from tests.strategies.samples import weighted

CORES = tuple(range(8))
CONV = (AxisRank.SAME, AxisRank.WEIGHTS_ONLY, AxisRank.WINDOW, AxisRank.WINDOW)

TWO = """g (float[2,8,16,16] x, float[8,8,3,3] v, float[8,8,1,1] w) => (float[2,8,8,8] z) {
    y = Conv <pads = [1,1,1,1]> (x, v)
    z = Conv <strides = [2,2]> (y, w) }"""


def bound(text: str, binder: Binder) -> KernelBinding:
    """All layers of a model as one kernel."""
    sem = weighted(text)
    nests = [
        nest for layer in relay_layers(sem) for nest in loop_nests(sem, layer.ops, lambda _: False)
    ]
    boxes = {name: full_box(tensor.shape) for name, tensor in sem.graph.tensors.items()}
    return binder(sem, nests, boxes)


def test_vendor_notation() -> None:
    # [[0,1,2,3],[4,5,6,7]]: the batch in two, each half over four cores along the rows.
    binding = plain_by_kind(NestAxes((2, 64, 56, 56), CONV), CORES)
    assert binding == Binding((0, 2), (2, 4), CORES)
    shares = binding.shares(full_box((2, 64, 56, 56)))
    assert shares[0] == ((0, 1), (0, 64), (0, 14), (0, 56))
    assert shares[5] == ((1, 2), (0, 64), (14, 28), (0, 56))


@pytest.mark.parametrize(
    ("sizes", "axes", "grid"),
    [
        ((16, 64, 56, 56), (0,), (8,)),  # 8 is the largest divisor of 8 up to 16
        ((3, 64, 56, 56), (0, 2), (2, 4)),  # of 8 up to 3: 2, though 3 samples are uneven
        ((1, 64, 7, 7), (2, 3), (4, 2)),  # of 8 up to 7: 4, then 2 columns
        ((1, 64, 1, 1), (1,), (8,)),  # channels come last
        ((1, 5, 1, 1), (1,), (4,)),  # four cores idle
    ],
)
def test_plain_binding_by_kind(
    sizes: tuple[int, ...], axes: tuple[int, ...], grid: tuple[int, ...]
) -> None:
    binding = plain_by_kind(NestAxes(sizes, CONV), CORES)
    assert (binding.axes, binding.grid) == (axes, grid)


def test_plain_binding_as_printed_cuts_channels_before_rows() -> None:
    # gcd(2, 8) = 2, then gcd(64, 4) = 4.
    assert plain_literal(NestAxes((2, 64, 56, 56), CONV), CORES) == Binding((0, 1), (2, 4), CORES)
    # gcd(3, 8) = 1 and gcd(7, 8) = 1: all on the channels.
    assert plain_literal(NestAxes((3, 64, 7, 7), CONV), CORES).axes == (1,)


def test_plain_binding_of_the_outermost_axis_alone() -> None:
    axes = NestAxes((2, 64, 56, 56), CONV)
    assert plain_outermost(axes, CORES) == Binding((0,), (2,), (0, 4))
    # One sample: a loop of one turn is none, so the channels are outermost.
    assert plain_outermost(NestAxes((1, 64, 56, 56), CONV), CORES) == Binding((1,), (8,), CORES)
    never = NestAxes((3, 5), (AxisRank.NEVER, AxisRank.SAME))
    assert plain_outermost(never, CORES) == Binding((1,), (4,), (0, 2, 4, 6))
    assert plain_outermost(NestAxes((), ()), CORES) == Binding((), (), (0,))
    # What is handed down is not cut further either: four cores stay idle.
    handed = Binding((0,), (4,), (0, 2, 4, 6))
    binder = Binder(8, plain_outermost, is_extended=False)
    assert binder.choose(NestAxes((4, 64, 6, 6), CONV), handed) == handed


def test_idle_cores_are_spread() -> None:
    # Four parts on eight cores take every second one, so that cutting each in two moves nothing.
    assert plain_by_kind(NestAxes((1, 5, 1, 1), CONV), CORES).cores == (0, 2, 4, 6)


def test_updated_binding_uses_idle_cores() -> None:
    handed = Binding((0,), (4,), (0, 2, 4, 6))
    axes = NestAxes((4, 64, 6, 6), CONV)
    assert Binder(8).choose(axes, handed) == Binding((0, 2), (4, 2), CORES)


def test_handed_down_binding_wins_a_tie_unless_strict_or_costly() -> None:
    rows = Binding((2,), (8,), CORES)
    axes = NestAxes((8, 64, 8, 8), CONV)
    batch = Binding((0,), (8,), CORES)
    assert Binder(8).choose(axes, rows) == rows
    assert Binder(8, is_strict=True).choose(axes, rows) == batch
    assert Binder(8).choose(axes, Binding((1,), (8,), CORES)) == batch


def test_inferred_through_window_and_stride() -> None:
    found = bound(TWO, Binder(8))
    assert found.bindings["z"] == found.bindings["y"] == Binding((0, 2), (2, 4), CORES)
    assert found.scopes == {"y": Scope.LB, "z": Scope.LB}


def test_binding_over_channels_is_not_handed_down() -> None:
    text = """g (float[1,8,2,2] x, float[8,8,1,1] v, float[8,8,2,2] w) => (float[1,8,1,1] z) {
        y = Conv(x, v)
        z = Conv(y, w) }"""
    found = bound(text, Binder(8))
    # z is one pixel: channels over eight cores, and y is needed whole there. y: rows, columns and
    # two of the channels.
    assert (found.bindings["z"].axes, found.bindings["z"].grid) == ((1,), (8,))
    assert (found.bindings["y"].axes, found.bindings["y"].grid) == ((2, 3, 1), (2, 2, 2))
    assert found.scopes["y"] is Scope.LB


@pytest.mark.parametrize(("is_plain", "axis"), [(False, 2), (True, 1)])
def test_what_readers_want_differently_is_bound_as_the_first_wants_or_plainly(
    is_plain: bool, axis: int
) -> None:
    # u has rows alone, and hands them to z, which hands them to y. d is one value a channel: it is
    # cut by channels, which are y's first axis of more than one element, and wants y so.
    found = bound(GATED, Binder(8, is_plain_in_gb=is_plain))
    assert found.scopes["y"] is Scope.GB
    assert found.bindings["d"] == Binding((1,), (8,), CORES)
    assert found.bindings["u"] == found.bindings["z"] == Binding((2,), (8,), CORES)
    assert found.bindings["y"] == Binding((axis,), (8,), CORES)


SLICE = """g (float[32,4] x) => (float[{rows},4] y)
    <int64[1] b = {{{begin}}}, int64[1] e = {{{end}}}, int64[1] a = {{0}}, int64[1] s = {{{step}}}>
    {{ y = Slice (x, b, e, a, s) }}"""


@pytest.mark.parametrize(
    ("begin", "end", "step", "parts", "is_handed"),
    [
        (1, 32, 1, 8, True),  # of 31 rows in 8 parts each is 1 away, of 3.9
        (1, 32, 1, 16, False),  # of 1.9
        (2, 32, 1, 8, False),  # 2 of 3.8
        (2, 32, 1, 4, True),
        (0, 30, 1, 4, True),  # the last part ends 2 before the operand's
        (0, 30, 1, 8, False),
        (16, 32, 1, 2, False),
        (0, 32, 2, 2, False),  # every second row lies ever further away
    ],
)
def test_rows_of_a_slice_that_lie_near_those_of_its_operand(
    begin: int, end: int, step: int, parts: int, is_handed: bool
) -> None:
    """Handed down where no part lies more than half a part away."""
    rows = (end - begin) // step
    sem = weighted(SLICE.format(rows=rows, begin=begin, end=end, step=step))
    (nest,) = (n for layer in relay_layers(sem) for n in loop_nests(sem, layer.ops, lambda _: True))
    own = Binding((0,), (parts,), tuple(range(parts)))
    assert infer_binding(sem, nest, own, "x") == (own if is_handed else None)


def test_of_what_lies_side_by_side_only_the_long_part_is_bound_alike() -> None:
    """Of 32 rows 30 are x, whose four parts lie up to 2 from those of 8; c is all in the last."""
    sem = weighted(
        "g (float[30,4] x, float[2,4] c) => (float[32,4] y) { y = Concat<axis=0>(x, c) }"
    )
    (nest,) = (n for layer in relay_layers(sem) for n in loop_nests(sem, layer.ops, lambda _: True))
    own = Binding((0,), (4,), CORES[:4])
    assert infer_binding(sem, nest, own, "x") == own
    assert infer_binding(sem, nest, own, "c") is None


def test_a_nest_of_many_operands_looks_at_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search through all reads per operand takes the square: 7 s for 10,000 operands."""
    count = 40
    names = ", ".join(f"x{place}" for place in range(count))
    given = ", ".join(f"float[32,4] x{place}" for place in range(count))
    sem = weighted(f"g ({given}) => (float[32,4] y) {{ y = Sum({names}) }}")
    (nest,) = (n for layer in relay_layers(sem) for n in loop_nests(sem, layer.ops, lambda _: True))
    own = Binding((0,), (4,), CORES[:4])
    (op,) = sem.by_op.values()
    looked: list[str] = []

    class Noted(tuple[InputAccess, ...]):
        def __iter__(self) -> Iterator[InputAccess]:
            for access in super().__iter__():
                looked.append(access.tensor)
                yield access

    noted = replace(op, accesses=(Noted(op.accesses[0]),))
    sem = replace(sem, by_op={name: noted for name in sem.by_op})
    assert [infer_binding(sem, nest, own, f"x{place}") for place in range(count)] == [own] * count
    assert len(looked) == count


def test_readers_with_different_bindings_send_a_tensor_to_gb() -> None:
    text = """g (float[1,8,8,8] x, float[8,8,1,1] v, float[8,8,1,1] w)
        => (float[1,8,8,8] a, float[1,8,8,8] z) {
        y = Conv(x, v)
        t = Transpose <perm = [0,1,3,2]> (y)
        a = Conv(t, w)
        z = Conv(y, w) }"""
    found = bound(text, Binder(8))
    # z wants y by rows; a is cut by its own rows, which are y's columns.
    assert found.scopes["y"] is Scope.GB
    assert found.scopes["t"] is Scope.LB


def test_pooling_inherits_the_rank_of_channels() -> None:
    text = """g (float[2,8,16,16] x, float[8,8,1,1] w) => (float[2,8,8,8] z) {
        y = Conv(x, w)
        z = MaxPool <kernel_shape = [2,2], strides = [2,2]> (y) }"""
    sem = weighted(text)
    nests = [
        nest for layer in relay_layers(sem) for nest in loop_nests(sem, layer.ops, lambda _: False)
    ]
    assert kernel_axes(sem, nests, {})[-1].ranks[1] is AxisRank.MOVED
    assert bound(text, Binder(8)).bindings["z"] == Binding((0, 2), (2, 4), CORES)


def transfers(arrival: Arrival) -> int:
    """Core-to-core moves: pairs of an owner and another core that reads part of its share."""
    return sum(
        owner != reader and volume(intersect(share, need)) > 0
        for owner, share in arrival.owned.items()
        for reader, need in arrival.needed.items()
    )


def test_transfers_of_the_vendor_manual() -> None:
    # [[0,1],[2,3],[4,5],[6,7]] -> [0,1,2,3]: core 0 has half of its sample and takes the other
    # half from 1; cores 1, 2 and 3 take both halves from two cores each: 1 + 3 * 2 = 7.
    box = full_box((4, 2, 8))
    owned = Binding((0, 1), (4, 2), CORES).shares(box)
    near = Binding((0,), (4,), (0, 1, 2, 3)).shares(box)
    # -> [0,2,4,6]: each has one half: 4.
    spread = Binding((0,), (4,), (0, 2, 4, 6)).shares(box)
    assert transfers(Arrival(owned, near, 2)) == 7
    assert transfers(Arrival(owned, spread, 2)) == 4


def test_chosen_cores_take_four_transfers() -> None:
    box = full_box((4, 2, 8))
    owned = Binding((0, 1), (4, 2), CORES).shares(box)
    wanted = Binding((0,), (4,), (0, 1, 2, 3))
    chosen = choose_cores([Arrival(owned, wanted.shares(box), 2)], 8)
    moved = relabel(wanted, chosen)
    assert moved.cores == (0, 2, 4, 6)
    assert sorted(chosen) == list(CORES)
    assert transfers(Arrival(owned, moved.shares(box), 2)) == 4


def test_without_arrivals_cores_keep_their_numbers() -> None:
    assert choose_cores([], 4) == (0, 1, 2, 3)


HEADS = (AxisRank.SAME, AxisRank.MOVED, AxisRank.WEIGHTS_ONLY, AxisRank.WEIGHTS_ONLY)
"""Scores of an attention: samples, heads, and rows of queries and of keys."""
TURNED = (AxisRank.SAME, AxisRank.MOVED, AxisRank.SAME, AxisRank.SAME)
"""Queries by heads: samples, heads, rows, and a head's columns."""


def test_scores_are_cut_by_heads_though_rows_are_handed_down() -> None:
    """Cut by rows, each core would read all keys; cut by heads, cores exchange what they need."""
    axes, rows = NestAxes((2, 12, 197, 197), HEADS), Binding((0, 2), (2, 4), CORES)
    assert Binder(8).choose(axes, rows) == Binding((0, 1), (2, 4), CORES)


def test_an_exchange_is_left_to_the_reader_that_needs_it() -> None:
    """Handed down heads, what is as well cut by rows stays so."""
    axes, heads = NestAxes((2, 12, 197, 64), TURNED), Binding((0, 1), (2, 4), CORES)
    assert Binder(8).choose(axes, heads) == Binding((0, 2), (2, 4), CORES)


def test_a_slice_is_followed_on_any_axis() -> None:
    """One row of nine is dropped: parts of two rows lie at most half a part away."""
    rows = AxisMap(AxisKind.OFFSET, 9, 1, offset=1)
    access = InputAccess("x", (AxisMap(AxisKind.SAME, 4, 0), rows))
    assert _moved_little(access, 1, (4, 8), 4) == 1
    assert _moved_little(access, 1, (4, 8), 5) == -1
    assert _moved_little(access, 0, (4, 8), 2) == -1


def test_of_equal_gains_the_lowest_part_chooses_first() -> None:
    """Part 0 finds its bytes on core 1 alone; part 1 on cores 1, its own, and 2."""
    gains = np.array([[0, 8, 0], [0, 8, 8], [0, 0, 0]])
    assert redistribution._matched(gains).tolist() == [1, 2, 0]


def test_gains_are_the_bytes_of_all_arrivals() -> None:
    """Part 1 finds three rows of `x` and one of `y` on core 0, two bytes and four an element."""
    gains = np.zeros((2, 2), dtype=np.int64)
    rows, last = ((0, 4), (0, 8)), ((3, 6), (0, 8))
    redistribution._add_resident_bytes(gains, Arrival({0: rows}, {1: ((1, 9), (0, 8))}, 2))
    redistribution._add_resident_bytes(gains, Arrival({0: rows}, {1: last, 0: ((6, 6), (0, 8))}, 4))
    redistribution._add_resident_bytes(gains, Arrival({}, {0: rows}, 4))
    assert gains.tolist() == [[0, 0], [3 * 8 * 2 + 1 * 8 * 4, 0]]


@pytest.mark.parametrize("shape", [(), (1216, 8)])
def test_cores_are_chosen_for_any_rank(shape: tuple[int, ...]) -> None:
    """A scalar is on one core; of a map, each core has a row, and the parts are in reverse."""
    whole = full_box(shape)
    cores = shape[0] if shape else 2
    owned = {row: ((row, row + 1), *whole[1:]) for row in range(cores)} if shape else {1: whole}
    needed = {cores - 1 - row: box for row, box in owned.items()}
    chosen = choose_cores([Arrival(owned, needed, 2)], cores)
    assert list(chosen) == list(reversed(range(cores)))


def test_what_only_a_later_nest_reads_is_needed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    nests = [SimpleNamespace(reads=reads, is_on_cluster=lambda _: False) for reads in ((), ("z",))]
    monkeypatch.setattr(kernels, "nest_reads", lambda _, nest: nest.reads)
    monkeypatch.setattr(kernels, "core_needs", lambda *_: {"z": {3: ((0, 2),)}})
    monkeypatch.setattr(kernels.BoundKernel, "_nest_shares", lambda *_: {})
    target, nothing = cast(Any, SimpleNamespace(semantics=None)), cast(Any, None)
    kernel = kernels.BoundKernel(target, nothing, cast(Any, tuple(nests)), nothing)
    assert kernel.needs("z") == {3: ((0, 2),)}
