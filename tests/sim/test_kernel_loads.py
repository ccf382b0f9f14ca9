"""What kernels take of DRAM and of cores, as a plain loop counts it."""

from __future__ import annotations

from collections import Counter

import pytest

from graphturbo_core.hardware.hardware import EngineKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.program import Program
from graphturbo_core.sim.kernels.kernel_loads import kernel_loads
from tests.lowering.chips import shared
from tests.lowering.nets import chip, plan_of, small_model

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
def test_loads_are_those_of_dram_and_of_cores(name: str) -> None:
    program = lower(plan_of(small_model("resnet"), "graphturbo", CHIPS[name]))
    engines, channels = counted(program)
    (dram,) = (at for at, each in enumerate(program.channels) if each.name == "dram")
    is_dma = [engine.kind is EngineKind.DMA for engine in program.engines]
    for load, own, shares in zip(kernel_loads(program), engines, channels, strict=True):
        assert load.dram_cycles == shares[dram]
        assert load.core_cycles == max(n for at, n in own.items() if not is_dma[at])
