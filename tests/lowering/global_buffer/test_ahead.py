"""How far ahead weights are fetched into GB, and by which engine."""

from __future__ import annotations

import numpy as np

from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Residency
from graphturbo_core.products.program import InstructionKind, Memory, Program
from graphturbo_core.sim.simulate import simulate
from tests.lowering.counting import check_program
from tests.lowering.nets import chip, plan_of, small_model, with_residency


def streamed(strategy: str) -> Program:
    plan = plan_of(small_model("resnet"), strategy, chip("generic-4x4"))
    return lower(with_residency(plan, Residency.STREAM))


def places(program: Program) -> set[int]:
    """Where in GB tiles of the convolutions' weights lie."""
    tensors = program.plan.semantics.graph.tensors
    is_tiled = np.array(
        [
            tensors[name].kind is TensorKind.WEIGHT and len(tensors[name].shape) == 4
            for name in program.tensors
        ]
    )
    buffers = program.buffers
    in_gb = (buffers.memory == Memory.GB) & is_tiled[buffers.tensor]
    return set(buffers.offset[in_gb].tolist())


def test_weights_take_two_slots_in_turn_or_all_that_is_free() -> None:
    """Layer after layer the third fetch would wait for the first; across layers it need not."""
    assert len(places(streamed("graphturbo:order"))) == 2
    program = streamed("graphturbo:full")
    assert len(places(program)) > 2
    check_program(simulate(program))


def test_one_engine_prefetches_and_the_other_writes_back() -> None:
    program = streamed("graphturbo:full")
    is_prefetch = program.kind == InstructionKind.PREFETCH
    assert {program.engines[e].label for e in program.engine[is_prefetch]} == {"dma 0"}
