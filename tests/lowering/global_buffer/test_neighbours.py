"""What neighbouring instances of a group read of weights: fetched once as far as GB has room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.boxes import Box
from graphturbo_core.lowering.global_buffer.far_memory import place_far
from graphturbo_core.lowering.global_buffer.stays import boxes_read
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.products.scheduling import ACROSS_LAYERS, BY_LAYER
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.strategies.plus.cuts import GroupCut, cut_plan
from graphturbo_core.verify.static.causes import wrong_cause
from graphturbo_core.verify.static.claims import wrong_claim
from graphturbo_core.verify.static.coverage import moved_twice
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, placements_of, plan_of, with_residency
from tests.strategies.chains import NARROW, PART, feed_forward
from tests.strategies.plus.plans import made
from tests.strategies.samples import weighted

GB = 8 * 2**20
SLOTS = 2 * 2048 * 32 * 2
"""Two weight tiles at the bottom of GB: of v, 2,048 x 32 elements, the largest."""
ROOM = GB - SLOTS
"""8,126,464 bytes for w and v, which have 9,437,184: tiles of 98,304, 131,072 and 65,536."""
LARGEST = 2048 * 32 * 2
TOKENS = 16
"""Of each text: weights are tiled as for 128, and `check_program` looks at an eighth of results."""


def halves(inner: int = 3072, pieces: int = 2) -> Plan:
    """Both products of a feed-forward in one group, its texts in pieces."""
    target, graph, _ = made(feed_forward(inner, TOKENS))
    return cut_plan(target, graph, [GroupCut((0, 1), 0, pieces)])


def with_gb(plan: Plan, gb_bytes: int) -> Plan:
    hardware: Hardware = replace(plan.hardware, gb_bytes=gb_bytes)
    return replace(plan, hardware=hardware)


def sound(plan: Plan) -> Program:
    plan.check()
    program = lower(plan)
    check_program(simulate(program))
    assert wrong_claim(program) is None
    assert wrong_cause(program) is None
    assert moved_twice(program) is None
    return program


def again(program: Program) -> int:
    """Bytes of weights that DRAM brings once more."""
    return ledger(program).causes[Memory.DRAM].get(Cause.WEIGHT_AGAIN, 0)


def kept(program: Program) -> dict[str, int]:
    """Bytes of each weight that lie in GB from kernel to kernel."""
    buffers = program.buffers
    is_kept = program.kernel[buffers.first] < program.kernel[buffers.last]
    found: dict[str, int] = {}
    for row in np.flatnonzero(is_kept & (buffers.memory == Memory.GB)).tolist():
        name = program.tensors[buffers.tensor[row]]
        if name in program.plan.weight_bytes:
            found[name] = found.get(name, 0) + int(buffers.size_bytes[row])
    return found


def staying(plan: Plan) -> list[frozenset[tuple[str, Box]]]:
    """By kernel, the boxes of weights that it finds or leaves in GB."""
    return [frozenset(each.retained) for each in place_far(plan, placements_of(plan)).environments]


def fetched(program: Program, kernel: int) -> list[int]:
    """Bytes of each box that the kernel brings from DRAM to GB, in its order."""
    is_fetch = (program.kind == InstructionKind.PREFETCH) & (program.kernel == kernel)
    return [int(size) for size in program.size_bytes[is_fetch]]


@pytest.mark.parametrize("is_across", [True, False])
def test_the_second_piece_fetches_what_gb_has_no_room_for(is_across: bool) -> None:
    program = sound(replace(halves(), scheduling=ACROSS_LAYERS if is_across else BY_LAYER))
    total = sum(kept(program).values())
    assert ROOM - LARGEST < total <= ROOM
    assert again(program) == 2 * PART - total
    assert sum(fetched(program, 0)) == 2 * PART
    assert sum(fetched(program, 1)) == 2 * PART - total


def test_four_pieces_share_one_fetch() -> None:
    """The first fetches all, the other three what is not kept."""
    program = sound(halves(pieces=4))
    assert again(program) == 3 * (2 * PART - sum(kept(program).values()))


def test_what_is_kept_is_spread_over_the_fetches() -> None:
    """Kept are 86 of 100 bytes: of each stretch of fetches so much, but for the tile at its end."""
    program = sound(replace(halves(), scheduling=BY_LAYER))
    share = ROOM / (2 * PART)
    buffers = program.buffers
    is_fetch = (program.kind == InstructionKind.PREFETCH) & (program.kernel == 0)
    last = program.kernel[buffers.last]
    passed = there = 0
    for row in np.flatnonzero(is_fetch).tolist():
        accesses = slice(program.access_at[row], program.access_at[row + 1])
        target = int(program.access_buffer[accesses][program.access_write[accesses]][0])
        passed += int(program.size_bytes[row])
        there += int(program.size_bytes[row]) * int(last[target] == 1)
        assert share * passed - LARGEST < there <= share * passed


def test_where_all_fits_all_is_held() -> None:
    """Half as wide: 4,718,592 bytes, each weight as one buffer."""
    plan = halves(1536)
    program = sound(plan)
    assert kept(program) == {"w": PART // 2, "v": PART // 2}
    assert again(program) == 0
    assert not any(staying(plan))


def test_what_one_kernel_reads_is_not_kept_for_the_next() -> None:
    """Pieces of columns read halves of w: of 98,304 bytes of GB two tiles leave room for one."""
    target, graph, _ = made(NARROW)
    plan = cut_plan(target, graph, [GroupCut((0,), 1, 2)])
    assert [kernel.group for kernel in plan.kernels] == [0, 0]
    assert not any(staying(with_gb(plan, 3 * 2**15)))
    assert all(staying(with_gb(halves(), 2**20)))


def test_weights_that_a_plan_file_places_are_as_it_says() -> None:
    """v is streamed, so w has all the room it wants; v is held as a whole, so w gets the rest."""
    plan = halves()
    streamed = tuple(
        replace(kernel, residency={"w": Residency.GB, "v": Residency.STREAM})
        for kernel in plan.kernels
    )
    program = sound(replace(plan, kernels=streamed, fixed=frozenset({"v"})))
    assert kept(program) == {"w": PART}
    program = sound(replace(plan, fixed=frozenset({"v"})))
    found = kept(program)
    assert found["v"] == PART
    assert ROOM - PART - LARGEST < found["w"] <= ROOM - PART


def test_other_residencies_are_shared_too() -> None:
    """What is streamed, or in LB while its layer runs, would be fetched anew all the same."""
    plan = halves()
    for held in (Residency.STREAM, Residency.LB):
        kernels = tuple(
            replace(kernel, residency=dict.fromkeys(kernel.residency, held))
            for kernel in plan.kernels
        )
        program = sound(replace(plan, kernels=kernels))
        assert again(program) == 2 * PART - sum(kept(program).values())
        assert sum(kept(program).values()) > ROOM - LARGEST


def test_kernels_that_cut_a_weight_otherwise_share_nothing_of_it() -> None:
    """The second kernel is that of a chip with half the room for tiles: its boxes meet others'."""
    plan = halves()
    narrow = replace(plan.hardware, lb_weight_bytes=plan.hardware.lb_weight_bytes // 2)
    first, other = placements_of(plan), placements_of(replace(plan, hardware=narrow))
    alike = boxes_read(first, range(2))
    assert alike.keys() == {"w", "v"}
    assert all(len(reads) == 2 for boxes in alike.values() for reads in boxes.values())
    assert boxes_read((first[0], other[1]), range(2)) == {}


def test_stays_of_the_plan_come_first() -> None:
    """All of v stays by the plan, what is left is for w; where half of v does, so does more."""
    found = kept(sound(replace(halves(), stays=(GbRetention("v", 0, 1, PART),))))
    assert found["v"] == PART
    assert ROOM - PART - LARGEST < found["w"] <= ROOM - PART
    found = kept(sound(replace(halves(), stays=(GbRetention("v", 0, 1, PART // 2),))))
    assert found["v"] > PART // 2
    assert ROOM - LARGEST < sum(found.values()) <= ROOM


def test_another_groups_kernel_shares_nothing() -> None:
    """z in two pieces, y whole: v is read by neighbours, w by one kernel."""
    _, _, plan = made(feed_forward(3072))
    assert [kernel.group for kernel in plan.kernels] == [0, 1, 1]
    small = with_gb(plan, 2**20)
    program = sound(small)
    assert set(kept(program)) == {"v"}
    apart = replace(small, kernels=(small.kernels[1], small.kernels[0], small.kernels[2]))
    assert kept(lower(apart)) == {}


def test_clusters_that_co_operate_have_their_own_neighbours() -> None:
    """Two clusters with two pieces each; of a GB each. One that works alone has both."""
    plan = replace(halves(pieces=4), scheduling=BY_LAYER)
    both = replace(plan, cooperation=Cooperation(4, (0, 1, 0, 1), (0, 0, 1, 1)))
    program = lower(both)
    simulate(program).check()
    assert wrong_claim(program) is None
    total = sum(kept(program).values())
    assert 2 * (ROOM - LARGEST) < total <= 2 * ROOM
    assert again(program) == 2 * 2 * PART - total
    alone = replace(halves(), cooperation=Cooperation(4, (0, 0), (0, 1), has_remote_dram=True))
    assert ROOM - LARGEST < sum(kept(lower(alone)).values()) <= ROOM


def test_a_kernel_alone_holds_what_fits() -> None:
    """Of two weights that do not both fit the first has a place as a whole."""
    program = sound(replace(halves(pieces=1), scheduling=BY_LAYER))
    in_gb = program.buffers.memory == Memory.GB
    names = [program.tensors[tensor] for tensor in program.buffers.tensor[in_gb].tolist()]
    sizes = program.buffers.size_bytes[in_gb].tolist()
    assert ("w", PART) in zip(names, sizes, strict=True)


def product(columns: int) -> Plan:
    """A product of 256 rows by a weight planned in GB; LBs hold neither its data nor its weight."""
    text = f"g (float[256,64] x, float[64,{columns}] w) => (float[256,{columns}] y)"
    plan = plan_of(weighted(f"{text} {{ y = MatMul (x, w) }}"), "tvm", chip("tiny"))
    return replace(with_residency(plan, Residency.GB), scheduling=ACROSS_LAYERS)


def test_a_weight_that_each_row_tile_reads_keeps_its_place() -> None:
    """Of 64 x 64 elements, 8,192 bytes; of 64 x 256 they are 32,768, all that GB has."""
    program = sound(product(64))
    assert again(program) == 0
    assert sum(fetched(program, 0)) == 8192
    wide = sound(product(256))
    assert again(wide) > 0
    assert again(wide) % 32768 == 0


def test_parts_give_way_to_what_the_plan_wants_to_stay() -> None:
    """So they are not in the end of what a kernel has in GB; a part that the plan says is."""
    program = lower(halves())
    assert [load.gb_bytes for load in kernel_loads(program)] == [0, 0]
    program = lower(replace(halves(), stays=(GbRetention("v", 0, 1, PART // 2),)))
    assert [load.gb_bytes for load in kernel_loads(program)] == [GB, GB]
