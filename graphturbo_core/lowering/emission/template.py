"""One lowered template per class of kernels, copied with an offset and under other names."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, corner_of, extents, intersect
from graphturbo_core.ir.graph import Op
from graphturbo_core.lowering.global_buffer.sites import KernelEnvironment, Site
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.local_buffers import RESIDENT, SharedKey
from graphturbo_core.lowering.instructions.machine import far_core
from graphturbo_core.lowering.local_buffer.placement import KernelPlacement
from graphturbo_core.lowering.stages.stage import Operand, Stage, stage_operands
from graphturbo_core.products.program import MAX_RANK, Memory
from graphturbo_core.semantics.access import AxisKind

_PLACELESS = frozenset({AxisKind.SAME, AxisKind.PERMUTED, AxisKind.NONE, AxisKind.WHOLE})
"""Axis kinds whose boxes do not depend on how near the tensor's edge they lie."""

Corner = tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """A kernel with all that its code is made from.

    `others`: placements that take its own one's place where the kernel is shorter with them.
    """

    placement: KernelPlacement
    around: KernelEnvironment
    others: tuple[KernelPlacement, ...] = ()

    @cached_property
    def ops(self) -> tuple[Op, ...]:
        """The ops of all stages, in order; one with several results once for each."""
        return tuple(op for stage in self.placement.stages for op in stage.ops)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every tensor that the code may name, in an order that no name has a say in."""
        placement, around = self.placement, self.around
        own = [name for op in self.ops for name in (*op.inputs, *op.outputs) if name]
        read = [operand.tensor for stage in placement.stages for operand in stage.operands]
        shards = [shard.tensor for shard in around.shards.values()]
        early = [each.retained.tensor for each in around.early]
        far = (*around.sources, *around.targets, *around.held, *shards, *early)
        return tuple(dict.fromkeys((*own, *read, *placement.residents, *far)))

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each of `names`."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def corners(self) -> Mapping[str, Corner]:
        """Lowest corner of the kernel's box of each activation."""
        boxes = self.placement.kernel.boxes
        return {tensor: corner_of(box) for tensor, box in boxes.items()}

    def corner(self, tensor: str) -> Corner | None:
        """Lowest corner of the kernel's box of an activation; None for a weight."""
        return self.corners.get(tensor)

    def relative(self, tensor: str, box: Box) -> Box:
        """A box seen from the kernel's corner of that tensor."""
        corner = self.corners.get(tensor)
        if corner is None or not any(corner):
            return box
        return tuple([(lo - c, hi - c) for (lo, hi), c in zip(box, corner, strict=True)])

    def relative_shares(self, stage: Stage) -> Hashable:
        """A stage's shares, so seen; stages of one cut have the same ones."""
        known = self._relative_shares
        key = id(stage.shares), self.corner(stage.output)
        if key not in known:
            shares = stage.shares.items()
            known[key] = tuple([(core, self.relative(stage.output, box)) for core, box in shares])
        return known[key]

    @cached_property
    def _relative_shares(self) -> dict[tuple[int, Corner | None], Hashable]:
        return {}


def template_key(setting: Setting, kinds: Mapping[str, int]) -> Hashable:
    """Equal for kernels whose code differs only by names and by the place of their boxes.

    The key contains everything that emission reads: tensors as places in `Setting.names`, boxes
    relative to the kernel's corner. On axes that are read through windows or offsets the key has
    the place itself, because edges clip boxes there.
    """
    placement, number = setting.placement, setting.number
    shared = placement.shared
    if shared.template is None:
        shared.template = _PlacedKey.of(setting, kinds)
    return (
        shared.template,
        _layer_places(setting),
        _owned(setting),
        setting.around.ring,
        tuple(items and items.offsets for items in placement.items),
        _sites(setting),
        tuple((number[name], held.fetched) for name, held in setting.around.held.items()),
        _shards(setting),
        _stays(setting),
        setting.around.dram_shares,
        tuple(template_key(Setting(other, setting.around), kinds) for other in setting.others),
    )


@dataclass(frozen=True, eq=False)
class _PlacedKey:
    """The part of a template key that follows from a placement, hashed once.

    Copies of a placement have the same one: `Places` takes for equal what differs by names and by
    place alone.
    """

    parts: tuple[Hashable, ...]
    hashed: int

    @classmethod
    def of(cls, setting: Setting, kinds: Mapping[str, int]) -> _PlacedKey:
        """The key of the setting's placement."""
        placement, number = setting.placement, setting.number
        parts = (
            _ops(setting, kinds),
            _shares(setting),
            _residents(setting),
            _rings(setting),
            placement.weights,
            tuple((number[view], number[how.tensor]) for view, how in placement.views.maps.items()),
            placement.views.skipped,
            tuple(sorted(number[name] for name in placement.kept)),
            _edges(setting),
            bool(placement.kernel.branches),
        )
        return cls(parts, hash(parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PlacedKey) and self.parts == other.parts

    def __hash__(self) -> int:
        return self.hashed


def _ops(setting: Setting, kinds: Mapping[str, int]) -> Hashable:
    """The stages' ops by kind, and their tensors by place."""
    number = setting.number
    return tuple(
        (kinds[op.name], *(number.get(name, -1) for name in (*op.inputs, *op.outputs)))
        for op in setting.ops
    )


def _layer_places(setting: Setting) -> Hashable:
    """The layer of each stage by its place among them."""
    layers = _layers(setting)
    place = {layer: rank for rank, layer in enumerate(dict.fromkeys(layers))}
    return tuple([place[layer] for layer in layers])


def _layers(setting: Setting) -> list[int]:
    """The layer of each stage."""
    return [stage.layer for stage in setting.placement.stages]


def _shares(setting: Setting) -> Hashable:
    return tuple(
        [
            (
                setting.number[stage.output],
                len(stage.ops),
                setting.relative_shares(stage),
                None if stage.classes is None else (stage.binding, extents(stage.box)),
            )
            for stage in setting.placement.stages
        ]
    ), tuple(setting.placement.tilings)


def _owned(setting: Setting) -> Hashable:
    """What each stage owns of its box: not of the placement, as it depends on the other pieces."""
    stages = setting.placement.stages
    return tuple([setting.relative(stage.output, stage.owned) for stage in stages])


def _residents(setting: Setting) -> Hashable:
    return tuple(
        (
            setting.number[name],
            resident.offset,
            resident.is_inherited,
            resident.own and (resident.own.offset, resident.own.is_inherited),
            tuple((core, setting.relative(name, b)) for core, b in resident.boxes.items()),
            tuple((core, setting.relative(name, b)) for core, b in resident.shares.items()),
            resident.cut and (resident.cut.binding, setting.relative(name, resident.cut.box)),
        )
        for name, resident in setting.placement.residents.items()
    )


def _rings(setting: Setting) -> Hashable:
    return tuple(
        sorted(
            (stage, setting.number[tensor], ring.offset, ring.tile_bytes)
            for (stage, tensor), ring in setting.placement.rings.items()
        )
    )


def _shards(setting: Setting) -> Hashable:
    """Without `Shard.number`: it tells shards of the whole chip apart."""
    return tuple(
        (setting.number[shard.tensor], shard.box, shard.core, shard.is_first)
        for shard in setting.around.shards.values()
    )


def _stays(setting: Setting) -> Hashable:
    """Without `RetainedBox.number`; ops and layers of early fetches by their place among them."""
    number, early = setting.number, setting.around.early
    ops = {op: place for place, op in enumerate(dict.fromkeys(each.op for each in early))}
    layers = {own: place for place, own in enumerate(dict.fromkeys(e.layer for e in early))}
    staying = (*setting.around.retained.values(), *(each.retained for each in early))
    return (
        tuple((number[each.tensor], each.box, each.alike, each.is_first) for each in staying),
        tuple((ops[each.op], layers[each.layer]) for each in early),
    )


def _sites(setting: Setting) -> Hashable:
    sources, targets = setting.around.sources, setting.around.targets
    rows = [_site_row(setting, site) for name in setting.names for site in sources.get(name, ())]
    ends = [_site_row(setting, targets[name]) for name in setting.names if name in targets]
    return tuple(rows), tuple(ends)


def _site_row(setting: Setting, site: Site) -> Hashable:
    box = site.box
    whole = setting.placement.kernel.boxes.get(site.tensor)
    if site.memory is Memory.DRAM and whole is not None:
        box = intersect(box, whole)
    is_own = site.maker == setting.around.kernel
    relative = setting.relative(site.tensor, box)
    held = setting.relative(site.tensor, site.held) if site.held else None
    number = setting.number[site.tensor]
    return (
        number, site.memory, site.away, relative, is_own, site.cause, site.is_spill, held,
        site.scratch,
    )  # fmt: skip


def _edges(setting: Setting) -> Hashable:
    """How the boxes of inputs lie to those of outputs on axes where place matters.

    Where input rows follow output rows at a fixed stride, their distance and whether the box
    touches an edge of the tensor say all; otherwise the place itself does, as it does for weights
    that follow an output axis (a split over channels).
    """
    found: list[tuple[int, int, int, bool, bool]] = []
    for stage, operand in stage_operands(setting.placement.stages):
        box = setting.placement.kernel.boxes.get(operand.tensor)
        number = setting.number[operand.tensor]
        found += [(number, *edge) for edge in _operand_edges(stage, operand, box)]
    return tuple(found)


def _operand_edges(
    stage: Stage, operand: Operand, box: Box | None
) -> Iterator[tuple[int, int, bool, bool]]:
    """Axis, place or distance and edges touched; `box`: of the operand, None: from elsewhere."""
    shape = stage.first.output_shapes[stage.output_index]
    for axis, how in enumerate(operand.access.axes):
        if how.out_axis < 0 or (box is not None and how.kind in _PLACELESS):
            continue
        begin = stage.box[how.out_axis][0]
        if box is None:
            yield axis, begin, True, True
        elif how.kind is AxisKind.WINDOW and how.size == shape[how.out_axis] * how.stride:
            lo, hi = box[axis]
            yield axis, lo - begin * how.stride, lo == 0, hi == how.size
        else:
            yield axis, box[axis][0], True, True


def copied(
    code: KernelCode, model: Setting, setting: Setting, op_index: Mapping[str, int]
) -> KernelCode:
    """The code of `setting`, from that of a kernel with the same key."""
    keys = _key_map(model, setting)
    shared = {row: keys[key] for row, key in code.buffers.shared.items()}
    renamed = replace(code, buffers=replace(code.buffers, shared=shared))
    is_same = model.names == setting.names and model.ops == setting.ops
    if not is_same or _layers(model) != _layers(setting) or setting.around.early:
        renamed = _renamed(renamed, model, setting, op_index)
    shifts = {name: _shift(name, model, setting) for name in model.names}
    return _moved(code, renamed, shifts) if any(map(any, shifts.values())) else renamed


def _renamed(
    code: KernelCode, model: Setting, setting: Setting, op_index: Mapping[str, int]
) -> KernelCode:
    """The code with the ops, layers and tensors of `setting`."""
    names = dict(zip(model.names, setting.names, strict=True))
    ops, layers = _renumbered(code, model, setting, op_index)
    own = tuple([names[name] for name in code.buffers.tensors])
    return replace(
        code,
        op=ops,
        layer=layers,
        tensors=tuple(names.get(name, name) for name in code.tensors),
        buffers=replace(code.buffers, tensors=own),
    )


def _moved(code: KernelCode, renamed: KernelCode, shifts: Mapping[str, Corner]) -> KernelCode:
    """The copy at its place; a buffer in DRAM holds all of its tensor. `code`: the model's."""
    moved = _shifts(code.buffers.tensors, shifts)[code.buffers.tensor]
    results = _result_shifts(code, shifts)
    by = np.where((code.buffers.memory == Memory.DRAM)[:, None], 0, moved)
    buffers = renamed.buffers
    return replace(
        renamed,
        access_lo=code.access_lo + moved[code.access_buffer],
        access_hi=code.access_hi + moved[code.access_buffer],
        result_lo=code.result_lo + results,
        result_hi=code.result_hi + results,
        buffers=replace(buffers, lo=buffers.lo + by, hi=buffers.hi + by),
    )


def _renumbered(
    code: KernelCode, model: Setting, setting: Setting, op_index: Mapping[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The ops and layers of `setting`; the model's own columns where these are the same."""
    ops = {op_index[a.name]: op_index[b.name] for a, b in zip(model.ops, setting.ops, strict=True)}
    layers = dict(zip(_layers(model), _layers(setting), strict=True))
    for early, other in zip(model.around.early, setting.around.early, strict=True):
        ops[op_index[early.op]] = op_index[other.op]
        layers[early.layer] = other.layer
    return _mapped(code, "op", ops), _mapped(code, "layer", layers)


def _mapped(code: KernelCode, name: str, numbers: Mapping[int, int]) -> NDArray[np.int32]:
    column: NDArray[np.int32] = getattr(code, name)
    if all(old == new for old, new in numbers.items()):
        return column
    known, place = code.distinct[name]
    return np.array([numbers[old] for old in known], np.int32)[place]


def _shift(tensor: str, model: Setting, setting: Setting) -> Corner:
    """From the model's box of a tensor to the box of what takes its place."""
    old, new = model.corner(tensor), setting.corner(setting.names[model.number[tensor]])
    if old is None or new is None:
        return ()
    return tuple([b - a for a, b in zip(old, new, strict=True)])


def _shifts(names: Sequence[str], shifts: Mapping[str, Corner]) -> NDArray[np.int32]:
    """By how much the boxes of each tensor of the model move, a row each; none for ""."""
    found = np.zeros((len(names), MAX_RANK), dtype=np.int32)
    for row, name in enumerate(names):
        by = shifts.get(name, ())
        found[row, : len(by)] = by
    return found


def _result_shifts(code: KernelCode, shifts: Mapping[str, Corner]) -> NDArray[np.int32]:
    """By how much the result of each compute moves: as far as the tensor that it writes."""
    by_tensor = _shifts(code.tensors, shifts)
    found = np.zeros_like(code.result_lo)
    row = np.repeat(np.arange(code.size), np.diff(code.access_at))[code.access_write]
    found[row] = by_tensor[code.access_tensor[code.access_write]]
    return found


def _key_map(model: Setting, setting: Setting) -> Mapping[SharedKey, SharedKey]:
    """Shared buffers of the model kernel -> those of its copy."""
    found: dict[SharedKey, SharedKey] = {}
    names = dict(zip(model.names, setting.names, strict=True))
    old, new = model.around, setting.around
    for name, sites in old.sources.items():
        for site, other in zip(sites, new.sources[names[name]], strict=True):
            found[site.key] = other.key
    for name, site in old.targets.items():
        found[site.key] = new.targets[names[name]].key
    for name, held in old.held.items():
        maker = new.held[names[name]].maker
        found[Memory.GB.name, name, -1, held.maker] = (Memory.GB.name, names[name], -1, maker)
    for shard, other_shard in zip(old.shards.values(), new.shards.values(), strict=True):
        found[shard.key] = other_shard.key
    for back, (name, resident) in product((0, 1), model.placement.residents.items()):
        for core in resident.made.boxes:
            key = (RESIDENT, name, core, old.kernel - back)
            found[key] = (RESIDENT, names[name], core, new.kernel - back)
    return found | _retained(names, old, new) | _in_dram(names, old.dram_shares)


def _retained(
    names: Mapping[str, str], old: KernelEnvironment, new: KernelEnvironment
) -> dict[SharedKey, SharedKey]:
    """The buffers of retained weights."""
    found = {
        each.key: new.retained[names[name], box].key for (name, box), each in old.retained.items()
    }
    for early, other in zip(old.early, new.early, strict=True):
        found[early.retained.key] = other.retained.key
    return found


def _in_dram(names: Mapping[str, str], dram_shares: int) -> dict[SharedKey, SharedKey]:
    """Keys of the weights' buffers in DRAM, in each of the shares that they are fetched from."""
    return {
        (Memory.DRAM.name, name, far_core(away), -1): (
            Memory.DRAM.name, other, far_core(away), -1
        )
        for name, other in names.items()
        for away in range(dram_shares)
    }  # fmt: skip
