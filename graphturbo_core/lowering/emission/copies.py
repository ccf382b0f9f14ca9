"""Code of a template -> code of an equivalent kernel: other names, boxes and shared buffers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from graphturbo_core.lowering.emission.setting import Corner, Setting
from graphturbo_core.lowering.global_buffer.sites import AheadFetch, InputFetch, KernelEnvironment
from graphturbo_core.lowering.instructions.code import KernelCode
from graphturbo_core.lowering.instructions.local_buffers import RESIDENT, SharedKey
from graphturbo_core.lowering.instructions.machine import far_core
from graphturbo_core.products.program import MAX_RANK, Memory


def copied(
    code: KernelCode, model: Setting, setting: Setting, op_index: Mapping[str, int]
) -> KernelCode:
    """The code of `setting`, from that of a kernel with the same key."""
    keys = _key_map(model, setting)
    shared = {row: keys[key] for row, key in code.buffers.shared.items()}
    renamed = replace(code, buffers=replace(code.buffers, shared=shared))
    is_same = model.names == setting.names and model.ops == setting.ops
    is_same &= model.layers == setting.layers
    if not is_same or _early(setting.around):
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
    layers = dict(zip(model.layers, setting.layers, strict=True))
    for early, other in zip(_early(model.around), _early(setting.around), strict=True):
        ops[op_index[early.op]] = op_index[other.op]
        layers[early.layer] = other.layer
    return _mapped(code, "op", ops), _mapped(code, "layer", layers)


def _early(around: KernelEnvironment) -> tuple[AheadFetch | InputFetch, ...]:
    """All that the kernel prefetches for later ones."""
    return (*around.early, *around.early_inputs)


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
    for fetch, another in zip(old.early_inputs, new.early_inputs, strict=True):
        found[fetch.source.key] = another.source.key
        found[fetch.target.key] = another.target.key
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
