"""One lowered template per group and piece class, copied with an offset."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.ir.boxes import Box, intersect
from graphturbo_core.lowering.code import KernelCode, SharedKey
from graphturbo_core.lowering.placement import KernelPlacement
from graphturbo_core.lowering.program import MAX_RANK, Memory
from graphturbo_core.lowering.sites import Site, Surroundings
from graphturbo_core.semantics.access import AxisKind

_PLACELESS = frozenset({AxisKind.SAME, AxisKind.PERMUTED, AxisKind.NONE, AxisKind.WHOLE})
"""Axis kinds whose boxes do not depend on how near the tensor's edge they lie."""

Corner = tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """A kernel with all that its code is made from."""

    placement: KernelPlacement
    around: Surroundings

    def corner(self, tensor: str) -> Corner | None:
        """Lowest corner of the kernel's box of an activation; None for a weight."""
        box = self.placement.kernel.boxes.get(tensor)
        return None if box is None else tuple(lo for lo, _ in box)

    def relative(self, tensor: str, box: Box) -> Box:
        """A box seen from the kernel's corner of that tensor."""
        corner = self.corner(tensor)
        if corner is None:
            return box
        return tuple((lo - c, hi - c) for (lo, hi), c in zip(box, corner, strict=True))


def template_key(setting: Setting) -> Hashable:
    """Equal for kernels whose code differs only by where their boxes lie.

    Everything that emission reads is in it, boxes relative to the kernel's corner. On axes that are
    read through windows or offsets the place itself counts, because edges clip boxes there.
    """
    placement = setting.placement
    return (
        placement.kernel.group,
        placement.kernel.ops,
        _shares(setting),
        _residents(setting),
        tuple((*key, ring.offset, ring.tile_bytes) for key, ring in placement.rings.items()),
        placement.weights,
        tuple(items and items.offsets for items in placement.items),
        tuple(placement.views.maps),
        placement.views.skipped,
        tuple(sorted(placement.kept)),
        _sites(setting),
        tuple((name, held.fetched) for name, held in setting.around.held.items()),
        tuple(setting.around.shards.values()),
        _edges(setting),
    )


def _shares(setting: Setting) -> Hashable:
    return tuple(
        (
            stage.output,
            tuple((core, setting.relative(stage.output, b)) for core, b in stage.shares.items()),
        )
        for stage in setting.placement.stages
    ), tuple(setting.placement.tilings)


def _residents(setting: Setting) -> Hashable:
    return tuple(
        (
            name,
            resident.offset,
            resident.is_inherited,
            tuple((core, setting.relative(name, b)) for core, b in resident.boxes.items()),
            tuple((core, setting.relative(name, b)) for core, b in resident.shares.items()),
        )
        for name, resident in setting.placement.residents.items()
    )


def _sites(setting: Setting) -> Hashable:
    sources = setting.around.sources
    rows = [_site_row(setting, site) for name in sorted(sources) for site in sources[name]]
    targets = [_site_row(setting, site) for _, site in sorted(setting.around.targets.items())]
    return tuple(rows), tuple(targets)


def _site_row(setting: Setting, site: Site) -> Hashable:
    box = site.box
    whole = setting.placement.kernel.boxes.get(site.tensor)
    if site.memory is Memory.DRAM and whole is not None:
        box = intersect(box, whole)
    is_own = site.maker == setting.around.kernel
    relative = setting.relative(site.tensor, box)
    held = setting.relative(site.tensor, site.held) if site.held else None
    return (site.tensor, site.memory, relative, is_own, site.cause, site.is_spill, held)


def _edges(setting: Setting) -> Hashable:
    """How the boxes of inputs lie to those of outputs on axes where place matters.

    Where input rows follow output rows at a fixed stride, their distance and whether the box
    touches an edge of the tensor say all; otherwise the place itself does, as it does for weights
    that follow an output axis (a split over channels).
    """
    found: list[tuple[str, int, int, bool, bool]] = []
    for stage in setting.placement.stages:
        shape = stage.first.output_shapes[stage.output_index]
        for operand in stage.operands:
            box = setting.placement.kernel.boxes.get(operand.tensor)
            for axis, how in enumerate(operand.access.axes):
                if how.out_axis < 0:
                    continue
                begin = stage.box[how.out_axis][0]
                if box is None:
                    found.append((operand.tensor, axis, begin, True, True))
                    continue
                if how.kind in _PLACELESS:
                    continue
                lo, hi = box[axis]
                row = (operand.tensor, axis, lo, True, True)
                if how.kind is AxisKind.WINDOW and how.size == shape[how.out_axis] * how.stride:
                    distance = lo - begin * how.stride
                    row = (operand.tensor, axis, distance, lo == 0, hi == how.size)
                found.append(row)
    return tuple(found)


def copied(code: KernelCode, model: Setting, setting: Setting) -> KernelCode:
    """The code of `setting`, from that of a kernel with the same key."""
    names = {buffer.tensor for buffer in code.buffers}
    shift = {name: _shift(name, model, setting) for name in names}
    moved = np.array([_padded(shift[b.tensor]) for b in code.buffers], dtype=np.int32)
    results = _result_shifts(code, model, setting)
    keys = _key_map(model, setting)
    return replace(
        code,
        access_lo=code.access_lo + moved[code.access_buffer],
        access_hi=code.access_hi + moved[code.access_buffer],
        result_lo=code.result_lo + results,
        result_hi=code.result_hi + results,
        buffers=tuple(
            replace(
                buffer,
                box=_moved_box(buffer.box, shift[buffer.tensor])
                if buffer.memory is not Memory.DRAM
                else buffer.box,
                shared=keys.get(buffer.shared, buffer.shared) if buffer.shared else None,
            )
            for buffer in code.buffers
        ),
    )


def _shift(tensor: str, model: Setting, setting: Setting) -> Corner:
    old, new = model.corner(tensor), setting.corner(tensor)
    if old is None or new is None:
        return ()
    return tuple(b - a for a, b in zip(old, new, strict=True))


def _result_shifts(code: KernelCode, model: Setting, setting: Setting) -> NDArray[np.int32]:
    """By how much the result of each compute moves: as far as the tensor that it writes."""
    by_tensor = np.array(
        [_padded(_shift(name, model, setting)) for name in code.tensors], dtype=np.int32
    )
    found = np.zeros_like(code.result_lo)
    row = np.repeat(np.arange(len(code.rows)), np.diff(code.access_at))[code.access_write]
    found[row] = by_tensor[code.access_tensor[code.access_write]]
    return found


def _padded(shift: Corner) -> Corner:
    return shift + (0,) * (MAX_RANK - len(shift))


def _moved_box(box: Box, shift: Corner) -> Box:
    if not shift:
        return box
    return tuple((lo + by, hi + by) for (lo, hi), by in zip(box, shift, strict=True))


def _key_map(model: Setting, setting: Setting) -> Mapping[SharedKey, SharedKey]:
    """Shared buffers of the model kernel -> those of its copy."""
    found: dict[SharedKey, SharedKey] = {}
    for name, sites in model.around.sources.items():
        for old, new in zip(sites, setting.around.sources[name], strict=True):
            found[old.key] = new.key
    for name, old in model.around.targets.items():
        found[old.key] = setting.around.targets[name].key
    for name, held in model.around.held.items():
        old_key = (Memory.GB.name, name, -1, held.maker)
        found[old_key] = (Memory.GB.name, name, -1, setting.around.held[name].maker)
    for back in (0, 1):
        for name, resident in model.placement.residents.items():
            for core in resident.boxes:
                old_key = ("KEPT", name, core, model.around.kernel - back)
                found[old_key] = ("KEPT", name, core, setting.around.kernel - back)
    return found
