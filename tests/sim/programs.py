"""Programs from short lists, for tests: what the simulator needs and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from types import SimpleNamespace
from typing import cast

import numpy as np
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import EngineKind, Hardware, MatrixModel
from graphturbo_core.ir.boxes import Box
from graphturbo_core.ir.graph import TensorKind
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import (
    MAX_RANK,
    Buffers,
    Cause,
    Channel,
    ChannelKind,
    Engine,
    InstructionKind,
    Memory,
    Program,
)

MATRIX, VECTOR, MOVE = EngineKind.MATRIX, EngineKind.VECTOR, EngineKind.MOVE
CORES = 4
_PORTS = (ChannelKind.LB_PORT, ChannelKind.LINK_IN, ChannelKind.LINK_OUT)
CHANNELS = {
    channel.name: channel
    for channel in (
        *(Channel(kind, 1, core) for kind in _PORTS for core in range(CORES)),
        Channel(ChannelKind.GB_PORT, 1),
        Channel(ChannelKind.DRAM_SHARE, 1),
    )
}
"""Channels of one byte per second, by the names that a Step uses."""


@dataclass(frozen=True)
class Step:
    """One instruction. `engine` is (kind, core), or an int for a system DMA.

    `channels`: name -> cycles. `data` and `address`: earlier rows it conflicts with. `reads` and
    `writes`: indexes of buffers. A move's hold is its slowest channel's time.
    """

    engine: tuple[EngineKind, int] | int
    hold: int = 0
    latency: int = 0
    channels: dict[str, int] = field(default_factory=dict)
    data: Sequence[int] = ()
    address: Sequence[int] = ()
    segment: int = 0
    layer: int = 0
    kernel: int = 0
    kind: InstructionKind = InstructionKind.COMPUTE
    size: int = 0
    halo: int = 0
    source: int = -1
    target: int = -1
    cause: Cause = Cause.NONE
    reads: Sequence[int] = ()
    writes: Sequence[int] = ()

    @property
    def hold_cycles(self) -> int:
        """The engine is held as long as the slowest channel."""
        return max(self.hold, *self.channels.values(), 0)

    def find(self) -> Engine:
        """The engine it runs on."""
        if isinstance(self.engine, int):
            return Engine(EngineKind.DMA, -1, self.engine)
        return Engine(self.engine[0], self.engine[1], 0)


@dataclass(frozen=True)
class Block:
    """One buffer: where it lies."""

    memory: Memory
    offset: int
    size: int
    core: int = -1
    tensor: str = "t"
    is_output: bool = False


def hardware(cores: int = 2, **changes: object) -> Hardware:
    """A chip with small memories; every rate is one byte a cycle."""
    numbers: dict[str, object] = {
        "name": "toy", "title": "Toy", "clusters": 1, "cores": cores, "clock_hz": 1,
        "matrix_rows": 1, "matrix_columns": 1, "matrix_model": MatrixModel.PASSES,
        "matrix_rate": {"fp16": 1}, "vector_lanes": 1, "vector_rate": {"fp16": 1},
        "transcendental_ops": 1, "dma_engines": 1, "lb_data_bytes": 100, "lb_weight_bytes": 50,
        "staging_bytes": 20, "is_pooled": False, "gb_bytes": 200, "dram_bytes": 1000,
        "lb_bandwidth": 1, "gb_bandwidth": 1, "dram_bandwidth": 1, "link_bandwidth": 1,
        "dram_latency_cycles": 0, "gb_latency_cycles": 0, "link_latency_cycles": 0,
        "launch_cycles": 0, "barrier_cycles": 0, "split_capacity_bytes": 200,
        "channel_padding": 1, "numbers": (),
    }  # fmt: skip
    return Hardware(**(numbers | changes))  # type: ignore[arg-type]


def build(
    steps: Sequence[Step],
    segments: Sequence[tuple[int, int]] = ((0, 0),),
    blocks: Sequence[Block] = (),
    engines: Sequence[Engine] = (),
    chip: Hardware | None = None,
) -> Program:
    """A Program of `steps`; `segments` are (launch, barrier) cycles."""
    used = tuple(dict.fromkeys([*engines, *(step.find() for step in steps)]))
    names = tuple(dict.fromkeys(name for step in steps for name in step.channels))
    tensors = tuple(dict.fromkeys(block.tensor for block in blocks))
    channel_at, channel = _table([[names.index(name) for name in s.channels] for s in steps])
    conflict_at, conflict = _table([[*s.data, *s.address] for s in steps])
    access_at, access = _table([[*s.reads, *s.writes] for s in steps])
    boxes = np.zeros((len(access), MAX_RANK), np.int32)
    n = len(steps)
    return Program(
        plan=_plan(steps, chip or hardware(), blocks),
        engines=used,
        channels=tuple(CHANNELS[name] for name in names),
        tensors=tensors,
        buffers=_buffers(blocks, tensors),
        engine=np.array([used.index(s.find()) for s in steps], np.int16),
        kind=np.array([s.kind for s in steps], np.int8),
        kernel=np.array([s.kernel for s in steps], np.int32),
        segment=np.array([s.segment for s in steps], np.int32),
        op=np.full(n, -1, np.int32),
        layer=np.array([s.layer for s in steps], np.int32),
        tile=np.zeros(n, np.int32),
        hold_cycles=np.array([s.hold_cycles for s in steps], np.int64),
        latency_cycles=np.array([s.latency for s in steps], np.int64),
        cores=np.ones(len(steps), np.int32),
        size_bytes=np.array([s.size for s in steps], np.int64),
        halo_bytes=np.array([s.halo for s in steps], np.int64),
        macs=np.zeros(n, np.int64),
        vector_ops=np.zeros(n, np.int64),
        source=np.array([s.source for s in steps], np.int8),
        target=np.array([s.target for s in steps], np.int8),
        cause=np.array([s.cause for s in steps], np.int8),
        reduce_lo=np.zeros(n, np.int32),
        reduce_hi=np.full(n, -1, np.int32),
        channel_at=channel_at,
        channel=channel,
        channel_cycles=np.array([c for s in steps for c in s.channels.values()], np.int64),
        conflict_at=conflict_at,
        conflict=conflict,
        is_address_conflict=np.array(
            [flag for s in steps for flag in [False] * len(s.data) + [True] * len(s.address)],
            np.bool_,
        ),
        access_at=access_at,
        access_buffer=access,
        access_write=np.array(
            [flag for s in steps for flag in [False] * len(s.reads) + [True] * len(s.writes)],
            np.bool_,
        ),
        access_lo=boxes,
        access_hi=boxes,
        access_tensor=np.zeros(len(access), np.int32),
        result_lo=np.zeros((n, MAX_RANK), np.int32),
        result_hi=np.ones((n, MAX_RANK), np.int32),
        segment_open_cycles=np.array([launch for launch, _ in segments], np.int64),
        segment_close_cycles=np.array([barrier for _, barrier in segments], np.int64),
    )


def _table(rows: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    at = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return at, np.array([value for row in rows for value in row], np.int32)


def _plan(steps: Sequence[Step], chip: Hardware, blocks: Sequence[Block]) -> Plan:
    """Stands for a Plan: the simulator asks for chip, layers, outputs, kernels and clusters."""
    layers = max((step.layer for step in steps), default=-1) + 1
    made = SimpleNamespace(kind=TensorKind.ACTIVATION, shape=())
    graph = SimpleNamespace(
        outputs=tuple(b.tensor for b in blocks if b.is_output),
        output_names=frozenset(b.tensor for b in blocks if b.is_output),
        tensors={block.tensor: made for block in blocks},
    )
    stub = SimpleNamespace(
        hardware=chip,
        layers=(None,) * layers,
        semantics=SimpleNamespace(graph=graph),
        clusters=1,
        kernels=(SimpleNamespace(outputs={}),)
        * (max((step.kernel for step in steps), default=-1) + 1),
    )
    return cast("Plan", stub)


def _buffers(blocks: Sequence[Block], tensors: Sequence[str]) -> Buffers:
    n = len(blocks)
    boxes = np.zeros((n, MAX_RANK), np.int32)
    return Buffers(
        memory=np.array([b.memory for b in blocks], np.int8),
        core=np.array([b.core for b in blocks], np.int16),
        offset=np.array([b.offset for b in blocks], np.int64),
        size_bytes=np.array([b.size for b in blocks], np.int64),
        tensor=np.array([tensors.index(b.tensor) for b in blocks], np.int32),
        lo=boxes,
        hi=boxes,
        first=np.zeros(n, np.int64),
        last=np.zeros(n, np.int64),
        is_spill=np.zeros(n, np.bool_),
        cores=np.ones(n, np.int32),
    )


LOAD, PRODUCT, SUM = (MOVE, 0), (MATRIX, 0), (VECTOR, 0)


@st.composite
def few_steps(draw: st.DrawFn, most: int = 5) -> list[Step]:
    found: list[Step] = []
    for index in range(draw(st.integers(1, most))):
        engine = draw(st.sampled_from([LOAD, (MOVE, 1), PRODUCT, SUM]))
        is_move = engine[0] is MOVE
        channels = st.dictionaries(st.sampled_from(["gb", "lb 0"]), st.integers(1, 5), min_size=1)
        earlier = st.lists(st.integers(0, index - 1), max_size=2) if index else st.just([])
        found.append(
            Step(
                engine,
                hold=0 if is_move else draw(st.integers(1, 5)),
                latency=draw(st.integers(0, 3)) if is_move else 0,
                channels=draw(channels) if is_move else {},
                data=draw(earlier),
            )
        )
    return found


BLOCKS = (Block(Memory.DRAM, 0, 500), Block(Memory.DRAM, 500, 500))


@dataclass(frozen=True)
class Access:
    """One access of one instruction, unless `is_of_the_one_before` gives it to the earlier one."""

    box: Box
    is_write: bool
    buffer: int = 0
    segment: int = 0
    is_of_the_one_before: bool = False


def program_of(accesses: Sequence[Access], conflicts: Sequence[Sequence[int]] = ()) -> Program:
    """Every move has a latency, so that the queue alone keeps nothing in order."""
    held: list[list[Access]] = []
    for access in accesses:
        held += [] if access.is_of_the_one_before else [[]]
        held[-1].append(access)
    steps = [
        Step(
            (MOVE, 0), 1, latency=5, segment=group[0].segment,
            reads=[a.buffer for a in group if not a.is_write],
            writes=[a.buffer for a in group if a.is_write],
            data=conflicts[row] if conflicts else (),
        )
        for row, group in enumerate(held)
    ]  # fmt: skip
    segments = [(0, 0)] * (1 + max(access.segment for access in accesses))
    program = build(steps, segments=segments, blocks=BLOCKS)
    box = np.zeros((2, len(accesses), MAX_RANK), np.int32)
    box[1] = 1
    for row, access in enumerate(accesses):
        box[:, row, : len(access.box)] = np.array(access.box).T
    return replace(program, access_lo=box[0], access_hi=box[1])


def tiles(draw: Random, count: int) -> list[Access]:
    """Tiles, windows over several, rows and all of it, in two buffers and two segments."""
    accesses: list[Access] = []
    for place in range(count):
        row, column, depth = draw.randrange(9), draw.randrange(6), draw.randrange(3)
        tile = ((3 * row, 3 * row + 3), (2 * column, 2 * column + 2), (depth, depth + 1))
        window = ((3 * row, 3 * row + 5), (2 * column, 2 * column + 3), (0, 3))
        shape = ((0, 29), (2 * column, 2 * column + 2), (0, 3))
        whole = ((0, 29), (0, 13), (0, 3))
        box = draw.choices((tile, window, shape, whole), (20, 6, 2, 1))[0]
        access = Access(box, draw.random() < 0.4, draw.randrange(2), int(place > 0.7 * count))
        before = accesses[-1] if accesses else access
        is_next = place > 0 and access.is_write and before.segment == access.segment
        is_same = is_next and draw.random() < 0.5
        accesses.append(replace(access, is_of_the_one_before=is_same))
    return accesses
