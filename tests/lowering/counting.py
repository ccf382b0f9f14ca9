"""What a Program computes and fetches, counted element by element against its Plan."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphturbo_core.ir.boxes import Box, is_empty
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.program import Cause, Memory, Program
from graphturbo_core.sim.trace import Trace
from tests.lowering.asked import is_lookup
from tests.lowering.identities import COPIES, slices
from tests.lowering.replay import COMPUTE, ReplayError, View, label, replay


def computes(program: Program) -> Iterator[tuple[int, str, str, Box, tuple[int, int] | None]]:
    """(kernel, op, output, box, cut of K) of every compute."""
    view = View(program)
    for row in np.flatnonzero(program.kind == COMPUTE):
        _, name, box = view.result(int(row))
        yield int(program.kernel[row]), view.op(int(row)).name, name, box, view.cut(int(row))


def check_computed_once(program: Program) -> None:
    """Every kernel computes the boxes of its plan exactly, each element once for all of K.

    What only copies may be left out: its result is a view then, which `replay` sees to.
    """
    plan = program.plan
    tensors = plan.semantics.graph.tensors
    depth: dict[tuple[int, str], np.ndarray] = {}
    for kernel, op, name, box, cut in computes(program):
        contraction = plan.semantics.by_op[op].contraction
        whole = contraction.reduce_size if contraction is not None else 1
        if (kernel, name) not in depth:
            depth[kernel, name] = np.zeros(tensors[name].shape, dtype=np.int64)
        depth[kernel, name][slices(box)] += whole if cut is None else cut[1] - cut[0]
    for index, kernel in enumerate(plan.kernels):
        for name, box in kernel.boxes.items():
            if name not in kernel.bindings or is_empty(box):
                continue
            op = plan.semantics.graph.producer[name]
            if op.op_type in COPIES and (index, name) not in depth:
                continue
            contraction = plan.semantics.by_op[op.name].contraction
            expected = np.zeros(tensors[name].shape, dtype=np.int64)
            expected[slices(box)] = contraction.reduce_size if contraction is not None else 1
            found = depth.pop((index, name), np.zeros_like(expected))
            if (found != expected).any():
                raise ReplayError(f"{kernel.name} computes {name!r} otherwise than planned")
    if depth:
        raise ReplayError(f"computed and not planned: {sorted(depth)}")


def check_weights_first_once(program: Program) -> None:
    """Of a weight's elements that leave DRAM, each is booked once as fetched first."""
    view = View(program)
    graph = program.plan.semantics.graph
    first: dict[str, np.ndarray] = {}
    all_of_it: dict[str, np.ndarray] = {}
    for row in np.flatnonzero(program.source == Memory.DRAM):
        (source,) = (touch for touch in view.touches[row] if not touch.is_write)
        tensor = view.tensors[source.buffer]
        is_weight = graph.tensors[tensor].kind is TensorKind.WEIGHT
        if not is_weight or is_lookup(program, int(row), tensor):
            continue
        cause = int(program.cause[row])
        assert cause in (Cause.WEIGHT_FIRST, Cause.WEIGHT_AGAIN), label(program, int(row))
        for counts, is_meant in ((first, cause == Cause.WEIGHT_FIRST), (all_of_it, True)):
            if tensor not in counts:
                counts[tensor] = np.zeros(graph.tensors[tensor].shape, dtype=np.int64)
            counts[tensor][slices(source.box)] += is_meant
    for tensor, count in all_of_it.items():
        if (first[tensor] != (count > 0)).any():
            often = int(first[tensor].max())
            raise ReplayError(f"weight {tensor!r} is fetched first {often} times, or never")


def check_program(trace: Trace) -> None:
    """All that must hold of a lowered and simulated plan.

    Raises:
        InvariantError: of the Trace's own checks.
        ReplayError: of the ones here.
    """
    trace.check()
    replay(trace)
    check_computed_once(trace.program)
    check_weights_first_once(trace.program)
