"""Machine and ChipNumbering: kinds, owners and names of a cluster's and a chip's channels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphturbo_core.lowering.chip_numbering import ChipNumbering
from graphturbo_core.lowering.instructions.machine import Machine, Route, far_core
from graphturbo_core.lowering.stages.classes import CoreClasses, every_core
from graphturbo_core.products.program import Channel, ChannelKind, Memory
from tests.lowering.nets import chip

TWO_CORES = replace(chip("generic-4x4"), cores=2)
ALONE = ["lb 0", "lb 1", "link in 0", "link in 1", "link out 0", "link out 1", "gb", "dram"]


def machine(clusters: int = 1, **changes: int) -> Machine:
    """Two cores per cluster, each of them simulated."""
    return Machine(replace(TWO_CORES, **changes), every_core(2), clusters)


def names(channels: tuple[Channel, ...]) -> list[str]:
    return [channel.name for channel in channels]


def test_a_cluster_names_its_channels_from_core_0() -> None:
    assert names(machine().channels()) == ALONE
    assert names(ChipNumbering(machine()).channels()) == ALONE
    assert names(machine(gb_bytes=0).channels()) == [*ALONE[:-2], "dram"]
    assert names(machine(3).channels()) == [*ALONE, "dram +1", "dram +2"]


def test_a_team_names_its_channels_by_the_cores_and_clusters_of_the_chip() -> None:
    channels = ChipNumbering(machine(2)).channels()
    assert names(channels) == [
        "lb 0", "lb 1", "link in 0", "link in 1", "link out 0", "link out 1", "gb 0", "dram 0",
        "lb 2", "lb 3", "link in 2", "link in 3", "link out 2", "link out 3", "gb 1", "dram 1",
    ]  # fmt: skip
    link = channels[11]
    assert (link.kind, link.core, link.cluster) == (ChannelKind.LINK_IN, 3, 1)
    share = channels[15]
    assert (share.kind, share.core, share.cluster) == (ChannelKind.DRAM_SHARE, -1, 1)


LATENCIES = {
    "link_latency_cycles": 3, "gb_latency_cycles": 5, "dram_latency_cycles": 7,
    "remote_dram_latency_cycles": 11,
}  # fmt: skip
GB, DRAM = (Memory.GB, far_core(0)), (Memory.DRAM, far_core(0))
LB = ((Memory.LB_DATA, 0), (Memory.LB_DATA, 1))


def test_a_route_names_the_channels_between_its_ends_in_order() -> None:
    """Numbers: LB ports 0 and 1, links in 2 and 3, links out 4 and 5, GB 6, DRAM 7 and 8."""
    pair = machine(2, **LATENCIES)
    assert pair.route(LB[0], LB[1]) == Route((0, 4, 3, 1), 3)
    assert pair.route(LB[1], LB[0]) == Route((1, 5, 2, 0), 3)
    assert pair.copy_route(LB[1]) == Route((1, 1), 3)
    assert pair.route(GB, LB[1]) == Route((6, 1), 5)
    assert pair.route(LB[1], DRAM) == Route((1, 7), 7)
    assert pair.route((Memory.DRAM, far_core(1)), GB) == Route((8, 6), 11)
    assert pair.route(LB[0], LB[1]) is pair.route(LB[0], LB[1])


def test_a_route_to_several_targets_passes_what_they_share_once() -> None:
    pair = machine(**LATENCIES)
    assert pair.route(GB, *LB) == Route((6, 0, 1), 5)
    three = Machine(replace(TWO_CORES, cores=3, **LATENCIES), every_core(3))
    targets = [(Memory.LB_WEIGHT, core) for core in (1, 2)]
    assert three.route((Memory.LB_WEIGHT, 0), *targets) == Route((0, 6, 4, 5, 1, 2), 3)


def test_a_core_that_stands_for_others_sends_to_one_of_its_class() -> None:
    """Its LB port carries both ends: twice, also where another core receives the bytes too."""
    folded = Machine(replace(TWO_CORES, cores=3, **LATENCIES), CoreClasses((0, 0, 2)))
    assert folded.route(LB[0], LB[0]) == Route((0, 6, 3, 0), 3)
    assert folded.route(LB[0], LB[0], (Memory.LB_DATA, 2)) == Route((0, 6, 3, 5, 0, 2), 3)
    assert folded.sharers == (2, 2, 1, 2, 2, 1, 2, 2, 1, 1, 1)


def test_a_team_routes_by_the_numbers_of_the_chip() -> None:
    """Eight channels per cluster; cluster 1 reads the DRAM share of cluster 0 remotely."""
    numbering = ChipNumbering(machine(2, **LATENCIES))
    assert numbering.route((Memory.LB_DATA, 2), (Memory.LB_DATA, 3)) == Route((8, 12, 11, 9), 3)
    assert numbering.route(DRAM, (Memory.LB_DATA, 2)) == Route((7, 8), 11)
    assert numbering.route((Memory.DRAM, far_core(1)), (Memory.GB, far_core(1))) == Route(
        (15, 14), 7
    )
    assert numbering.port((Memory.GB, far_core(1))) == 14
    assert numbering.channel_numbers(np.array([0, 6, 7, 8]), 1).tolist() == [8, 14, 15, 7]
