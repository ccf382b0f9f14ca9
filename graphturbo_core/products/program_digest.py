"""Programs of a run -> sha256 that is equal only where the same instructions run on equal ops."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.products.instruction_table import columns
from graphturbo_core.products.program import Buffers, Program


def program_digest(programs: Mapping[int, Program]) -> str:
    """Digest of a run's Programs by round size: 64 hexadecimal digits.

    It covers every column of the instructions and buffers, engines, channels and fences, and the
    graph's ops, since an instruction names its op by number. It leaves out notes, the numbers of
    weights, and the order in which tensors are numbered: a replay draws weights and numbers them
    in another order.
    """
    found = hashlib.sha256()
    for size, program in sorted(programs.items()):
        found.update(repr((size, *_lists(program))).encode())
        for name, array in _columns(program):
            found.update(f"{name} {array.dtype.str} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _lists(program: Program) -> tuple[object, ...]:
    """Ops with their attributes, tensors, engines and channels, as plain values."""
    graph = program.plan.semantics.graph
    ops = [
        (o.name, o.op_type, o.domain, o.inputs, o.outputs, sorted(o.attributes.items()), o.opset)
        for o in graph.ops
    ]
    tensors = sorted((t.name, t.shape, t.dtype, t.kind.value) for t in graph.tensors.values())
    engines = [(engine.kind.value, engine.core, engine.cores) for engine in program.engines]
    channels = [(channel.name, channel.bandwidth) for channel in program.channels]
    return ops, tensors, sorted(program.tensors), engines, channels


def _columns(program: Program) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """Every column by name; tensors are numbered in the order of their names."""
    ranks = np.empty(len(program.tensors), np.int32)
    ranks[sorted(range(len(ranks)), key=program.tensors.__getitem__)] = np.arange(len(ranks))
    for name, column in columns(Program).items():
        values = getattr(program, name)
        yield name, ranks[values] if column.unit == "tensor" else values
    for field in fields(Buffers):
        values = getattr(program.buffers, field.name)
        yield f"buffer {field.name}", ranks[values] if field.name == "tensor" else values
    yield "segment_open_cycles", program.segment_open_cycles
    yield "segment_close_cycles", program.segment_close_cycles
