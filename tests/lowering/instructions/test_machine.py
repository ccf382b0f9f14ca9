"""Machine and Team: the channels of a cluster and of a chip, their kinds, owners and names."""

from __future__ import annotations

from dataclasses import replace

from graphturbo_core.lowering.instructions.code import Machine
from graphturbo_core.lowering.stages.classes import every_core
from graphturbo_core.lowering.team import Team
from graphturbo_core.products.program import Channel, ChannelKind
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
    assert names(Team(machine()).channels()) == ALONE
    assert names(machine(gb_bytes=0).channels()) == [*ALONE[:-2], "dram"]
    assert names(machine(3).channels()) == [*ALONE, "dram +1", "dram +2"]


def test_a_team_names_its_channels_by_the_cores_and_clusters_of_the_chip() -> None:
    channels = Team(machine(2)).channels()
    assert names(channels) == [
        "lb 0", "lb 1", "link in 0", "link in 1", "link out 0", "link out 1", "gb 0", "dram 0",
        "lb 2", "lb 3", "link in 2", "link in 3", "link out 2", "link out 3", "gb 1", "dram 1",
    ]  # fmt: skip
    link = channels[11]
    assert (link.kind, link.core, link.cluster) == (ChannelKind.LINK_IN, 3, 1)
    share = channels[15]
    assert (share.kind, share.core, share.cluster) == (ChannelKind.DRAM_SHARE, -1, 1)
