"""Semantics of ops that change the shape or order of elements."""

from __future__ import annotations

from math import gcd, prod

from graphturbo_core.semantics.access import AxisKind, AxisMap, OpSemantics
from graphturbo_core.semantics.ops.maps import Entry, Shape, moved, same, whole
from graphturbo_core.semantics.ops.view import OpView


def reshape_maps(shape: Shape, out_shape: Shape) -> tuple[AxisMap, ...]:
    """Returns the maps of a row-major reshape, one per input axis.

    Both shapes are divided into runs of axes with equal products, from the left. 1. A run of one
    axis on each side is the same axis. 2. In a longer run the first axes follow each other, in
    blocks or, if these do not nest, in proportion. 3. An inner input axis of a run is read in part
    where the output's steps lie within one turn of it: one window of an image is rows and columns
    of it. 4. Axes of size 1 without a partner are always read.
    """
    if 0 in shape:
        return tuple(whole(size) for size in shape)
    maps: list[AxisMap] = []
    out_axis = 0
    while len(maps) < len(shape):
        size = shape[len(maps)]
        partner = out_shape[out_axis] if out_axis < len(out_shape) else 0
        if size == partner:
            maps.append(same(size, out_axis))
            out_axis += 1
        elif size == 1:
            maps.append(AxisMap(AxisKind.NONE, 1))
        elif partner == 1:
            out_axis += 1
        else:
            run, out_run = _aligned_run(shape[len(maps) :], out_shape[out_axis:])
            maps += _blocked(run, out_run, out_axis)
            out_axis += len(out_run)
    return tuple(maps)


def _aligned_run(shape: Shape, out_shape: Shape) -> tuple[Shape, Shape]:
    """The shortest non-empty prefixes of both shapes with equal products."""
    taken, out_taken = 1, 1
    product, out_product = shape[0], out_shape[0]
    while product != out_product:
        if product < out_product:
            product *= shape[taken]
            taken += 1
        else:
            out_product *= out_shape[out_taken]
            out_taken += 1
    return shape[:taken], out_shape[:out_taken]


def _blocked(run: Shape, out_run: Shape, out_axis: int) -> list[AxisMap]:
    """Rule 2: one step of the first input axis spans `inner` elements, of the output `out_inner`.

    Steps [lo, hi) of the output are elements [lo*out_inner, hi*out_inner), read in whole steps of
    `inner`. If neither is a multiple of the other, common blocks would be far longer.
    """
    out_inner = prod(out_run[1:])
    out_block, in_block = _steps(prod(run[1:]), out_inner)
    kind = AxisKind.GROUPED if 1 in (out_block, in_block) else AxisKind.SCALED
    found = [AxisMap(kind, run[0], out_axis, out_block=out_block, in_block=in_block)]
    for place, size in enumerate(run[1:], start=1):
        found.append(_inner(size, prod(run[place + 1 :]), out_inner, out_axis))
    return found


def _inner(size: int, inner: int, out_inner: int, out_axis: int) -> AxisMap:
    """Rule 3; an axis of which each step of the output has a whole turn is read whole."""
    if size == 1:
        return AxisMap(AxisKind.NONE, 1)
    if out_inner >= size * inner:
        return whole(size)
    out_block, in_block = _steps(inner, out_inner)
    return AxisMap(AxisKind.INNER, size, out_axis, out_block=out_block, in_block=in_block)


def _steps(inner: int, out_inner: int) -> tuple[int, int]:
    """The fewest steps of the output and of the input with equally many elements."""
    common = gcd(inner, out_inner)
    return inner // common, out_inner // common


def reshape(view: OpView) -> OpSemantics:
    """Reshape, Flatten, Squeeze and Unsqueeze: shapes suffice, parameters are not read."""
    return moved(view, *reshape_maps(view.shape(), view.shape_out()), is_view=True)


def transpose(view: OpView) -> OpSemantics:
    """Transpose: output axis i is input axis perm[i]; the default reverses."""
    rank = len(view.shape())
    permutation = view.integers("perm") or tuple(reversed(range(rank)))
    followed = {axis: out_axis for out_axis, axis in enumerate(permutation)}
    return moved(
        view,
        *(
            AxisMap(
                AxisKind.SAME if followed[axis] == axis else AxisKind.PERMUTED,
                size,
                followed[axis],
            )
            for axis, size in enumerate(view.shape())
        ),
    )


def depth_to_space(view: OpView) -> OpSemantics:
    """DepthToSpace: a spatial block per input pixel; channels are adjacent only in CRD."""
    block = view.integer("blocksize", 1)
    batch, channels, height, width = view.shape()
    is_near = view.text("mode", "DCR") == "CRD"
    channel_axis = (
        AxisMap(AxisKind.GROUPED, channels, 1, in_block=block * block)
        if is_near
        else whole(channels)
    )
    return moved(
        view,
        same(batch, 0),
        channel_axis,
        AxisMap(AxisKind.GROUPED, height, 2, out_block=block),
        AxisMap(AxisKind.GROUPED, width, 3, out_block=block),
    )


def space_to_depth(view: OpView) -> OpSemantics:
    """SpaceToDepth: an output pixel needs its block; output channels of an input are apart."""
    block = view.integer("blocksize", 1)
    batch, channels, height, width = view.shape()
    return moved(
        view,
        same(batch, 0),
        whole(channels),
        AxisMap(AxisKind.GROUPED, height, 2, in_block=block),
        AxisMap(AxisKind.GROUPED, width, 3, in_block=block),
    )


ENTRIES: dict[tuple[str, str], Entry] = {
    ("", "Reshape"): reshape,
    ("", "Flatten"): reshape,
    ("", "Squeeze"): reshape,
    ("", "Unsqueeze"): reshape,
    ("", "Transpose"): transpose,
    ("", "DepthToSpace"): depth_to_space,
    ("", "SpaceToDepth"): space_to_depth,
}
