"""Chips for the tests of lowering: without a GB, with shared engines, folded, random."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from hypothesis import strategies as st

from graphturbo_core.hardware.hardware import Hardware, MatrixModel
from graphturbo_core.lowering.stages import folding
from tests.lowering.nets import chip


def bare(name: str = "generic-4x4", **changes: object) -> Hardware:
    """A chip with its GB, the GB's port and the system DMA taken away."""
    none = {"gb_bytes": 0, "gb_bandwidth": 0, "gb_latency_cycles": 0, "dma_engines": 0}
    return replace(chip(name), **(none | changes))  # type: ignore[arg-type]


def sharing(name: str = "generic-4x4", **changes: object) -> Hardware:
    """A chip without a GB whose LBs hold weights for each other."""
    return bare(name, **{"weight_placement": "sharded"} | changes)


def shared(**changes: object) -> Hardware:
    """generic-4x4 with one 4 x 4 array for all cores; GB 16, DRAM 8 bytes a cycle."""
    numbers: dict[str, object] = {
        "name": "shared", "shared_engine": "matrix", "matrix_rows": 4, "matrix_columns": 4,
        "gb_bandwidth": 16 * 10**9, "dram_bandwidth": 8 * 10**9, "dram_latency_cycles": 10,
        "gb_latency_cycles": 4, "launch_cycles": 100, "barrier_cycles": 20,
    }  # fmt: skip
    return replace(chip("generic-4x4"), **(numbers | changes))  # type: ignore[arg-type]


FEW_CORES = 3
"""Chips of more cores are folded here, so that all of them can be simulated beside."""

FOLDED_CHIPS = (
    chip("generic-4x4"),
    replace(chip("generic-4x4"), name="twelve", cores=12),
    chip("tiny"),
    bare(cores=12),
    bare("tiny", cores=6),
    sharing(cores=12),
    sharing("tiny", cores=6),
)

VARIED_CHIPS = {
    "tiny": chip("tiny"),
    "generic-4x4": chip("generic-4x4"),
    "sharing": sharing(),
    "shared engine": shared(gb_bytes=1 << 16),
}

KIB = 1024


@st.composite
def random_chips(draw: st.DrawFn) -> Hardware:
    """Chips around generic-4x4: odd core counts, small and large memories, any bandwidth."""
    cores = draw(st.sampled_from([1, 2, 3, 4, 6, 8]))
    data = draw(st.sampled_from([8, 16, 64, 512])) * KIB
    weight = draw(st.sampled_from([4, 16, 64])) * KIB
    is_pooled = draw(st.booleans())
    pool = data + weight
    bandwidths = st.sampled_from([3, 16, 27, 64, 512])
    return replace(
        chip("generic-4x4"),
        name="random",
        cores=cores,
        matrix_rows=draw(st.sampled_from([4, 8, 64])),
        matrix_columns=draw(st.sampled_from([4, 8, 32])),
        matrix_model=draw(st.sampled_from(MatrixModel)),
        vector_lanes=draw(st.sampled_from([1, 8, 64])),
        dma_engines=draw(st.integers(1, 3)),
        is_pooled=is_pooled,
        lb_data_bytes=pool if is_pooled else data,
        lb_weight_bytes=pool if is_pooled else weight,
        staging_bytes=draw(st.sampled_from([4, 64])) * KIB,
        gb_bytes=draw(st.sampled_from([64, 256, 4096])) * KIB,
        split_capacity_bytes=cores * data,
        lb_bandwidth=draw(bandwidths) * 10**9,
        gb_bandwidth=draw(bandwidths) * 10**9,
        dram_bandwidth=draw(bandwidths) * 10**9,
        link_bandwidth=draw(bandwidths) * 10**9,
        launch_cycles=draw(st.sampled_from([0, 1, 2000])),
        barrier_cycles=draw(st.sampled_from([0, 200])),
    )


@contextmanager
def folding_above(cores: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folding, "FOLDED_ABOVE", cores)
        yield
