"""What kernels take of engines and channels: as a plain loop counts it, no more than they run."""

from __future__ import annotations

from collections import Counter

import pytest

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.lowering.program import Program
from graphturbo_core.sim.kernel_loads import kernel_loads, least_cycles
from graphturbo_core.sim.simulate import simulate
from tests.lowering.nets import chip, plan_of, small_model
from tests.lowering.test_shared_engine import shared

CHIPS = {
    "tiny": chip("tiny"),
    "generic-4x4": chip("generic-4x4"),
    "shared": shared(gb_bytes=1 << 16),
}


def counted(program: Program) -> tuple[list[Counter[int]], list[Counter[int]]]:
    """Cycles of each engine and of each channel, a Counter a kernel."""
    engines = [Counter[int]() for _ in program.plan.kernels]
    channels = [Counter[int]() for _ in program.plan.kernels]
    for row, kernel in enumerate(program.kernel.tolist()):
        engines[kernel][int(program.engine[row])] += int(program.hold_cycles[row])
        for place in range(program.channel_at[row], program.channel_at[row + 1]):
            cycles = int(program.channel_cycles[place])
            channels[kernel][int(program.channel[place])] += cycles
    return engines, channels


@pytest.mark.parametrize("name", CHIPS)
@pytest.mark.parametrize("strategy", ["tvm", "graphturbo:order", "graphturbo:full"])
def test_no_kernel_runs_for_less_than_its_busiest_engine_or_channel(
    name: str, strategy: str
) -> None:
    program = lower(plan_of(small_model("resnet"), strategy, CHIPS[name]))
    engines, channels = counted(program)
    least = least_cycles(program).tolist()
    each = zip(engines, channels, strict=True)
    assert least == [max((*one.values(), *other.values())) for one, other in each]
    fixed = program.plan.hardware.launch_cycles + program.plan.hardware.barrier_cycles
    spans = simulate(program).kernel_cycles
    assert all(most + fixed <= span for most, span in zip(least, spans, strict=True))


@pytest.mark.parametrize("name", CHIPS)
def test_loads_are_those_of_dram_and_of_cores(name: str) -> None:
    program = lower(plan_of(small_model("resnet"), "graphturbo", CHIPS[name]))
    engines, channels = counted(program)
    (dram,) = (at for at, each in enumerate(program.channels) if each.name.startswith("dram"))
    is_dma = [engine.kind is EngineKind.DMA for engine in program.engines]
    for load, own, shares in zip(kernel_loads(program), engines, channels, strict=True):
        assert load.dram_cycles == shares[dram]
        assert load.core_cycles == max(n for at, n in own.items() if not is_dma[at])
