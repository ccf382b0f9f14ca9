"""Names of the critical path's resources."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.sim.critical_path import Resource

RESOURCE_WORDS: Mapping[Resource, str] = {
    Resource.MATRIX: "matrix engine",
    Resource.VECTOR: "vector engine",
    Resource.MOVE: "move engine",
    Resource.DRAM: "DRAM",
    Resource.GB: "GB port",
    Resource.LB: "LB port",
    Resource.LINK: "core link",
    Resource.LATENCY: "latency",
    Resource.LAUNCH: "launch",
    Resource.BARRIER: "barrier",
}
"""Words per resource, in the order of the numbers that canvases and arrays use."""
RESOURCE_NAMES = tuple(RESOURCE_WORDS[resource] for resource in Resource)
KEY_WORDS: Mapping[str, str] = {
    resource.name.lower(): words for resource, words in RESOURCE_WORDS.items()
}
"""Words by the keys of the contract's `critical_path`."""
