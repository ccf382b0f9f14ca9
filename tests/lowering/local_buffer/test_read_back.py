"""A result that others read too, and that finds no room in LB, is read back with its halo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphturbo_core.errors import CapacityError, InvariantError
from graphturbo_core.lowering.global_buffer import far_memory
from graphturbo_core.lowering.global_buffer.dram import RemoteBoxes
from graphturbo_core.lowering.global_buffer.far_memory import place_far
from graphturbo_core.lowering.global_buffer.gb_places import StoredOutput
from graphturbo_core.products.plan import Plan, Scope
from graphturbo_core.products.program import Memory
from graphturbo_core.semantics.cost import placed_on
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.layers.layer_graph import layer_graph
from graphturbo_core.strategies.layers.relay import relay_layers
from graphturbo_core.strategies.steps.binding import Binder, plain_by_kind
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.tuned.making import Maker
from graphturbo_core.strategies.tuned.space import SearchSpace
from graphturbo_core.strategies.tuned.starts import find_starts
from tests.lowering.nets import chip, lowered_with_placements, placements_of, small_model
from tests.lowering.replay import replay

TENSOR = "stem/relu:0"


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Stem and the first convolution of a block in four pieces of 8 rows; the sum reads the stem.

    A point of the search: the convolution needs a row more on either side of what its piece hands
    out of the stem, and a core's 9 or 10 rows of 16 channels, 32 wide, are more than its 8 KiB.
    """
    own = chip("tiny")
    semantics = placed_on(small_model("teaching-resnet"), own, "fp16")
    target = Target(semantics, own, "fp16", Binder(own.cores, plain_by_kind))
    graph = layer_graph(semantics, relay_layers(semantics), "fp16")
    maker = Maker(target, SearchSpace(graph, own, tuple(find_starts(target))))
    point = {"start": "full", "pieces 0": "two fewer", "merge 0 0": "the other way"}
    return maker.plan(maker.draft(point))


def in_gb(plan: Plan) -> Plan:
    """The same on a chip with room for it in GB."""
    hardware = replace(plan.hardware, gb_bytes=1 << 20)
    kernels = (
        replace(kernel, scopes={**kernel.scopes, TENSOR: Scope.GB})
        if TENSOR in kernel.scopes
        else kernel
        for kernel in plan.kernels
    )
    return replace(plan, hardware=hardware, kernels=tuple(kernels))


@pytest.mark.slow
@pytest.mark.parametrize("memory", [Memory.DRAM, Memory.GB])
def test_all_that_a_kernel_reads_back_is_left_there(plan: Plan, memory: Memory) -> None:
    """Rows 23 to 32 by the piece that answers for 24 to 32; others are told of these alone."""
    if memory is Memory.GB:
        plan = in_gb(plan)
    program, placements = lowered_with_placements(plan)
    piece = next(
        number for number, each in enumerate(placements)
        if each.kernel.outputs.get(TENSOR, ((0, 0),) * 4)[2] == (24, 32)
    )  # fmt: skip
    assert TENSOR in placements[piece].spilled & placements[piece].read
    far = place_far(plan, placements)
    target = far.environments[piece].targets[TENSOR]
    assert (target.memory, target.box[2]) == (memory, (23, 32))
    others = [
        site.box[2]
        for number, around in enumerate(far.environments)
        if number != piece
        for site in around.sources.get(TENSOR, ())
        if site.maker == target.maker and site.box[2][1] == 32
    ]
    assert others and set(others) <= {(24, 32), (0, 32)}
    trace = simulate(program)
    trace.check()
    replay(trace)


def test_two_clusters_do_not_leave_the_same_rows_of_what_the_other_reads(plan: Plan) -> None:
    placements = placements_of(plan)
    with pytest.raises(CapacityError, match="its kernel reads them back") as refused:
        place_far(plan, placements, RemoteBoxes(read=frozenset({TENSOR})))
    assert refused.value.code == "GB_FULL"
    place_far(plan, placements, RemoteBoxes(read=frozenset({"y"})))


@pytest.mark.parametrize("memory", [Memory.DRAM, pytest.param(Memory.GB, marks=pytest.mark.slow)])
def test_without_its_halo_the_program_is_refused(
    plan: Plan, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row 23, of which the piece before answers, is then read and never written."""

    def alone(**fields: Any) -> StoredOutput:
        found = StoredOutput(**fields)
        return found if found.is_held_once else found._replace(held=found.box)

    monkeypatch.setattr(far_memory, "StoredOutput", alone)
    program, _ = lowered_with_placements(in_gb(plan) if memory is Memory.GB else plan)
    what = rf"\(23, 24\), .* of buffer \d+ \('{TENSOR}', .* which no instruction writes"
    with pytest.raises(InvariantError, match=what) as refused:
        simulate(program).check()
    assert refused.value.code == "TRACE_UNWRITTEN"
