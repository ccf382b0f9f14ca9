"""Inputs of the model in GB before their kernels begin: prefetched by the kernel before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphturbo_core.errors import InvariantError
from graphturbo_core.products.gb_retention import GbRetention
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Cause, InstructionKind, Memory, Program
from graphturbo_core.strategies.best.early_inputs import input_stays
from tests.lowering.global_buffer.sound import checked
from tests.lowering.nets import chip, plan_of
from tests.lowering.small_plans import batches, rows_of_a_map
from tests.strategies.samples import weighted


def parts() -> Plan:
    """Pieces along the batch, and room in GB for two of them."""
    plan = batches()
    return replace(plan, hardware=replace(plan.hardware, gb_bytes=65536))


PLANS = {"parts of a batch": parts, "rows of a map": rows_of_a_map}


def early(plan: Plan) -> Plan:
    stays = input_stays(plan)
    assert [(stay.first, stay.last) for stay in stays] == [
        (place, place + 1) for place in range(len(plan.kernels) - 1)
    ]
    return replace(plan, stays=stays)


def input_moves(program: Program) -> list[tuple[int, str, str, int, int]]:
    """Kernel, kind, source, bytes and halo bytes of the moves of inputs."""
    rows = np.flatnonzero(program.cause == Cause.INPUT)
    return [
        (
            int(program.kernel[row]),
            InstructionKind(program.kind[row]).name,
            Memory(program.source[row]).name,
            int(program.size_bytes[row]),
            int(program.halo_bytes[row]),
        )
        for row in rows
    ]


@pytest.mark.parametrize("name", PLANS)
def test_the_kernel_before_fetches_what_a_kernel_reads(name: str) -> None:
    """All of it crosses DRAM once, in the kernel before; cores load it from GB."""
    plan = PLANS[name]()
    before, after = checked(plan), checked(early(plan))
    moves = input_moves(after.program)
    for place, kernel in enumerate(plan.kernels):
        fetched = [size for own, kind, *_, size, _ in moves if (own, kind) == (place, "PREFETCH")]
        later = plan.kernels[place + 1 :]
        assert sum(fetched) == (plan.inputs_of(later[0])["x"] if later else 0)
        sources = {source for own, kind, source, *_ in moves if (own, kind) == (place, "LOAD")}
        assert sources == {"GB" if place else "DRAM"}
        assert plan.inputs_of(kernel).keys() == {"x"}
    assert after.makespan < before.makespan


def test_rows_that_two_pieces_read_are_halo_of_the_prefetch() -> None:
    """Of 20 rows of 8 x 16 numbers that an inner piece reads, it owns 16; the last piece less."""
    plan = rows_of_a_map()
    moves = input_moves(checked(early(plan)).program)
    halo = [0] * len(plan.kernels)
    for kernel, kind, *_, own in moves:
        halo[kernel] += own * (kind == "PREFETCH")
    row_bytes = 8 * 16 * 2
    assert halo == [4 * row_bytes, 4 * row_bytes, 2 * row_bytes, 0]


def test_prefetches_come_after_all_other_moves_in_the_order_of_emission() -> None:
    """So that only they wait for DRAM."""
    program = checked(early(parts())).program
    is_fetch = (program.kind == InstructionKind.PREFETCH) & (program.cause == Cause.INPUT)
    for kernel in range(len(program.plan.kernels) - 1):
        own = program.kernel == kernel
        loads = own & (program.kind == InstructionKind.LOAD)
        assert np.flatnonzero(own & is_fetch).min() > np.flatnonzero(loads).max()


def test_without_room_in_gb_cores_load_from_dram() -> None:
    """Half of a part is no place: the kernel then reads all of it from DRAM, as before."""
    plan = early(parts())
    small = replace(plan, stays=tuple(replace(s, size_bytes=s.size_bytes // 2) for s in plan.stays))
    sources = {source for *_, source, _, _ in input_moves(checked(small).program)}
    assert sources == {"DRAM"}
    assert checked(small).makespan == checked(parts()).makespan


def test_an_input_that_the_kernel_before_does_not_read() -> None:
    text = """g (float[16,16] x, float[16,16] b) => (float[16,16] y)
{ a = Softmax (x) c = Softmax (b) y = Add (a, c) }"""
    plan = plan_of(weighted(text), "tvm", replace(chip("generic-4x4"), cores=1))
    (stay,) = input_stays(plan)
    assert stay == GbRetention(stay.weight, 0, 1, 512)
    assert stay.weight not in plan.inputs_of(plan.kernels[0])
    moves = input_moves(checked(replace(plan, stays=(stay,))).program)
    assert (0, "PREFETCH", "DRAM", 512, 0) in moves
    assert (1, "LOAD", "GB", 512, 0) in moves


def test_a_retention_is_of_what_its_last_kernel_reads() -> None:
    plan = parts()
    (stay, *_) = input_stays(plan)
    over = replace(plan, stays=(replace(stay, size_bytes=stay.size_bytes + 1),))
    with pytest.raises(InvariantError, match="16385 bytes of 16384"):
        over.check()
    other = replace(plan, stays=(replace(stay, weight="a"),))
    with pytest.raises(InvariantError, match="which does not read it"):
        other.check()
