"""PlacementTask -> KernelPlacement, memoised for equivalent kernels of all lowerings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from graphturbo_core.lowering.local_buffer.placement import (
    KernelPlacement,
    PlacementTask,
    Resident,
    place_kernel,
)
from graphturbo_core.lowering.stages.stage import Shares
from graphturbo_core.lowering.stages.views import Need, Views
from graphturbo_core.lowering.tiling.stage_memo import StageMemo, StageValues

MOST_PLACED = 20_000
"""Most cached placements (our choice: 5 KB each for ResNet-50 on a small chip)."""


@dataclass(frozen=True)
class _Placed:
    """A kernel's names and placement; None: nothing fits beside inherited tensors.

    `tiles`: the most tiles that it had while it was placed.
    """

    names: tuple[str, ...]
    placement: KernelPlacement | None
    tiles: int


@dataclass
class Places:
    """Cache of placements: kernels that differ only by tensor names share one.

    Valid for plans of one graph with equal machine, number format, rules, feeding, scheduling and
    bytes of shards. Linear in the kernels' reads. `values`: what their stages share.
    """

    values: StageValues = field(default_factory=StageValues)
    _known: dict[Hashable, _Placed] = field(default_factory=dict)

    def place(self, task: PlacementTask) -> KernelPlacement | None:
        """As `place_kernel`; a cached kernel with too many tiles is placed again, and refused."""
        names = _names(task)
        key = _key(task, {name: place for place, name in enumerate(names)})
        known = self._known.get(key)
        if known is None or task.computes + known.tiles > task.max_instructions:
            placement, tiles = place_kernel(task)
            self._keep(key, _Placed(names, placement and _bare(placement), tiles))
            return placement
        if known.placement is None:
            return None
        return _renamed(known.placement, task, dict(zip(known.names, names, strict=True)))

    def _keep(self, key: Hashable, placed: _Placed) -> None:
        if len(self._known) >= MOST_PLACED:
            self._known.clear()
            self.values.clear()
        self._known[key] = placed


def _bare(placement: KernelPlacement) -> KernelPlacement:
    """The placement without its lists of tiles, which need much memory."""
    return replace(placement, alike=StageMemo(placement.plan))


def _names(task: PlacementTask) -> tuple[str, ...]:
    """Every tensor that placement may name, in an order independent of names."""
    ops = (op for stage in task.stages for op in stage.ops)
    own = (name for op in ops for name in (*op.inputs, *op.outputs) if name)
    read = (operand.tensor for stage in task.stages for operand in stage.operands)
    around = (*task.inherited, *task.wanted_next, *task.kernel.outputs)
    return tuple(dict.fromkeys((*own, *read, *around)))


def _key(task: PlacementTask, number: Mapping[str, int]) -> Hashable:
    """Cache key: equal for tasks that differ by names alone, and not in name-based ties.

    Contains everything that `place_kernel` reads except what `Places` names, and the cap. Boxes
    have absolute positions: pieces of a group share no placement.
    """
    plan, kernel = task.plan, task.kernel
    kinds = plan.semantics.kinds
    return (
        task.grain,
        bool(kernel.branches),
        tuple(number[name] for name in sorted(number)),
        tuple(plan.element_bytes[name] for name in number),
        tuple(
            (
                tuple(
                    (kinds[op.name], *(number.get(name, -1) for name in (*op.inputs, *op.outputs)))
                    for op in stage.ops
                ),
                number[stage.output],
                stage.output_index,
                stage.cut,
                tuple(number[operand.tensor] for operand in stage.operands),
            )
            for stage in task.stages
        ),
        tuple(_held(held, number) for held in task.inherited.values()),
        tuple((number[name], _boxes(boxes)) for name, boxes in task.wanted_next.items()),
        tuple((number[name], kernel.scopes.get(name)) for name in number if name in kernel.scopes),
        tuple((number[name], held) for name, held in task.places.weights.items()),
        *(
            tuple(place for name, place in number.items() if name in chosen)
            for chosen in (kernel.outputs, kernel.kept, task.parked, task.places.in_dram)
        ),
    )


def _held(held: Resident, number: Mapping[str, int]) -> Hashable:
    return (
        number[held.tensor], held.offset, held.size_bytes, _boxes(held.boxes), _boxes(held.shares),
        held.cut, held.first, held.last, held.own and _held(held.own, number),
    )  # fmt: skip


def _boxes(shares: Shares) -> Hashable:
    return tuple(shares.items())


def _renamed(
    placement: KernelPlacement, task: PlacementTask, names: Mapping[str, str]
) -> KernelPlacement:
    """The placement of an equivalent kernel, with this task's plan and names."""
    return replace(
        placement,
        plan=task.plan,
        alike=task.alike,
        kernel=task.kernel,
        stages=task.stages,
        residents={names[n]: _resident(held, names) for n, held in placement.residents.items()},
        views=_views(placement.views, names),
        rings={(stage, names[n]): ring for (stage, n), ring in placement.rings.items()},
        kept=frozenset(map(names.__getitem__, placement.kept)),
        spilled=frozenset(map(names.__getitem__, placement.spilled)),
    )


def _resident(held: Resident, names: Mapping[str, str]) -> Resident:
    own = held.own and _resident(held.own, names)
    return replace(held, tensor=names[held.tensor], own=own)


def _views(views: Views, names: Mapping[str, str]) -> Views:
    needs: dict[str, Need] = {
        names[name]: replace(need, tensor=names[name]) for name, need in views.needs.items()
    }
    maps = {
        names[name]: replace(access, tensor=names[access.tensor])
        for name, access in views.maps.items()
    }
    return Views(needs, maps, views.skipped)
