"""Which weights a plan shards over the LBs, worked by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import load_profile
from graphturbo_core.products.plan import Plan, Residency
from graphturbo_core.products.shards import shard_part
from graphturbo_core.strategies.plan_files.edits import NO_EDITS, Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import parse_strategy
from tests.strategies.samples import weighted

SHARDED, LB, STREAM = Residency.SHARDED, Residency.LB, Residency.STREAM
CHAIN = (
    "g (float[16,16] x, float[16,16] va, float[16,16] vb, float[16,16] w) => (float[16,16] y)"
    "{ a = MatMul (x, va) b = MatMul (a, vb) c = MatMul (b, va) d = MatMul (c, vb)"
    " y = MatMul (d, w) }"
)
"""va is read by kernels 0 and 2, vb by 1 and 3, w by 4 alone; 512 bytes each."""


def sharing(lb_weight_bytes: int) -> Hardware:
    """Four cores without a GB."""
    return replace(
        load_profile("generic-4x4"), gb_bytes=0, gb_bandwidth=0, gb_latency_cycles=0,
        dma_engines=0, lb_weight_bytes=lb_weight_bytes, weight_placement="sharded",
    )  # fmt: skip


def planned(hardware: Hardware, edits: Edits = NO_EDITS, text: str = CHAIN) -> Plan:
    task = PlanTask(weighted(text), hardware, "fp16", {}, PinnedPlan(None, edits))
    return plan_for(parse_strategy("layerwise"), task)


def held(plan: Plan) -> list[dict[str, Residency]]:
    return [dict(kernel.residency) for kernel in plan.kernels]


def test_weights_of_several_kernels_while_they_fit() -> None:
    """Half of 512 bytes on four cores is 1,024: va and vb, both there while kernels 1 and 2 run.

    The other half does not hold w, that of 1,024 does.
    """
    wanted = [{"va": SHARDED}, {"vb": SHARDED}, {"va": SHARDED}, {"vb": SHARDED}]
    assert held(planned(sharing(512))) == [*wanted, {"w": STREAM}]
    assert held(planned(sharing(1024))) == [*wanted, {"w": LB}]


def test_the_first_of_two_alike_where_only_one_fits() -> None:
    """496 bytes: 248 a core, 992 in all; vb, of as many bytes, comes later and stays out."""
    wanted = [{"va": SHARDED}, {"vb": STREAM}, {"va": SHARDED}, {"vb": STREAM}, {"w": STREAM}]
    assert held(planned(sharing(496))) == wanted


def test_most_bytes_fetched_again_come_first() -> None:
    """vb is fetched again twice, 1,024 bytes, va once."""
    text = CHAIN.replace("y = MatMul (d, w)", "y = MatMul (d, vb)")
    text = text.replace("float[16,16] vb, float[16,16] w", "float[16,16] vb")
    wanted = [{"va": STREAM}, {"vb": SHARDED}, {"va": STREAM}, {"vb": SHARDED}, {"vb": SHARDED}]
    assert held(planned(sharing(496), text=text)) == wanted


def test_bytes_that_shards_take_of_each_lb() -> None:
    """a and b, 96 + 64 bytes, are there together: 40 a core, 96 for the largest, in steps of 32.

    One more step is for the addresses where the part begins and ends.
    """
    kernels = [{"a": 90}, {"b": 64}, {"a": 90, "b": 64}, {"c": 70}, {"c": 70}]
    assert shard_part(kernels, 4) == 160 + 32
    assert shard_part([{}, {}], 4) == 0
    few = planned(sharing(65536))
    assert few.shard_bytes == 1024 // 4 + 512 + 32
    assert planned(sharing(512)).shard_bytes == 256


def test_a_chip_that_does_not_shard() -> None:
    hardware = replace(sharing(512), weight_placement="replicated")
    assert all(found in ({"va": LB}, {"vb": LB}, {"w": LB}) for found in held(planned(hardware)))


def test_a_plan_file_comes_first() -> None:
    """vb asked for keeps its place from va; w, asked for, needs no second kernel."""
    assert held(planned(sharing(496), Edits(residency={"vb": SHARDED})))[:2] == [
        {"va": STREAM}, {"vb": SHARDED}
    ]  # fmt: skip
    assert held(planned(sharing(512), Edits(residency={"w": SHARDED})))[4] == {"w": SHARDED}
    assert held(planned(sharing(512), Edits(residency={"va": STREAM})))[0] == {"va": STREAM}


def test_more_than_all_lbs_have_room_for_is_refused() -> None:
    with pytest.raises(PlanError, match="the weights vb cannot be sharded: their 512") as caught:
        planned(sharing(248), Edits(residency={"vb": SHARDED}))
    assert caught.value.code == "PLAN_RESIDENCY"
