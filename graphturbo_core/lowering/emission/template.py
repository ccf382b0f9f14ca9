"""Setting -> template key: equal for kernels whose code differs only by names and places."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from graphturbo_core.ir.boxes import Box, extents, intersect
from graphturbo_core.lowering.emission.setting import Setting
from graphturbo_core.lowering.global_buffer.sites import Site
from graphturbo_core.lowering.stages.stage import Operand, Stage, stage_operands
from graphturbo_core.products.program import Memory
from graphturbo_core.semantics.access import AxisKind

_PLACELESS = frozenset({AxisKind.SAME, AxisKind.PERMUTED, AxisKind.NONE, AxisKind.WHOLE})
"""Axis kinds whose boxes do not depend on how near the tensor's edge they lie."""


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
        _retained_boxes(setting),
        _early_inputs(setting),
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
    layers = setting.layers
    place = {layer: rank for rank, layer in enumerate(dict.fromkeys(layers))}
    return tuple([place[layer] for layer in layers])


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
            tuple(sorted(resident.direct)),
            resident.has_tile_exchange,
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


def _retained_boxes(setting: Setting) -> Hashable:
    """Without `RetainedBox.number`; ops and layers of early fetches by their place among them."""
    number, early = setting.number, setting.around.early
    ops = {op: place for place, op in enumerate(dict.fromkeys(each.op for each in early))}
    layers = {own: place for place, own in enumerate(dict.fromkeys(e.layer for e in early))}
    retained = (*setting.around.retained.values(), *(each.retained for each in early))
    return (
        tuple((number[each.tensor], each.box, each.alike, each.is_first) for each in retained),
        tuple((ops[each.op], layers[each.layer]) for each in early),
    )


def _early_inputs(setting: Setting) -> Hashable:
    """Ops and layers by their place among the kernel's own and those of all fetches.

    The kernel may prefetch for another piece of its own group: for ops that it has itself.
    """
    fetches = setting.around.early_inputs
    names = (*(op.name for op in setting.ops), *(each.op for each in fetches))
    ops = {op: place for place, op in enumerate(dict.fromkeys(names))}
    numbers = (*setting.layers, *(each.layer for each in fetches))
    layers = {layer: place for place, layer in enumerate(dict.fromkeys(numbers))}
    return tuple(
        (
            _site_row(setting, each.source),
            _site_row(setting, each.target),
            setting.relative(each.source.tensor, each.own),
            ops[each.op],
            layers[each.layer],
        )
        for each in fetches
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
            if how.kind is AxisKind.INNER:  # several places of the output begin at one of it
                yield axis, begin, True, True
