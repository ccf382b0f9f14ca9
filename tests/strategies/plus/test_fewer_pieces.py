"""Fewer pieces where weights come again, and what a plan says of the weights that it fetches."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Residency
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan, cuts_of
from graphturbo_core.strategies.plus.fewer_pieces import fewer_pieces, neighbours_too
from graphturbo_core.strategies.plus.least_cycles import least_cycles
from graphturbo_core.strategies.plus.weight_bytes import fetch_cycles, fetched_again
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Target
from tests.full import examples
from tests.lowering.nets import chip, conv_nets
from tests.lowering.nets import plan_of as chip_plan_of
from tests.strategies.chains import NARROW, PART, feed_forward
from tests.strategies.plus.plans import made
from tests.strategies.samples import hardware, plan_of, weighted


def test_weights_that_nothing_holds_come_again_with_each_piece() -> None:
    """`:full` runs z in 2 pieces with v streamed: w once, v twice.

    No fewer cycles than for w and v, 9,437,184 bytes at 27 a cycle: GB may have kept all of v.
    """
    _, _, plan = made(feed_forward(3072))
    assert [group.pieces for group in plan.groups] == [1, 2]
    assert fetched_again(plan) == (0, PART)
    assert fetch_cycles(plan) == 349_526


def test_weights_in_gb_are_there_for_the_next_piece_where_all_fit() -> None:
    """Of both of one group, 9,437,184 bytes, one stays; half as wide, both do."""
    for inner, again in ((3072, PART), (1536, 0)):
        target, graph, _ = made(feed_forward(inner))
        plan = cut_plan(target, graph, [GroupCut((0, 1), 0, 2)])
        assert {where for kernel in plan.kernels for where in kernel.residency.values()} == {
            Residency.GB
        }
        assert fetched_again(plan) == (again,)


def test_one_piece_where_the_overflow_costs_less_than_the_weights() -> None:
    """Whole, each of 8 cores holds 786,432 bytes of r, 196,608 of z and tiles of 131,072.

    That is 65,536 more than 1 MiB; 524,288 bytes from all cores, out and in at 256 a cycle, are
    4,096 cycles. v again, 4,718,592 at 27 a cycle, is 174,763.
    """
    target, graph, plan = made(feed_forward(3072))
    first, own = cuts_of(plan)
    whole = (first, GroupCut(own.layers, own.axis, 1))
    assert fewer_pieces(target, graph, plan) == whole
    assert fewer_pieces(target, graph, plan, 174_763 - 4_096 - 1) == whole
    assert fewer_pieces(target, graph, plan, 174_763 - 4_096) == (first, own)


def test_through_dram_the_overflow_costs_more() -> None:
    """GB of 1,048,575 bytes: 524,288 are more than half. 1,048,576 at 27 a cycle are 38,837."""
    target, graph, plan = made(feed_forward(3072))
    small = replace(target, hardware=replace(target.hardware, gb_bytes=2 * 524_288 - 1))
    first, own = cuts_of(plan)
    whole = (first, GroupCut(own.layers, own.axis, 1))
    assert fewer_pieces(small, graph, plan, 174_763 - 38_837 - 1) == whole
    assert fewer_pieces(small, graph, plan, 174_763 - 38_837) == (first, own)


WIDE = """g (float[32,64,112,112] x, float[64,64,3,3] w) => (float[32,64,112,112] z)
  { y = Conv <pads = [1,1,1,1]> (x, w) z = Relu (y) }"""
"""73,728 bytes of weights; an image has 1.6 MB before and behind."""


def test_images_stay_in_their_pieces() -> None:
    """What overflows with fewer is more than the weights, and more than half of GB."""
    target, graph, plan = made(WIDE)
    assert plan.groups[0].pieces > 8
    assert fewer_pieces(target, graph, plan) == cuts_of(plan)


def test_neighbours_go_one_count_down_where_gb_takes_the_rest() -> None:
    target, graph, plan = made(feed_forward(3072))
    first, own = cuts_of(plan)
    whole = (first, GroupCut(own.layers, own.axis, 1))
    assert neighbours_too(target, graph, plan, whole) == whole
    assert neighbours_too(target, graph, plan, (first, own)) == whole
    small = replace(target, hardware=replace(target.hardware, gb_bytes=2 * 524_288 - 1))
    assert neighbours_too(small, graph, plan, (first, own)) == (first, own)


def test_a_piece_reads_its_own_part_of_a_weight() -> None:
    """One sample, its 512 columns in 2 pieces: each reads a half of w, 64 x 256 x 2 bytes.

    The bound takes what is held in GB to be there for the second, though it is another half.
    """
    sem, chip = weighted(NARROW), hardware()
    target = Target(sem, chip, "fp16", Binder(chip.cores, plain_by_kind))
    graph = layer_graph(sem, relay_layers(sem), "fp16")
    plan = cut_plan(target, graph, [GroupCut((0,), 1, 2)])
    assert fetched_again(plan) == (0,)
    assert fetch_cycles(plan) == -(-64 * 256 * 2 // 27)


def test_what_lies_in_gb_is_not_counted_twice_however_full_it_is() -> None:
    """Both weights, 9,437,184 bytes, of 2 pieces: the second fetches what GB's 8 MiB lack."""
    target, graph, _ = made(feed_forward(3072))
    plan = cut_plan(target, graph, [GroupCut((0, 1), 0, 2)])
    lacking = 2 * PART - 8 * 2**20
    assert fetch_cycles(plan) == -(-(2 * PART + lacking) // 27)


@settings(max_examples=examples(25), deadline=None)
@given(conv_nets(), st.sampled_from(("tvm", "graphturbo:order", "graphturbo")))
def test_no_program_is_faster_than_its_fetches(net: GraphSemantics, strategy: str) -> None:
    plan = chip_plan_of(net, strategy, chip("tiny"))
    assert fetch_cycles(plan) <= least_cycles(plan) <= simulate(lower(plan)).makespan


def test_kernels_run_one_after_the_other_each_bound_by_what_it_lacks_most() -> None:
    """Launch and barrier are 2,200 cycles; 8 cores do 8 x (2,048 + 64) products in a cycle.

    `:full`: two kernels fetch 4,718,592 bytes each, 174,763 cycles at 27, more than their
    products, 2,415,919,104 (142,987 cycles) and half of these; a third has the other half and finds
    its weights in GB. Half as wide in 2 pieces: the first fetches 4,718,592 bytes for both, the
    second has 1,207,959,552 products: 71,493 cycles.
    """
    target, graph, plan = made(feed_forward(3072))
    assert least_cycles(plan) == 2 * 174_763 + 71_493 + 3 * 2_200
    target, graph, _ = made(feed_forward(1536))
    plan = cut_plan(target, graph, [GroupCut((0, 1), 0, 2)])
    assert least_cycles(plan) == 174_763 + 71_493 + 2 * 2_200


def test_a_kernel_without_weights_and_products_counts_nothing() -> None:
    """Lowering may make no instruction of it."""
    text = "g (float[8,64] x) => (float[8,64] z) { z = Relu (x) }"
    assert least_cycles(plan_of(weighted(text), "graphturbo:full", hardware())) == 0
