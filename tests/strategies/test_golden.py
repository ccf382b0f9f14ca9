"""A whole plan as text, reviewed like code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphturbo_core.ir.boxes import Box
from graphturbo_core.products.plan import Binding, KernelPlan, Plan
from tests.strategies.samples import sample_plan


def box_text(box: Box) -> str:
    return "x".join(f"{lo}:{hi}" for lo, hi in box)


def binding_text(binding: Binding) -> str:
    cuts = ", ".join(f"axis {a} in {n}" for a, n in zip(binding.axes, binding.grid, strict=True))
    return f"{cuts or 'whole'} on {' '.join(map(str, binding.cores))}"


def kernel_lines(kernel: KernelPlan) -> list[str]:
    lines = [f"kernel {kernel.name}: {' '.join(kernel.ops)}"]
    for tensor, box in sorted(kernel.boxes.items()):
        if tensor not in kernel.bindings:
            lines.append(f"  read {tensor} {box_text(box)}")
            continue
        kept = ", kept" if tensor in kernel.kept else ""
        out = f", hands out {box_text(kernel.outputs[tensor])}" if tensor in kernel.outputs else ""
        scope = f", {kernel.scopes[tensor].value}" if tensor in kernel.scopes else ""
        lines.append(
            f"  {tensor} {box_text(box)}: {binding_text(kernel.bindings[tensor])}{scope}{kept}{out}"
        )
    lines += [f"  weight {name}: {r.value}" for name, r in sorted(kernel.residency.items())]
    return lines


def plan_text(plan: Plan) -> str:
    lines = [f"strategy {plan.strategy} on {plan.hardware.name}"]
    for group in plan.groups:
        lines.append(
            f"group {group.name}: layers {' '.join(map(str, group.layers))}, axis "
            f"{group.split_axis}, {group.pieces} pieces, {group.covered_ops} ops covered, peak "
            f"{group.peak_bytes} bytes"
        )
    for decision in plan.decisions:
        taken = "takes" if decision.is_taken else "refuses"
        numbers = ", ".join(f"{key} {value}" for key, value in decision.numbers.items())
        lines.append(f"{decision.step} {taken} {' | '.join(decision.subject)}: {decision.rule}")
        lines += [f"  {numbers}"] if numbers else []
    lines += [f"run {step.run}, ready: {' '.join(step.ready) or '-'}" for step in plan.ready_steps]
    for kernel in plan.kernels:
        lines += kernel_lines(kernel)
    lines += [f"note {note}" for note in plan.notes]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("strategy", "name"),
    [
        ("graphturbo", "teaching-resnet-plan"),
        ("tvm", "teaching-resnet-tvm"),
        ("astitch", "teaching-resnet-astitch"),
    ],
)
def test_teaching_resnet(golden: Callable[[str, str], None], strategy: str, name: str) -> None:
    golden(name, plan_text(sample_plan("teaching-resnet", 16, strategy, "generic-4x4")))
