"""Buffers as columns: as they were entered, and numbered over all kernels."""

from __future__ import annotations

from graphturbo_core.lowering.instructions.local_buffers import LocalBuffer, columns_of, numbered
from graphturbo_core.products.program import Memory

KEY = ("GB", "g", -1, 0)
OWN = LocalBuffer(Memory.LB_DATA, 3, 64, 8, "a", ((0, 2), (1, 5)))
FAR = LocalBuffer(Memory.GB, -1, 0, 32, "g", ((0, 4),), KEY, is_spill=True)
OTHER = LocalBuffer(Memory.STAGING, 1, 128, 16, "a", (), cores=4)


def test_columns_are_those_of_the_rows() -> None:
    found = columns_of([OWN, FAR, OTHER])
    assert len(found) == 3
    assert [found.tensors[place] for place in found.tensor] == ["a", "g", "a"]
    assert found.memory.tolist() == [Memory.LB_DATA, Memory.GB, Memory.STAGING]
    assert (found.core.tolist(), found.offset.tolist()) == ([3, -1, 1], [64, 0, 128])
    assert (found.size_bytes.tolist(), found.cores.tolist()) == ([8, 32, 16], [1, 1, 4])
    assert found.is_spill.tolist() == [False, True, False]
    assert found.lo[:, :3].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert found.hi[:, :3].tolist() == [[2, 5, 1], [4, 1, 1], [1, 1, 1]]
    assert found.shared == {1: KEY}


def test_what_kernels_share_is_numbered_once_and_lies_where_it_was_placed() -> None:
    """The second kernel brings one buffer of its own, and finds the first one's in GB."""
    kernels = [columns_of([OWN, FAR]), columns_of([FAR, OTHER])]
    own, numbers = numbered(kernels, {KEY: 4096})
    assert [found.tolist() for found in numbers] == [[0, 1], [1, 2]]
    assert [each.offset.tolist() for each in own] == [[64, 4096], [128]]
    assert [each.memory.tolist() for each in own] == [[Memory.LB_DATA, Memory.GB], [Memory.STAGING]]
