"""Where outputs wait and weights stay, along the order of ResNet-50 (slim) at 16 images."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.ir.boxes import intersect, is_empty, volume
from graphturbo_core.products.plan import KernelPlan, Plan, Residency, Scope
from tests.strategies.samples import hardware, plan_of, sample_plan, sample_semantics, weighted

SLIM = ("resnet50-slim", 16)


def readers(plan: Plan, place: int, tensor: str) -> list[int]:
    """Places of the kernels that read what the kernel at `place` hands out of a tensor."""
    own = plan.kernels[place].outputs[tensor]
    return [
        later
        for later, kernel in enumerate(plan.kernels)
        if later > place
        and tensor in kernel.boxes
        and not is_empty(intersect(own, kernel.boxes[tensor]))
    ]


def where(kernel: KernelPlan) -> str:
    (tensor,) = kernel.outputs
    kept = "LB+" if tensor in kernel.kept and kernel.scopes[tensor] is not Scope.LB else ""
    return kept + kernel.scopes[tensor].value


def test_worked_example_of_the_reference() -> None:
    """An output stays in LB when the next instance consumes it, else it is parked in GB (3.5)."""
    found = {k.name: where(k) for k in sample_plan(*SLIM).kernels}
    assert [found[f"g2/{piece}"] for piece in range(8, 0, -1)] == ["GB", "LB"] * 4
    assert [found[f"g3/{piece}"] for piece in range(4, 0, -1)] == ["GB", "LB", "GB", "LB"]
    assert [found["g4/2"], found["g4/1"], found["g5/1"]] == ["GB", "LB", "DRAM"]
    # A stem's instance is read by the next kernel and by a later one.
    assert found["g1/4"] == "LB+GB"


def test_scopes_follow_readers_everywhere() -> None:
    for strategy in ("graphturbo", "graphturbo:lb"):
        plan = sample_plan(*SLIM, strategy)
        for place, kernel in enumerate(plan.kernels):
            for tensor in kernel.outputs:
                later = readers(plan, place, tensor)
                assert tensor not in kernel.kept or place + 1 in later
                if kernel.scopes[tensor] is Scope.LB:
                    assert later == [place + 1]
                    assert tensor in kernel.kept


def test_kept_result_must_fit_beside_its_own_kernel() -> None:
    """At g2's last nest a core holds input, 64 channels and the result: 882 KiB = 903,168 bytes.

    A byte less, and the result leaves in tiles of 1/16 LB while it is made: parked in GB.
    """
    for lb_data_bytes, expected in ((903_168, "LB"), (903_167, "GB")):
        chip = replace(hardware(), lb_data_bytes=lb_data_bytes, split_capacity_bytes=8 << 20)
        options = {"graphturbo.fit": "cluster"}
        plan = plan_of(sample_semantics(*SLIM), "graphturbo", chip, options)
        assert {k.name: where(k) for k in plan.kernels}["g2/7"] == expected


def test_gb_level_keeps_nothing_and_skips_gb_for_what_is_larger() -> None:
    plan = sample_plan(*SLIM, "graphturbo:gb")
    room = plan.hardware.gb_bytes - plan.hardware.lb_weight_bytes
    outputs = set(plan.semantics.graph.outputs)
    for kernel in plan.kernels:
        assert not kernel.kept
        for tensor, box in kernel.outputs.items():
            fits = volume(box) * 2 <= room and tensor not in outputs
            assert kernel.scopes[tensor] is (Scope.GB if fits else Scope.DRAM)


def test_tvm_and_layerwise_hand_on_through_dram() -> None:
    for strategy in ("tvm", "layerwise"):
        for kernel in sample_plan(*SLIM, strategy).kernels:
            assert not kernel.kept
            assert {kernel.scopes[tensor] for tensor in kernel.outputs} == {Scope.DRAM}


def test_without_gb_outputs_are_parked_in_dram() -> None:
    chip = replace(hardware(), gb_bytes=0)
    plan = plan_of(sample_semantics(*SLIM), "graphturbo", chip)
    assert all(scope is not Scope.GB for k in plan.kernels for scope in k.scopes.values())
    assert all(r is not Residency.GB for k in plan.kernels for r in k.residency.values())


def residencies(plan: Plan, kernel: str) -> dict[tuple[int, ...], Residency]:
    """Residency by weight shape."""
    tensors = plan.semantics.graph.tensors
    found = next(k for k in plan.kernels if k.name == kernel)
    return {tensors[name].shape: residency for name, residency in found.residency.items()}


def test_weights_of_adjacent_instances_stay_in_gb() -> None:
    # g2/8 and g2/7 run one after the other; stage 1 has 215,808 weights at 2 bytes: 0.4 MiB.
    assert set(residencies(sample_plan(*SLIM), "g2/8").values()) == {Residency.GB}


def test_weights_of_a_lone_instance_by_size() -> None:
    # g3/4 has no neighbour of g3. 512 * 128 * 2 = 131,072 <= 262,144 bytes: LB.
    # 128 * 128 * 9 * 2 = 294,912: GB.
    found = residencies(sample_plan(*SLIM), "g3/4")
    assert found[128, 512, 1, 1] is Residency.LB
    assert found[128, 128, 3, 3] is Residency.GB


def test_weights_that_fit_nowhere_are_streamed() -> None:
    # The last layer has 2,048 * 1,000 * 2 = 4,096,000 bytes of them, the GB 1,048,576.
    chip = replace(hardware(), gb_bytes=2**20)
    plan = plan_of(sample_semantics(*SLIM), "tvm", chip)
    assert set(plan.kernels[-1].residency.values()) == {Residency.STREAM}


SHARED = """g (float[4,8,32,32] x, float[8,8,3,3] w, float[8,32,32] wv) => (float[4,8,32,32] y) {
    a = Conv <pads = [1,1,1,1]> (x, w)
    b = Relu (a)
    c = Conv <pads = [1,1,1,1]> (b, w)
    y = Add (c, wv)
}"""
"""Two layers with one weight of 1,152 bytes; the second also reads 16,384 bytes."""


def test_a_weight_of_two_layers_lies_where_the_larger_need_of_them_does() -> None:
    for lb_weight_bytes, expected in ((17_536, Residency.LB), (17_535, Residency.GB)):
        chip = replace(hardware(), lb_weight_bytes=lb_weight_bytes)
        plan = plan_of(weighted(SHARED), "graphturbo:lb", chip)
        first, second = (kernel.residency for kernel in plan.kernels)
        assert first == {"w": Residency.LB}
        assert second == {"w": expected, "wv": expected}
        (kernel,) = plan_of(weighted(SHARED), "graphturbo", chip).kernels
        assert kernel.residency == second


def test_a_weight_of_two_layers_takes_gb_once() -> None:
    """Neighbours of a group hold its weights in GB where 1,152 + 16,384 bytes fit beside tiles."""
    small = replace(hardware(), lb_data_bytes=32768, split_capacity_bytes=32768)
    for spare, expected in ((17_536, Residency.GB), (17_535, Residency.LB)):
        chip = replace(small, gb_bytes=small.lb_weight_bytes + spare)
        plan = plan_of(weighted(SHARED), "graphturbo", chip)
        assert {kernel.group for kernel in plan.kernels} == {0}
        assert len(plan.kernels) > 1
        assert all(set(k.residency.values()) == {expected} for k in plan.kernels)
