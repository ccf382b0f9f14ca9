"""KernelPlacement -> KernelCode: the instructions of a kernel, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from graphturbo_core.hardware.hardware import CLUSTER_CORE
from graphturbo_core.ir.boxes import Box, Interval, extents, intersect, is_empty
from graphturbo_core.ir.graph import Op
from graphturbo_core.lowering.emission.costs import EngineLoads, OpCosts
from graphturbo_core.lowering.emission.loads import OperandFeeder
from graphturbo_core.lowering.emission.mover import Mover, issuing_cores
from graphturbo_core.lowering.emission.weight_sources.feeder import WeightFeeder
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment
from graphturbo_core.lowering.instructions.code import (
    CodeBuilder,
    Compute,
    Crossing,
    KernelCode,
    Touched,
    Where,
)
from graphturbo_core.lowering.instructions.local_buffers import LocalBuffer
from graphturbo_core.lowering.instructions.machine import End, Machine
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.reached import Reached
from graphturbo_core.lowering.stages.stage import Operand, Stage, tensor_bytes
from graphturbo_core.lowering.tiling.staging import StagingPlan
from graphturbo_core.lowering.tiling.tiling import Tile, operand_box, too_many_instructions
from graphturbo_core.products.plan import Plan
from graphturbo_core.products.program import Memory


@dataclass(frozen=True, slots=True)
class Room:
    """Caps and present counts of a program's instructions and accessed boxes.

    `ahead`: lower bound on the instructions of the remaining kernels. `is_ahead_counted`: whether
    they count towards the cap, so that a too long program is refused sooner, but with a lower
    number in the refusal.
    """

    max_instructions: int
    max_accesses: int
    ahead: int
    instructions: int = 0
    accesses: int = 0
    is_ahead_counted: bool = False

    def holds(self, instructions: int, accesses: int) -> bool:
        """Whether these additional instructions and accesses are within the caps."""
        ahead = self.ahead if self.is_ahead_counted else 0
        return (
            self.instructions + instructions + ahead <= self.max_instructions
            and self.accesses + accesses <= self.max_accesses
        )

    def fewest(self, instructions: int, accesses: int) -> int:
        """The lowest cap that permits these additional counts; boxes in proportion."""
        boxes = (self.accesses + accesses) * self.max_instructions
        return max(self.instructions + instructions + self.ahead, -(-boxes // self.max_accesses))

    def with_kernels(self, code: KernelCode, count: int) -> Room:
        """The room after adding `count` kernels with this code."""
        return replace(
            self,
            instructions=self.instructions + count * code.size,
            accesses=self.accesses + count * len(code.access_buffer),
        )


@dataclass(frozen=True)
class Common:
    """Values common to the emission of all kernels of a program; `op_index` by op name."""

    plan: Plan
    machine: Machine
    op_index: Mapping[str, int]
    _costs: dict[tuple[int, int], OpCosts] = field(default_factory=dict)

    def costs(self, op: Op, output_index: int) -> OpCosts:
        """The costs of an op's tiles, shared by ops of one kind."""
        key = self.plan.semantics.kinds[op.name], output_index
        if key not in self._costs:
            self._costs[key] = OpCosts(self.plan, op.name, output_index)
        return self._costs[key]


def emit_kernel(
    common: Common, placement: KernelPlacement, around: KernelEnvironment, room: Room
) -> KernelCode:
    """Returns all instructions of one kernel in layer order.

    Inside a stage the moves of the next tile come before the computes of the present one, so that
    in-order queues overlap them; weight tiles are fetched into GB one tile further ahead. With one
    tile buffer per operand, moves come after the computes that read the buffer. Weights of later
    kernels come last.

    Raises:
        CapacityError: TOO_MANY_INSTRUCTIONS, as soon as `room` is exceeded.
    """
    emitter = _Emitter(common, placement, around, room)
    for stage in placement.stages:
        emitter.stage(stage)
    emitter.weights.early(common.op_index)
    emitter.operands.early()
    return emitter.builder.finish()


Slot = tuple[str, int]
"""A value of a nest, and its staging slot."""


class _NestOp(NamedTuple):
    """An op of a loop nest, with values common to all its tiles.

    `is_first`: whether it is the one whose K is cut. `reached`: tensors read from outside the nest,
    None without any; `inside`: values of the nest that it reads; `result`: its value inside the
    nest, unless it is the last op. `rows`: numbers of the rows of its computes inside LB, by core,
    box or its extents, and cut of K.
    """

    number: int
    is_first: bool
    costs: OpCosts
    reached: Reached[Operand] | None
    inside: tuple[Slot, ...]
    result: Slot
    rows: dict[tuple[int, Box | tuple[int, ...], Interval | None], int]


class _Nest(NamedTuple):
    """A stage whose tiles are being emitted."""

    stage: Stage
    staging: StagingPlan
    ops: tuple[_NestOp, ...]


class _CoreTile(NamedTuple):
    """A core's tile in a step, with the extents of its box, and its staging buffers by slot."""

    step: int
    core: int
    tile: Tile
    sizes: tuple[int, ...]
    values: dict[int, int]


class _Emitter:
    """Emits one kernel's computes and stores; operand streaming emits the moves before them."""

    def __init__(
        self, common: Common, placement: KernelPlacement, around: KernelEnvironment, room: Room
    ) -> None:
        self.common = common
        self.plan = plan = common.plan
        self.room = room
        self.placement = placement
        self.around = around
        self.op_index = op_index = common.op_index
        self.machine = common.machine
        self.builder = CodeBuilder(self.machine)
        cores = issuing_cores(placement.kernel, plan.hardware.cores)
        self.mover = Mover(plan, self.builder, placement.stages, cores)
        self.weights = WeightFeeder(plan, placement, around, self.mover)
        self.operands = OperandFeeder(plan, placement, around, self.mover, op_index)
        self.ordinal: dict[int, int] = {}
        self.values: dict[tuple[int, int, int], dict[int, int]] = {}

    def stage(self, stage: Stage) -> None:
        """Emit one loop nest: tiles in lockstep over the cores; nothing if the result is a view."""
        if stage.index in self.placement.views.skipped:
            return
        steps, staging = self.placement.tiles[stage.index], self.placement.staging[stage.index]
        nest = _Nest(stage, staging, self._nest_ops(stage, staging))
        self.values.clear()
        self.loads = EngineLoads()
        self.weights.begin(stage, self.op_index)
        self.operands.begin(stage)
        ahead = self.plan.feeding.tiles_ahead
        for number in range(ahead):
            self._fetch(stage, number)
        for number, step in enumerate(steps):
            self._fetch(stage, number + ahead)
            for core, tile in step.items():
                self._tile(nest, number, core, tile)
            listed = (len(self.builder.row_numbers), self.builder.accesses)
            if not self.room.holds(*listed):
                fewest = self.room.fewest(*listed)
                raise too_many_instructions(self.plan, stage.ops[0].name, fewest)

    def _fetch(self, stage: Stage, step: int) -> None:
        steps = self.placement.tiles[stage.index]
        if step < len(steps):
            self.operands.advance(stage, step, steps[step])
            self.weights.advance(step)

    def _nest_ops(self, stage: Stage, staging: StagingPlan) -> tuple[_NestOp, ...]:
        read = [[operand for operand in stage.operands if operand.op is op] for op in stage.ops]
        slot_of = staging.slot_of

        def slots(names: Iterable[str]) -> tuple[Slot, ...]:
            return tuple((name, slot_of[name]) for name in dict.fromkeys(names) if name in slot_of)

        return tuple(
            _NestOp(
                self.op_index[op.name],
                place == 0,
                self.common.costs(op, 0 if place else stage.output_index),
                Reached(stage, read[place], [(o,) for o in read[place]]) if read[place] else None,
                slots(op.inputs),
                next(iter(slots(op.outputs)), (op.outputs[0], 0)),
                {},
            )
            for place, op in enumerate(stage.ops)
        )

    def _tile(self, nest: _Nest, step: int, core: int, tile: Tile) -> None:
        """Emit the contraction's cut of K, and after the last cut the other ops and the store."""
        if tile.is_first:
            self.ordinal[core] = self.ordinal.get(core, -1) + 1
        values = self.values.setdefault((core, tile.row, tile.column), {})
        at = _CoreTile(step, core, tile, extents(tile.box), values)
        if not tile.is_last:
            self._compute(nest, at, nest.ops[0], None)
            return
        for each in nest.ops[:-1]:
            self._compute(nest, at, each, None)
        target = self._target(nest.stage, core, tile.box)
        self._compute(nest, at, nest.ops[-1], target)
        self._store(nest.stage, at, target[0])

    def _target(self, stage: Stage, core: int, box: Box) -> Touched:
        """Write access of the nest's result: in LB, or in GB for a shared engine."""
        output = stage.output
        if stage.is_on_cluster:
            site = self.around.targets.get(output)
            if site is not None and (site.memory is Memory.GB or stage.is_passing):
                return self.mover.shared(site), True, box, output
            return self.operands.ring_buffer(stage, output, core, box), True, box, output
        holder, inside = self.placement.views.root(output, box)
        placed = self.placement.residents.get(holder)
        made = placed.made if placed is not None and holder == output else placed
        if made is not None and core in made.boxes and output in self.placement.in_place:
            return self.operands.held(made, core), True, inside, output
        return self.operands.ring_buffer(stage, output, core, box), True, box, output

    def _compute(self, nest: _Nest, at: _CoreTile, each: _NestOp, target: Touched | None) -> None:
        """Emit one op on one tile; without a target its result remains inside the nest."""
        step, core, tile, sizes, _ = at
        box = tile.box
        accesses = [] if each.reached is None else self._reads(nest.stage, each.reached, at)
        for name, slot in each.inside:
            accesses.append((self._value(nest, at, name, slot), False, box, name))
        written = target
        if written is None:
            written = self._value(nest, at, *each.result), True, box, each.result[0]
        if each.is_first and not tile.is_first:
            sums = self._value(nest, at, *each.result)
            accesses.append((sums, False, box, written[3]))
        accesses.append(written)
        cut = tile.reduce if each.is_first else None
        key = core, sizes if each.costs.is_by_extents else box, cut
        row = each.rows.get(key)
        if row is not None:
            self.builder.add(row, step, accesses, box)
            return
        cost = each.costs.of(box, sizes, cut)
        is_divided = each.is_first and cost.other is not None
        if is_divided:
            after = nest.ops[1:] if tile.is_last else ()
            cost = self.loads.taken(core, cost, [op.costs.of(box, sizes, None) for op in after])
        engine = self.machine.engine(cost.engine, core)
        where = Where(each.number, nest.stage.layer, step)
        work = Compute(
            box, cost.cycles, cost.macs, cost.vector_ops, cut or (0, -1),
            self._far_bytes(accesses) if core == CLUSTER_CORE else (),
            self.machine.classes.size(core),
            nest.stage.is_passing,
        )  # fmt: skip
        self.builder.compute(engine, where, work, accesses)
        if core != CLUSTER_CORE and not is_divided:
            each.rows[key] = self.builder.row_numbers[-1]

    def _reads(self, stage: Stage, reached: Reached[Operand], at: _CoreTile) -> list[Touched]:
        """Reads of one op from outside its nest for a tile."""
        step, core, tile = at[:3]
        found: list[Touched] = []
        for operand in reached.by(tile.box):
            box, tensor = operand_box(stage, operand, tile), operand.tensor
            if is_empty(box):
                continue
            if operand.is_tiled_weight:
                found.append((self.weights.tile(step, core), False, box, tensor))
                continue
            small = self.weights.small(tensor, core)
            if small is not None:
                found.append((small, False, box, tensor))
            elif core == CLUSTER_CORE:  # it may read a box from several buffers of GB
                parts = self.operands.parts(tensor, step, box)
                found += [(buffer, False, part, tensor) for buffer, part in parts]
            else:
                buffer, inside = self.operands.locate(tensor, core, step, box)
                found.append((buffer, False, inside, tensor))
        return found

    def _far_bytes(self, accesses: Iterable[Touched]) -> tuple[Crossing, ...]:
        """Bytes that a compute outside LB reads and writes, per memory."""
        found: dict[End, int] = {}
        for number, _, box, tensor in accesses:
            buffer = self.builder.buffers[number]
            if buffer.memory >= Memory.GB:
                end = buffer.memory, buffer.core
                found[end] = found.get(end, 0) + tensor_bytes(self.plan, tensor, box)
        return tuple(Crossing(end, size) for end, size in found.items())

    def _value(self, nest: _Nest, at: _CoreTile, name: str, slot: int) -> int:
        """The staging buffer of a value inside the nest; values in one slot share a buffer."""
        known = at.values.get(slot)
        if known is None:
            core, tile = at.core, at.tile
            offset = nest.staging.offset(tile, slot, self.ordinal[core])
            size = nest.staging.slot_bytes
            cores = self.machine.classes.size(core)
            known = at.values[slot] = self.builder.buffer(
                LocalBuffer(Memory.STAGING, core, offset, size, name, tile.box, cores=cores)
            )
        return known

    def _store(self, stage: Stage, at: _CoreTile, source: int) -> None:
        site = self.around.targets.get(stage.output)
        is_there = site is not None and (site.memory is Memory.GB or stage.is_passing)
        if site is None or (stage.is_on_cluster and is_there):
            return
        box = intersect(at.tile.box, site.box)
        if is_empty(box):
            return
        where = Where(self.op_index[stage.ops[-1].name], stage.layer, at.step)
        if stage.is_on_cluster:
            self.mover.write_back(where, site, box, source)
        else:
            self.mover.store(where, site, box, (at.core, source))
